/* Finds serial parts: code that lanes should run one after the other, because they compete for one
 * location.
 *
 * If several lanes try to take a lock, one of them gets it; if several compare-and-swap one
 * location, one succeeds. If all ran together, the others would have tried in vain, and the warp
 * would diverge. One after the other, each lane succeeds at its first or second try.
 *
 * So a *serial part* begins with a loop that spins (spin.c) on an atomic operation that can fail:
 * because others were faster (cas), or because the location is taken (exch, and, or, xor). It ends
 * behind the loop, at the operation that releases what was taken: an operation on the same
 * address, or the last one before another loop that orders memory. Lanes may run in any order,
 * since CUDA promises none between threads (CUDA C++ Programming Guide, "SIMT Architecture"). The
 * engine ensures that all of them make progress (exec/serial.c).
 *
 * A serial part is entered only at its head. Lanes that wait further inside would be overtaken by
 * those that run through it, which other analyses do not expect (shape.c). Nothing in it may wait
 * for other lanes or end a thread. A loop that contains such a loop, or that does more in its
 * iterations, is work that lanes do better together.
 *
 * In a search through a graph, a thread tries for locations that it finds in a list of its own,
 * such as the neighbours of a vertex. There, lanes have little to do together: lists differ in
 * length, each lane loads from its own lines, locations are scattered, and lanes diverge when they
 * are done. If the CPU has no fast gathers (`serial_walks`), such a loop is a serial part, too.
 */
#include "ir/affine.h"

enum { MAX_INSNS = 128, MAX_BLOCKS = 1024 };

/* Bytes by which a list goes on in an iteration: a lane has each line
 * that it comes to for itself. */
enum { LONGEST_STEP = 64 };

struct finder {
    struct ir_func *f;
    struct arena scratch;
    const uint32_t *loop_end;   /* by block in order */
    uint32_t *first, *last;     /* by block in order: the first and the last that go there */
    const struct ir_defs *defs; /* NULL: they have not been asked for yet */
};

static void find_origins(struct finder *x)
{
    memset(x->first, 0xff, x->f->n_ordered * sizeof *x->first);
    for (uint32_t o = 0; o < x->f->n_ordered; o++) {
        for (uint32_t k = ir_count_from(x->f, o); k-- > 0;) {
            uint32_t to = ir_order_from(x->f, o, k);
            x->first[to] = o < x->first[to] ? o : x->first[to];
            x->last[to] = o;
        }
    }
}

static const struct ir_insn *insn_at(const struct finder *x, const struct ir_block *b, uint32_t k)
{
    return &x->f->insns.at[b->first + k];
}

static bool tries(const struct ir_insn *i)
{
    return i->kind == IR_ATOM && ir_ref_kind(i->access->regs[0]) == REF_REG &&
           atom_locks((enum atom_op)i->access->mem.atom);
}

/* Can one lane do it by itself, and go on? */
static bool stands_alone(const struct ir_insn *i)
{
    switch (i->kind) {
    case IR_LANES:
    case IR_LD:
    case IR_ST:
    case IR_ATOM:
    case IR_FRAME:
    case IR_NOW:
    case IR_FENCE:
    case IR_NANOSLEEP:
    case IR_BRA:
    case IR_JUMP: return true;
    default: return false;
    }
}

static bool can_join(const struct finder *x, const struct ir_block *b)
{
    for (uint32_t k = 0; k < b->n; k++)
        if (!stands_alone(insn_at(x, b, k)))
            return false;
    return b->next != NO_BLOCK || b->n;
}

/* The loop from `head` on, to *end: does it try, and could lanes go
 * around it one after the other? */
static bool is_loop_that_tries(const struct finder *x, uint32_t head, uint32_t *end, uint32_t *insns)
{
    bool found = false;
    *end = x->loop_end[head] + 1;
    *insns = 0;
    for (uint32_t o = head; o < *end; o++) {
        const struct ir_block *b = ir_block_at(x->f, o);
        bool has_entry = o > head && (b->loop_header || x->first[o] < head || x->last[o] >= *end);
        if (has_entry || (*insns += b->n) > MAX_INSNS || o - head > MAX_BLOCKS || !can_join(x, b))
            return false;
        for (uint32_t k = 0; k < b->n; k++)
            found |= tries(insn_at(x, b, k));
    }
    return found;
}

/* ---- lists of a thread's own ---- */

/* The one instruction that defines a register outside of the loop from..to; NULL where there are
 * none or several, or where it has a guard. */
static const struct ir_insn *def_outside(const struct finder *x, ir_ref r, uint32_t from, uint32_t to)
{
    struct ir_def_list before = ir_defs_within(x->defs, r, 0, from);
    struct ir_def_list behind = ir_defs_within(x->defs, r, to, x->f->n_ordered);
    const struct ir_def *at = before.n ? before.at : behind.at;
    const struct ir_insn *found = before.n + behind.n == 1 ? &x->f->insns.at[at->insn] : NULL;
    return found && !found->guard ? found : NULL;
}

/* Does what a register has before the loop hang on something found in memory, by a few steps? */
static bool is_found(const struct finder *x, ir_ref r, uint32_t from, uint32_t to, unsigned depth)
{
    enum { DEEPEST = 6 };
    const struct ir_insn *i = depth < DEEPEST ? def_outside(x, r, from, to) : NULL;
    if (i && i->kind == IR_LD)
        return mem_access_may_be_global(&i->access->mem);
    return i && ir_is(i) != IS__ && ir_is(i) < IS_EQ &&
           (is_found(x, i->a, from, to, depth + 1) || is_found(x, i->b, from, to, depth + 1) ||
            is_found(x, i->c, from, to, depth + 1));
}

/* Does the loop load what lies one behind the other, from where a load before it has said? */
static bool walks(struct finder *x, uint32_t from, uint32_t to)
{
    x->defs = x->defs ? x->defs : ir_find_defs(x->f, &x->scratch);
    struct arena arena = {.on_oom = x->scratch.on_oom}; /* a loop's blocks may stand far apart */
    struct ir_loop loop = ir_loop_of(x->f, NULL, x->defs, from, to, &arena);
    bool found = false;
    for (uint32_t o = from; o < to && !found; o++) {
        const struct ir_block *b = ir_block_at(x->f, o);
        for (uint32_t k = 0; k < b->n && !found; k++) {
            const struct ir_insn *i = insn_at(x, b, k);
            const struct ir_affine *at = i->kind == IR_LD ? ir_affine_of(&loop, i->a, b->first + k) : NULL;
            if (!at || at->over != EVOLVES_BY_STEP || !at->step || at->step < -LONGEST_STEP || at->step > LONGEST_STEP)
                continue;
            while (at->made == AFFINE_MAD) /* to the register that steps */
                at = at->c->over ? at->c : at->a;
            found = is_found(x, at->r, from, to, 0);
        }
    }
    arena_free(&arena);
    return found;
}

/* ---- where a contest's part ends ---- */

/* Is an address of the one state space the same place in the other? Generic addresses are those of
 * global memory, too (PTX ISA 6.4.1.1, "Generic Addressing"); a window's are its own. */
static bool is_same_space(enum ptx_space a, enum ptx_space b)
{
    bool is_global = a == SPACE_GLOBAL || a == SPACE_GENERIC;
    return a == b || (is_global && (b == SPACE_GLOBAL || b == SPACE_GENERIC));
}

/* An operation on the address that the loop tries at. */
static bool is_on_same(const struct finder *x, const struct ir_insn *i, uint32_t from, uint32_t to)
{
    if (i->kind != IR_ST && i->kind != IR_ATOM)
        return false;
    for (uint32_t o = from; o < to; o++) {
        const struct ir_block *b = ir_block_at(x->f, o);
        for (uint32_t k = 0; k < b->n; k++) {
            const struct ir_insn *t = insn_at(x, b, k);
            if (tries(t) && t->a == i->a && is_same_space(t->access->mem.space, i->access->mem.space) &&
                t->access->disp == i->access->disp && t->access->disp_const == i->access->disp_const)
                return true;
        }
    }
    return false;
}

static bool orders(const struct ir_insn *i)
{
    return i->kind == IR_FENCE || i->kind == IR_ATOM ||
           (i->kind == IR_ST && (i->access->mem.order != ORDER_WEAK || i->access->mem.is_volatile));
}

/* Where the part that begins with the loop from..to ends; `stop` becomes the block that cannot join
 * it. */
static uint32_t find_end(const struct finder *x, uint32_t from, uint32_t to, uint32_t insns, uint32_t *stop)
{
    uint32_t end = to, origin = 0;
    bool straight = true, found = false;
    for (*stop = to; *stop < x->f->n_ordered; ++*stop) {
        uint32_t o = *stop;
        const struct ir_block *b = ir_block_at(x->f, o);
        straight &= !b->loop_header;
        origin = x->last[o] > origin ? x->last[o] : origin;
        if (x->first[o] < from || (insns += b->n) > MAX_INSNS || o - from > MAX_BLOCKS || !can_join(x, b))
            break;
        for (uint32_t k = 0; k < b->n; k++) {
            bool same = is_on_same(x, insn_at(x, b, k), from, to);
            if (origin <= o && (same || (straight && !found && orders(insn_at(x, b, k)))))
                end = o + 1;
            found |= same;
        }
    }
    return end;
}

/* What gives back may stand in one block with what cannot join the part, which is the block's last
 * instruction then: a barrier, or the thread's end. That gets a block of its own; not where a loop
 * stands before it, which lanes had better go around together. */
static bool cut(const struct finder *x, uint32_t from, uint32_t to, uint32_t stop)
{
    struct ir_func *f = x->f;
    struct ir_block *b = stop < f->n_ordered ? &f->blocks.at[f->order[stop]] : NULL;
    bool gives_back = false;
    for (uint32_t o = to; b && o <= stop; o++)
        if (ir_block_at(x->f, o)->loop_header)
            return false;
    for (uint32_t k = 0; b && k + 1 < b->n; k++) {
        gives_back |= is_on_same(x, insn_at(x, b, k), from, to);
        if (!stands_alone(insn_at(x, b, k)))
            return false;
    }
    if (!gives_back || stands_alone(insn_at(x, b, b->n - 1)))
        return false;
    struct ir_block behind = {.first = b->first + b->n - 1, .n = 1, .next = b->next};
    b->n--;
    b->next = f->blocks.n;
    *VEC_PUSH(f->arena, &f->blocks) = behind;
    return true;
}

static void mark(struct ir_func *f, uint32_t from, uint32_t to)
{
    for (uint32_t o = from; o < to; o++) {
        f->blocks.at[f->order[o]].serial_from = from;
        f->blocks.at[f->order[o]].serial_to = to;
    }
}

bool ir_find_serial(struct ir_func *f, bool serial_walks, bool *has_cut)
{
    struct finder x = {.f = f, .scratch = {.on_oom = f->arena->on_oom}};
    *has_cut = false;
    for (uint32_t i = 0; i < f->blocks.n; i++)
        f->blocks.at[i].serial_from = f->blocks.at[i].serial_to = 0;
    x.loop_end = ir_find_loop_ends(f, &x.scratch);
    x.first = ARENA_ARRAY(&x.scratch, uint32_t, f->n_ordered);
    x.last = ARENA_ARRAY(&x.scratch, uint32_t, f->n_ordered);
    find_origins(&x);
    for (uint32_t o = 0, behind, insns, stop; o < f->n_ordered;) {
        uint32_t from = o++;
        if (!ir_block_at(x.f, from)->loop_header || !is_loop_that_tries(&x, from, &behind, &insns))
            continue;
        if (!ir_block_at(x.f, from)->spins) {
            if (serial_walks && walks(&x, from, behind))
                mark(f, from, o = behind);
            continue;
        }
        o = find_end(&x, from, behind, insns, &stop);
        mark(f, from, o);
        *has_cut |= cut(&x, from, behind, stop);
    }
    arena_free(&x.scratch);
    return !*has_cut || ir_spend(f, f->insns.n + f->blocks.n);
}
