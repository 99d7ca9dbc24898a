/* Grids that launch grids (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", CDP2). Private
 * to api/.
 *
 * A nest is what a running grid has of the device runtime: streams, events, parameters that are
 * being written, the errors of its threads, and what it has launched. That is in streams of its
 * context, as what the host launches. A grid is complete when what it has launched is: first all
 * but what is in cudaStreamTailLaunch, which runs then, in its order, each with all that it has
 * launched itself. So the grid's task is done when the last of these tasks is (nest_part()). */
#ifndef HEDDLE_API_NESTED_H
#define HEDDLE_API_NESTED_H

#include "api/handles.h"
#include "exec/nested.h"

/* The streams of a grid that have no handle of their own, by CUDA's numbers. */
enum nest_stream {
    NEST_STREAM_NULL = 0, /* the block's */
    NEST_STREAM_LEGACY = 1,
    NEST_STREAM_PER_THREAD = 2, /* taken for the block's, too, which keeps more in order than has to be */
    NEST_STREAM_TAIL = 3,
    NEST_STREAM_FIRE_AND_FORGET = 4
};

/* The errors of the runtime API that the device runtime answers; include/cuda/cuda_errors.def. */
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
    NEST_ILLEGAL_ADDRESS = 700
};

struct nest;

/* For a launch of a kernel that calls the device runtime, in streams of a context. NULL without
 * memory. */
struct nest *nest_new(hd_context *c, hd_module *m, const char *kernel);
void nest_free(struct nest *n); /* NULL is allowed */
const struct nested *nest_calls(const struct nest *n);
/* The grid begins, in a stream of this number. */
void nest_begin(struct nest *n, const struct launch_request *q, uint64_t stream);
/* The grid's threads have ended: a task that it is not complete without, held by the caller; NULL:
 * it is. */
struct task *nest_part(struct nest *n);
/* A launch that has no nest is not pending any more. */
void nest_uncount_pending(struct machine *m);
/* Waits until it is complete; nothing more of it begins where the grid itself has failed. */
void nest_finish(struct nest *n, hd_result result);

/* ---- for who answers calls (nested_calls.c) ---- */

/* The kernel at an address; NULL: there is none. A fault where it cannot be run. */
hd_kernel *nest_kernel(struct nest *n, struct nested_call *c, uint64_t address);
bool nest_is_code(const struct nest *n, uint64_t address);
/* Memory for a launch's parameters, 0 after an error: of a kernel, or so many bytes where that is
 * not known yet (NULL). */
uint64_t nest_parameters(struct nest *n, struct nested_call *c, hd_kernel *k, const hd_launch_config *config,
                         uint64_t bytes);
/* `k` and `config` are for parameters of which nothing is known. */
enum nest_error nest_launch(struct nest *n, struct nested_call *c, uint64_t parameters, uint64_t stream, hd_kernel *k,
                            const hd_launch_config *config);
/* By who knows of graphs (hd_context_options.launch_graph). */
enum nest_error nest_launch_graph(struct nest *n, struct nested_call *c, uint64_t graph, uint64_t stream);
/* Puts a task into a stream of the grid, and takes it; how a task that no kernel's launch makes
 * gets there, too. */
enum nest_error nest_put(struct nest *n, struct nested_call *c, struct task *t, uint64_t stream);
enum nest_error nest_stream_create(struct nest *n, struct nested_call *c, uint64_t *handle);
enum nest_error nest_stream_destroy(struct nest *n, uint64_t handle);
enum nest_error nest_event_create(struct nest *n, uint64_t *handle);
enum nest_error nest_event_destroy(struct nest *n, uint64_t handle);
enum nest_error nest_event_record(struct nest *n, struct nested_call *c, uint64_t event, uint64_t stream);
enum nest_error nest_event_wait(struct nest *n, struct nested_call *c, uint64_t event, uint64_t stream);
/* The last error of the calling thread, forgotten if wanted; a new one. */
enum nest_error nest_last_error(struct nest *n, const struct nested_call *c, bool forget);
enum nest_error nest_failed(struct nest *n, const struct nested_call *c, enum nest_error e);
hd_machine *nest_machine(const struct nest *n);
/* Says once that a memset of the device runtime fills with zeros. */
void nest_tell_zeros(struct nest *n, const struct nested_call *c);

extern const struct nested_hooks nest_hooks;

#endif
