/* What the public handles point to. Private to api/. */
#ifndef HEDDLE_API_HANDLES_H
#define HEDDLE_API_HANDLES_H

#include "check/check.h"
#include "exec/device.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/queue.h"
#include "explain/alike.h"
#include "explain/calls.h"
#include "explain/count.h"
#include "explain/streams.h"
#include "trace/trace.h"
#include "report/report.h"

/* The limit on threads of a block: the kernel's (.maxntid) or the device's. */
unsigned device_max_threads(const struct kernel *k);

/* Names of allocations live as long as the machine. */
struct name {
    struct name *next;
    char text[];
};

struct debugger;

struct hd_machine {
    struct machine *machine;
    struct tracer *tracer;     /* or NULL */
    hd_checker *checker;       /* that watches its launches, or NULL */
    hd_explainer *explainer;   /* that counts them, or NULL */
    struct debugger *debugger; /* that may stop in them, or NULL */
    pthread_mutex_t lock;      /* of what follows */
    struct hd_module *modules,
        *unloaded; /* these, as long as there is a checker or explainer: findings are places in them */
    struct name *names;
    _Atomic uint64_t error_texts;         /* in the machine's memory: nested_calls.c; or 0 */
    _Atomic bool told_nested, told_zeros; /* that kernels' launches have failed; that their memsets fill with zeros */
};

struct hd_kernel {
    struct hd_kernel *next;
    struct hd_module *module;
    struct ptx_func *func;
    struct kernel *kernel;
    const char *name;
    const char **param_names;
    _Atomic uint32_t dynamic_shared_bytes; /* that launches by kernels may ask for: hd_kernel_allow_shared() */
};

/* A texture, surface or sampler of a module's, which has a handle in the place of an address. */
struct module_reference {
    struct texture_reference reference;
    uint64_t handle;
    unsigned kind; /* enum texture_handle */
};
#define REFERENCE (1u << 31) /* of ptx_var.handle: the rest is the place in hd_module.references */

/* The address of a module variable on the machine. */
struct variable {
    const struct ptx_var *var;
    const char *name;
    void *at;
};

struct hd_module {
    struct hd_module *next;
    _Atomic uint32_t refs; /* one until it is unloaded, and those of launches that have been put */
    struct hd_machine *machine;
    struct arena arena;
    struct ptx_image *image;
    VEC(struct variable) variables;
    struct map variables_by_name; /* 1 + index of the first of each name, as a pointer */
    VEC(struct module_reference *) references;
    struct map references_by_name;
    VEC(const char *) kernel_names;
    pthread_mutex_t lock; /* of kernels */
    struct hd_kernel *kernels;
    struct map kernels_by_name; /* those that are prepared */
    struct map machine_code;    /* hd_machine_code, by the name of a kernel */
};

struct hd_checker {
    hd_machine *machine;
    hd_checker_options options;
    struct checker *checker;
    struct recorder *recorder; /* or NULL; that of the checker that it was made with, or */
    bool records;              /* its own */
};

struct hd_explainer {
    hd_machine *machine;
    hd_explainer_options options;
    struct counter *counter;
    struct call_log *calls;
    struct stream_log *streams;      /* options.with's, where there is one */
    const struct order_hooks *order; /* that the machine has of it, or NULL */
    const struct device_model *model;
    pthread_mutex_t lock; /* of what is told of launches: */
    struct alike alike;   /* those that were told in full, by their number, from 1 on */
    uint64_t told;
};

struct hd_report {
    struct arena arena;
    struct diags diags;
};

struct hd_context {
    struct hd_machine *machine;
    struct context *context;
    hd_context_options options;
    const struct nested_hooks *nested_hooks; /* who answers kernels that call the device runtime */
    hd_stream *default_stream, *streams;
    pthread_mutex_t lock; /* of the list of streams */
};

struct hd_stream {
    struct hd_context *context;
    struct stream *stream;
    struct hd_stream *next, **link; /* in the context's list */
};

/* Puts a task into the stream, and waits for it where that is wanted; takes it. */
hd_result stream_put_task(hd_stream *s, struct task *t, enum hd_wait wait);
/* hd_stream_loop()'s; NULL without memory. */
struct task *loop_task_new(bool (*next)(void *data, hd_result status, hd_event *until), void *data);
/* The event is the end of a task, whose reference it takes over; NULL: it is done. */
void event_become(hd_event *e, struct task *t);
/* Whose end the event is, held; NULL: it was never recorded, or that does not matter any more. */
struct task *event_task(hd_event *e);
/* Between two turns of a task that waits for others: it is looked at now and then, where nobody
 * else wants the thread. */
void stream_pause(const hd_machine *m, unsigned *turns);

/* False where memory is exhausted. */
bool module_add_reference(hd_module *m, struct ptx_var *v);
void module_free_references(hd_module *m);

void module_free(hd_module *m);
void module_hold(hd_module *m);
void module_release(hd_module *m);
/* Frees those that were unloaded under a checker. */
void modules_forget(hd_machine *machine);

/* Checks a configuration and fills the request, whose parameters and textures are the caller's to
 * give back (launch_release(); also after an error). Errors: HD_ERROR_INVALID_VALUE and
 * HD_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE with diagnostics, HD_ERROR_OUT_OF_MEMORY. */
hd_result launch_prepare(hd_kernel *k, const hd_launch_config *c, struct launch_request *q, struct diags *d);
void launch_release(const hd_machine *m, struct launch_request *q);
/* What of that is textures, as they are now, or at the time of another launch (struct launch_request);
 * what is bound to the module's references now. False without memory. */
bool launch_take_textures(hd_module *m, struct launch_request *q, uint64_t since);

/* Is a configuration one that the kernel and the device allow? */
hd_result launch_dims(const hd_kernel *k, const hd_launch_config *c, struct launch_dims *dims, struct diags *d);

/* What was counted of a launch, told to whoever asked for it. NULL: nothing, as memory has run out. */
void explainer_end(hd_explainer *e, struct counted_launch *l, uint32_t task);

/* A launch on its way, watched where the machine has a checker, counted where it has an explainer. */
struct running {
    struct launch *launch;
    struct counted_launch *counted;
    size_t findings; /* that there were before */
};

/* As launch_begin(), launch_step() and launch_end(). */
void running_begin(hd_machine *m, struct launch_request *q, struct running *r, struct diags *diags);
hd_result running_end(hd_machine *m, struct launch_request *q, struct running *r, hd_launch_stats *stats,
                      struct diags *diags);

/* Runs a launch under the machine's debugger. False where nothing is to stop in it: it runs like
 * any other. */
bool api_debug_launch(hd_machine *m, struct launch_request *q, hd_launch_stats *stats, struct diags *diags,
                      hd_result *result);

/* Copies the texts that diagnostics point into, which may go before the report does. */
void report_keep_places(hd_report *r);
/* NULL where memory is exhausted. */
hd_report *report_new(void);
/* What a step returns, with a report for its diagnostics, which is handed to the caller. Where
 * memory runs out for it, or for `kept` (an arena of what the step makes, or NULL), the step is
 * left where it is. */
typedef hd_result report_step_fn(void *data, struct diags *d);
hd_result report_during(hd_report **report, struct arena *kept, report_step_fn *step, void *data);
/* Hands a report to the caller, or frees it where it is empty or not wanted. */
void report_give(hd_report *r, hd_report **report);

#endif
