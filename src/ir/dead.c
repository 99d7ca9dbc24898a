/* Dead code: drops instructions and results that nothing needs. */
#include "ir/live.h"

#include <string.h>

/* ---- by liveness ---- */

/* What is needed while a block is walked backwards: registers that cross blocks in a set, others by
 * the block that set them. */
struct need {
    const struct ir_live *live;
    uint64_t *crossing;
    uint32_t *needed_in; /* 1 + the block where it is needed, by register */
    uint32_t block;
    ir_keeps_fn *keeps;
};

static bool is_needed(const struct need *n, ir_ref r)
{
    uint32_t reg = ir_ref_index(r), g = n->live->number[reg];
    return g ? ir_in_set(n->crossing, g - 1) : n->needed_in[reg] == n->block + 1;
}

static void set_needed(const struct need *n, ir_ref r, bool needed)
{
    uint32_t reg = ir_ref_index(r), g = n->live->number[reg];
    if (!g)
        n->needed_in[reg] = needed ? n->block + 1 : 0;
    else if (needed)
        ir_set_add(n->crossing, g - 1);
    else
        ir_set_remove(n->crossing, g - 1);
}

/* From behind an instruction to before it; false where nobody needs what it computes, so that it
 * needs nothing itself. */
static bool pass_need(const struct need *n, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    bool needed = i->kind != IR_LANES || (n->keeps && n->keeps(i));
    unsigned n_writes = ir_writes(i, refs);
    for (unsigned k = 0; k < n_writes; k++)
        needed |= is_needed(n, refs[k]);
    for (unsigned k = 0; k < n_writes && !i->guard; k++)
        set_needed(n, refs[k], false);
    for (unsigned k = 0, n_reads = needed ? ir_reads(i, refs) : 0; k < n_reads; k++)
        if (ir_ref_kind(refs[k]) == REF_REG)
            set_needed(n, refs[k], true);
    return needed;
}

/* Backwards until nothing changes, as liveness, but what is not needed makes nothing live; false
 * where the work is spent. */
static bool find_needed(const struct ir_func *f, struct ir_live *live, struct need *need)
{
    enum { INSN_WORK = 24 };
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t o = f->n_ordered; o-- > 0;) {
            uint64_t *in = live->in + (size_t)o * live->words;
            const struct ir_block *b = ir_block_at(f, o);
            if (!ir_live_join_successors(f, live, o) || !ir_spend(f, (uint64_t)b->n * INSN_WORK))
                return false;
            memcpy(need->crossing, live->out + (size_t)o * live->words, live->words * sizeof *in);
            need->block = o;
            for (uint32_t n = b->first + b->n; n-- > b->first;)
                pass_need(need, &f->insns.at[n]);
            changed |= memcmp(in, need->crossing, live->words * sizeof *in) != 0;
            memcpy(in, need->crossing, live->words * sizeof *in);
        }
    }
    return true;
}

static void remove_marked(struct ir_func *f, const bool *dead, struct arena *scratch)
{
    uint32_t *at = ARENA_ARRAY(scratch, uint32_t, f->insns.n + 1), n = 0;
    for (uint32_t i = 0; i < f->insns.n; i++) {
        at[i] = n;
        if (!dead[i])
            f->insns.at[n++] = f->insns.at[i];
    }
    at[f->insns.n] = n;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        struct ir_block *block = &f->blocks.at[b];
        uint32_t end = at[block->first + block->n];
        block->first = at[block->first];
        block->n = end - block->first;
    }
    f->insns.n = n;
}

bool ir_drop_dead(struct ir_func *f, ir_keeps_fn *keeps, struct arena *arena, struct ir_live *live)
{
    struct arena scratch = {.on_oom = arena->on_oom};
    bool enough = ir_live_begin(f, arena, live);
    struct need need = {.live = live,
                        .keeps = keeps,
                        .crossing = ARENA_ARRAY(&scratch, uint64_t, live->words + 1),
                        .needed_in = ARENA_ARRAY(&scratch, uint32_t, f->regs.n)};
    enough = enough && find_needed(f, live, &need);
    bool *dead = ARENA_ARRAY(&scratch, bool, f->insns.n + 1), any = false;
    memset(need.needed_in, 0, f->regs.n * sizeof *need.needed_in);
    for (uint32_t o = 0; o < f->n_ordered && enough; o++) {
        const struct ir_block *b = ir_block_at(f, o);
        memcpy(need.crossing, live->out + (size_t)o * live->words, live->words * sizeof *need.crossing);
        need.block = o;
        for (uint32_t n = b->first + b->n; n-- > b->first;)
            any |= dead[n] = !pass_need(&need, &f->insns.at[n]);
    }
    if (any)
        remove_marked(f, dead, &scratch);
    arena_free(&scratch);
    return enough;
}

/* ---- by counting, where registers have no blocks yet ---- */

/* By register: how many instructions read it. */
static uint32_t *count_reads(const struct ir_func *f, struct arena *scratch)
{
    uint32_t *reads = ARENA_ARRAY(scratch, uint32_t, f->regs.n);
    ir_ref refs[IR_MAX_REFS];
    for (uint32_t n = 0; n < f->insns.n; n++)
        for (unsigned k = 0, n_reads = ir_reads(&f->insns.at[n], refs); k < n_reads; k++)
            if (ir_ref_kind(refs[k]) == REF_REG)
                reads[ir_ref_index(refs[k])]++;
    return reads;
}

/* Registers of a fragment that are copies of others: the last ones. */
static void drop_copies(struct ir_matrix *m, const uint32_t *reads)
{
    while (m->n_writes > fragment_own_regs(&m->form.d) && !reads[ir_ref_index(m->writes[m->n_writes - 1])])
        m->n_writes--;
}

void ir_drop_unread(struct ir_func *f)
{
    struct arena scratch = {.on_oom = f->arena->on_oom};
    const uint32_t *reads = count_reads(f, &scratch);
    for (uint32_t n = 0; n < f->insns.n; n++)
        for (unsigned k = 0; f->insns.at[n].kind == IR_ATOM && k < 8; k++)
            if (!reads[ir_ref_index(f->insns.at[n].access->regs[k])])
                f->insns.at[n].access->regs[k] = REF_NONE;
    for (uint32_t n = 0; n < f->insns.n; n++)
        if (f->insns.at[n].kind == IR_MATRIX && f->insns.at[n].matrix->form.kind == MATRIX_LOAD)
            drop_copies(f->insns.at[n].matrix, reads);
    arena_free(&scratch);
}

void ir_drop_unused(struct ir_func *f)
{
    struct arena scratch = {.on_oom = f->arena->on_oom};
    uint32_t *reads = count_reads(f, &scratch);
    bool *dead = ARENA_ARRAY(&scratch, bool, f->insns.n + 1), any = false;
    ir_ref refs[IR_MAX_REFS];
    for (uint32_t n = f->insns.n; n-- > 0;) {
        const struct ir_insn *i = &f->insns.at[n];
        bool read = i->kind != IR_LANES;
        for (unsigned k = 0, n_writes = ir_writes(i, refs); k < n_writes; k++)
            read |= reads[ir_ref_index(refs[k])] > 0;
        any |= dead[n] = !read;
        for (unsigned k = 0, n_reads = read ? 0 : ir_reads(i, refs); k < n_reads; k++)
            if (ir_ref_kind(refs[k]) == REF_REG)
                reads[ir_ref_index(refs[k])]--;
    }
    if (any)
        remove_marked(f, dead, &scratch);
    arena_free(&scratch);
}
