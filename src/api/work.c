/* Work of streams (include/heddle.h): launches and host calls. Memory operations are in
 * stream_memory.c. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/launch_task.h"
#include "api/nested.h"
#include "api/sized.h"
#include "base/demangle.h"
#include "check/memory/rules.h"
#include "debug/run.h"
#include "exec/schedule.h"
#include "exec/thread_pool.h"

/* ---- launches ---- */

/* A kernel runs on this thread: launches that it makes must not run on top of it. */
static _Thread_local bool runs_launch;

/* Is enough stack left to run kernels? The thread may be the program's own. The engines take a few
 * pages; compiled code of gangs takes most. */
static bool has_stack(void)
{
    enum { ENOUGH = 256 << 10 };
    static _Thread_local struct {
        bool known;
        const char *low, *high;
    } stack;
    const char *here = __builtin_frame_address(0);
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (!stack.known && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
            stack.low = low;
            stack.high = stack.low + bytes;
        }
        pthread_attr_destroy(&attributes);
    }
    stack.known = true;
    return here < stack.high && here > stack.low && here - stack.low > ENOUGH;
}

/* May the launch end before it could be handed to another thread? After a wrong guess, the kernel's
 * next launches are handed over, twice as many each time. */
static bool may_be_brief(struct launch_task *l)
{
    enum { FEW_WARPS = 64 };
    struct kernel *k = l->request.kernel;
    const struct launch_dims *d = &l->request.dims;
    uint64_t blocks = (uint64_t)d->grid[0] * d->grid[1] * d->grid[2];
    uint64_t warps = ((uint64_t)d->block[0] * d->block[1] * d->block[2] + WARP_LANES - 1) / WARP_LANES;
    const hd_machine *m = l->machine;
    bool watched =
        m->tracer || m->checker || m->explainer || l->request.schedule || m->machine->schedule.policy != POLICY_FAIR;
    if (watched || blocks > FEW_WARPS || blocks * warps > FEW_WARPS || runs_launch || k->nests || !has_stack())
        return false;
    uint32_t left = atomic_load(&k->to_hand_over);
    if (left)
        atomic_store(&k->to_hand_over, left - 1);
    return !left;
}

static void note_brief(struct kernel *k, bool done)
{
    enum { MOST = 1024 };
    uint32_t n = done ? 0 : atomic_load(&k->handed_over);
    n = done ? 0 : n == 0 ? 1 : n < MOST ? 2 * n : MOST;
    atomic_store(&k->handed_over, n);
    atomic_store(&k->to_hand_over, n);
}

/* HD_ON_ERROR_KERNEL ends the kernel alone if its own fault failed it, not a refused resource. */
static bool ends_kernel_alone(const hd_machine *m, hd_result result)
{
    return m->checker && m->checker->options.on_error == HD_ON_ERROR_KERNEL && result >= HD_ERROR_ILLEGAL_ADDRESS &&
           result <= HD_ERROR_LAUNCH_FAILED && result != HD_ERROR_LAUNCH_TIMEOUT;
}

/* Releases the launch's hold on the machine; the task itself may be referred to for longer. */
static void let_go(struct launch_task *l)
{
    launch_release(l->machine, &l->request);
    module_release(l->module);
    l->module = NULL;
    if (l->is_nested)
        nest_uncount_pending(l->machine->machine);
    l->is_nested = false;
}

/* Adds to its report which kernel launched it. */
static void tell_parent(const struct launch_task *l, hd_report *r)
{
    if (l->request.launched_by)
        diag_note(&r->diags, fault_place(l->launched_at, &r->arena), "launched-by", "launched by kernel `%s`",
                  demangle(str_of(l->request.launched_by), &r->arena));
}

/* Returns false if the launch continues in another turn, and has no report yet. */
static bool launch_now(struct launch_task *l, hd_report *r, hd_result *result)
{
    struct thread_pool *others = l->machine->machine->threads;
    bool debugged =
        l->machine->debugger && !l->begun && api_debug_launch(l->machine, &l->request, NULL, &r->diags, result);
    if (!l->begun && !debugged)
        running_begin(l->machine, &l->request, &l->running, &r->diags);
    l->begun = true;
    bool brief = l->task.brief;
    l->task.brief = false;
    if (!debugged && l->running.launch) {
        l->running.launch->is_brief = brief;
        bool done = launch_step(l->running.launch, others);
        if (brief)
            note_brief(l->request.kernel, done);
        if (!done)
            return false;
    }
    if (!debugged)
        *result = running_end(l->machine, &l->request, &l->running, NULL, &r->diags);
    if (*result && l->machine->debugger && !debugged)
        debug_tell_failure(l->machine->debugger, l->request.kernel, &r->diags);
    if (*result)
        diag_of_kernel(&r->diags, demangle(l->request.kernel->func->symbol.name, &r->arena), NULL);
    if (*result)
        tell_parent(l, r);
    if (*result && l->context->options.fault)
        l->context->options.fault(l->context->options.data, *result, r);
    if (ends_kernel_alone(l->machine, *result))
        *result = HD_SUCCESS;
    let_go(l);
    return true;
}

static bool run_launch(struct task *t, hd_result *result)
{
    struct launch_task *l = (struct launch_task *)t;
    hd_report r = {.diags = {.arena = &r.arena, .limit = 50}};
    jmp_buf oom;
    volatile bool done = true;
    l->request.task = t->number;
    if (l->nest && !l->begun)
        nest_begin(l->nest, &l->request, t->note.stream);
    r.arena.on_oom = &oom;
    *result = HD_ERROR_OUT_OF_MEMORY;
    runs_launch = true;
    if (setjmp(oom) == 0)
        done = launch_now(l, &r, result);
    runs_launch = false;
    r.arena.on_oom = NULL;
    arena_free(&r.arena);
    return done;
}

static struct task *part_of_launch(struct task *t)
{
    struct launch_task *l = (struct launch_task *)t;
    return l->nest ? nest_part(l->nest) : NULL;
}

static void drop_launch(struct task *t)
{
    struct launch_task *l = (struct launch_task *)t;
    let_go(l);
    rules_release(l->request.rules);
    nest_free(l->nest);
}

struct launch_task *launch_task_new(hd_context *c, hd_kernel *k)
{
    struct nest *nest = k->kernel->nests ? nest_new(c, k->module, k->name) : NULL;
    struct launch_task *l = nest || !k->kernel->nests ? (struct launch_task *)task_new(sizeof *l) : NULL;
    if (!l) {
        nest_free(nest);
        return NULL;
    }
    l->task.turn = run_launch;
    l->task.part = part_of_launch;
    l->task.drop = drop_launch;
    l->task.note = (struct task_note){.kind = TASK_LAUNCH, .name = k->name};
    l->context = c;
    l->machine = k->module->machine;
    l->module = k->module;
    l->nest = nest;
    module_hold(l->module);
    return l;
}

struct putting {
    hd_stream *stream;
    hd_kernel *kernel;
    const hd_launch_config *config;
};

static hd_result put_launch(void *data, struct diags *d)
{
    const struct putting *p = data;
    hd_kernel *k = p->kernel;
    struct launch_task *l = launch_task_new(p->stream->context, k);
    if (!l)
        return HD_ERROR_OUT_OF_MEMORY;
    l->task.note.programmatic = p->config->flags & HD_LAUNCH_PROGRAMMATIC;
    hd_result r = launch_prepare(k, p->config, &l->request, d);
    if (r) {
        task_release(&l->task);
        return r;
    }
    l->request.context = l->context->context;
    l->request.where = l->task.note.where = launch_place(l->machine);
    l->request.nested = l->nest ? nest_calls(l->nest) : NULL;
    rules_keep(l->request.rules);
    l->task.brief = may_be_brief(l);
    return stream_put(p->stream->stream, &l->task, NULL) ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_stream_launch_sized(hd_stream *s, hd_kernel *k, const hd_launch_config *config, size_t bytes,
                                 hd_report **report)
{
    hd_launch_config own;
    struct putting p = {s, k, config};
    if (report)
        *report = NULL;
    if (!s || !k || !config)
        return HD_ERROR_INVALID_VALUE;
    hd_result unknown = SIZED_VIEW(hd_launch_config, &p.config, &own, bytes);
    if (unknown)
        return unknown;
    hd_result fault = context_fault(s->context->context);
    return fault ? fault : report_during(report, NULL, put_launch, &p);
}

void *task_of_kind(size_t bytes, bool (*turn)(struct task *t, hd_result *result), enum task_kind kind)
{
    struct task *t = task_new(bytes);
    if (t) {
        t->turn = turn;
        t->note.kind = kind;
    }
    return t;
}

hd_result stream_put_task(hd_stream *s, struct task *t, enum hd_wait wait)
{
    struct task *held;
    hd_result before = context_fault(s->context->context);
    if (!stream_put(s->stream, t, wait ? &held : NULL))
        return HD_ERROR_OUT_OF_MEMORY;
    if (!wait) /* a later call returns its own fault, however fast the launch is */
        return before;
    task_wait(held);
    if (wait == HD_WAIT)
        task_order_host(held);
    task_release(held);
    return context_fault(s->context->context);
}

/* ---- the host ---- */

struct call_task {
    struct task task;
    void (*function)(void *data, hd_result status);
    void *data;
};

static bool run_call(struct task *t, hd_result *result)
{
    (void)result;
    struct call_task *c = (struct call_task *)t;
    c->function(c->data, task_status(t));
    return true;
}

hd_result hd_stream_call(hd_stream *s, void (*function)(void *data, hd_result status), void *data, unsigned flags)
{
    if (!s || !function)
        return HD_ERROR_INVALID_VALUE;
    struct call_task *t = task_of_kind(sizeof *t, run_call, flags & HD_CALL_UPKEEP ? TASK_MARK : TASK_CALL);
    if (!t)
        return HD_ERROR_OUT_OF_MEMORY;
    t->task.always = flags & HD_CALL_ALWAYS;
    t->function = function;
    t->data = data;
    return stream_put_task(s, &t->task, HD_NO_WAIT);
}

struct gate_task {
    struct task task;
    hd_machine *machine;
    bool (*is_open)(void *data, hd_result status);
    void *data;
    unsigned turns;
};

void stream_pause(const hd_machine *m, unsigned *turns)
{
    enum { SOON = 100, PAUSE_MICROSECONDS = 100 };
    if (*turns >= SOON && !thread_pool_is_crowded(m->machine->threads))
        usleep(PAUSE_MICROSECONDS);
    else
        sched_yield();
    *turns += *turns < SOON;
}

static bool run_gate(struct task *t, hd_result *result)
{
    (void)result;
    struct gate_task *g = (struct gate_task *)t;
    bool open = g->is_open(g->data, task_status(t));
    if (!open)
        stream_pause(g->machine, &g->turns);
    return open;
}

hd_result hd_stream_gate(hd_stream *s, bool (*is_open)(void *data, hd_result status), void *data)
{
    if (!s || !is_open)
        return HD_ERROR_INVALID_VALUE;
    struct gate_task *t = task_of_kind(sizeof *t, run_gate, TASK_GATE);
    if (!t)
        return HD_ERROR_OUT_OF_MEMORY;
    t->task.always = true;
    t->machine = s->context->machine;
    t->is_open = is_open;
    t->data = data;
    return stream_put_task(s, &t->task, HD_NO_WAIT);
}
