/* Launches by grids; see nested.h. */
#include "api/nest.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "api/launch_task.h"
#include "base/demangle.h"
#include "base/monotonic.h"
#include "check/memory/rules.h"
#include "exec/thread_pool.h"

/* ---- launches ---- */

static hd_kernel *get_kernel(struct nest *n, struct nested_call *c, const struct ptx_func *f)
{
    hd_kernel *k = NULL;
    hd_report *report = NULL;
    char name[256];
    snprintf(name, sizeof name, "%.*s", STR_ARG(f->symbol.name));
    hd_result r = hd_module_get_kernel(n->module, name, &k, &report);
    if (r) {
        struct arena scratch = {0};
        char why[512];
        snprintf(why, sizeof why, "kernel `%s` cannot be launched: %s", demangle(f->symbol.name, &scratch),
                 report && report->diags.list.n ? report->diags.list.at[0].text : "memory is exhausted");
        nested_fault_detail(c, FAULT_child, why);
        arena_free(&scratch);
    }
    hd_report_free(report);
    return k;
}

bool nest_is_code(const struct nest *n, uint64_t address)
{
    return address - mem_code_window(&nest_engine(n)->mem) < MEM_CODE_BYTES;
}

bool nest_is_function(const struct nest *n, uint64_t address)
{
    return code_function(&nest_engine(n)->mem, n->module->image, address);
}

hd_kernel *nest_kernel(struct nest *n, struct nested_call *c, uint64_t address)
{
    pthread_mutex_lock(&n->lock);
    hd_kernel *k = n->last_kernel && n->last_address == address ? n->last_kernel : NULL;
    pthread_mutex_unlock(&n->lock);
    if (k)
        return k;
    const struct ptx_func *f = code_function(&nest_engine(n)->mem, n->module->image, address);
    k = f && f->entry ? get_kernel(n, c, f) : NULL;
    pthread_mutex_lock(&n->lock);
    n->last_address = address;
    n->last_kernel = k;
    pthread_mutex_unlock(&n->lock);
    return k;
}

/* The device's limit if the kernel may use more than 48 KiB, as on an H200. */
static uint32_t dynamic_shared_limit(const hd_kernel *k)
{
    uint32_t fixed = k->kernel->static_shared_bytes, asked = atomic_load(&k->dynamic_shared_bytes);
    uint32_t most = fixed < DEVICE_MAX_SHARED_MEMORY_PER_BLOCK ? DEVICE_MAX_SHARED_MEMORY_PER_BLOCK - fixed : 0;
    return asked > most ? UINT32_MAX : most;
}

static enum nest_error check_dims(const hd_kernel *k, const hd_launch_config *config, struct launch_dims *dims)
{
    struct arena arena = {0};
    struct diags d = {.arena = &arena, .limit = 1};
    volatile enum nest_error e = NEST_MEMORY_ALLOCATION;
    jmp_buf oom;
    arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        e = !launch_dims(k, config, dims, &d) && config->shared_bytes <= dynamic_shared_limit(k)
                ? NEST_SUCCESS
                : NEST_INVALID_CONFIGURATION;
    arena_free(&arena);
    return e;
}

static bool keep_parameters(struct nest *n, const struct nest_parameters *p)
{
    pthread_mutex_lock(&n->lock);
    struct nest_parameters *new = VEC_ADD(&n->parameters);
    if (new)
        *new = *p;
    pthread_mutex_unlock(&n->lock);
    return new;
}

uint64_t nest_parameters(struct nest *n, struct nested_call *c, hd_kernel *k, const hd_launch_config *config,
                         uint64_t bytes)
{
    struct nest_parameters p = {.kernel = k, .bytes = k ? k->kernel->param_bytes : bytes};
    struct mem *mem = &nest_engine(n)->mem;
    enum nest_error e = k ? check_dims(k, config, &p.dims) : NEST_SUCCESS;
    if (!e)
        p.address =
            (uint64_t)(uintptr_t)mem_alloc_zero(mem, p.bytes ? p.bytes : 1, MEM_DEVICE, "parameters of a launch");
    if (!e && (!p.address || !keep_parameters(n, &p))) {
        mem_free(mem, (void *)(uintptr_t)p.address);
        e = NEST_MEMORY_ALLOCATION;
    }
    nest_failed(n, c, e);
    return e ? 0 : p.address;
}

static bool take_parameters(struct nest *n, uint64_t address, struct nest_parameters *p)
{
    bool found = false;
    pthread_mutex_lock(&n->lock);
    for (uint32_t i = n->parameters.n; i-- > 0 && !found;)
        if (n->parameters.at[i].address == address) {
            *p = n->parameters.at[i];
            n->parameters.at[i] = n->parameters.at[--n->parameters.n];
            found = true;
        }
    pthread_mutex_unlock(&n->lock);
    return found;
}

/* Takes ownership of the task. Call with the lock held. */
static enum nest_error put(struct nest *n, const struct nested_call *c, struct task *t, uint64_t stream)
{
    enum nest_error e = NEST_MEMORY_ALLOCATION;
    bool alone = stream == NEST_STREAM_FIRE_AND_FORGET;
    struct task **tail = stream == NEST_STREAM_TAIL ? VEC_ADD(&n->tails) : NULL;
    if (tail) {
        *tail = t;
        return NEST_SUCCESS;
    }
    struct stream *s = alone || stream == NEST_STREAM_TAIL ? NULL : nest_find_stream(n, c, stream, &e);
    if (!s && !alone) {
        task_release(t);
        return e;
    }
    if (!n->holds)
        return nest_submit(n, t, s);
    e = nest_add_held(n, (struct nest_held){.task = t, .stream = s});
    if (e)
        task_release(t);
    return e;
}

enum nest_error nest_submit(struct nest *n, struct task *t, struct stream *s)
{
    struct stream *own = s ? NULL : nest_new_stream(n);
    struct task *held = NULL;
    if (!s && !own) {
        task_release(t);
        return NEST_MEMORY_ALLOCATION;
    }
    enum nest_error e = stream_put(s ? s : own, t, &held) ? NEST_SUCCESS : NEST_MEMORY_ALLOCATION;
    if (own)
        stream_destroy(own);
    if (!e && !nest_add_part(n, held)) {
        n->no_memory = true; /* the context is ending, and would not wait for the task */
        task_release(held);
    }
    return e;
}

enum nest_error nest_put(struct nest *n, struct nested_call *c, struct task *t, uint64_t stream)
{
    t->note.by = n->task;
    pthread_mutex_lock(&n->lock);
    checker_puts_for(nested_told(c), nested_warp(c), c->lane);
    enum nest_error e = put(n, c, t, stream);
    checker_puts_for(NULL, 0, 0);
    bool no_memory = n->no_memory;
    pthread_mutex_unlock(&n->lock);
    if (no_memory)
        context_fail(n->context->context, HD_ERROR_OUT_OF_MEMORY);
    return e;
}

/* ---- graphs ---- */

/* An H200 reports both as illegal addresses. */
enum nest_error nest_launch_graph(struct nest *n, struct nested_call *c, uint64_t graph, uint64_t stream)
{
    const hd_context_options *o = &n->context->options;
    hd_kernel_call call = {n, c};
    void *run = n->request->graph_run;
    int e = run && o->launch_graph ? o->launch_graph(o->data, &call, run, graph, stream) : NEST_ILLEGAL_ADDRESS;
    if (e == NEST_ILLEGAL_ADDRESS)
        nested_fault_detail(c, FAULT_no_kernel,
                            run ? "launches a graph that was not instantiated with cudaGraphInstantiateFlagDeviceLaunch"
                                : "launches a graph, which only a kernel that is itself a node of a graph may do");
    return (enum nest_error)e;
}

/* ---- how many are pending ---- */

static bool count_pending(struct machine *m)
{
    uint64_t now = atomic_load(&m->pending_launches);
    while (now < m->config.pending_launches)
        if (atomic_compare_exchange_weak(&m->pending_launches, &now, now + 1))
            return true;
    return false;
}

/* Waits until a launch has ended. Returns false if none seems to make progress, or if all threads
 * that could run one wait here. */
static bool await_ended(struct machine *m)
{
    enum { SOON = 100, PAUSE_MICROSECONDS = 50 };
    static const double patience_seconds = 0.2;
    uint64_t ended = atomic_load(&m->ended_launches);
    double since = seconds_now();
    bool may = atomic_load(&m->awaited_in_vain) != ended + 1;
    uint32_t others = atomic_fetch_add(&m->n_awaiting, 1);
    for (unsigned turns = 0; may && atomic_load(&m->ended_launches) == ended; turns++) {
        may = others + 1 < thread_pool_size(m->threads) && seconds_now() - since < patience_seconds;
        if (turns < SOON)
            sched_yield();
        else
            usleep(PAUSE_MICROSECONDS);
    }
    atomic_fetch_sub(&m->n_awaiting, 1);
    if (!may)
        atomic_store(&m->awaited_in_vain, ended + 1);
    return may;
}

/* Counts a launch as pending until it is complete (tail launches aside), within the limit
 * cudaLimitDevRuntimePendingLaunchCount. A device ends launches faster than kernels make them; here
 * a launch waits for another to end, as long as some do. Launches that wait for a debugger are not
 * counted: none ends before their grid, and they would leave no room for those that they make. */
static bool take_pending(const struct nest *n, struct machine *m)
{
    while (!n->holds && !count_pending(m))
        if (!await_ended(m))
            return false;
    return true;
}

static struct launch_task *new_launch(struct nest *n, const struct nested_call *c, const struct nest_parameters *p,
                                      bool tail)
{
    struct launch_task *l = launch_task_new(n->context, p->kernel);
    if (!l) {
        if (!n->holds)
            nest_uncount_pending(nest_engine(n));
        mem_free(&nest_engine(n)->mem, (void *)(uintptr_t)p->address);
        return NULL;
    }
    l->is_nested = !l->nest && !n->holds;
    if (l->nest)
        l->nest->is_pending = !n->holds;
    l->launched_at = nested_place(c);
    l->request = (struct launch_request){.kernel = p->kernel->kernel,
                                         .dims = p->dims,
                                         .flags = n->request->flags & HD_LAUNCH_UNCHECKED,
                                         .engine = n->request->engine,
                                         .deadline = n->request->deadline,
                                         .rules = n->request->rules,
                                         .params = (uint8_t *)(uintptr_t)p->address,
                                         .context = n->context->context,
                                         .launched_by = n->kernel,
                                         .nested = l->nest ? nest_calls(l->nest) : NULL};
    l->task.note.tail = tail;
    rules_keep(l->request.rules);
    if (launch_take_textures(p->kernel->module, &l->request, n->request->textures))
        return l;
    task_release(&l->task);
    return NULL;
}

/* Completes a parameter buffer with its kernel, unless that was known before. */
static enum nest_error complete(struct nest_parameters *p, hd_kernel *k, const hd_launch_config *config)
{
    if (p->kernel)
        return NEST_SUCCESS;
    p->kernel = k;
    return !k || p->bytes < k->kernel->param_bytes ? NEST_INVALID_CONFIGURATION : check_dims(k, config, &p->dims);
}

enum nest_error nest_launch(struct nest *n, struct nested_call *c, uint64_t address, uint64_t stream, hd_kernel *k,
                            const hd_launch_config *config)
{
    struct nest_parameters p;
    struct machine *m = nest_engine(n);
    bool tail = stream == NEST_STREAM_TAIL;
    if (!take_parameters(n, address, &p)) {
        nested_fault(c, FAULT_no_parameters, address);
        return NEST_SUCCESS;
    }
    enum nest_error e = complete(&p, k, config);
    if (!e && !take_pending(n, m))
        e = NEST_PENDING_COUNT_EXCEEDED;
    struct launch_task *l = e ? NULL : new_launch(n, c, &p, tail);
    if (l)
        return nest_put(n, c, &l->task, stream);
    if (!e) /* new_launch() has released everything */
        return NEST_MEMORY_ALLOCATION;
    mem_free(&m->mem, (void *)(uintptr_t)address);
    return e;
}
