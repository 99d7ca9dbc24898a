/* See future.h. Walks over the reachable blocks with an interval for each register. A block is
 * visited once for each set of intervals that it may begin with, so a counting loop is analysed as
 * exactly as if it were unrolled; beyond MAX_KEPT sets they are joined. */
#include "explore/future.h"

#include <stdlib.h>
#include <string.h>

#include "explore/machine.h"
#include "isa/lane_ids.h"

struct interval {
    uint64_t lo, hi;
};

enum { MAX_KEPT = 32, MAX_JOINS = 4, MAX_RANGES = 64 };

/* Intervals at the start of a block, for the registers that are live there, by their numbers in
 * ir_live. */
struct entry {
    struct interval *live;
    struct entry *next; /* another entry of the block */
    uint32_t block;
    bool waits; /* on the work list */
};

struct entries {
    struct entry *newest; /* the entry that others are joined with once there are MAX_KEPT */
    unsigned n, joins;
};

struct walk {
    struct execution x; /* to evaluate operands and lane functions */
    struct future *future;
    const struct ir_func *ir;
    const struct ir_live *live;
    const struct loop_kind *loops;
    struct arena scratch;
    struct entries *entries;    /* by block */
    struct interval *registers; /* during a block */
    /* Collects only weak writes, and strong ones in a scope smaller than gpu. */
    bool weak_alone;
    VEC(struct entry *) list;
    struct future_range ranges[MAX_RANGES];
    unsigned n_ranges;
};

static struct interval any(unsigned width)
{
    return (struct interval){0, width >= 64 || !width ? UINT64_MAX : (1ull << width) - 1};
}

static bool is_exact(struct interval a)
{
    return a.lo == a.hi;
}

static struct interval of(struct walk *w, ir_ref r)
{
    if (ir_ref_kind(r) == REF_REG)
        return w->registers[ir_ref_index(r)];
    if (!r)
        return (struct interval){0, 0};
    uint64_t v = operand(&w->x, r).lo;
    return (struct interval){v, v};
}

static void set(struct walk *w, ir_ref r, struct interval v)
{
    if (ir_ref_kind(r) == REF_REG)
        w->registers[ir_ref_index(r)] = v;
}

/* ---- pure instructions ---- */

static struct interval added(struct interval a, struct interval b, unsigned width)
{
    struct interval all = any(width);
    bool wraps = a.hi > all.hi - b.hi;
    bool wraps_all = a.lo > all.hi - b.lo; /* adding a negative number makes all sums wrap */
    if (wraps && !wraps_all)
        return all;
    return (struct interval){(a.lo + b.lo) & all.hi, (a.hi + b.hi) & all.hi};
}

static struct interval multiplied(struct interval a, struct interval b, unsigned width)
{
    uint64_t hi;
    if (__builtin_mul_overflow(a.hi, b.hi, &hi) || hi > any(width).hi)
        return any(width);
    return (struct interval){a.lo * b.lo, hi};
}

static bool is_positive(struct interval a, unsigned width)
{
    return a.hi <= any(width).hi >> 1;
}

/* The largest number of as many bits. */
static uint64_t all_bits(uint64_t v)
{
    return v ? UINT64_MAX >> __builtin_clzll(v) : 0;
}

static struct interval computed(struct walk *w, const struct ir_insn *i)
{
    const struct lane_info *info = lane_info(i->lane);
    struct interval a = of(w, i->a), b = of(w, i->b), c = of(w, i->c), all = any(info->d);
    switch (info->is) {
    case IS_COPY:
    case IS_ZEXT: return a;
    case IS_TRUNC: return a.hi <= all.hi ? a : all;
    case IS_SEXT: return is_positive(a, info->a) ? a : all;
    case IS_ADD: return added(a, b, info->d);
    case IS_SUB: return a.lo >= b.hi ? (struct interval){a.lo - b.hi, a.hi - b.lo} : all;
    case IS_MUL:
    case IS_MUL_WIDE_U: return multiplied(a, b, info->d);
    case IS_MAD:
    case IS_MAD_WIDE_U: return added(multiplied(a, b, info->d), c, info->d);
    case IS_MUL_WIDE_S: return is_positive(a, info->a) && is_positive(b, info->b) ? multiplied(a, b, info->d) : all;
    case IS_MAD_WIDE_S:
        return is_positive(a, info->a) && is_positive(b, info->b) ? added(multiplied(a, b, info->d), c, info->d) : all;
    case IS_SHL:
        return is_exact(b) && b.lo < info->d ? multiplied(a, (struct interval){1ull << b.lo, 1ull << b.lo}, info->d)
                                             : all;
    case IS_LSHR:
        return is_exact(b) && b.lo < 64 ? (struct interval){a.lo >> b.lo, a.hi >> b.lo} : (struct interval){0, a.hi};
    case IS_AND: return (struct interval){0, a.hi < b.hi ? a.hi : b.hi};
    case IS_OR: return (struct interval){a.lo > b.lo ? a.lo : b.lo, all_bits(a.hi | b.hi)};
    case IS_XOR: return (struct interval){0, all_bits(a.hi | b.hi)};
    default: break;
    }
    if (i->lane == LANE_selp_b16 || i->lane == LANE_selp_b32 || i->lane == LANE_selp_b64)
        return (struct interval){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    return all;
}

static void step_lanes(struct walk *w, const struct ir_insn *i, bool sure)
{
    const struct lane_info *info = lane_info(i->lane);
    struct interval in[4] = {of(w, i->a), of(w, i->b), of(w, i->c), of(w, i->e)};
    bool exact = info->d != 128;
    for (int k = 0; k < 4; k++)
        exact &= is_exact(in[k]);
    struct interval d = any(info->d), e = any(32);
    if (exact) {
        struct value ev = {.lo = in[3].lo};
        uint64_t v = call_lane(&w->x, i->lane, (struct value){.lo = in[0].lo}, (struct value){.lo = in[1].lo},
                               (struct value){.lo = in[2].lo}, &ev, i->imm)
                         .lo;
        d = (struct interval){v, v};
        e = (struct interval){ev.lo, ev.lo};
    } else {
        d = computed(w, i);
    }
    if (!sure) {
        struct interval old = of(w, i->d);
        d = (struct interval){old.lo < d.lo ? old.lo : d.lo, old.hi > d.hi ? old.hi : d.hi};
        e = any(32);
    }
    set(w, i->d, d);
    if (info->e & CARRY_OUT && info->e != CARRY_FOURTH)
        set(w, i->e, e);
}

/* ---- memory ---- */

static uint64_t gap(const struct future_range *r, uint64_t first, uint64_t last)
{
    return first > r->last ? first - r->last : r->first > last ? r->first - last : 0;
}

/* Adds a range of addresses; if there is no room, extends the nearest one. */
static void add_range(struct walk *w, uint32_t block, uint64_t first, uint64_t last)
{
    struct future_range *nearest = NULL;
    for (unsigned i = 0; i < w->n_ranges; i++) {
        struct future_range *r = &w->ranges[i];
        if (r->block != block)
            continue;
        if (r->first <= first && last <= r->last)
            return;
        if (!nearest || gap(r, first, last) < gap(nearest, first, last))
            nearest = r;
    }
    if (w->n_ranges < MAX_RANGES)
        w->ranges[w->n_ranges++] = (struct future_range){block, first, last};
    else if (!nearest)
        w->future->anywhere = true;
    else
        *nearest = (struct future_range){block, first < nearest->first ? first : nearest->first,
                                         last > nearest->last ? last : nearest->last};
}

static void note_write(struct walk *w, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    const struct program *p = w->x.r->program;
    struct interval at = of(w, i->a);
    uint64_t disp = (uint64_t)a->disp + (a->disp_const ? operand(&w->x, a->disp_const).lo : 0);
    uint64_t bytes = (uint64_t)a->mem.bytes * a->mem.n;
    struct strength strength = strength_with(p->changes, i);
    bool is_strong = strength.order != ORDER_WEAK && strength.scope >= SCOPE_GPU;
    if (a->mem.frame || a->mem.space == SPACE_LOCAL || (w->weak_alone && is_strong))
        return;
    if (!i->a)
        at = (struct interval){0, 0};
    at = added(at, (struct interval){disp, disp}, 64);
    struct interval all = any(64);
    if (at.hi == all.hi || at.hi + bytes < at.hi) {
        w->future->anywhere = true;
        return;
    }
    uint64_t shared = at.lo - mem_shared_window(p->mem);
    bool generic = a->mem.space == SPACE_GENERIC;
    if (a->mem.space == SPACE_SHARED) {
        if (at.hi + bytes > p->shared_bytes)
            w->future->anywhere = true;
        else
            add_range(w, w->x.r->at.block, at.lo, at.hi + bytes - 1);
    } else if (generic && (shared < MEM_CLUSTER_WINDOW_BYTES ||
                           (at.lo < mem_shared_window(p->mem) && at.hi >= mem_shared_window(p->mem)))) {
        w->future->anywhere = true;
    } else if (!generic || at.lo - mem_local_window(p->mem) >= MEM_LOCAL_WINDOW_BYTES) {
        add_range(w, GLOBAL_MEMORY, at.lo, at.hi + bytes - 1);
    }
}

static void step_load(struct walk *w, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    for (unsigned k = 0; k < a->mem.n; k++)
        if (a->regs[k]) {
            unsigned width = layout_width(w->ir, a->regs[k]);
            set(w, a->regs[k], a->mem.sign || a->mem.bytes * 8u > width ? any(width) : any(a->mem.bytes * 8u));
        }
    struct interval at = of(w, i->a);
    if (i->kind != IR_LD || a->mem.n != 1 || a->mem.sign || a->mem.frame || !is_exact(at))
        return;
    uint64_t address = at.lo + (uint64_t)a->disp + (a->disp_const ? operand(&w->x, a->disp_const).lo : 0), value = 0;
    struct program *p = w->x.r->program;
    uint64_t params = (uint64_t)(uintptr_t)p->params;
    if (a->mem.space == SPACE_PARAM)
        address += params;
    if (address - params < p->kernel->param_bytes && a->mem.bytes <= 8) {
        memcpy(&value, (const void *)(uintptr_t)address, a->mem.bytes);
        set(w, a->regs[0], (struct interval){value, value});
    }
}

/* ---- blocks ---- */

/* Are the current intervals contained in the entry's? */
static bool is_in(const struct walk *w, const struct entry *e, const uint64_t *in)
{
    for (uint32_t k = 0; k < w->live->n; k++) {
        struct interval now = w->registers[w->live->regs[k]];
        if (ir_in_set(in, k) && (now.lo < e->live[k].lo || now.hi > e->live[k].hi))
            return false;
    }
    return true;
}

static struct entry *new_entry(struct walk *w, uint32_t block)
{
    struct entries *all = &w->entries[block];
    struct entry *e = ARENA_NEW(&w->scratch, struct entry);
    *e = (struct entry){ARENA_ARRAY(&w->scratch, struct interval, w->live->n + 1), all->newest, block, false};
    for (uint32_t k = 0; k < w->live->n; k++)
        e->live[k] = w->registers[w->live->regs[k]];
    all->n++;
    return all->newest = e;
}

static void widen(struct walk *w, struct entry *e, const uint64_t *in, bool at_once)
{
    for (uint32_t k = 0; k < w->live->n; k++) {
        uint32_t reg = w->live->regs[k];
        struct interval now = w->registers[reg], *kept = &e->live[k];
        if (ir_in_set(in, k) && (now.lo < kept->lo || now.hi > kept->hi))
            *kept = at_once ? any(w->ir->regs.at[reg].width)
                            : (struct interval){now.lo < kept->lo ? now.lo : kept->lo,
                                                now.hi > kept->hi ? now.hi : kept->hi};
    }
}

/* Joins the current intervals into those that a block may begin with. */
static void join(struct walk *w, uint32_t block)
{
    if (block == NO_BLOCK)
        return;
    const struct detour *detour = &w->loops[block].detour;
    block = detour->to != NO_BLOCK && !detour->from ? detour->to : block;
    struct entries *all = &w->entries[block];
    const uint64_t *in = w->live->in + (size_t)w->ir->blocks.at[block].order * w->live->words;
    for (const struct entry *e = all->newest; e; e = e->next)
        if (is_in(w, e, in))
            return;
    struct entry *e = all->newest;
    if (all->n < MAX_KEPT)
        e = new_entry(w, block);
    else
        widen(w, e, in, ++all->joins > MAX_JOINS);
    if (!e->waits) {
        e->waits = true;
        *VEC_PUSH(&w->scratch, &w->list) = e;
    }
}

static void all_is_possible(struct walk *w)
{
    w->future->anywhere = true;
    w->future->barriers = UINT32_MAX;
}

static void write_any(struct walk *w, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = ir_writes(i, refs); k-- > 0;)
        if (ir_ref_kind(refs[k]) == REF_REG)
            set(w, refs[k], any(w->ir->regs.at[ir_ref_index(refs[k])].width));
}

static void note_barrier(struct walk *w, const struct ir_insn *i)
{
    struct interval id = of(w, i->a);
    if (i->mode == BAR_CLUSTER_ARRIVE || i->mode == BAR_CLUSTER_WAIT)
        w->future->barriers |= 1u << CLUSTER_BARRIER;
    else
        w->future->barriers |= is_exact(id) && id.lo < BARRIERS ? 1u << id.lo : UINT32_MAX;
}

/* Executes one instruction; false if it ends the block. */
static bool step(struct walk *w, const struct ir_insn *i, uint32_t next)
{
    struct interval guard = i->guard ? of(w, i->guard) : (struct interval){1, 1};
    bool exact = is_exact(guard), holds = exact && (guard.lo & 1) != (i->guard && i->guard_negated);
    if (exact && !holds) {
        if (ir_ends_block((enum ir_kind)i->kind))
            join(w, next);
        return !ir_ends_block((enum ir_kind)i->kind);
    }
    switch ((enum ir_kind)i->kind) {
    case IR_LANES: step_lanes(w, i, exact); return true;
    case IR_LD: step_load(w, i); return true;
    case IR_ATOM:
        step_load(w, i);
        note_write(w, i);
        return true;
    case IR_ST: note_write(w, i); return true;
    case IR_BRA:
        join(w, i->targets[0]);
        if (!exact)
            join(w, next);
        return false;
    case IR_BRX:
        for (uint32_t k = 0; k < i->n_targets; k++)
            join(w, i->targets[k]);
        if (!exact)
            join(w, next);
        return false;
    case IR_RET:
    case IR_EXIT:
        if (!exact)
            join(w, next);
        return false;
    case IR_CALL:
        if (!i->call->syscall)
            all_is_possible(w);
        break;
    case IR_BAR: note_barrier(w, i); break;
    case IR_MBARRIER:
        if (!mbarrier_tests(i->mode))
            note_write(w, i);
        break;
    case IR_ASYNC:
    case IR_MATRIX:
    case IR_TEXTURE: all_is_possible(w); break;
    default: break;
    }
    write_any(w, i);
    if (!ir_ends_block((enum ir_kind)i->kind))
        return true;
    join(w, next);
    return false;
}

static void walk_block(struct walk *w, uint32_t block, uint32_t from)
{
    const struct ir_block *b = &w->ir->blocks.at[block];
    for (uint32_t k = from; k < b->n; k++)
        if (!step(w, &w->ir->insns.at[b->first + k], b->next))
            return;
    join(w, b->next);
}

static void walk_all(struct walk *w)
{
    while (w->list.n) {
        struct entry *e = w->list.at[--w->list.n];
        const uint64_t *in = w->live->in + (size_t)w->ir->blocks.at[e->block].order * w->live->words;
        e->waits = false;
        for (uint32_t r = 1; r < w->ir->regs.n; r++)
            w->registers[r] = any(w->ir->regs.at[r].width);
        for (uint32_t k = 0; k < w->live->n; k++)
            if (ir_in_set(in, k))
                w->registers[w->live->regs[k]] = e->live[k];
        walk_block(w, e->block, 0);
    }
}

/* Walks from a machine's place, or from the next instruction. */
static void walk_from(struct runner *r, const struct machine *m, bool behind, bool weak_alone, struct future *f)
{
    const struct frame *top = &m->frames[m->n_frames - 1];
    struct walk w = {.x = {.r = r, .m = (struct machine *)m},
                     .future = f,
                     .ir = top->code->ir,
                     .scratch = {.on_oom = r->arena->on_oom},
                     .weak_alone = weak_alone};
    if (m->n_frames > 1) {
        all_is_possible(&w);
        return;
    }
    w.live = &r->program->live[top->code->index];
    w.loops = r->program->loops[top->code->index];
    w.entries = ARENA_ARRAY(&w.scratch, struct entries, w.ir->blocks.n);
    w.registers = ARENA_ARRAY(&w.scratch, struct interval, w.ir->regs.n);
    for (uint32_t k = 1; k < w.ir->regs.n; k++) {
        const struct value *v = &m->values[top->registers + k];
        w.registers[k] = v->needs ? any(w.ir->regs.at[k].width) : (struct interval){v->lo, v->lo};
    }
    walk_block(&w, top->block, top->at + behind);
    walk_all(&w);
    f->n = w.n_ranges;
    f->ranges = ARENA_ARRAY(r->arena, struct future_range, w.n_ranges);
    memcpy(f->ranges, w.ranges, w.n_ranges * sizeof *w.ranges);
    arena_free(&w.scratch);
}

const struct future *future_of(struct runner *r, struct run *run)
{
    if (run->future)
        return run->future;
    run->future = ARENA_NEW(r->arena, struct future);
    if (run->end == RUN_WAITS || run->end == RUN_MEETS)
        walk_from(r, run_stop(r, run), run->end == RUN_MEETS, false, run->future);
    return run->future;
}

const struct future *future_weak(struct runner *r)
{
    if (!r->weak) {
        r->weak = ARENA_NEW(r->arena, struct future);
        walk_from(r, r->entry, false, true, r->weak);
    }
    return r->weak;
}

bool future_writes(const struct future *f, const struct location *l)
{
    if (f->anywhere)
        return true;
    for (unsigned i = 0; i < f->n; i++)
        if (f->ranges[i].block == l->block && f->ranges[i].first <= l->address + l->bytes - 1 &&
            l->address <= f->ranges[i].last)
            return true;
    return false;
}
