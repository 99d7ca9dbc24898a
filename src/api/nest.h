/* The record of a nest, for the files that are it (nested*.c); see nested.h. Private to api/. */
#ifndef HEDDLE_API_NEST_H
#define HEDDLE_API_NEST_H

#include "api/nested.h"

/* Parameters that a thread has asked for, and not launched. */
struct nest_parameters {
    uint64_t address, bytes;
    hd_kernel *kernel; /* NULL: it is not known yet */
    struct launch_dims dims;
};

struct nest_block_stream {
    uint64_t block;
    struct stream *stream; /* NULL: the place is free */
};

struct nest_thread_error {
    uint64_t block;
    uint32_t thread;
    enum nest_error error;
    const struct ir_insn *at;
};

struct nest {
    struct nested nested;
    hd_context *context;
    hd_module *module;
    const char *kernel;
    uint32_t task;
    uint64_t number, stream;
    const struct launch_request *request; /* the grid's */
    pthread_mutex_t lock;                 /* of what follows */
    VEC(struct nest_parameters) parameters;
    struct nest_block_stream *of_blocks; /* by hash; 0 or a power of 2 of them */
    uint32_t n_of_blocks, room_for_blocks;
    VEC(struct stream *) streams;
    VEC(struct task *) events;       /* what each has recorded last; or NULL */
    VEC(struct task *) parts, tails; /* held: what was launched; what is to be, when that is complete */
    VEC(uint32_t) done;              /* numbers of parts that are complete */
    VEC(struct nest_thread_error) errors;
    _Atomic uint32_t n_errors;
    uint64_t last_address; /* of a kernel that has been launched */
    hd_kernel *last_kernel;
    bool is_pending; /* by a kernel, and counted as such */
    bool no_memory;
};

/* A call of a running grid's, as hd_context_options.launch_graph gets it. */
struct hd_kernel_call {
    struct nest *nest;
    const struct nested_call *call;
};

static inline struct machine *nest_engine(const struct nest *n)
{
    return n->context->machine->machine;
}

/* ---- nested_streams.c; with the lock ---- */

struct stream *nest_new_stream(const struct nest *n);
/* A stream in which order is kept; NULL with *error where there is none of the handle. */
struct stream *nest_find_stream(struct nest *n, const struct nested_call *c, uint64_t handle, enum nest_error *error);
/* All of its streams' tasks still run. */
void nest_destroy_streams(struct nest *n);

/* ---- nested_errors.c ---- */

void nest_tell_errors(struct nest *n);

/* ---- nested.c ---- */

/* With the lock: keeps the task, which is held; false without memory. */
bool nest_add_part(struct nest *n, struct task *t);
/* The grid is not pending any more. */
void nest_uncount(struct nest *n);

#endif
