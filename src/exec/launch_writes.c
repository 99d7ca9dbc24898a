/* Where a launch writes; see launch_writes.h. */
#include "exec/launch_writes.h"

#include "exec/code.h"
#include "exec/events.h"
#include "ir/shape.h"

enum { THREADS_LEAST = 1 << 14, INSTRUCTIONS_MOST = 1 << 14 };

/* May the function write to memory, directly or through calls? */
static bool may_write(const struct ir_insn *i)
{
    bool stores_matrix = i->kind == IR_MATRIX && i->access && i->matrix->n_writes == 0;
    return i->kind == IR_ST || i->kind == IR_ATOM || i->kind == IR_ASYNC || i->kind == IR_CALL || stores_matrix ||
           (i->kind == IR_TEXTURE && texture_writes(&i->texture->form));
}

/* Adds where the instruction writes; false where that is not known. */
static bool add_store_range(const struct ir_func *f, const struct ir_shapes *s, const struct ir_insn *i,
                            struct event_writes *w)
{
    bool plain = i->kind == IR_ST || i->kind == IR_ATOM;
    if (plain && !mem_access_may_be_global(&i->access->mem))
        return true;
    if (!plain || i->access->disp_const || i->access->mem.frame || w->n == EVENT_WRITES_MOST)
        return false;
    struct ir_range base = i->a ? ir_range_of(f, s, i->a) : (struct ir_range){0, 0};
    __int128 start = (__int128)base.lo + i->access->disp;
    __int128 end = (__int128)base.hi + i->access->disp + i->access->mem.bytes * i->access->mem.n;
    if (base.lo > base.hi || start < 0 || end > INT64_MAX)
        return false;
    w->at[w->n].start = (uint64_t)start;
    w->at[w->n++].end = (uint64_t)end;
    return true;
}

/* Not inlined: nothing of it is alive where setjmp() returns again. */
__attribute__((noinline)) static bool find(const struct event_launch *l, const struct kernel *k, struct arena *arena,
                                           struct event_writes *w)
{
    const struct ir_func *f = k->entry->ir;
    struct ir_launch known = {{l->grid[0], l->grid[1], l->grid[2]}, l->params, k->param_bytes};
    struct ir_shapes s;
    ir_find_ranges_of_launch(f, l->block, &known, arena, &s);
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (may_write(&f->insns.at[i]) && !add_store_range(f, &s, &f->insns.at[i], w))
            return false;
    return true;
}

struct event_writes written_by(const struct event_launch *l)
{
    const struct kernel *k = l->kernel->code;
    jmp_buf no_memory;
    struct event_writes w = {0};
    struct arena arena = {.on_oom = &no_memory};
    if (l->writes)
        return *l->writes;
    if (!k || l->n_blocks < THREADS_LEAST / l->threads_per_block || k->entry->ir->insns.n > INSTRUCTIONS_MOST)
        return w;
    if (setjmp(no_memory) == 0)
        w.known = find(l, k, &arena, &w);
    arena_free(&arena);
    return w;
}
