/* Library calls in streams (include/heddle.h, hd_stream_work): host functions in place of kernels,
 * with the memory that they declare. */
#include <stdio.h>
#include <stdlib.h>

#include "api/box.h"
#include "api/sized.h"
#include "exec/hold.h"

/* Up to this much, and SMALL_BYTES, computing takes the caller no longer than handing the task
   over. */
static const double SMALL_FLOPS = 1 << 16;

struct work_task {
    struct task task;
    hd_machine *machine;
    hd_work work;
    const void *place; /* hd_checker_options.place, if the checker asks for it */
    hd_result failed;  /* of work that the caller ran itself */
    bool begun;        /* for work in steps */
    unsigned turns;
    void *state;
};

static struct box box_of(const hd_used *u)
{
    return (struct box){u->at, u->width, u->height, 1, u->pitch, 0};
}

static bool is_nothing(const hd_used *u)
{
    return u->width == 0 || u->height == 0;
}

/* Without a checker, which has reported the memory when the call was submitted. */
static void tell_unusable(const hd_machine *m, const char *call, const hd_used *u)
{
    const struct machine_config *o = &m->machine->config;
    const struct box b = box_of(u);
    char text[256];
    if (m->checker || !o->note)
        return;
    snprintf(text, sizeof text, "%s %s %llu bytes at %p, but they are not allocated, or only some of them", call,
             u->use & HD_WRITES ? "writes" : "reads", (unsigned long long)box_extent(&b), u->at);
    o->note(o->print_data, text);
}

static hd_result may_run(const hd_machine *m, const char *call, const hd_work *w)
{
    for (size_t i = 0; i < w->used_count; i++)
        if (!is_nothing(&w->used[i]) && box_may_use(m, box_of(&w->used[i]), w->used[i].use & HD_WRITES)) {
            tell_unusable(m, call, &w->used[i]);
            return HD_ERROR_ILLEGAL_ADDRESS;
        }
    return HD_SUCCESS;
}

/* ---- checkers and explainers ---- */

static const void *work_place(const hd_machine *m)
{
    const hd_checker_options *o = m->checker ? &m->checker->options : NULL;
    return o && o->undefined_copy && o->place ? o->place(o->data) : NULL;
}

/* Reports the first uninitialised byte of each range that is read. */
static void tell_undefined(const hd_machine *m, const hd_used *u, const void *place)
{
    const hd_checker_options *o = &m->checker->options;
    struct box b = box_of(u);
    const struct box_runs runs = box_runs(&b);
    for (size_t y = 0; o->undefined_copy && y < runs.n; y++) {
        const char *at = (const char *)u->at + y * u->pitch;
        uint64_t defined = checker_defined_data(m->checker->checker, at, runs.bytes);
        if (defined < runs.bytes) {
            o->undefined_copy(o->data, place, NULL, at, runs.bytes, defined);
            return;
        }
    }
}

static void mark_written(const hd_machine *m, const hd_used *u)
{
    struct box b = box_of(u);
    const struct box_runs runs = box_runs(&b);
    for (size_t y = 0; y < runs.n; y++)
        checker_memory(m->checker->checker, HOST_DEFINED, (const char *)u->at + y * u->pitch, runs.bytes);
}

static void check_used(const hd_machine *m, const hd_work *w, const void *place)
{
    for (size_t i = 0; i < w->used_count; i++)
        if (w->used[i].use & HD_READS && !is_nothing(&w->used[i]))
            tell_undefined(m, &w->used[i], place);
    for (size_t i = 0; i < w->used_count; i++)
        if (w->used[i].use & HD_WRITES && !is_nothing(&w->used[i]))
            mark_written(m, &w->used[i]);
}

/* Finds the first bytes at or behind `at`, and before `end`, that rows of the range hold. */
static bool first_common(const hd_used *u, uintptr_t at, uintptr_t end, uintptr_t *from, uintptr_t *to)
{
    uintptr_t start = (uintptr_t)u->at, past = start + u->width;
    size_t row = at < past ? 0 : u->pitch ? (at - past) / u->pitch + 1 : u->height;
    if (row >= u->height || start + row * u->pitch >= end)
        return false;
    start += row * u->pitch;
    *from = start > at ? start : at;
    *to = start + u->width < end ? start + u->width : end;
    return true;
}

/* Returns where bytes begin that an earlier range of the call, before `ranges`, writes and has
   noted. */
static bool first_noted(const hd_work *w, size_t ranges, uintptr_t at, uintptr_t end, uintptr_t *from, uintptr_t *to)
{
    uintptr_t f = 0, t = 0;
    bool found = false;
    for (size_t j = 0; j < ranges; j++)
        if (w->used[j].use & HD_WRITES && first_common(&w->used[j], at, end, &f, &t) && (!found || f < *from)) {
            *from = f;
            *to = t;
            found = true;
        }
    return found;
}

/* Notes a row of a range. Ranges of one task may overlap, such as the parts of a triangle, or a
 * product in place; each byte is noted once, or it would race with itself. */
static void note_row(const hd_machine *m, uint32_t task, const hd_work *w, size_t ranges, uintptr_t at, size_t bytes,
                     bool writes)
{
    uintptr_t from = 0, to = 0;
    for (const uintptr_t end = at + bytes; at < end; at = to) {
        if (!first_noted(w, ranges, at, end, &from, &to))
            from = to = end;
        if (from > at)
            box_note(m, task, (struct box){(void *)at, from - at, 1, 1, from - at, 0}, writes);
    }
}

/* Can the ranges overlap, judging by their bounds? */
static bool may_meet(const hd_used *a, const hd_used *b)
{
    struct box x = box_of(a), y = box_of(b);
    uintptr_t at = (uintptr_t)a->at, other = (uintptr_t)b->at;
    return at >= other ? at - other < box_extent(&y) : other - at < box_extent(&x);
}

static void note_range(const hd_machine *m, uint32_t task, const hd_work *w, size_t i, bool writes)
{
    const hd_used *u = &w->used[i];
    struct box b = box_of(u);
    size_t ranges = writes ? i : w->used_count, j = 0;
    while (j < ranges && !(w->used[j].use & HD_WRITES && may_meet(u, &w->used[j])))
        j++;
    if (j == ranges) {
        box_note(m, task, b, writes);
        return;
    }
    const struct box_runs runs = box_runs(&b);
    for (size_t y = 0; y < runs.n; y++)
        note_row(m, task, w, ranges, (uintptr_t)u->at + y * u->pitch, runs.bytes, writes);
}

/* Notes writes before reads: a write races with everything that a read races with. */
static void note_used(const hd_machine *m, uint32_t task, const hd_work *w)
{
    if (!m->checker || !task)
        return;
    for (int reads = 0; reads < 2; reads++)
        for (size_t i = 0; i < w->used_count; i++) {
            bool writes = w->used[i].use & HD_WRITES;
            if (w->used[i].use && writes == !reads && !is_nothing(&w->used[i]))
                note_range(m, task, w, i, writes);
        }
}

/* `task`: 0 if the caller did the work. */
static void note_worked(const hd_machine *m, uint32_t task, const hd_work *w)
{
    const hd_explainer *e = m->explainer;
    if (!e)
        return;
    double ns = call_log_add(e->calls, w);
    if (e->order && task)
        stream_log_worked(e->streams, task, ns, w->flops, w->bytes);
}

/* ---- running ---- */

/* Notes ranges that depend on the contents of memory; otherwise like `used`. */
static hd_result tell_found(const hd_machine *m, uint32_t task, const hd_work *w, const void *place)
{
    hd_work found = {.used_count = 0};
    hd_used *used = w->find_used(w->data, &found.used_count);
    found.used = used;
    hd_result r = may_run(m, w->name, &found);
    if (!r)
        note_used(m, task, &found);
    if (!r)
        check_used(m, &found, place);
    free(used);
    return r;
}

/* Notes what the work uses, and does it. `task`: 0 if the caller does it. */
static hd_result do_work(hd_machine *m, uint32_t task, const hd_work *w, const void *place, bool again, void **state)
{
    struct mem *mem = &m->machine->mem;
    machine_begin_move(m->machine);
    mem_begin_use(mem);
    hd_result r = again ? HD_SUCCESS : may_run(m, w->name, w);
    if (!r && m->checker && !again)
        check_used(m, w, place);
    if (!r && m->checker && !again && w->find_used)
        r = tell_found(m, task, w, place);
    r = r ? r : w->step ? w->step(w->data, state) : w->run(w->data);
    mem_end_use(mem);
    machine_end_move(m->machine);
    return r;
}

/* Completes a dropped task for those who wait for it. */
static void drop_work(struct task *t)
{
    hd_work *w = &((struct work_task *)t)->work;
    if (w->drop)
        w->drop(w->data);
    w->drop = NULL;
}

static bool run_work(struct task *t, hd_result *result)
{
    struct work_task *w = (struct work_task *)t;
    if (!w->begun)
        note_used(w->machine, t->number, &w->work);
    hd_result r = w->failed ? w->failed : do_work(w->machine, t->number, &w->work, w->place, w->begun, &w->state);
    w->begun = true;
    if (r == HD_ERROR_NOT_READY && w->work.step) {
        stream_pause(w->machine, &w->turns);
        return false;
    }
    if (!r)
        note_worked(w->machine, t->number, &w->work);
    *result = r;
    drop_work(t);
    return true;
}

static hd_result put_task(hd_stream *s, const hd_work *w, enum hd_wait wait, hd_result failed)
{
    struct work_task *t = (struct work_task *)task_new(sizeof *t);
    if (!t) {
        if (w->drop)
            w->drop(w->data);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    t->task.turn = run_work;
    t->task.drop = drop_work;
    t->task.note.kind = TASK_WORK;
    t->task.note.name = w->name;
    t->machine = s->context->machine;
    t->work = *w;
    t->failed = failed;
    t->place = work_place(t->machine);
    return stream_put_task(s, &t->task, wait);
}

static bool runs_itself(hd_stream *s, const hd_work *w, enum hd_wait wait)
{
    return !w->step && (wait || (w->bytes <= SMALL_BYTES && w->flops <= SMALL_FLOPS)) &&
           !stream_is_watched(s->stream) && stream_is_idle(s->stream);
}

static hd_result put_work(hd_stream *s, const hd_work *w, enum hd_wait wait)
{
    hd_result fault = context_fault(s->context->context), r = HD_SUCCESS;
    bool itself = !fault && runs_itself(s, w, wait);
    if (itself)
        r = do_work(s->context->machine, 0, w, NULL, false, NULL);
    if (itself && !r)
        note_worked(s->context->machine, 0, w);
    if (!fault && (!itself || r)) /* a failure becomes the context's fault by a task */
        return put_task(s, w, wait, r);
    if (w->drop)
        w->drop(w->data);
    return fault;
}

hd_result hd_stream_work_sized(hd_stream *s, const hd_work *work, size_t bytes, enum hd_wait wait)
{
    hd_work own;
    if (!s || !work)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = SIZED_VIEW(hd_work, &work, &own, bytes);
    return r ? r : (!work->run && !work->step) || !work->name ? HD_ERROR_INVALID_VALUE : put_work(s, work, wait);
}
