/* Serving a front end while a launch stands still; see requests.h. */
#include "debug/requests.h"

#include <string.h>

#include "base/demangle.h"
#include "debug/link.h"
#include "exec/machine.h"

/* ---- how it goes on ---- */

static const struct {
    const char *name;
    enum motion motion;
} motions[] = {
    {"continue", MOVE_ON}, {"step", MOVE_STEP},      {"next", MOVE_NEXT},      {"finish", MOVE_FINISH},
    {"until", MOVE_UNTIL}, {"stepi", MOVE_STEP_PTX}, {"nexti", MOVE_NEXT_PTX},
};
enum { MOTIONS = sizeof motions / sizeof motions[0] };

static const char *way_back(const struct run *r)
{
    return r->no_way_back             ? r->no_way_back
           : r->lost                  ? "the launch has changed more memory than --snapshots keeps"
           : !r->furthest && !r->time ? "nothing has run yet"
                                      : NULL;
}

static const char *no_way_back(struct asked *a)
{
    const char *why = way_back(a->r);
    return why ? arena_printf(&a->arena, "the launch cannot go back: %s", why) : NULL;
}

static const char *move(struct asked *a, enum motion motion)
{
    struct run *r = a->r;
    uint64_t count = (uint64_t)asked_number(a, "count", 1);
    bool ended = !r->now.warp;
    if (asked_switch(a, "reverse")) {
        const char *wrong = no_way_back(a);
        if (wrong)
            return wrong;
        if (ended && motion != MOVE_ON && motion != MOVE_STEP)
            return "the launch has ended: reverse-continue and reverse-step lead back into it";
        r->searched = NULL;
        move_back(r, motion, count);
    } else {
        struct where w = thread_find(r->launch, &r->now, &r->focus);
        struct line_keys keys = {0};
        if (motion != MOVE_ON && !w.act && w.state != THREAD_FRESH)
            return w.state == THREAD_EXITED
                       ? "the thread has ended; `cuda thread` selects another one, `continue` goes on"
                       : "no thread is stopped; `continue` goes on";
        /* The frame is of a library function, inlined into the line. */
        if (motion == MOVE_FINISH && r->frame < frames_hidden(&r->lines, &w))
            motion = MOVE_NEXT;
        if (w.act)
            keys_find(&r->lines, w.act, w.op, &keys);
        if (motion == MOVE_FINISH && keys.n < 2 + move_outer(r, &w))
            return "the thread is in the kernel itself, not in a called function; `continue` goes on";
        r->searched = NULL;
        move_begin(r, motion, count);
    }
    a->goes_on = true;
    return NULL;
}

static const char *request_goto(struct asked *a)
{
    int64_t time = asked_number(a, "time", -1);
    const char *wrong = no_way_back(a);
    if (wrong)
        return wrong;
    if (time < 0 || (uint64_t)time > a->r->furthest)
        return arena_printf(
            &a->arena, "the time must be 0 to %llu, counted in operations of warps: the launch has not run further",
            (unsigned long long)a->r->furthest);
    a->r->searched = NULL;
    move_to(a->r, (uint64_t)time);
    a->goes_on = true;
    return NULL;
}

const char *request_last_write(struct asked *a)
{
    const char *text = asked_text(a, "expression"), *wrong = no_way_back(a);
    if (wrong)
        return wrong;
    struct point *p = watch_point(a, text ? text : "", &wrong);
    if (!p)
        return wrong;
    p->enabled = false;
    p->temporary = true;
    move_search(a->r, p);
    a->goes_on = true;
    return NULL;
}

static const char *request_run(struct asked *a)
{
    a->goes_on = true;
    return NULL;
}

static const char *request_stop_at_launch(struct asked *a)
{
    a->r->d->stop_at_launch = true;
    return NULL;
}

static const char *request_kill(struct asked *a)
{
    a->r->d->kills = a->goes_on = true;
    return NULL;
}

static const char *request_detach(struct asked *a)
{
    a->r->d->gone = a->goes_on = true;
    return NULL;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    request_fn *serve;
} requests[] = {
    {"run", request_run},
    {"goto", request_goto},
    {"last_write", request_last_write},
    {"stop_at_launch", request_stop_at_launch},
    {"kill", request_kill},
    {"detach", request_detach},
    {"break", request_break},
    {"watch", request_watch},
    {"delete", request_delete},
    {"enable", request_enable},
    {"disable", request_disable},
    {"ignore", request_ignore},
    {"condition", request_condition},
    {"points", request_points},
    {"focus", request_focus},
    {"frame", request_frame},
    {"frames", request_frames},
    {"print", request_print},
    {"type", request_type},
    {"parts", request_parts},
    {"shared", request_shared},
    {"set", request_set},
    {"locals", request_locals},
    {"args", request_args},
    {"registers", request_registers},
    {"memory", request_memory},
    {"blocks", request_blocks},
    {"warps", request_warps},
    {"lanes", request_lanes},
    {"functions", request_functions},
    {"function", request_function},
    {"line", request_line},
    {"ptx", request_ptx},
    {"launch", request_launch},
};
enum { REQUESTS = sizeof requests / sizeof requests[0] };

static const char *serve(struct asked *a)
{
    const char *name = asked_text(a, "do");
    for (unsigned i = 0; name && i < MOTIONS; i++)
        if (strcmp(name, motions[i].name) == 0)
            return move(a, motions[i].motion);
    for (unsigned i = 0; name && i < REQUESTS; i++)
        if (strcmp(name, requests[i].name) == 0)
            return requests[i].serve(a);
    return "no such request";
}

static const char *serve_guarded(struct asked *a)
{
    a->arena.on_oom = &a->no_memory;
    if (setjmp(a->no_memory))
        return "out of memory";
    return serve(a);
}

/* Takes the next request, which is the caller's; NULL: the front end has gone. */
static json_t *next_request(struct debugger *d, bool *interrupts)
{
    json_t *request = link_receive(d->link);
    const char *name = json_string_value(json_object_get(request, "do"));
    *interrupts = name && strcmp(name, "interrupt") == 0;
    d->gone |= !request;
    return request;
}

/* Answers a request, and frees it; true where the launch goes on. */
static bool answer(struct run *r, json_t *request)
{
    struct asked a = {.r = r, .request = request, .answer = json_object()};
    const char *wrong = serve_guarded(&a);
    if (wrong)
        json_object_set_new(a.answer, "error", tell_text(wrong));
    r->d->gone |= !link_send(r->d->link, a.answer);
    json_decref(request);
    arena_free(&a.arena);
    return a.goes_on;
}

void requests_serve(struct run *r)
{
    for (bool goes_on = false, interrupts; !goes_on && !r->d->gone;) {
        json_t *request = next_request(r->d, &interrupts);
        if (request && !interrupts)
            goes_on = answer(r, request);
        else /* too late: it stands still already */
            json_decref(request);
    }
}

/* What can be asked while the launch runs. */
static bool is_of_points(const json_t *request)
{
    static const char *const names[] = {"break", "delete", "enable", "disable", "ignore", "condition", "points"};
    const char *name = json_string_value(json_object_get(request, "do"));
    bool is = false;
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        is |= strcmp(name, names[i]) == 0;
    return is;
}

bool requests_poll(struct run *r)
{
    struct debugger *d = r->d;
    bool stops = false;
    while (!d->gone && !d->kills && link_has_message(d->link)) {
        bool interrupts;
        json_t *request = next_request(d, &interrupts);
        const char *name = json_string_value(json_object_get(request, "do"));
        stops |= interrupts;
        d->kills |= name && strcmp(name, "kill") == 0;
        if (is_of_points(request)) {
            answer(r, request);
            continue;
        }
        if (request && !interrupts && !d->kills)
            d->gone |= !link_send(d->link, json_pack("{s:s}", "error", "the launch is running: it must stop first"));
        json_decref(request);
    }
    return stops;
}
