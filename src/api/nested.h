/* Grids that launch grids (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", CDP2).
 *
 * A nest is a running grid's state in the device runtime: streams, events, parameters being
 * written, errors of its threads, and what it launched. Those launches are in streams of its
 * context, like the host's. A grid is complete when all that it launched is: first everything
 * outside cudaStreamTailLaunch, then the tail launches, in order, each with all that it launches.
 * So the grid's task is done when the last of these tasks is (nest_part()). */
#ifndef HEDDLE_API_NESTED_H
#define HEDDLE_API_NESTED_H

#include "api/handles.h"
#include "exec/nested.h"

/* A grid's streams that have no handle of their own, by CUDA's numbers. */
enum nest_stream {
    NEST_STREAM_NULL = 0, /* the block's stream */
    NEST_STREAM_LEGACY = 1,
    /* Treated as the block's stream, which orders more than necessary. */
    NEST_STREAM_PER_THREAD = 2,
    NEST_STREAM_TAIL = 3,
    NEST_STREAM_FIRE_AND_FORGET = 4
};

/* The runtime API errors that the device runtime returns; see include/cuda/cuda_errors.def. */
enum nest_error {
    NEST_SUCCESS = 0,
    NEST_INVALID_VALUE = 1,
    NEST_MEMORY_ALLOCATION = 2,
    NEST_INVALID_CONFIGURATION = 9,
    NEST_INVALID_PITCH = 12,
    NEST_INVALID_MEMCPY_DIRECTION = 21,
    NEST_INVALID_DEVICE = 101,
    NEST_PENDING_COUNT_EXCEEDED = 69,
    NEST_UNSUPPORTED_LIMIT = 215,
    NEST_ILLEGAL_ADDRESS = 700,
    NEST_UNKNOWN = 999
};

struct nest;

/* For a launch of a kernel that calls the device runtime, in streams of a context. Returns NULL if
 * memory is exhausted. */
struct nest *nest_new(hd_context *c, hd_module *m, const char *kernel);
void nest_free(struct nest *n); /* NULL is allowed */
const struct nested *nest_calls(const struct nest *n);
/* The grid begins in the stream with this number. */
void nest_begin(struct nest *n, const struct launch_request *q, uint64_t stream);
/* Called when the grid's threads have ended. Returns a task that must end before the grid is
 * complete, with a reference for the caller; NULL if the grid is complete. */
struct task *nest_part(struct nest *n);
/* A launch without a nest is no longer pending. */
void nest_uncount_pending(struct machine *m);
/* Waits until the grid is complete. If the grid has failed, none of its pending launches begins. */
void nest_finish(struct nest *n, hd_result result);

/* What kernels of the context read by cudaDeviceGetLimit(), by CUDA's numbers up
 * to 8; the table may change. */
void nest_tell_limits(hd_context *c, const size_t *limits);
/* NULL: nobody told them. */
const size_t *nest_limits(const struct nest *n);
bool nest_was_numbered(uint64_t number); /* has a grid had this number? */

/* ---- for who answers calls (nested_calls.c) ---- */

/* The kernel at an address; NULL if there is none. A kernel that cannot be run is a fault. */
hd_kernel *nest_kernel(struct nest *n, struct nested_call *c, uint64_t address);
bool nest_is_code(const struct nest *n, uint64_t address);
bool nest_is_function(const struct nest *n, uint64_t address); /* is it where one begins? */
/* Allocates memory for a launch's parameters, for a kernel, or of a size if the kernel is not known
 * yet (NULL). Returns 0 after an error. */
uint64_t nest_parameters(struct nest *n, struct nested_call *c, hd_kernel *k, const hd_launch_config *config,
                         uint64_t bytes);
/* `k` and `config` are for a parameter buffer that does not know its kernel. */
enum nest_error nest_launch(struct nest *n, struct nested_call *c, uint64_t parameters, uint64_t stream, hd_kernel *k,
                            const hd_launch_config *config);
/* Launches a graph by hd_context_options.launch_graph. */
enum nest_error nest_launch_graph(struct nest *n, struct nested_call *c, uint64_t graph, uint64_t stream);
/* Submits a task to a stream of the grid, and takes ownership of it; also for tasks that are no
 * launches of kernels. */
enum nest_error nest_put(struct nest *n, struct nested_call *c, struct task *t, uint64_t stream);
enum nest_error nest_stream_create(struct nest *n, struct nested_call *c, uint64_t *handle);
enum nest_error nest_stream_destroy(struct nest *n, uint64_t handle);
enum nest_error nest_event_create(struct nest *n, uint64_t *handle);
bool nest_is_handle(uint64_t handle); /* may it be a stream's or an event's, of any grid? */
enum nest_error nest_event_destroy(struct nest *n, uint64_t handle);
enum nest_error nest_event_record(struct nest *n, struct nested_call *c, uint64_t event, uint64_t stream);
enum nest_error nest_event_wait(struct nest *n, struct nested_call *c, uint64_t event, uint64_t stream);
/* Returns the calling thread's last error, and clears it if asked to; the second sets it. */
enum nest_error nest_last_error(struct nest *n, const struct nested_call *c, bool forget);
enum nest_error nest_failed(struct nest *n, const struct nested_call *c, enum nest_error e);
hd_machine *nest_machine(const struct nest *n);
/* Tells the user, once, that memsets of the device runtime fill with zeros. */
void nest_tell_zeros(struct nest *n, const struct nested_call *c);

/* Of nest_hooks. */
void nest_hold(void *nest);
void nest_forget(void *nest);
void nest_let_go(void *nest);

extern const struct nested_hooks nest_hooks;

#endif
