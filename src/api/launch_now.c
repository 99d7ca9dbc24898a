/* hd_launch(): a launch outside streams, which the caller waits for. */
#include <pthread.h>

#include "api/handles.h"
#include "api/nested.h"
#include "api/sized.h"

static hd_result launch_run(hd_machine *m, struct launch_request *q, hd_launch_stats *stats, struct diags *diags)
{
    struct running r;
    hd_result result;
    if (!m->debugger || !api_debug_launch(m, q, stats, diags, &result)) {
        running_begin(m, q, &r, diags);
        while (r.launch && !launch_step(r.launch, NULL))
            ;
        result = running_end(m, q, &r, stats, diags);
    }
    if (q->nested)
        nest_finish(q->nested->data, result);
    return result;
}

/* Orders a launch that is in no stream: it follows what the host has waited for, and the host waits
   for it. */
static hd_result launch_in_order(hd_kernel *k, struct launch_request *q, hd_launch_stats *stats, struct diags *diags)
{
    hd_machine *m = k->module->machine;
    const struct order_hooks *order = atomic_load(&m->machine->order);
    const struct task_note note = {.kind = TASK_LAUNCH, .name = k->name, .where = q->where = launch_place(m)};
    uint32_t timeline = 0;
    if (!order)
        return launch_run(m, q, stats, diags);
    q->task = order->submit(order->data, &timeline, &note, NULL, 0);
    order->begin(order->data, q->task);
    hd_result r = launch_run(m, q, stats, diags);
    order->end(order->data, q->task);
    order->wait(order->data, &q->task, 1);
    order->close(order->data, timeline);
    return r;
}

/* ---- with launches of its own ---- */

/* The reports of failed launches. */
struct collected {
    pthread_mutex_t lock;
    hd_report *report;
};

static void collect(void *data, hd_result result, hd_report *report)
{
    struct collected *c = data;
    (void)result;
    pthread_mutex_lock(&c->lock);
    jmp_buf oom;
    c->report->arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        diags_append(&c->report->diags, &report->diags);
    c->report->arena.on_oom = NULL;
    pthread_mutex_unlock(&c->lock);
}

static hd_result launch_nest(hd_kernel *k, struct launch_request *q, hd_launch_stats *stats, struct diags *diags)
{
    struct collected failed = {.lock = PTHREAD_MUTEX_INITIALIZER, .report = report_new()};
    const hd_context_options options = {.fault = collect, .data = &failed};
    hd_context *c = NULL;
    struct nest *n = NULL;
    hd_result r = failed.report ? hd_context_create(k->module->machine, &options, &c) : HD_ERROR_OUT_OF_MEMORY;
    if (!r && !(n = nest_new(c, k->module, k->name)))
        r = HD_ERROR_OUT_OF_MEMORY;
    if (!r) {
        q->context = c->context;
        q->nested = nest_calls(n);
        nest_begin(n, q, stream_number(c->default_stream->stream));
        r = launch_in_order(k, q, stats, diags);
    }
    hd_result of_children = c ? hd_context_synchronize(c) : r;
    /* A child grid's fault ended the launch. */
    if (of_children && (!r || r == HD_ERROR_CANCELLED)) {
        r = of_children;
        diags_append(diags, &failed.report->diags);
    }
    nest_free(n);
    hd_context_destroy(c);
    hd_report_free(failed.report);
    return r;
}

struct launching {
    hd_kernel *kernel;
    const hd_launch_config *config;
    hd_launch_stats *stats;
    struct launch_request request;
};

static hd_result prepare_and_launch(void *data, struct diags *diags)
{
    struct launching *l = data;
    hd_result r = launch_prepare(l->kernel, l->config, &l->request, diags);
    if (r)
        return r;
    return l->kernel->kernel->nests ? launch_nest(l->kernel, &l->request, l->stats, diags)
                                    : launch_in_order(l->kernel, &l->request, l->stats, diags);
}

hd_result hd_launch_sized(hd_kernel *k, const hd_launch_config *config, size_t config_bytes, hd_launch_stats *stats,
                          size_t stats_bytes, hd_report **report)
{
    hd_launch_config own;
    hd_launch_stats did = {0};
    struct launching l = {.kernel = k, .config = config, .stats = &did};
    if (report)
        *report = NULL;
    if (!k || !config)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = SIZED_VIEW(hd_launch_config, &l.config, &own, config_bytes);
    if (r)
        return r;
    r = report_during(report, NULL, prepare_and_launch, &l);
    launch_release(k->module->machine, &l.request);
    SIZED_WRITE(stats, stats_bytes, &did);
    return r;
}
