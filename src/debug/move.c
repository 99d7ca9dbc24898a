/* How a debugged launch goes on, stops, and goes back; see debugger.h. */
#include <stdlib.h>
#include <string.h>

#include "debug/debugger.h"
#include "exec/interp.h"
#include "exec/access.h"

enum { POLL_EVERY = 1 << 14, MOST_FOUND = 1 << 16 };

static bool is_focus(const struct run *r, const struct stop *at)
{
    return at->warp->index == r->focus.warp && at->lanes >> r->focus.lane & 1 &&
           at->warp->block->index == r->focus.block;
}

/* ---- edits ---- */

/* Applies again what the user had set at this time, when a repeated run passes it. */
static void edit_again(struct run *r, const struct stop *at)
{
    for (uint32_t i = 0; i < r->d->edits.n; i++) {
        const struct edit *e = &r->d->edits.at[i];
        struct call_frame frames[MOST_FRAMES];
        struct arena scratch = {0};
        const char *wrong;
        if (e->time != r->stopper.now)
            continue;
        struct where w = thread_find(r->launch, at, &e->thread);
        uint32_t n = frames_find(&r->lines, &w, frames, &scratch);
        if (e->frame < n) {
            struct scope scope = scope_of(r, &frames[e->frame]);
            struct frame f = {w.warp, frames[e->frame].act};
            struct node *to = expression_parse(e->to, &scope, &scratch, &wrong),
                        *value = expression_parse(e->value, &scope, &scratch, &wrong);
            if (to && value)
                expression_assign(to, value, &f, 1u << w.lane, &wrong);
        }
        arena_free(&scratch);
    }
}

static uint64_t next_edit(const struct run *r)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < r->d->edits.n; i++)
        if (r->d->edits.at[i].time >= r->stopper.now && r->d->edits.at[i].time < next)
            next = r->d->edits.at[i].time;
    return next;
}

/* ---- where a motion ends ---- */

/* The lanes in which one of the operation's breakpoints stops; *point is the first such breakpoint.
 * Hits are counted only forwards, when they are new. */
static uint32_t break_lanes(struct run *r, const struct stop *at, struct point **point, const char **wrong)
{
    struct frame f = {at->warp, at->act};
    uint32_t all = 0;
    r->hit.n = 0;
    for (uint32_t i = 0; at->op->breaks && i < r->locations.n; i++) {
        struct location_at *l = &r->locations.at[i];
        if (l->op != at->op || !l->point)
            continue;
        uint32_t lanes = l->test ? expression_true(l->test, &f, at->lanes) : at->lanes;
        if (!lanes)
            continue;
        if (r->pass == PASS_FORWARD && !point_hit(l->point))
            continue;
        if (l->log) {
            if (r->pass == PASS_FORWARD && r->stopper.now >= r->furthest)
                log_tell(r, l, &f, lanes);
            continue;
        }
        *VEC_PUSH(&r->arena, &r->hit) = l->point->id;
        *point = *point ? *point : l->point;
        *wrong = l->wrong;
        all |= lanes;
    }
    return all;
}

/* Does none of the breakpoints of the operation stop there? */
static bool none_breaks(const struct run *r, const struct stop *at)
{
    const struct frame f = {at->warp, at->act};
    for (uint32_t i = 0; i < r->locations.n; i++) {
        const struct location_at *l = &r->locations.at[i];
        if (l->op == at->op && l->point && !(l->test && !expression_true(l->test, &f, at->lanes)))
            return false;
    }
    return true;
}

/* The stepped thread has reached an operation: does the motion end there? */
static bool step_ends(struct run *r, const struct stop *at)
{
    struct line_keys keys;
    uint32_t depth = 0, place = (uint32_t)(at->op - at->act->code->ops);
    if (!at->op->origin) /* no instruction of the PTX's */
        return false;
    if (r->motion == MOVE_STEP_PTX)
        return true;
    if (r->motion != MOVE_NEXT_PTX && line_is_unknown(&r->lines, at->act, at->op))
        return false;
    keys_find(&r->lines, at->act, at->op, &keys);
    bool begins = r->keys.n ? keys_begin_line(&r->keys, &keys, &depth) : true;
    depth = r->keys.n ? depth : keys.n;
    r->keys = keys;
    switch (r->motion) {
    case MOVE_STEP: return begins;
    case MOVE_NEXT: return begins && depth <= r->first_depth;
    case MOVE_UNTIL: return begins && depth <= r->first_depth && (keys.n < r->first_depth || place > r->first_op);
    case MOVE_FINISH: return keys.n < r->first_depth;
    case MOVE_NEXT_PTX: return keys.n <= r->first_depth;
    default: return false;
    }
}

/* The thread executes its last operation. */
static bool leaves(const struct stop *at, unsigned lane)
{
    uint8_t *base[4];
    if (at->op->kind != OP_EXIT)
        return false;
    warp_bases(at->warp, at->act, base);
    return warp_guarded(base, at->op, at->lanes) >> lane & 1;
}

static void note_found(struct run *r, uint64_t time)
{
    uint64_t most = r->count < MOST_FOUND ? r->count : MOST_FOUND;
    if (r->found.n < most)
        *VEC_PUSH(&r->arena, &r->found) = time;
    else
        r->found.at[r->n_found % most] = time;
    r->n_found++;
}

/* ---- from one pass to the next ---- */

static void begin_again(struct run *r)
{
    r->again = true;
    r->passed = NULL;
    r->found.n = 0;
    r->n_found = r->border = 0;
    r->keys.n = 0;
}

static void print_nothing(void *data, const char *text, size_t bytes)
{
    (void)data;
    (void)text;
    (void)bytes;
}

void move_again(struct run *r, uint64_t time)
{
    r->again = false;
    r->begun_at = time;
    r->poll_at = 0;
    r->stopper.alarm = 0;
    if (time >= r->furthest || r->print)
        return;
    r->print = r->machine->config.print;
    if (r->print)
        r->machine->config.print = print_nothing;
}

/* ---- stopping ---- */

/* The lane to select: the focus, if it is among the lanes that have stopped. */
static void focus_on(struct run *r, const struct stop *at, uint32_t lanes)
{
    struct block *b = at->warp->block;
    if (!(is_focus(r, at) && lanes >> r->focus.lane & 1))
        r->focus = (struct thread_name){b->index, at->warp->index, (uint32_t)__builtin_ctz(lanes)};
}

static void set_alarm(struct run *r)
{
    struct stopper *s = &r->stopper;
    bool each = r->motion != MOVE_ON && r->pass != PASS_GO;
    uint64_t edit = r->d->edits.n ? next_edit(r) : UINT64_MAX;
    s->alarm = each || r->interrupted || (r->written.any && !r->searched) || r->focus_leaves ? 0 : r->poll_at;
    if (r->pass != PASS_FORWARD && r->until < s->alarm)
        s->alarm = r->until;
    if (edit < s->alarm)
        s->alarm = edit;
    if (s->now < r->furthest && r->furthest < s->alarm)
        s->alarm = r->furthest;
}

void frame_reset(struct run *r)
{
    struct where w = thread_find(r->launch, &r->now, &r->focus);
    r->frame = frames_hidden(&r->lines, &w);
}

/* Stops the launch until the front end lets it go on. False: the front end has ended it. */
static bool stand(struct run *r, const struct stop *at, const char *reason, const char *text)
{
    r->now = *at;
    r->time = r->stopper.now;
    r->pass = PASS_FORWARD;
    r->motion = MOVE_ON;
    frame_reset(r);
    r->reason = reason;
    r->interrupted = r->focus_leaves = false;
    r->furthest = r->time > r->furthest ? r->time : r->furthest;
    requests_tell_stop(r, reason, text);
    r->d->serve(r);
    if ((r->again || r->d->kills) && !r->in_fault)
        launch_fail(r->launch, FAULT_cancelled);
    return !r->again && !r->d->kills;
}

static const char *lanes_text(struct run *r, const char *what, uint32_t lanes)
{
    return arena_printf(
        &r->arena, "%s%s", what,
        lanes & (lanes - 1) ? arena_printf(&r->arena, ", by %d threads of the warp", __builtin_popcount(lanes)) : "");
}

static bool stop_forward(struct run *r, const struct stop *at)
{
    struct point *point = NULL;
    const char *wrong = NULL;
    /* No instruction of the PTX's: at the next. */
    if (r->written.any && !at->op->origin && at->op->kind != OP_EXIT)
        return true;
    if (r->written.any) {
        struct written w = r->written;
        w.point->hits++;
        r->focus = w.thread;
        break_lanes(r, at, &point, &wrong); /* both stop there */
        r->also = point ? point->id : 0;
        points_delete_reached(r->d);
        bool goes_on = stand(r, at, "watchpoint", w.point->expression);
        r->written = (struct written){0};
        r->also = 0;
        return goes_on;
    }
    uint32_t lanes = break_lanes(r, at, &point, &wrong);
    if (lanes) {
        const char *text = lanes_text(r, arena_printf(&r->arena, "Breakpoint %u", point->id), lanes);
        if (wrong)
            text = arena_printf(&r->arena, "%s; its condition could not be evaluated: %s", text, wrong);
        focus_on(r, at, lanes);
        points_delete_reached(r->d);
        return stand(r, at, "breakpoint", text);
    }
    if (r->interrupted && at->op->origin) {
        focus_on(r, at, at->lanes);
        return stand(r, at, "interrupt", r->stopper.now ? "Interrupted" : "The launch begins");
    }
    if (r->focus_leaves) {
        focus_on(r, at, at->lanes);
        return stand(r, at, "exited", "The thread has ended");
    }
    if (r->motion != MOVE_ON && is_focus(r, at)) {
        if (step_ends(r, at) && --r->count == 0) {
            r->finished.done = r->motion == MOVE_FINISH && returned_is_there(r, at);
            return stand(r, at, "step", "");
        }
        r->focus_leaves = leaves(at, r->focus.lane);
    }
    return true;
}

/* The search of this pass is over: goes to the place that it found, or continues the search before
 * the beginning of the pass. */
static void conclude(struct run *r)
{
    uint64_t most = r->found.n;
    bool enough = r->searched ? r->written.any : r->n_found >= r->count && most;
    if (!enough && r->begun_at) {
        r->count -= r->n_found;
        r->until = r->border ? r->border : r->begun_at;
        r->from = r->begun_at - 1;
    } else {
        r->until = r->searched ? r->stands_at : enough ? r->found.at[r->n_found % most] : 0;
        r->reason = r->searched ? "last-write" : enough ? "back" : "start";
        r->pass = PASS_GO;
        r->from = r->until;
    }
    begin_again(r);
}

void move_end(struct run *r)
{
    if (r->pass == PASS_SEARCH && !r->d->gone && !r->d->kills)
        conclude(r);
}

static bool search(struct run *r, const struct stop *at)
{
    struct point *point = NULL;
    const char *wrong;
    uint64_t now = r->stopper.now;
    if (now >= r->until) {
        conclude(r);
        launch_fail(r->launch, FAULT_cancelled);
        return false;
    }
    if (r->searched) {
        ;
    } else if (r->motion == MOVE_ON) {
        if (break_lanes(r, at, &point, &wrong))
            note_found(r, now);
    } else if (is_focus(r, at)) {
        if (r->motion == MOVE_FINISH) { /* the call has not returned */
            struct line_keys keys;
            keys_find(&r->lines, at->act, at->op, &keys);
            if (keys.n < r->first_depth && at->op->origin && !line_is_unknown(&r->lines, at->act, at->op))
                note_found(r, now);
        } else {
            bool blind = r->begun_at && !r->keys.n && r->motion != MOVE_STEP_PTX, ends = step_ends(r, at);
            if (blind && r->keys.n)
                r->border = now + 1;
            if (ends && !blind)
                note_found(r, now);
        }
    }
    return true;
}

static bool arrive(struct run *r, const struct stop *at)
{
    struct point *point = NULL;
    const char *wrong = NULL;
    bool at_start = strcmp(r->reason, "start") == 0;
    struct where w = thread_find(r->launch, at, &r->focus);
    uint32_t lanes = break_lanes(r, at, &point, &wrong);
    if (w.state == THREAD_ABSENT || r->motion == MOVE_ON)
        focus_on(r, at, lanes ? lanes : at->lanes);
    if (r->searched)
        return stand(r, at, "last-write", r->searched->expression);
    if (at_start)
        return stand(r, at, "start", "No more history: this is the start of the launch");
    const struct checked *found = finding_at(r, r->stopper.now);
    if (found && found->thread.warp == at->warp->index && found->thread.block == at->warp->block->index) {
        r->focus = found->thread;
        r->passed = r->at_finding = found;
        bool goes_on = stand(r, at, "finding", NULL);
        r->at_finding = NULL;
        return goes_on;
    }
    if (lanes)
        return stand(r, at, "breakpoint", lanes_text(r, arena_printf(&r->arena, "Breakpoint %u", point->id), lanes));
    return stand(r, at, "back", "");
}

static void poll_link(struct run *r)
{
    r->poll_at = r->stopper.now + POLL_EVERY;
    r->interrupted |= r->d->poll(r);
}

/* The stopper's: a warp is about to execute an operation. */
bool move_on_stop(void *data, const struct stop *at)
{
    struct run *r = data;
    uint64_t now = r->stopper.now;
    if (now < r->stopper.alarm && none_breaks(r, at))
        return true;
    r->launch = at->warp->block->launch;
    if (r->again) /* the run was ended within an operation */
        return false;
    if (r->d->gone || r->d->kills) {
        if (r->d->kills)
            launch_fail(r->launch, FAULT_cancelled);
        r->stopper.alarm = UINT64_MAX;
        return !r->d->kills;
    }
    if (now >= r->furthest && r->print) {
        r->machine->config.print = r->print;
        r->print = NULL;
    }
    if (now >= r->poll_at)
        poll_link(r);
    if (r->d->edits.n)
        edit_again(r, at);
    bool goes_on = r->pass == PASS_SEARCH ? search(r, at)
                   : r->pass == PASS_GO   ? now < r->until || arrive(r, at)
                                          : stop_forward(r, at);
    set_alarm(r);
    return goes_on;
}

/* The stopper's: the launch has failed. What has failed is the operation that was executed last. */
void move_on_fault(void *data, struct warp *w, const struct op *op, unsigned lane)
{
    struct run *r = data;
    struct stop at = r->stopper.last;
    r->launch = w->block->launch;
    if (r->d->gone || r->d->kills || r->pass == PASS_SEARCH || r->again || !at.warp)
        return;
    if (!op) { /* all wait */
        at = (struct stop){.warp = w};
        lane = w->waits ? (unsigned)__builtin_ctz(w->waits->lanes) : (unsigned)__builtin_ctz(w->exists & ~w->exited);
    } else if (at.warp != w || at.op != op) {
        struct where p = lane_find(&at, w, lane);
        at = (struct stop){w, p.act, op, p.code_block, p.lanes};
    }
    r->in_fault = true;
    r->stopper.now -= op && r->stopper.now > 0;
    r->focus = (struct thread_name){w->block->index, w->index, lane};
    stand(r, &at, "fault", NULL);
    r->in_fault = false;
}

void move_on_finding(struct run *r, const struct checked *f)
{
    struct stop at = r->stopper.last;
    uint64_t now = r->stopper.now;
    bool passed = r->passed == f;
    r->passed = f;
    if (r->d->gone || r->d->kills || r->again || passed || !at.warp)
        return;
    r->launch = at.warp->block->launch;
    if (r->pass == PASS_SEARCH && r->motion == MOVE_ON && !r->searched && f->time < r->until)
        note_found(r, f->time);
    if (r->pass != PASS_FORWARD)
        return;
    r->stopper.now = f->time;
    r->focus = f->thread;
    r->at_finding = f;
    stand(r, &at, "finding", NULL);
    r->at_finding = NULL;
    r->stopper.now = now;
    set_alarm(r);
}

/* ---- writes ---- */

static bool touches(uint64_t at, uint64_t bytes, uint64_t from, uint64_t n)
{
    return at < from + n && from < at + bytes;
}

/* Watchpoints have generic addresses; events have addresses of the state space. */
static bool is_of(const struct run *r, const struct point *p, const struct access_event *e, unsigned lane)
{
    if (p->space != e->space || (p->launch && p->launch != r->number))
        return false;
    if (e->space == SPACE_SHARED)
        return e->owner && e->owner->index == p->of.block;
    return e->space != SPACE_LOCAL || (e->block->index == p->of.block && e->warp == p->of.warp && lane == p->of.lane);
}

static const struct op *op_of(const struct run *r, const struct site *s)
{
    const struct code *c = r->kernel->functions.at[s->function];
    return &c->ops[s->number - c->first_site];
}

static void look_at_access(struct run *r, struct point *p, const struct access_event *e)
{
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        if (!is_of(r, p, e, lane) || !touches(access_address(e, lane), e->bytes, p->in_space, p->bytes))
            continue;
        struct written w = {.any = true,
                            .is_read = !(e->writes && p->on_writes),
                            .point = p,
                            .thread = {e->block->index, e->warp, lane},
                            .op = op_of(r, e->site),
                            .time = r->stopper.now - (r->stopper.now > 0)};
        struct block *block = block_find(r->launch, e->block->index);
        if (!block)
            return;
        struct frame f = {&block->warps[e->warp], NULL};
        w.n_before =
            memory_read(&f, lane, p->address, w.before, p->bytes < sizeof w.before ? p->bytes : sizeof w.before);
        if (r->searched) {
            if (p == r->searched)
                r->written = w;
        } else if (r->pass == PASS_SEARCH) {
            if (r->motion == MOVE_ON && w.time < r->until)
                note_found(r, w.time);
        } else if (r->pass == PASS_FORWARD) {
            r->written = w;
            r->stopper.alarm = 0;
        }
        return;
    }
}

/* Where the machine finds memory that may be closed to the host, whose
 * accesses a checker watches. */
static uint64_t machines_address(const struct run *r, uint64_t at)
{
    struct mem_block b;
    bool may_be_closed = r->names->checks && mem_reach(&r->machine->mem, at, &b);
    return at + (may_be_closed ? (uint64_t)mem_shift(&r->machine->mem, &b) : 0);
}

/* The client's: an access is about to be performed. */
void move_on_access(void *data, const struct access_event *e)
{
    struct run *r = data;
    if (e->writes && e->space == SPACE_GLOBAL && !r->lost && !r->no_way_back)
        for (uint32_t m = e->lanes; m; m &= m - 1)
            back_keep(r, machines_address(r, access_address(e, (unsigned)__builtin_ctz(m))), e->bytes);
    for (uint32_t i = 0; r->d->watches && i < r->d->points.n; i++) {
        struct point *p = r->d->points.at[i];
        bool is_meant = (e->writes && p->on_writes) || (e->reads && p->on_reads);
        if (p->kind == POINT_WATCH && is_meant && (r->searched ? p == r->searched : p->enabled))
            look_at_access(r, p, e);
    }
}

void move_on_heap(void *data, const struct heap_event *e)
{
    struct run *r = data;
    struct mem_block b;
    if (!r->stopper.heap)
        r->no_way_back = "the kernel has called malloc or free, which cannot be undone under --check";
    else if (e->is_free && mem_find(&r->machine->mem, e->address, &b))
        back_keep(r, b.start, b.size); /* its memory may be given back */
}

/* ---- beginning ---- */

uint32_t move_outer(const struct run *r, const struct where *w)
{
    return w->act && w->op ? keys_before(&r->lines, w->act, w->op, r->frame) : 0;
}

void move_begin(struct run *r, enum motion motion, uint64_t count)
{
    struct where w = thread_find(r->launch, &r->now, &r->focus);
    r->motion = motion;
    r->count = count ? count : 1;
    r->keys.n = 0;
    r->first_depth = 0;
    if (motion != MOVE_ON && w.act) {
        keys_find(&r->lines, w.act, w.op, &r->keys);
        r->first_depth = r->keys.n;
        r->first_op = (uint32_t)(w.op - w.act->code->ops);
        if (w.state == THREAD_READY && r->now.warp == w.warp && r->now.op == w.op)
            r->focus_leaves = leaves(&r->now, r->focus.lane);
    }
    /* Of an outer frame, `finish` leaves that. */
    uint32_t outer = w.act ? move_outer(r, &w) : 0;
    memset(&r->finished, 0, sizeof r->finished);
    if (motion == MOVE_FINISH)
        returned_note(r, &w);
    if (motion == MOVE_FINISH && outer < r->first_depth)
        r->first_depth -= outer;
    r->pass = PASS_FORWARD;
}

void move_search(struct run *r, struct point *p)
{
    uint64_t until = r->time;
    r->motion = MOVE_ON;
    r->count = 1;
    r->searched = p;
    r->written = (struct written){0};
    r->pass = PASS_SEARCH;
    r->until = r->stands_at = until;
    r->from = until ? until - 1 : 0;
    begin_again(r);
    r->reason = "last-write";
}

void move_back(struct run *r, enum motion motion, uint64_t count)
{
    uint64_t until = r->time;
    move_begin(r, motion, count);
    r->pass = PASS_SEARCH;
    r->until = until;
    r->from = until ? until - 1 : 0;
    begin_again(r);
    r->reason = "back";
}

void move_to(struct run *r, uint64_t time)
{
    r->pass = PASS_GO;
    r->motion = MOVE_STEP;
    r->until = r->from = time;
    begin_again(r);
    r->reason = "back";
}
