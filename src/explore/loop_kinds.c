/* Finds loops that can wait: those with a path back to the head on which a thread only reads.
 * Whether an iteration is left out depends on what it did (loops.c). This analysis only tells which
 * loops never have such iterations, and whether an iteration is a single read, so that races of
 * left-out iterations (skipped_iterations.c) are searched for only where they can occur. */
#include "explore/program.h"

#include <string.h>

#include "isa/lane_ids.h"
#include "isa/lanes.h"

/* A loop during its analysis: by block, which blocks lead back to its head, and which do so without
 * writing. */
struct body {
    const struct ir_func *f;
    const uint64_t *constants;
    uint32_t head, without; /* without: a block that paths must avoid; NO_BLOCK: none */
    bool swaps_write;       /* compare-and-swaps count as writes, whatever they read */
    bool *back, *quiet;
};

/* Visits each instruction `i` of the loop, with its block. */
#define EACH_INSN(b, block, i)                                                                                         \
    for (uint32_t block = 0; block < (b)->f->blocks.n; block++)                                                        \
        for (const struct ir_insn *i = &(b)->f->insns.at[(b)->f->blocks.at[block].first],                              \
                                  *end_ = i + ((b)->back[block] ? (b)->f->blocks.at[block].n : 0);                     \
             i < end_; i++)

static bool is_shared(const struct ir_insn *i)
{
    enum ptx_space space = i->access->mem.space;
    return space == SPACE_GLOBAL || space == SPACE_SHARED || space == SPACE_GENERIC;
}

static bool reads(const struct ir_insn *i)
{
    return i->kind == IR_ATOM || i->kind == IR_MBARRIER || i->kind == IR_CALL || (i->kind == IR_LD && is_shared(i));
}

static bool is_swap(const struct ir_insn *i)
{
    return i->kind == IR_ATOM && i->access->mem.atom == ATOM_cas;
}

static bool is_quiet(const struct body *body, uint32_t block)
{
    const struct ir_func *f = body->f;
    const struct ir_block *b = &f->blocks.at[block];
    for (uint32_t k = 0; k < b->n; k++) {
        const struct ir_insn *i = &f->insns.at[b->first + k];
        bool writes = i->kind == IR_BAR || (i->kind == IR_MBARRIER && !mbarrier_tests(i->mode)) ||
                      (i->kind == IR_ST && is_shared(i)) || (is_swap(i) && body->swaps_write);
        if (writes && !i->guard)
            return false;
    }
    return true;
}

/* Marks the blocks with a path to the head within the loop. */
static void find_ways_back(const struct body *b, bool *marks, bool only_quiet)
{
    uint32_t first = b->f->blocks.at[b->head].order;
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t o = b->f->n_ordered; o-- > first;) {
            uint32_t block = b->f->order[o];
            bool leads = false;
            for (uint32_t k = 0; k < ir_successor_count(b->f, block); k++) {
                uint32_t to = ir_successor(b->f, block, k);
                leads |= to == b->head || (to != NO_BLOCK && marks[to]);
            }
            if (!leads || marks[block] || block == b->without || (only_quiet && !is_quiet(b, block)))
                continue;
            marks[block] = grew = true;
        }
    }
}

static bool has_swap(const struct ir_func *f, uint32_t block)
{
    bool any = false;
    for (uint32_t k = 0; k < f->blocks.at[block].n; k++)
        any |= is_swap(&f->insns.at[f->blocks.at[block].first + k]);
    return any;
}

/* ---- loops that count ---- */

/* Does the instruction add a small number to a register? Then many iterations pass before it has an
   old value again. */
static bool counts(const struct body *b, const struct ir_insn *i)
{
    enum { MOST = 1 << 16 };
    if (i->kind != IR_LANES || i->guard || lane_info(i->lane)->is != IS_ADD || i->d != i->a ||
        ir_ref_kind(i->b) != REF_CONST || lane_info(i->lane)->d < 32)
        return false;
    unsigned above = 64u - lane_info(i->lane)->d;
    int64_t by = (int64_t)(b->constants[ir_ref_index(i->b)] << above) >> above;
    return by && by <= MOST && by >= -MOST;
}

static bool writes_register(const struct ir_insn *i, ir_ref r)
{
    ir_ref refs[IR_MAX_REFS];
    bool any = false;
    for (unsigned k = ir_writes(i, refs); k-- > 0;)
        any |= refs[k] == r;
    return any;
}

/* Counts the instructions of the loop that write the register. */
static unsigned count_writes(const struct body *b, ir_ref r)
{
    unsigned n = 0;
    EACH_INSN(b, block, i)
    n += writes_register(i, r);
    return n;
}

static bool all_ways_lead_by(struct body *b, uint32_t block)
{
    memset(b->quiet, 0, b->f->blocks.n * sizeof *b->quiet);
    b->without = block;
    find_ways_back(b, b->quiet, false);
    b->without = NO_BLOCK;
    return !b->quiet[b->head];
}

/* Does each iteration count up, so that none leaves the state unchanged? */
static bool each_round_counts(struct body *b)
{
    EACH_INSN(b, block, i)
    if (counts(b, i) && count_writes(b, i->d) == 1 && all_ways_lead_by(b, block))
        return true;
    return false;
}

/* An iteration with several reads, one of them a compare-and-swap, is left out only if the program
 * allows it. */
static struct loop_kind kind_of(struct body *b, bool swaps_left_out)
{
    struct loop_kind kind = {0};
    uint32_t n = 0;
    find_ways_back(b, b->back, false);
    EACH_INSN(b, block, i)
    n += !reads(i) ? 0 : i->kind == IR_CALL ? 2 : i->access->mem.n;
    kind.several = n > 1;
    if (each_round_counts(b))
        return kind;
    b->swaps_write = kind.several && !swaps_left_out;
    memset(b->quiet, 0, b->f->blocks.n * sizeof *b->quiet);
    find_ways_back(b, b->quiet, true);
    kind.awaits = n && b->quiet[b->head];
    for (uint32_t block = 0; block < b->f->blocks.n && kind.several; block++)
        kind.swaps |= b->back[block] && has_swap(b->f, block);
    return kind;
}

/* Marks the blocks of the loop, other than its header, that are entered from outside. */
static void find_entries(const struct body *b, struct loop_kind *kinds)
{
    for (uint32_t o = 0; o < b->f->n_ordered; o++) {
        uint32_t from = b->f->order[o];
        for (uint32_t k = ir_successor_count(b->f, from); k-- > 0 && from != b->head && !b->back[from];) {
            uint32_t to = ir_successor(b->f, from, k);
            if (to == NO_BLOCK || to == b->head || !b->back[to] || b->f->blocks.at[to].loop_header)
                continue;
            kinds[to].entry = true;
            kinds[to].awaits = kinds[b->head].awaits;
            kinds[to].several = kinds[b->head].several;
        }
    }
}

struct loop_kind *find_loop_kinds(struct program *p, const struct ir_func *f, const uint64_t *constants,
                                  const struct detour *detours)
{
    struct arena scratch = {.on_oom = p->arena->on_oom};
    struct loop_kind *kinds = ARENA_ARRAY(p->arena, struct loop_kind, f->blocks.n);
    struct body b = {.f = f,
                     .constants = constants,
                     .without = NO_BLOCK,
                     .back = ARENA_ARRAY(&scratch, bool, f->blocks.n),
                     .quiet = ARENA_ARRAY(&scratch, bool, f->blocks.n)};
    for (uint32_t block = 0; block < f->blocks.n; block++) {
        kinds[block].detour = detours[block];
        if (!f->blocks.at[block].loop_header)
            continue;
        b.head = block;
        memset(b.back, 0, f->blocks.n * sizeof *b.back);
        kinds[block] = kind_of(&b, p->swaps_left_out);
        p->has_swaps |= kinds[block].swaps;
        kinds[block].heads = true;
        kinds[block].detour = detours[block];
        find_entries(&b, kinds);
    }
    arena_free(&scratch);
    return kinds;
}
