/* The record of a nest, shared by nested*.c; see nested.h. Private to api/. */
#ifndef HEDDLE_API_NEST_H
#define HEDDLE_API_NEST_H

#include "api/nested.h"

/* A parameter buffer that a thread has requested, and not launched yet. */
struct nest_parameters {
    uint64_t address, bytes;
    hd_kernel *kernel; /* NULL: not known yet */
    struct launch_dims dims;
};

struct nest_block_stream {
    uint64_t block;
    struct stream *stream; /* NULL: free */
};

struct nest_thread_error {
    uint64_t block;
    uint32_t thread;
    enum nest_error error;
    const struct ir_insn *at;
};

/* A call that waits until its grid is not run again (nested_hold.c): a task for a stream (NULL:
 * one of its own), else an event that a stream records or waits for. */
struct nest_held {
    struct task *task;
    struct stream *stream;
    uint32_t event;
    bool records;
};

struct nest {
    struct nested nested;
    hd_context *context;
    hd_module *module;
    const char *kernel;
    uint32_t task;
    uint64_t number, stream;
    const struct launch_request *request; /* the grid's */
    pthread_mutex_t lock;                 /* protects what follows */
    VEC(struct nest_parameters) parameters;
    struct nest_block_stream *of_blocks; /* hash table; its size is 0 or a power of 2 */
    uint32_t n_of_blocks, room_for_blocks;
    VEC(struct stream *) streams;
    VEC(struct task *) events; /* the task that each event has recorded last; or NULL */
    /* with references: launched tasks; tail launches, for when the grid is complete */
    VEC(struct task *) parts, tails;
    VEC(uint32_t) done; /* numbers of complete parts */
    VEC(struct nest_thread_error) errors;
    _Atomic uint32_t n_errors;
    uint64_t last_address; /* of the kernel that was launched last */
    hd_kernel *last_kernel;
    bool holds; /* calls wait, here: */
    VEC(struct nest_held) held;
    bool is_pending; /* launched by a kernel, and counted as pending */
    bool no_memory;
};

/* A running grid's call, which hd_context_options.launch_graph receives. */
struct hd_kernel_call {
    struct nest *nest;
    const struct nested_call *call;
};

/* Call with the lock held. */
static inline enum nest_error nest_add_held(struct nest *n, struct nest_held held)
{
    struct nest_held *new = VEC_ADD(&n->held);
    if (new)
        *new = held;
    return new ? NEST_SUCCESS : NEST_MEMORY_ALLOCATION;
}

static inline struct machine *nest_engine(const struct nest *n)
{
    return n->context->machine->machine;
}

/* ---- nested_streams.c; with the lock ---- */

struct stream *nest_new_stream(const struct nest *n);
/* The ordered stream of a handle; NULL with *error if there is none. */
struct stream *nest_find_stream(struct nest *n, const struct nested_call *c, uint64_t handle, enum nest_error *error);
/* Destroys the streams; their submitted tasks still run. */
void nest_destroy_streams(struct nest *n);

/* ---- nested_launch.c; with the lock ---- */

/* Submits a task, which it takes ownership of, to a stream; NULL: to one of its own. */
enum nest_error nest_submit(struct nest *n, struct task *t, struct stream *s);

/* ---- nested_errors.c ---- */

void nest_tell_errors(struct nest *n);

/* ---- nested.c ---- */

/* Keeps the task with a reference; false if memory is exhausted. Call with the lock held. */
bool nest_add_part(struct nest *n, struct task *t);
/* Releases streams, events, parameters and tail launches. Call with the lock held, or last. */
void nest_empty(struct nest *n);
/* The grid is no longer pending. */
void nest_uncount(struct nest *n);

#endif
