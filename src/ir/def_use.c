/* See def_use.h. */
#include "ir/def_use.h"

static void note(struct ir_defs *d, const struct ir_insn *i, struct ir_def at, bool counts)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned n = 0, n_writes = ir_writes(i, refs); n < n_writes; n++) {
        uint32_t *first = &d->first[ir_ref_index(refs[n]) + 2];
        if (ir_ref_kind(refs[n]) == REF_REG && counts)
            ++*first;
        else if (ir_ref_kind(refs[n]) == REF_REG)
            d->all[first[-1]++] = at;
    }
}

static void note_all(struct ir_defs *d, bool counts)
{
    for (uint32_t o = 0; o < d->f->n_ordered; o++) {
        const struct ir_block *b = &d->f->blocks.at[d->f->order[o]];
        for (uint32_t k = b->first; k < b->first + b->n; k++)
            note(d, &d->f->insns.at[k], (struct ir_def){o, k}, counts);
    }
}

/* first[r + 2] counts those of r; then first[r + 1] says where the next of r goes, and in the end
 * where those of r + 1 begin. */
struct ir_defs *ir_find_defs(const struct ir_func *f, struct arena *arena)
{
    struct ir_defs *d = ARENA_NEW(arena, struct ir_defs);
    *d = (struct ir_defs){.f = f,
                          .first = ARENA_ARRAY(arena, uint32_t, f->regs.n + 2),
                          .zeroed = ARENA_ARRAY(arena, uint8_t, f->regs.n + 1)};
    note_all(d, true);
    for (uint32_t r = 1; r < f->regs.n + 2; r++)
        d->first[r] += d->first[r - 1];
    d->all = ARENA_ARRAY(arena, struct ir_def, d->first[f->regs.n + 1] + 1);
    note_all(d, false);
    for (uint32_t k = 0; k < f->zeroed.n; k++)
        d->zeroed[f->zeroed.at[k]] = 1;
    return d;
}

/* The first of `defs` that stands at the place, or behind it. */
static uint32_t search(struct ir_def_list defs, uint32_t order, uint32_t insn)
{
    uint32_t from = 0, to = defs.n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        const struct ir_def *m = &defs.at[middle];
        if (m->order < order || (m->order == order && m->insn < insn))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct ir_def_list defs_of(const struct ir_defs *d, ir_ref r)
{
    uint32_t first = ir_ref_kind(r) == REF_REG ? d->first[ir_ref_index(r)] : 0;
    uint32_t end = ir_ref_kind(r) == REF_REG ? d->first[ir_ref_index(r) + 1] : 0;
    return (struct ir_def_list){d->all + first, end - first};
}

struct ir_def_list ir_defs_within(const struct ir_defs *d, ir_ref r, uint32_t from, uint32_t to)
{
    struct ir_def_list all = defs_of(d, r);
    uint32_t first = search(all, from, 0);
    return (struct ir_def_list){all.at + first, search(all, to, 0) - first};
}

const struct ir_def *ir_def_before(const struct ir_defs *d, ir_ref r, uint32_t order, uint32_t insn)
{
    struct ir_def_list all = defs_of(d, r);
    uint32_t behind = search(all, order, insn);
    return behind && all.at[behind - 1].order == order ? &all.at[behind - 1] : NULL;
}

bool ir_is_only_def(const struct ir_defs *d, ir_ref r, const struct ir_insn *i)
{
    struct ir_def_list all = defs_of(d, r);
    return all.n == 1 && &d->f->insns.at[all.at->insn] == i && !i->guard && !d->zeroed[ir_ref_index(r)];
}
