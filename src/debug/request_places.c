/* Requests about threads, and where they are; see requests.h. */
#include <stdlib.h>

#include "base/demangle.h"
#include "base/diag.h"
#include "debug/requests.h"
#include "exec/barrier.h"
#include "exec/launch.h"
#include "exec/worker.h"

static const char nothing_runs[] = "nothing runs yet: set breakpoints and `run`";
static const char has_ended[] = "the launch has ended; reverse-continue and reverse-step lead back into it";

static const char *no_launch(const struct run *r)
{
    return r->launch && r->now.warp ? NULL : r->time ? has_ended : nothing_runs;
}

const struct call_frame *asked_frame(struct asked *a, struct where *w, const char **wrong)
{
    struct run *r = a->r;
    struct call_frame *frames = ARENA_ARRAY(&a->arena, struct call_frame, MOST_FRAMES);
    *wrong = no_launch(r);
    if (*wrong)
        return NULL;
    *w = thread_find(r->launch, &r->now, &r->focus);
    uint32_t n = frames_find(&r->lines, w, frames, &a->arena);
    *wrong = w->state == THREAD_EXITED  ? "the thread has ended"
             : w->state == THREAD_FRESH ? "the thread has not begun"
             : !n                       ? "the thread has ended or has not begun: its block does not run now"
                                        : NULL;
    return n ? &frames[r->frame < n ? r->frame : 0] : NULL;
}

/* ---- focus ---- */

static bool read_coordinates(const json_t *v, uint32_t at[3])
{
    for (size_t i = 0; i < 3; i++) {
        const json_t *c = json_array_get(v, i);
        at[i] = json_is_integer(c) && json_integer_value(c) >= 0 && json_integer_value(c) < UINT32_MAX
                    ? (uint32_t)json_integer_value(c)
                : c ? UINT32_MAX
                    : 0;
    }
    return json_is_array(v);
}

static const char *dims_text(const uint32_t d[3], struct arena *arena)
{
    return arena_printf(arena, "%u x %u x %u", d[0], d[1], d[2]);
}

const char *request_focus(struct asked *a)
{
    struct run *r = a->r;
    const char *wrong = no_launch(r);
    uint32_t at[3];
    struct thread_name t = r->focus;
    const struct launch_dims *d = &r->request->dims;
    if (wrong)
        return wrong;
    if (read_coordinates(json_object_get(a->request, "block"), at) && !block_at(r, at, &t.block))
        return arena_printf(&a->arena, "there is no such block: the grid has %s", dims_text(d->grid, &a->arena));
    if (read_coordinates(json_object_get(a->request, "thread"), at) && !thread_at(r, at, &t))
        return arena_printf(&a->arena, "there is no such thread: a block has %s", dims_text(d->block, &a->arena));
    int64_t warp = asked_number(a, "warp", -1), lane = asked_number(a, "lane", -1);
    if (warp >= 0) {
        if (warp >= r->launch->warps_per_block)
            return arena_printf(&a->arena, "there is no such warp: a block has %u", r->launch->warps_per_block);
        t.warp = (uint32_t)warp;
        t.lane = 0;
    }
    if (lane >= 0) {
        uint64_t threads = (uint64_t)d->block[0] * d->block[1] * d->block[2];
        if (lane >= WARP_LANES || t.warp * (uint64_t)WARP_LANES + (uint64_t)lane >= threads)
            return "there is no such lane in the warp";
        t.lane = (uint32_t)lane;
    }
    struct where w = thread_find(r->launch, &r->now, &t);
    if (!w.warp)
        return arena_printf(&a->arena,
                            "block (%u,%u,%u) has ended, or not begun; `info cuda blocks` lists those that run",
                            (unsigned)(t.block % d->grid[0]), (unsigned)(t.block / d->grid[0] % d->grid[1]),
                            (unsigned)(t.block / d->grid[0] / d->grid[1]));
    r->focus = t;
    frame_reset(r);
    tell_place(r, a->answer, &a->arena);
    return NULL;
}

const char *request_frame(struct asked *a)
{
    struct run *r = a->r;
    struct where w;
    const char *wrong;
    struct call_frame frames[MOST_FRAMES];
    if (!asked_frame(a, &w, &wrong))
        return wrong;
    uint32_t n = frames_find(&r->lines, &w, frames, &a->arena);
    int64_t level = asked_number(a, "frame", 0);
    if (level < 0 || level >= n)
        return arena_printf(&a->arena, "frames are 0 to %u", n - 1);
    r->frame = (uint32_t)level;
    tell_place(r, a->answer, &a->arena);
    return NULL;
}

const char *request_frames(struct asked *a)
{
    struct where w;
    const char *wrong;
    struct call_frame frames[MOST_FRAMES];
    if (!asked_frame(a, &w, &wrong))
        return wrong;
    uint32_t n = frames_find(&a->r->lines, &w, frames, &a->arena);
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(list, show_frame(&frames[i]));
    json_object_set_new(a->answer, "frames", list);
    json_object_set_new(a->answer, "level", json_integer(a->r->frame));
    return NULL;
}

/* ---- lists ---- */

/* What lanes wait for, in words. */
static const char *waits_for(const struct where *w, struct arena *arena)
{
    if (w->state != THREAD_WAITS)
        return NULL;
    for (const struct wait *t = w->warp->waits; t; t = t->next)
        if (t->lanes >> w->lane & 1)
            return t->op->kind == OP_BAR ? barrier_name(t->barrier)
                                         : arena_printf(arena, "lanes of mask 0x%08x", t->membermask);
    return NULL;
}

/* The place that lanes have in common. */
static json_t *place_json(struct run *r, const struct where *w, uint32_t lanes, struct arena *arena)
{
    struct call_frame frames[MOST_FRAMES];
    json_t *to = json_pack("{s:s, s:I}", "state", thread_state_word(w->state), "lanes", (json_int_t)lanes);
    const char *waits = waits_for(w, arena);
    uint32_t hidden = frames_hidden(&r->lines, w);
    if (frames_find(&r->lines, w, frames, arena) > hidden)
        json_object_set_new(to, "frame", show_frame(&frames[hidden]));
    if (waits)
        json_object_set_new(to, "waits", json_string(waits));
    return to;
}

/* The places of a warp's lanes, each with those that are there. */
static json_t *places_of(struct run *r, struct warp *warp, struct arena *arena)
{
    json_t *list = json_array();
    for (uint32_t left = warp->exists; left;) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        struct where w = lane_find(&r->now, warp, lane);
        uint32_t same = (w.lanes | 1u << lane) & left;
        json_array_append_new(list, place_json(r, &w, same, arena));
        left &= ~same;
    }
    return list;
}

const char *request_lanes(struct asked *a)
{
    struct run *r = a->r;
    const char *wrong = no_launch(r);
    struct where w = wrong ? (struct where){0} : thread_find(r->launch, &r->now, &r->focus);
    if (wrong || !w.warp)
        return wrong ? wrong : "the selected block has ended";
    json_object_set_new(a->answer, "focus", show_thread(r, &r->focus));
    json_object_set_new(a->answer, "list", places_of(r, w.warp, &a->arena));
    return NULL;
}

const char *request_warps(struct asked *a)
{
    struct run *r = a->r;
    const char *wrong = no_launch(r);
    struct block *b = wrong ? NULL : block_find(r->launch, r->focus.block);
    json_t *list = json_array();
    for (uint32_t i = 0; b && i < b->n_warps; i++)
        json_array_append_new(
            list, json_pack("{s:I, s:o}", "warp", (json_int_t)i, "places", places_of(r, &b->warps[i], &a->arena)));
    json_object_set_new(a->answer, "list", list);
    json_object_set_new(a->answer, "focus", show_thread(r, &r->focus));
    return wrong ? wrong : b ? NULL : "the selected block has ended";
}

const char *request_blocks(struct asked *a)
{
    enum { MOST = 1000 };
    struct run *r = a->r;
    const char *wrong = no_launch(r);
    json_t *list = json_array();
    uint64_t running = 0;
    for (struct worker *k = wrong ? NULL : r->launch->workers; k; k = k->next)
        for (struct block *b = k->resident; b; b = b->next)
            if (running++ < MOST)
                json_array_append_new(list, json_pack("{s:[I,I,I], s:I, s:b}", "block", (json_int_t)b->ctaid[0],
                                                      (json_int_t)b->ctaid[1], (json_int_t)b->ctaid[2], "done",
                                                      (json_int_t)b->n_done, "focus", b->index == r->focus.block));
    json_object_set_new(a->answer, "list", list);
    if (wrong)
        return wrong;
    json_object_set_new(a->answer, "warps", json_integer(r->launch->warps_per_block));
    json_object_set_new(a->answer, "running", json_integer((json_int_t)running));
    json_object_set_new(a->answer, "blocks", json_integer((json_int_t)r->launch->n_blocks));
    return NULL;
}

/* ---- the code ---- */

const char *request_functions(struct asked *a)
{
    struct run *r = a->r;
    json_t *names = json_object(), *list = json_array(); /* each name once */
    for (uint32_t i = 0; i < r->kernel->functions.n; i++) {
        const struct code *c = r->kernel->functions.at[i];
        json_object_set_new(names, demangle(c->ir->func->symbol.name, &a->arena), json_true());
        for (uint32_t o = 0; o < c->n_ops; o++) {
            const struct source_place *p = place_of_op(&r->lines, &c->ops[o]);
            for (uint32_t k = 1; p && k < p->n; k++)
                if (p->at[k].function && !is_library_file(p->at[k].file))
                    json_object_set_new(names, p->at[k].function, json_true());
        }
    }
    const char *name;
    json_t *value;
    json_object_foreach(names, name, value) json_array_append_new(list, json_string(name));
    json_decref(names);
    json_object_set_new(a->answer, "names", list);
    return NULL;
}

/* Where a function of the kernel's code begins. */
const char *request_function(struct asked *a)
{
    struct run *r = a->r;
    const char *name = asked_text(a, "function");
    for (uint32_t i = 0; name && i < r->kernel->functions.n; i++) {
        const struct code *c = r->kernel->functions.at[i];
        const struct source_place *p = NULL;
        for (uint32_t o = 0; o < c->n_ops && !p; o++)
            p = place_of_op(&r->lines, &c->ops[o]);
        if (!p || !point_is_called(c->ir->func->symbol.name, name, &a->arena))
            continue;
        json_object_set_new(a->answer, "file", tell_text(p->at[0].file));
        json_object_set_new(a->answer, "line", json_integer(p->at[0].line));
        return NULL;
    }
    return arena_printf(&a->arena, "no function `%s` of this kernel has lines; `info functions` lists them",
                        name ? name : "");
}

/* The lines of PTX made from a source line, with those of functions inlined there. */
const char *request_line(struct asked *a)
{
    struct run *r = a->r;
    const char *file = asked_text(a, "file");
    int64_t line = asked_number(a, "line", 0);
    uint32_t from = 0, to = 0;
    json_t *list = json_array();
    for (uint32_t i = 0; file && i < r->kernel->functions.n; i++) {
        const struct code *c = r->kernel->functions.at[i];
        for (uint32_t o = 0; o < c->n_ops; o++) {
            const struct source_place *p = place_of_op(&r->lines, &c->ops[o]);
            bool is = false;
            for (uint32_t k = 0; p && k < p->n; k++)
                is |= p->at[k].line == line && point_is_file(p->at[k].file, file);
            uint32_t at = is ? ptx_line(site_of(&r->lines, &c->ops[o])) : 0;
            if (at && from && at == to) /* a second operation of that line */
                continue;
            if (from && !(at && at == to + 1) && (is || p)) {
                json_array_append_new(list, json_pack("[I, I]", (json_int_t)from, (json_int_t)to));
                from = 0;
            }
            if (at) {
                from = from ? from : at;
                to = at;
            }
        }
    }
    if (from)
        json_array_append_new(list, json_pack("[I, I]", (json_int_t)from, (json_int_t)to));
    json_object_set_new(a->answer, "ranges", list);
    return NULL;
}

/* Lines of PTX around the place, or from a line to another. */
const char *request_ptx(struct asked *a)
{
    struct run *r = a->r;
    struct where w = {0};
    const char *wrong;
    const struct call_frame *f = asked_frame(a, &w, &wrong);
    const struct ptx_module *m = f ? f->act->code->ir->func->module : r->kernel->func->module;
    int64_t here = f ? f->ptx_line : 0, from = asked_number(a, "from", here > 5 ? here - 5 : 1),
            to = asked_number(a, "to", from + 10), line = 1 + m->source->lines_before;
    json_t *list = json_array();
    const char *p = m->source->text.p, *end = p + m->source->text.n;
    for (const char *newline; p < end && line <= to; p = newline + 1, line++) {
        newline = memchr(p, '\n', (size_t)(end - p));
        newline = newline ? newline : end;
        if (line >= from)
            json_array_append_new(list, json_pack("{s:I, s:o, s:b}", "line", (json_int_t)line, "text",
                                                  json_stringn(p, (size_t)(newline - p)), "here", line == here));
    }
    json_object_set_new(a->answer, "lines", list);
    return NULL;
}

const char *request_launch(struct asked *a)
{
    struct run *r = a->r;
    const struct launch_dims *d = &r->request->dims;
    json_object_set_new(a->answer, "kernel", json_string(demangle(r->kernel->func->symbol.name, &a->arena)));
    json_object_set_new(a->answer, "launch", json_integer((json_int_t)r->number));
    json_object_set_new(a->answer, "grid",
                        json_pack("[I,I,I]", (json_int_t)d->grid[0], (json_int_t)d->grid[1], (json_int_t)d->grid[2]));
    json_object_set_new(
        a->answer, "block",
        json_pack("[I,I,I]", (json_int_t)d->block[0], (json_int_t)d->block[1], (json_int_t)d->block[2]));
    json_object_set_new(a->answer, "policy", json_string(r->policy));
    json_object_set_new(a->answer, "time", json_integer((json_int_t)r->time));
    json_object_set_new(a->answer, "furthest", json_integer((json_int_t)r->furthest));
    json_object_set_new(a->answer, "kept", json_integer((json_int_t)(r->d->snapshot_bytes - r->left_bytes)));
    return NULL;
}
