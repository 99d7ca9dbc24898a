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

/* The limit on a block's threads: the kernel's (.maxntid) or the device's. */
unsigned device_max_threads(const struct kernel *k);

/* Names of allocations, which live as long as the machine. */
struct name {
    struct name *next;
    char text[];
};

struct debugger;

struct hd_machine {
    struct machine *machine;
    struct tracer *tracer;     /* or NULL */
    hd_checker *checker;       /* watches the machine's launches, or NULL */
    hd_explainer *explainer;   /* counts them, or NULL */
    struct debugger *debugger; /* may stop in them, or NULL */
    pthread_mutex_t lock;      /* protects what follows */
    struct hd_module *modules,
        /* unloaded modules are kept while there is a checker or explainer, because findings
           refer to them */
        *unloaded;
    struct name *names;
    _Atomic uint64_t error_texts; /* in the machine's memory: nested_calls.c; or 0 */
    /* the user was told that kernels' launches failed, and that their memsets fill with zeros */
    _Atomic bool told_nested, told_zeros;
};

struct hd_kernel {
    struct hd_kernel *next;
    struct hd_module *module;
    struct ptx_func *func;
    struct kernel *kernel;
    const char *name;
    const char **param_names;
    /* Limit for launches by kernels: hd_kernel_allow_shared(). */
    _Atomic uint32_t dynamic_shared_bytes;
};

/* A texture, surface or sampler variable of a module, which has a handle in place of an address. */
struct module_reference {
    struct texture_reference reference;
    uint64_t handle;
    unsigned kind; /* enum texture_handle */
};
/* In ptx_var.handle: the other bits are an index in hd_module.references. */
#define REFERENCE (1u << 31)

/* The address of a module variable on the machine. */
struct variable {
    const struct ptx_var *var;
    const char *name;
    void *at;
};

struct hd_module {
    struct hd_module *next;
    _Atomic uint32_t refs; /* one until it is unloaded, and one for each submitted launch */
    struct hd_machine *machine;
    struct arena arena;
    struct ptx_image *image;
    VEC(struct variable) variables;
    /* 1 + the index of the first variable of each name, as a pointer. */
    struct map variables_by_name;
    VEC(struct module_reference *) references;
    struct map references_by_name;
    VEC(const char *) kernel_names;
    pthread_mutex_t lock; /* protects the kernels */
    struct hd_kernel *kernels;
    struct map kernels_by_name; /* the prepared kernels */
    struct map machine_code;    /* hd_machine_code by a kernel's name */
};

struct hd_checker {
    hd_machine *machine;
    hd_checker_options options;
    struct checker *checker;
    struct recorder *recorder; /* or NULL; that of the checker it was created with, or */
    bool records;              /* its own */
};

struct hd_explainer {
    hd_machine *machine;
    hd_explainer_options options;
    struct counter *counter;
    struct call_log *calls;
    struct stream_log *streams;      /* that of options.with, if it is set */
    const struct order_hooks *order; /* the hooks that the machine uses, or NULL */
    const struct device_model *model;
    pthread_mutex_t lock; /* protects the reports of launches: */
    struct alike alike;   /* launches that were reported in full, by number from 1 */
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
    const struct nested_hooks *nested_hooks; /* answers kernels' calls of the device runtime */
    const size_t *limits;                    /* nest_tell_limits(); or NULL */
    hd_stream *default_stream, *streams;
    pthread_mutex_t lock; /* protects the list of streams */
};

struct hd_stream {
    struct hd_context *context;
    struct stream *stream;
    struct hd_stream *next, **link; /* in the context's list */
};

/* A new task that calls `turn`, zeroed otherwise (task_new()); NULL if memory is exhausted. */
void *task_of_kind(size_t bytes, bool (*turn)(struct task *t, hd_result *result), enum task_kind kind);
/* Submits a task to the stream, takes ownership of it, and waits for it if asked to. */
hd_result stream_put_task(hd_stream *s, struct task *t, enum hd_wait wait);
/* The task of hd_stream_loop(); NULL if memory is exhausted. */
struct task *loop_task_new(bool (*next)(void *data, hd_result status, hd_event *until), void *data);
/* Makes the event the end of a task, and takes over the reference; NULL: the event is complete. */
void event_become(hd_event *e, struct task *t);
/* The task whose end the event is, with a reference; NULL: it was never
 * recorded, or is complete. */
struct task *event_task(hd_event *e);
/* Pauses a task that waits for others, between two looks. Other work gets the thread first. */
void stream_pause(const hd_machine *m, unsigned *turns);

/* Returns false if memory is exhausted. */
bool module_add_reference(hd_module *m, struct ptx_var *v);
void module_free_references(hd_module *m);

void module_free(hd_module *m);
void module_hold(hd_module *m);
void module_release(hd_module *m);
/* Frees modules that were unloaded while a checker or explainer needed them. */
void modules_forget(hd_machine *machine);

/* Checks a configuration and fills the request. The caller releases its parameters and textures
 * (launch_release()), after an error, too. Errors: HD_ERROR_INVALID_VALUE and
 * HD_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE with diagnostics, HD_ERROR_OUT_OF_MEMORY. */
hd_result launch_prepare(hd_kernel *k, const hd_launch_config *c, struct launch_request *q, struct diags *d);
void launch_release(const hd_machine *m, struct launch_request *q);
/* Fills the request's textures as they are now, or at the time of another launch (struct
 * launch_request), with the current bindings of the module's references. Returns false if memory is
 * exhausted. */
bool launch_take_textures(hd_module *m, struct launch_request *q, uint64_t since);

/* Do the kernel and the device allow the configuration? */
hd_result launch_dims(const hd_kernel *k, const hd_launch_config *c, struct launch_dims *dims, struct diags *d);

/* Reports a launch's counts to the explainer. NULL: there are none because memory was exhausted. */
void explainer_end(hd_explainer *e, struct counted_launch *l, uint32_t task);

/* A running launch, with its checker and explainer if the machine has them. */
struct running {
    struct launch *launch;
    struct counted_launch *counted;
    size_t findings; /* the number of findings before it */
};

/* The calling thread's place (hd_checker_options.place) as it launches; NULL if nothing asks. */
const void *launch_place(const hd_machine *m);
/* Like launch_begin(), launch_step() and launch_end(). */
void running_begin(hd_machine *m, struct launch_request *q, struct running *r, struct diags *diags);
hd_result running_end(hd_machine *m, struct launch_request *q, struct running *r, hd_launch_stats *stats,
                      struct diags *diags);

/* Runs a launch under the machine's debugger. Returns false if it has no stops, and is to run like
 * any other. */
bool api_debug_launch(hd_machine *m, struct launch_request *q, hd_launch_stats *stats, struct diags *diags,
                      hd_result *result);

/* Copies the texts that diagnostics refer to, since they may be freed before the report. */
void report_keep_places(hd_report *r);
/* Returns NULL if memory is exhausted. */
hd_report *report_new(void);
/* A step returns a result and fills a report with diagnostics, which the caller of this function
 * gets. If memory is exhausted, for the step or for `kept` (an arena for what the step makes, or
 * NULL), the step is abandoned. */
typedef hd_result report_step_fn(void *data, struct diags *d);
hd_result report_during(hd_report **report, struct arena *kept, report_step_fn *step, void *data);
/* Gives a report to the caller, or frees it if it is empty or not wanted. */
void report_give(hd_report *r, hd_report **report);

#endif
