/* A launch under the debugger, from its beginning to its end; see run.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/demangle.h"
#include "debug/debugger.h"
#include "debug/link.h"

struct debugger *debugger_create(int link, const char *policy, uint64_t snapshot_bytes, bool always,
                                 const char *dwarf_library)
{
    struct debugger *d = calloc(1, sizeof *d);
    if (!d || !(d->policy = strdup(policy))) {
        free(d);
        return NULL;
    }
    d->link = link;
    d->serve = requests_serve;
    d->poll = requests_poll;
    d->snapshot_bytes = snapshot_bytes;
    d->always = always;
    const char *file = schedule_replayed_file(policy);
    if (file)
        schedule_read_launch(file, &d->replayed);
    if (dwarf_library)
        scope_load(dwarf_library);
    pthread_mutex_init(&d->lock, NULL);
    return d;
}

void debugger_destroy(struct debugger *d)
{
    if (!d)
        return;
    while (d->points.n)
        point_delete(d, d->points.at[0]);
    free(d->points.at);
    free(d->edits.at);
    free(d->policy);
    free((char *)(uintptr_t)d->replayed.kernel);
    close(d->link);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- edits last as long as the launch ---- */

static void forget_edits(struct debugger *d)
{
    for (uint32_t i = 0; i < d->edits.n; i++) {
        free(d->edits.at[i].to);
        free(d->edits.at[i].value);
    }
    d->edits.n = 0;
}

static bool any_watch(const struct debugger *d)
{
    bool any = false;
    for (uint32_t i = 0; i < d->points.n; i++)
        any |= d->points.at[i]->kind == POINT_WATCH && d->points.at[i]->enabled;
    return any;
}

static bool is_wanted(const struct run *r)
{
    return r->d->always || r->locations.n || r->d->stop_at_launch || any_watch(r->d) || r->d->kills;
}

static void free_run(struct run *r)
{
    back_close(r);
    scope_close(r);
    arena_free(&r->arena);
    free(r);
}

static void let_go(struct run *r)
{
    struct debugger *d = r->d;
    d->run = NULL;
    free_run(r);
    pthread_mutex_unlock(&d->lock);
}

/* A schedule of one launch of a program is not that of the others. */
static const char *policy_of(struct debugger *d, const struct kernel *k)
{
    const char *of = d->replayed.kernel;
    if (!of || (str_is(k->func->symbol.name, of) && ++d->replayable == d->replayed.number))
        return d->policy;
    return "serial";
}

struct run *debug_open(struct debugger *d, struct machine *m, struct launch_request *request,
                       const struct debug_names *names)
{
    pthread_mutex_lock(&d->lock);
    struct run *r = d->gone ? NULL : calloc(1, sizeof *r);
    if (!r) {
        pthread_mutex_unlock(&d->lock);
        return NULL;
    }
    *r = (struct run){.d = d,
                      .machine = m,
                      .request = request,
                      .kernel = request->kernel,
                      .names = names,
                      .number = ++d->launches,
                      .policy = policy_of(d, request->kernel),
                      .reason = ""};
    r->stopper = (struct stopper){.data = r, .stop = move_on_stop, .fault = move_on_fault};
    r->client = (struct event_client){.data = r,
                                      .wants = EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_HEAP),
                                      .access = move_on_access,
                                      .heap = move_on_heap};
    back_open(r);
    d->run = r;
    scope_lines(r);
    points_locate(r);
    if (!d->begun) {
        d->begun = true;
        requests_tell_ready(r);
        requests_serve(r);
    } else if (requests_poll(r)) {
        d->stop_at_launch = true;
    }
    requests_tell_placed(r);
    if (is_wanted(r) && !d->gone)
        return r;
    let_go(r);
    return NULL;
}

void debug_run(struct run *r)
{
    const char *error = NULL;
    bool first = !r->again;
    r->launch = NULL;
    r->now = (struct stop){0};
    stops_mark(r->kernel, true);
    points_locate(r);
    r->stopper.now = 0;
    r->stopper.last = (struct stop){0};
    r->next_snapshot = 0;
    move_again(r, 0);
    if (first && r->d->stop_at_launch)
        r->interrupted = true;
    r->d->stop_at_launch = false;
    if (!schedule_open(&r->schedule, r->policy, NULL, &error))
        schedule_open(&r->schedule, "serial", NULL, &error);
    r->request->schedule = &r->schedule;
    r->request->stopper = &r->stopper;
    r->request->engine = HD_ENGINE_INTERP;
    r->request->deadline = 0;
    if (!events_add(&r->request->events, &r->client))
        r->no_way_back = "memory had run out";
}

/* Clears the state of a run, so that the next one begins anew. */
static void end_run(struct run *r)
{
    schedule_close(&r->schedule);
    r->request->schedule = NULL;
    r->request->stopper = NULL;
    if (r->print)
        r->machine->config.print = r->print;
    r->print = NULL;
    r->launch = NULL;
    r->now = (struct stop){0};
}

bool debug_again(struct run *r, hd_result result, const struct diags *diags)
{
    if (!r->again)
        move_end(r);
    bool again = r->again;
    /* What it was to come to has not come. */
    if (!again && !r->d->gone && !r->d->kills && r->pass != PASS_FORWARD) {
        r->pass = PASS_FORWARD;
        r->motion = MOVE_STEP;
    }
    r->furthest = r->stopper.now > r->furthest ? r->stopper.now : r->furthest;
    uint64_t end = r->stopper.now;
    end_run(r);
    if (!again && !r->d->gone && !r->d->kills && (r->motion != MOVE_ON || r->written.any)) {
        r->time = end;
        requests_tell_end(r, result, diags);
        requests_serve(r);
        again = r->again;
    }
    if (again)
        back_restart(r);
    return again;
}

void debug_tell_failure(struct debugger *d, const struct kernel *k, const struct diags *diags)
{
    pthread_mutex_lock(&d->lock);
    if (!d->gone && !d->kills)
        requests_tell_failure(d, k, diags);
    pthread_mutex_unlock(&d->lock);
}

void debug_close(struct run *r)
{
    stops_mark(r->kernel, false);
    forget_edits(r->d);
    r->request->engine = HD_ENGINE_AUTO;
    let_go(r);
}
