/* Memory operations of streams (include/heddle.h): copies, fills, and allocations that begin or end
 * in stream order. */
#include <stdlib.h>

#include "api/memory_task.h"
#include "api/handles.h"
#include "api/sized.h"
#include "exec/hold.h"

static struct box box_of_bytes(const void *p, size_t bytes)
{
    return (struct box){p, bytes, 1, 1, 0, 0};
}

static struct box read_by(const hd_copy *c)
{
    return (struct box){c->from, c->width, c->height, c->depth, c->from_pitch, c->from_slice};
}

static struct box written_by(const hd_copy *c)
{
    return (struct box){c->to, c->width, c->height, c->depth, c->to_pitch, c->to_slice};
}

static struct box filled_by(const hd_fill *f)
{
    return (struct box){f->to, f->width * f->element_bytes, f->height, 1, f->pitch, 0};
}

struct copy_task {
    struct task task;
    hd_machine *machine;
    hd_copy copy;
    const void *place; /* hd_checker_options.place, if the checker asks for it */
};

/* Mappings by which the machine's threads access a copy's two sides. */
struct copy_views {
    char *to;
    const char *from;
    const void *place;
    bool told; /* a read of uninitialised memory was reported */
};

/* The program's call site, for findings in copies. */
static const void *copy_place(const hd_machine *m)
{
    const hd_checker_options *o = m->checker ? &m->checker->options : NULL;
    return o && o->undefined_copy && o->place ? o->place(o->data) : NULL;
}

static void tell_undefined(const hd_machine *m, struct copy_views *v, const char *to, const char *from, size_t n)
{
    const hd_checker_options *o = &m->checker->options;
    uint64_t defined = v->told || !o->undefined_copy ? n : checker_defined_data(m->checker->checker, from, n);
    if (defined == n)
        return;
    v->told = true;
    o->undefined_copy(o->data, v->place, to, from, n, defined);
}

static void copy_row(const hd_machine *m, const hd_copy *c, struct copy_views *v, size_t to, size_t from, size_t n)
{
    if (m->checker) {
        tell_undefined(m, v, (char *)c->to + to, (const char *)c->from + from, n);
        checker_host(m->checker->checker, &(struct host_event){.kind = HOST_COPIED,
                                                               .address = (uintptr_t)c->to + to,
                                                               .from = (uintptr_t)c->from + from,
                                                               .bytes = n});
    }
    memmove(v->to + to, v->from + from, n);
}

static hd_result may_copy(const hd_machine *m, const hd_copy *c)
{
    hd_result r = box_may_use(m, written_by(c), true);
    return r ? r : box_may_use(m, read_by(c), false);
}

static void copy_rows(hd_machine *m, const hd_copy *c, const void *place)
{
    struct copy_views v = {hd_own_view(m, c->to), hd_own_view(m, c->from), place, false};
    const struct box to = written_by(c), from = read_by(c);
    bool whole = box_has_whole_slices(&to) && box_has_whole_slices(&from);
    size_t runs = whole ? 1 : c->height, bytes = whole ? c->width * c->height : c->width;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < runs; y++)
            copy_row(m, c, &v, z * to.slice + y * to.pitch, z * from.slice + y * from.pitch, bytes);
}

static hd_result do_copy(hd_machine *m, const hd_copy *c, const void *place)
{
    struct mem *mem = &m->machine->mem;
    if (c->width * c->height * c->depth == 0)
        return HD_SUCCESS;
    machine_begin_move(m->machine);
    mem_begin_use(mem);
    hd_result r = may_copy(m, c);
    if (!r)
        copy_rows(m, c, place);
    mem_end_use(mem);
    machine_end_move(m->machine);
    return r;
}

/* Tells the machine's explainer what a task moves. */
static void note_moved(const hd_machine *m, uint32_t task, uint64_t bytes, bool within_device)
{
    if (m->explainer && m->explainer->order && task)
        stream_log_moved(m->explainer->streams, task, bytes, within_device);
}

static bool run_copy(struct task *t, hd_result *result)
{
    struct copy_task *c = (struct copy_task *)t;
    const hd_copy *x = &c->copy;
    box_note(c->machine, t->number, read_by(x), false);
    box_note(c->machine, t->number, written_by(x), true);
    note_moved(c->machine, t->number, (uint64_t)x->width * x->height * x->depth, !x->host);
    *result = do_copy(c->machine, x, c->place);
    return true;
}

struct fill_task {
    struct task task;
    hd_machine *machine;
    hd_fill fill;
};

static void fill_row(void *to, uint32_t value, unsigned element_bytes, size_t n)
{
    if (element_bytes == 1)
        memset(to, (int)value, n);
    for (size_t i = 0; element_bytes == 2 && i < n; i++)
        ((uint16_t *)to)[i] = (uint16_t)value;
    for (size_t i = 0; element_bytes == 4 && i < n; i++)
        ((uint32_t *)to)[i] = value;
}

static void fill_rows(hd_machine *m, const hd_fill *f)
{
    char *to = hd_own_view(m, f->to);
    for (size_t y = 0; y < f->height; y++) {
        if (m->checker)
            checker_memory(m->checker->checker, HOST_DEFINED, (char *)f->to + y * f->pitch,
                           f->width * f->element_bytes);
        fill_row(to + y * f->pitch, f->value, f->element_bytes, f->width);
    }
}

static hd_result do_fill(hd_machine *m, const hd_fill *f)
{
    struct mem *mem = &m->machine->mem;
    if (f->width * f->height == 0)
        return HD_SUCCESS;
    machine_begin_move(m->machine);
    mem_begin_use(mem);
    hd_result r = box_may_use(m, filled_by(f), true);
    if (!r)
        fill_rows(m, f);
    mem_end_use(mem);
    machine_end_move(m->machine);
    return r;
}

static bool run_fill(struct task *t, hd_result *result)
{
    struct fill_task *f = (struct fill_task *)t;
    const hd_fill *x = &f->fill;
    box_note(f->machine, t->number, filled_by(x), true);
    note_moved(f->machine, t->number, (uint64_t)x->width * x->element_bytes * x->height, true);
    *result = do_fill(f->machine, x);
    return true;
}

struct task *copy_task_new(hd_machine *m, const hd_copy *copy)
{
    struct copy_task *t = task_of_kind(sizeof *t, run_copy, TASK_COPY);
    if (!t)
        return NULL;
    t->machine = m;
    t->copy = *copy;
    return &t->task;
}

struct task *fill_task_new(hd_machine *m, const hd_fill *fill)
{
    struct fill_task *t = task_of_kind(sizeof *t, run_fill, TASK_FILL);
    if (!t)
        return NULL;
    t->machine = m;
    t->fill = *fill;
    return &t->task;
}

/* May the caller itself move the bytes, at once? */
static bool moves_itself(hd_stream *s, size_t bytes, enum hd_wait wait)
{
    return (wait || bytes <= SMALL_BYTES) && !stream_is_watched(s->stream) && stream_is_idle(s->stream);
}

static hd_result put_copy(hd_stream *s, const hd_copy *copy, enum hd_wait wait)
{
    hd_result fault = context_fault(s->context->context);
    if (fault)
        return fault;
    if (moves_itself(s, copy->width * copy->height * copy->depth, wait)) {
        hd_result r = do_copy(s->context->machine, copy, copy_place(s->context->machine));
        if (r != HD_ERROR_LAUNCH_FAILED) /* that fault becomes the context's by a task */
            return r;
    }
    struct task *t = copy_task_new(s->context->machine, copy);
    if (!t)
        return HD_ERROR_OUT_OF_MEMORY;
    ((struct copy_task *)t)->place = copy_place(s->context->machine);
    return stream_put_task(s, t, wait);
}

hd_result hd_stream_copy_sized(hd_stream *s, const hd_copy *copy, size_t bytes, enum hd_wait wait)
{
    hd_copy own;
    if (!s || !copy)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = SIZED_VIEW(hd_copy, &copy, &own, bytes);
    return r ? r : put_copy(s, copy, wait);
}

static hd_result put_fill(hd_stream *s, const hd_fill *fill, enum hd_wait wait)
{
    if (fill->element_bytes != 1 && fill->element_bytes != 2 && fill->element_bytes != 4)
        return HD_ERROR_INVALID_VALUE;
    hd_result fault = context_fault(s->context->context);
    if (fault)
        return fault;
    if (moves_itself(s, fill->width * fill->height * fill->element_bytes, wait)) {
        hd_result r = do_fill(s->context->machine, fill);
        if (r != HD_ERROR_LAUNCH_FAILED)
            return r;
    }
    struct task *t = fill_task_new(s->context->machine, fill);
    return t ? stream_put_task(s, t, wait) : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_stream_fill_sized(hd_stream *s, const hd_fill *fill, size_t bytes, enum hd_wait wait)
{
    hd_fill own;
    if (!s || !fill)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = SIZED_VIEW(hd_fill, &fill, &own, bytes);
    return r ? r : put_fill(s, fill, wait);
}

/* ---- the life of memory ---- */

struct memory_task {
    struct task task;
    hd_machine *machine;
    void *pointer;
    size_t bytes; /* size of reserved memory; 0: of an allocation */
};

/* Memory begins or ends at reserved addresses. */
static hd_result run_reserved(const struct memory_task *x)
{
    struct mem *mem = &x->machine->machine->mem;
    struct checker *checker = x->machine->checker ? x->machine->checker->checker : NULL;
    if (x->task.note.kind == TASK_FREE) {
        if (checker)
            checker_memory(checker, HOST_FORGET, x->pointer, x->bytes);
        mem_close(mem, x->pointer);
        return HD_SUCCESS;
    }
    bool open = mem_open(mem, x->pointer, x->bytes);
    if (open && checker)
        checker_memory(checker, HOST_UNDEFINED, x->pointer, x->bytes);
    return open ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

/* To checkers, the begin and the end of an allocation write all of it. */
static bool run_memory(struct task *t, hd_result *result)
{
    struct memory_task *x = (struct memory_task *)t;
    struct mem_block b;
    size_t bytes = x->bytes;
    if (!bytes && mem_find(&x->machine->machine->mem, (uint64_t)(uintptr_t)x->pointer, &b))
        bytes = b.size;
    if (bytes)
        box_note(x->machine, t->number, box_of_bytes(x->pointer, bytes), true);
    if (x->bytes)
        *result = run_reserved(x);
    else if (t->note.kind == TASK_FREE)
        hd_free(x->machine, x->pointer);
    return true;
}

static hd_result put_task(hd_stream *s, void *pointer, size_t bytes, enum task_kind kind)
{
    struct memory_task *t = task_of_kind(sizeof *t, run_memory, kind);
    if (!t)
        return HD_ERROR_OUT_OF_MEMORY;
    t->task.always = true;
    t->machine = s->context->machine;
    t->pointer = pointer;
    t->bytes = bytes;
    return stream_put_task(s, &t->task, HD_NO_WAIT);
}

static hd_result put_memory(hd_stream *s, void *pointer, enum task_kind kind)
{
    hd_memory_info info;
    if (!s || !hd_find(s->context->machine, pointer, &info) || info.start != pointer || !info.allocated)
        return HD_ERROR_INVALID_VALUE;
    if (kind == TASK_ALLOC && !s->context->machine->checker)
        return HD_SUCCESS;
    return put_task(s, pointer, 0, kind);
}

hd_result hd_stream_open(hd_stream *s, void *pointer, size_t bytes)
{
    return !s || !pointer || !bytes ? HD_ERROR_INVALID_VALUE : put_task(s, pointer, bytes, TASK_ALLOC);
}

hd_result hd_stream_close(hd_stream *s, void *pointer, size_t bytes)
{
    return !s || !pointer || !bytes ? HD_ERROR_INVALID_VALUE : put_task(s, pointer, bytes, TASK_FREE);
}

hd_result hd_stream_allocated(hd_stream *s, void *pointer)
{
    return put_memory(s, pointer, TASK_ALLOC);
}

hd_result hd_stream_free(hd_stream *s, void *pointer)
{
    return put_memory(s, pointer, TASK_FREE);
}
