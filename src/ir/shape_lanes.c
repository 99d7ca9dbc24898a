/* Shapes where lanes are at two places at once, or have ended; see shape.h and shape_finder.h. */
#include "ir/shape_finder.h"

/* ---- lanes at two places ---- */

static uint64_t *pending_of(const struct shape_finder *x, uint32_t b)
{
    return x->s->pending + (size_t)b * x->s->block_words;
}

static void add_pair(struct shape_finder *x, uint32_t a, uint32_t b)
{
    uint32_t first = a < b ? a : b, second = a < b ? b : a;
    if (a == b || ir_in_set(pending_of(x, first), second))
        return;
    ir_set_add(pending_of(x, first), second);
    x->changed = true;
    *VEC_PUSH(&x->scratch, &x->pairs) = (uint64_t)first << 32 | second;
}

uint32_t shape_successors(struct shape_finder *x, uint32_t b)
{
    uint32_t n = 0, all = ir_count_from(x->f, b);
    x->asked++;
    for (uint32_t k = 0; k < all; k++) {
        uint32_t to = ir_order_from(x->f, b, k);
        if (x->seen[to] != x->asked)
            x->successors[n++] = to;
        x->seen[to] = x->asked;
    }
    return n;
}

static bool parts_lanes(const struct shape_finder *x, uint32_t b)
{
    const struct ir_insn *i = ir_branch_of(x->f, ir_block_at(x->f, b));
    return i && ((i->guard && ir_shape(x->s, i->guard) == SHAPE_DIVERGENT) ||
                 (i->kind == IR_BRX && ir_shape(x->s, i->a) != SHAPE_UNIFORM && ir_shape(x->s, i->a) != BOTTOM));
}

bool shape_visit_branches(struct shape_finder *x)
{
    for (uint32_t b = 0; b < x->f->n_ordered; b++) {
        if (!parts_lanes(x, b))
            continue;
        uint32_t n = shape_successors(x, b);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = i + 1; k < n; k++)
                add_pair(x, x->successors[i], x->successors[k]);
        if (!ir_spend(x->f, (uint64_t)n * n))
            return false;
    }
    while (x->pairs.n) {
        uint64_t pair = x->pairs.at[--x->pairs.n];
        uint32_t b = (uint32_t)(pair >> 32), n = shape_successors(x, b);
        for (uint32_t i = 0; i < n; i++)
            add_pair(x, x->successors[i], (uint32_t)pair);
        if (!ir_spend(x->f, 4 + ir_count_from(x->f, b)))
            return false;
    }
    return true;
}

/* What is live in pending lanes must not be written for all lanes at once. */
static void hold(struct shape_finder *x, uint32_t b, ir_ref r)
{
    if (ir_ref_kind(r) == REF_REG && ir_is_pending_live(x->s, b, ir_ref_index(r)))
        shape_meet(x, r, SHAPE_DIVERGENT);
}

bool shape_visit_pending_live(struct shape_finder *x)
{
    struct ir_shapes *s = x->s;
    for (uint32_t b = 0; b < x->f->n_ordered; b++) {
        uint64_t *pending_live = s->pending_live + (size_t)b * s->live.words;
        uint64_t n_pending = 0;
        for (uint32_t other = b + 1; other < x->f->n_ordered; other++) {
            n_pending += ir_in_set(pending_of(x, b), other);
            if (ir_in_set(pending_of(x, b), other))
                for (uint32_t w = 0; w < s->live.words; w++)
                    pending_live[w] |= s->live.in[(size_t)other * s->live.words + w];
        }
        if (!ir_spend(x->f, n_pending * s->live.words + x->f->n_ordered))
            return false;
        const struct ir_block *block = ir_block_at(x->f, b);
        for (uint32_t k = 0; k < block->n; k++) {
            const struct ir_insn *i = &x->f->insns.at[block->first + k];
            ir_ref refs[IR_MAX_REFS];
            for (unsigned n = 0, count = ir_writes(i, refs); n < count; n++)
                hold(x, b, refs[n]);
        }
    }
    return true;
}

/* ---- lanes that have ended ---- */

static void taint(struct shape_finder *x, uint32_t b)
{
    x->changed |= x->s->whole[b];
    x->s->whole[b] = 0;
}

void shape_find_whole(struct shape_finder *x)
{
    const uint32_t *t = x->s->block;
    bool whole = x->f->func->entry && (uint64_t)t[0] * t[1] * t[2] % WARP_LANES == 0;
    memset(x->s->whole, whole, x->f->n_ordered);
    for (uint32_t b = 0; b < x->f->n_ordered; b++) {
        const struct ir_block *block = ir_block_at(x->f, b);
        const struct ir_insn *last = block->n ? &x->f->insns.at[block->first + block->n - 1] : NULL;
        bool calls = last && last->kind == IR_CALL && !last->call->syscall;
        if (!last || (last->kind != IR_EXIT && !calls))
            continue;
        for (uint32_t other = b + 1; other < x->f->n_ordered; other++)
            if (ir_in_set(pending_of(x, b), other))
                taint(x, other);
        uint32_t n = shape_successors(x, b);
        if (calls || ir_shape(x->s, last->guard) == SHAPE_DIVERGENT)
            for (uint32_t i = 0; i < n; i++)
                taint(x, x->successors[i]);
    }
    do {
        x->changed = false;
        for (uint32_t b = 0; b < x->f->n_ordered; b++) {
            uint32_t n = x->s->whole[b] ? 0 : shape_successors(x, b);
            for (uint32_t i = 0; i < n; i++)
                taint(x, x->successors[i]);
        }
    } while (x->changed);
}
