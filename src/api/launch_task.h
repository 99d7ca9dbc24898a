/* A launch as a task of a stream. Private to api/. */
#ifndef HEDDLE_API_LAUNCH_TASK_H
#define HEDDLE_API_LAUNCH_TASK_H

#include "api/handles.h"

struct nest;

struct launch_task {
    struct task task;
    hd_context *context;
    hd_machine *machine;
    hd_module *module; /* a reference, until the launch has ended */
    struct launch_request request;
    struct running running;
    struct nest *nest; /* set if its kernel calls the device runtime, else NULL */
    /* launched by a kernel (request.launched_by), and counted as pending until it has ended */
    bool is_nested;
    const struct ir_insn *launched_at; /* the instruction that launched it */
    bool begun;
};

/* The caller fills the request. Returns NULL if memory is exhausted. */
struct launch_task *launch_task_new(hd_context *c, hd_kernel *k);

#endif
