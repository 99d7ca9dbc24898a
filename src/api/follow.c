/* Schedules of an explored launch: each is run before it is written; see explore.h. */
#include <string.h>

#include "api/explore.h"
#include "api/handles.h"
#include "explore/follow.h"

struct following {
    struct schedule_files *files;
    const hd_launch_config *config;
    const struct interleaving *order;
    const char *path;
    struct launch_request request;
    bool shown;
};

/* Does global memory hold the outcome's values? Shared memory no longer exists. */
static bool has_values(const struct schedule_files *files, const uint64_t *values)
{
    for (uint32_t i = 0; i < files->n_observed; i++) {
        const struct observed *o = &files->observed[i];
        if (o->block == GLOBAL_MEMORY && memcmp((const void *)(uintptr_t)o->address, &values[i], o->bytes) != 0)
            return false;
    }
    return true;
}

/* Did the run show what the interleaving is meant to show? */
static bool has_shown(const struct following *e, hd_result result)
{
    switch (e->order->kind) {
    case NOTICE_OUTCOME: return result == HD_SUCCESS && has_values(e->files, e->order->values);
    case NOTICE_RACE: return true;
    default:
        /* a trap, a deadlock, or threads that spin */
        return result != HD_SUCCESS && result != HD_ERROR_LAUNCH_TIMEOUT;
    }
}

static hd_result launch_guided(struct following *e, struct follow *f, struct schedule *s, struct diags *diags)
{
    hd_machine *m = e->files->kernel->module->machine;
    struct running r;
    if (!events_add(&e->request.events, &f->client))
        return HD_ERROR_OUT_OF_MEMORY;
    e->request.schedule = s;
    running_begin(m, &e->request, &r, diags);
    while (r.launch && !launch_step(r.launch, NULL))
        ;
    return running_end(m, &e->request, &r, NULL, diags);
}

static hd_result prepare_and_follow(void *data, struct diags *diags)
{
    struct following *e = data;
    struct schedule s;
    struct follow f;
    hd_result r = launch_prepare(e->files->kernel, e->config, &e->request, diags);
    if (r)
        return r;
    if (!follow_begin(&f, e->order, e->request.dims.grid))
        return HD_ERROR_OUT_OF_MEMORY;
    bool opened = schedule_open_guided(&s, &f.guide, e->path, e->files->launch);
    if (opened)
        r = launch_guided(e, &f, &s, diags);
    e->shown = opened && follow_has_come(&f, r != HD_SUCCESS) && has_shown(e, r);
    e->shown &= schedule_close(&s);
    follow_end(&f);
    return r;
}

/* Interleavings are short: a longer run does not reproduce the outcome. */
enum { FOLLOW_SECONDS = 5 };

static bool follow(struct schedule_files *files, const struct interleaving *order, const char *path)
{
    /* Without other writers, so that spinning threads are detected. */
    hd_launch_config closed = *files->config;
    struct following e = {.files = files, .config = &closed, .order = order, .path = path};
    hd_report *report;
    closed.flags |= HD_LAUNCH_CLOSED;
    closed.timeout_seconds = FOLLOW_SECONDS;
    report_during(&report, NULL, prepare_and_follow, &e);
    hd_report_free(report);
    launch_release(files->kernel->module->machine, &e.request);
    return e.shown;
}

const char *api_write_schedule(void *data, const struct interleaving *i, const char *name)
{
    struct schedule_files *files = data;
    size_t number = (size_t)(i - files->interleavings->all.at);
    if (!files->written)
        files->written = ARENA_ARRAY(files->arena, const char *, files->interleavings->all.n);
    if (!files->written[number]) {
        const char *path = arena_printf(files->arena, "%s/%s.schedule", files->folder, name);
        bool shown = follow(files, i, path);
        if (!shown)
            unlink(path);
        files->written[number] = shown ? arena_printf(files->arena, "%s/%s.schedule", files->called, name) : "";
    }
    return *files->written[number] ? files->written[number] : NULL;
}
