/* A launch as a task of a stream. Private to api/. */
#ifndef HEDDLE_API_LAUNCH_TASK_H
#define HEDDLE_API_LAUNCH_TASK_H

#include "api/handles.h"

struct nest;

struct launch_task {
    struct task task;
    hd_context *context;
    hd_machine *machine;
    hd_module *module; /* held until the launch has ended */
    struct launch_request request;
    struct running running;
    struct nest *nest; /* where its kernel calls the device runtime, else NULL */
    bool is_nested;    /* by a kernel (request.launched_by), and counted as pending until it has ended */
    const struct ir_insn *launched_at; /* by which of its instructions */
    bool begun;
};

/* The request is to be filled. NULL without memory. */
struct launch_task *launch_task_new(hd_context *c, hd_kernel *k);

#endif
