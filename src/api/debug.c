/* See debug.h. */
#include "api/debug.h"

#include "api/handles.h"

#include "base/demangle.h"
#include "debug/run.h"
#include "exec/nested.h"

struct debugger *api_debugger_create(int link, const struct debug_settings *settings)
{
    return debugger_create(link, settings->policy, settings->snapshot_bytes, settings->always, settings->dwarf_library);
}

void api_debugger_destroy(struct debugger *d)
{
    debugger_destroy(d);
}

void api_debug(hd_machine *m, struct debugger *d)
{
    m->debugger = d;
    m->machine->config.keeps_registers = true;
}

/* Finds a variable in any module; if several have the name, one of the first. */
static bool find_global(void *data, struct str name, uint64_t *address, const struct ptx_var **var)
{
    hd_machine *m = data;
    bool found = false;
    struct arena scratch = {0};
    pthread_mutex_lock(&m->lock);
    for (hd_module *module = m->modules; module && !found; module = module->next)
        for (uint32_t i = 0; i < module->variables.n && !found; i++) {
            const struct variable *v = &module->variables.at[i];
            if (!str_is(name, v->name) && !str_is(name, demangle(str_of(v->name), &scratch)))
                continue;
            *address = (uint64_t)(uintptr_t)v->at;
            *var = v->var;
            found = true;
        }
    pthread_mutex_unlock(&m->lock);
    arena_free(&scratch);
    return found;
}

static size_t count_findings(void *data)
{
    return checker_count(((hd_machine *)data)->checker->checker);
}

static bool report_findings(void *data, struct diags *diags)
{
    return checker_report(((hd_machine *)data)->checker->checker, diags);
}

/* Saved for running a launch again: to checkers it is another launch, and its task comes behind the
   original one. */
struct again {
    const struct order_hooks *order;
    uint32_t first, timeline;
};

static void again_begin(struct again *g, hd_machine *m, struct launch_request *q)
{
    const struct task_note note = {.kind = TASK_LAUNCH};
    uint32_t before = q->task;
    g->order = atomic_load(&m->machine->order);
    if (!g->order || !before)
        return;
    if (g->first)
        g->order->end(g->order->data, before);
    else
        g->first = before;
    q->task = g->order->submit(g->order->data, &g->timeline, &note, &before, 1);
    g->order->begin(g->order->data, q->task);
}

static void again_end(struct again *g, struct launch_request *q)
{
    if (!g->first)
        return;
    g->order->end(g->order->data, q->task);
    g->order->learn(g->order->data, g->first, q->task);
    g->order->close(g->order->data, g->timeline);
    q->task = g->first;
}

bool api_debug_launch(hd_machine *m, struct launch_request *q, hd_launch_stats *stats, struct diags *diags,
                      hd_result *result)
{
    const struct debug_checks checks = {m, count_findings, report_findings};
    const struct debug_names names = {m, m->checker && !(q->flags & HD_LAUNCH_UNCHECKED) ? &checks : NULL, find_global};
    struct run *run = debug_open(m->debugger, m->machine, q, &names);
    struct running r;
    struct again g = {0};
    bool again = true, holds = run && q->nested && !names.checks && !q->graph_run;
    const struct nested *nested = holds ? q->nested : NULL;
    if (nested)
        nested->hooks->hold(nested->data);
    while (run && again) {
        uint32_t before = diags->list.n, errors = diags->errors;
        debug_run(run);
        running_begin(m, q, &r, diags);
        while (r.launch && !launch_step(r.launch, NULL))
            ;
        *result = running_end(m, q, &r, stats, diags);
        again = debug_again(run, *result, diags);
        if (again)
            again_begin(&g, m, q);
        if (again && nested)
            nested->hooks->forget(nested->data);
        if (again) { /* findings of an interrupted run are dropped */
            diags->list.n = before;
            diags->errors = errors;
        }
    }
    again_end(&g, q);
    if (run)
        debug_close(run);
    if (nested)
        nested->hooks->let_go(nested->data);
    return run;
}
