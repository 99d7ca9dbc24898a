/* Recognises await loops whose iterations a compiler has unrolled: libcu++ looks 16 times, then
 * once more, and then loops with a sleep.
 *
 * A *poll* is a block that loads or updates one word, computes, and branches. Polls with the same
 * access and the same condition are alike. A *region* is a set of polls that are alike, none of
 * which changes what another one uses. If the condition does not hold, each continues with a poll
 * of the region; if it holds, with one place behind them all, where nothing that they computed is
 * used. So a thread cannot tell which poll it is at: one stands for all, and whenever control
 * reaches another, it goes to this one instead.
 *
 * Polls that only load may also continue with one of the region if the condition holds, and look
 * again. The thread still does nothing there but look until it sees what it waits for. In an
 * execution in which it does, all iterations but the last can be left out (loops.c); what remains
 * is a path of the program, through the poll that leads straight behind the region. */
#include "explore/program.h"

#include <string.h>

/* An expression that a block computes. */
enum node_kind {
    NODE_LOADED,  /* the value that the poll read */
    NODE_REG,     /* a register at the start of the block: value */
    NODE_CONST,   /* value */
    NODE_SREG,    /* a special register: value */
    NODE_COMPARE, /* what: IS_EQ, IS_ULT or IS_SLT; operands a and b */
    NODE_LANES,   /* what: a pure instruction; operands a, b, c and value */
};
enum { NO_NODE, MAX_NODES = 2000 }; /* node 0 is invalid */
struct node {
    enum node_kind kind;
    uint16_t what, width; /* width: of constants and comparisons */
    uint64_t value;
    uint32_t a, b, c;
};

struct poll {
    uint32_t block, from; /* begins with this instruction of the block: its first, or the access */
    const struct ir_insn *access;
    uint32_t address, base, operands[2], condition;
    uint32_t ways[2]; /* the next block if the condition does not hold, and if it does */
    bool in_region;
};

struct finder {
    const struct ir_func *f;
    const uint64_t *constants;
    const struct ir_live *live;
    struct arena scratch;
    VEC(struct node) nodes;
    VEC(struct poll) polls;
    uint32_t *node; /* by register: its expression in the current block; NO_NODE: unchanged */
};

/* ---- expressions ---- */

static uint32_t node_of(struct finder *d, struct node n)
{
    for (uint32_t i = 1; i < d->nodes.n; i++) {
        const struct node *o = &d->nodes.at[i];
        if (o->kind == n.kind && o->what == n.what && o->width == n.width && o->value == n.value && o->a == n.a &&
            o->b == n.b && o->c == n.c)
            return i;
    }
    *VEC_PUSH(&d->scratch, &d->nodes) = n;
    return d->nodes.n - 1;
}

static uint32_t constant(struct finder *d, uint16_t width, uint64_t value)
{
    return node_of(d, (struct node){.kind = NODE_CONST, .width = width, .value = value});
}

static uint32_t operand(struct finder *d, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_REG: return d->node[i] ? d->node[i] : node_of(d, (struct node){.kind = NODE_REG, .value = i});
    case REF_CONST: return constant(d, d->f->consts.at[i].width, d->constants[i]);
    case REF_SREG: return node_of(d, (struct node){.kind = NODE_SREG, .value = i});
    default: return NO_NODE;
    }
}

static void exchange(uint32_t *a, uint32_t *b)
{
    uint32_t was = *a;
    *a = *b;
    *b = was;
}

/* Normalises a comparison to equal or less-than with the constant second: x > -1 is the inverse of
 * x < 0. Toggles *inverse if the result is inverted. */
static uint32_t comparison(struct finder *d, enum lane_is is, uint16_t width, uint32_t a, uint32_t b, bool *inverse)
{
    if (is == IS_NE || is == IS_UGE || is == IS_SGE || is == IS_ULE || is == IS_SLE) {
        *inverse = !*inverse;
        is = lane_inverse(is);
    }
    if (is == IS_UGT || is == IS_SGT || (is == IS_EQ && a > b)) {
        exchange(&a, &b);
        is = lane_mirrored(is);
    }
    uint64_t ones = width < 64 ? (1ull << width) - 1 : ~0ull, most = is == IS_SLT ? ones >> 1 : ones;
    uint64_t first = d->nodes.at[a].value & ones;
    if (is != IS_EQ && d->nodes.at[a].kind == NODE_CONST && first != most) {
        *inverse = !*inverse;
        a = constant(d, width, (first + 1) & ones);
        exchange(&a, &b);
    }
    return node_of(d, (struct node){.kind = NODE_COMPARE, .what = (uint16_t)is, .width = width, .a = a, .b = b});
}

/* The expression of an instruction's result; NO_NODE if it is not known here. */
static uint32_t result(struct finder *d, const struct ir_insn *i)
{
    const struct lane_info *info = lane_info(i->lane);
    if (i->guard || i->e || info->e)
        return NO_NODE;
    uint32_t a = info->a ? operand(d, i->a) : NO_NODE, b = info->b ? operand(d, i->b) : NO_NODE,
             c = info->c ? operand(d, i->c) : NO_NODE;
    if (info->is == IS_COPY)
        return a;
    return node_of(d, (struct node){.kind = NODE_LANES, .what = i->lane, .value = i->imm, .a = a, .b = b, .c = c});
}

/* ---- polls ---- */

/* Does it only pass time: a sleep, or what idle.c removed? */
static bool is_empty(const struct ir_insn *i)
{
    return i->kind == IR_NANOSLEEP || i->kind == IR_JUMP || (i->kind == IR_FRAME && !i->d);
}

/* The first block from this one on that does anything. */
static uint32_t skip_empty(const struct ir_func *f, uint32_t block)
{
    for (uint32_t n = 0; block != NO_BLOCK && n < f->blocks.n; n++) {
        const struct ir_block *b = &f->blocks.at[block];
        for (uint32_t k = 0; k < b->n; k++)
            if (!is_empty(&f->insns.at[b->first + k]))
                return block;
        block = b->next;
    }
    return block;
}

static bool polls(const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    return (i->kind == IR_LD || i->kind == IR_ATOM) && !i->guard && a->mem.n == 1 && a->mem.bytes <= 8 &&
           !a->mem.frame && !a->disp_const &&
           (a->mem.space == SPACE_GLOBAL || a->mem.space == SPACE_SHARED || a->mem.space == SPACE_GENERIC);
}

/* Adds the condition that ends a block. */
static bool take_branch(struct finder *d, struct poll *p, const struct ir_insn *i, const struct ir_block *b)
{
    bool inverse = i->guard_negated;
    if (i->kind != IR_BRA || !i->guard || !p->access || b->next == NO_BLOCK)
        return false;
    uint32_t node = operand(d, i->guard);
    const struct node n = d->nodes.at[node];
    const struct lane_info *info = n.kind == NODE_LANES ? lane_info(n.what) : NULL;
    p->condition = info && info->is >= IS_EQ ? comparison(d, info->is, info->a, n.a, n.b, &inverse) : node;
    p->ways[!inverse] = skip_empty(d->f, i->targets[0]);
    p->ways[inverse] = skip_empty(d->f, b->next);
    return true;
}

static bool read_poll(struct finder *d, struct poll *p)
{
    const struct ir_block *b = &d->f->blocks.at[p->block];
    for (uint32_t k = p->from; k < b->n && d->nodes.n < MAX_NODES; k++) {
        const struct ir_insn *i = &d->f->insns.at[b->first + k];
        if (is_empty(i))
            continue;
        if (k + 1 == b->n)
            return take_branch(d, p, i, b);
        uint32_t node = NO_NODE;
        if (polls(i) && !p->access) {
            p->access = i;
            p->address = operand(d, i->a);
            p->base = operand(d, i->access->disp_const);
            for (int k = 0; k < 2 && i->kind == IR_ATOM; k++)
                p->operands[k] = operand(d, i->access->operands[k]);
            node = node_of(d, (struct node){.kind = NODE_LOADED});
        } else if (i->kind == IR_LANES) {
            node = result(d, i);
        }
        if (!node)
            return false;
        d->node[ir_ref_index(i->kind == IR_LANES ? i->d : i->access->regs[0])] = node;
    }
    return false;
}

static bool are_alike(const struct poll *p, const struct poll *o)
{
    const struct ir_access *a = p->access->access, *b = o->access->access;
    const struct mem_access *m = &a->mem, *n = &b->mem;
    return p->access->kind == o->access->kind && p->operands[0] == o->operands[0] && p->operands[1] == o->operands[1] &&
           m->atom == n->atom && m->type == n->type && p->address == o->address && p->base == o->base &&
           p->condition == o->condition && a->disp == b->disp && m->space == n->space && m->bytes == n->bytes &&
           m->sign == n->sign && m->is_volatile == n->is_volatile && m->is_const == n->is_const &&
           m->order == n->order && m->scope == n->scope;
}

/* ---- regions ---- */

static bool uses(const struct finder *d, uint32_t node, uint32_t reg)
{
    const struct node *n = &d->nodes.at[node];
    return node &&
           ((n->kind == NODE_REG && n->value == reg) || uses(d, n->a, reg) || uses(d, n->b, reg) || uses(d, n->c, reg));
}

/* Does a poll change what polls like it use, or what is used behind them? */
static bool is_felt(const struct finder *d, const struct poll *p, uint32_t behind)
{
    const struct ir_block *b = &d->f->blocks.at[p->block];
    const uint64_t *in = d->live->in + (size_t)d->f->blocks.at[behind].order * d->live->words;
    for (uint32_t k = p->from; k < b->n; k++) {
        const struct ir_insn *i = &d->f->insns.at[b->first + k];
        ir_ref refs[IR_MAX_REFS];
        for (unsigned w = ir_writes(i, refs); w-- > 0;) {
            uint32_t reg = ir_ref_index(refs[w]), number = d->live->number[reg];
            if (uses(d, p->address, reg) || uses(d, p->operands[0], reg) || uses(d, p->operands[1], reg) ||
                uses(d, p->condition, reg) || (number && ir_in_set(in, number - 1)))
                return true;
        }
    }
    return false;
}

static bool is_inside(const struct finder *d, uint32_t block)
{
    for (uint32_t i = 0; i < d->polls.n; i++)
        if (d->polls.at[i].block == block && !d->polls.at[i].from)
            return d->polls.at[i].in_region;
    return false;
}

/* Marks the region of polls like this one, which leads to `behind` if the condition is `ends`;
 * returns their number, itself included, or 0. */
static uint32_t find_region(struct finder *d, const struct poll *first, bool ends)
{
    uint32_t behind = first->ways[ends], n = 0;
    for (uint32_t i = 0; i < d->polls.n; i++) {
        struct poll *p = &d->polls.at[i];
        p->in_region = behind != NO_BLOCK && p->block != behind && are_alike(p, first) && !is_felt(d, p, behind);
    }
    for (bool fell = true; fell;) {
        fell = false;
        for (uint32_t i = n = 0; i < d->polls.n; i++) {
            struct poll *p = &d->polls.at[i];
            if (!p->in_region)
                continue;
            p->in_region = is_inside(d, p->ways[!ends]) &&
                           (p->ways[ends] == behind || (p->access->kind == IR_LD && is_inside(d, p->ways[ends])));
            fell |= !p->in_region;
            n += p->in_region;
        }
    }
    return first->in_region ? n : 0;
}

static void add_poll(struct finder *d, uint32_t block, uint32_t from)
{
    struct poll p = {.block = block, .from = from};
    memset(d->node, 0, d->f->regs.n * sizeof *d->node);
    if (read_poll(d, &p))
        *VEC_PUSH(&d->scratch, &d->polls) = p;
}

/* Finds polls that are whole blocks, and polls at the end of a block,
 * as the first look often is. */
static void find_polls(struct finder *d)
{
    for (uint32_t o = 0; o < d->f->n_ordered && d->nodes.n < MAX_NODES; o++) {
        const struct ir_block *b = ir_block_at(d->f, o);
        uint32_t from = b->n;
        while (from && !polls(&d->f->insns.at[b->first + from - 1]))
            from--;
        if (!from)
            continue;
        add_poll(d, d->f->order[o], 0);
        if (from > 1)
            add_poll(d, d->f->order[o], from - 1);
    }
}

/* Redirects all polls of a region that have no detour yet to its first poll; also the blocks
 * between them, which do nothing. */
static void make_detours(const struct finder *d, const struct poll *first, struct detour *detours)
{
    for (uint32_t k = 0; k < d->polls.n; k++) {
        const struct poll *p = &d->polls.at[k];
        if (p->in_region && p->block != first->block && detours[p->block].to == NO_BLOCK)
            detours[p->block] = (struct detour){p->from, first->block};
    }
    for (uint32_t o = 0; o < d->f->n_ordered; o++) {
        uint32_t block = d->f->order[o], to = skip_empty(d->f, block);
        if (to != block && detours[block].to == NO_BLOCK && is_inside(d, to))
            detours[block] = (struct detour){0, first->block};
    }
}

struct detour *find_detours(struct arena *arena, const struct ir_func *f, const uint64_t *constants,
                            const struct ir_live *live)
{
    struct finder d = {.f = f, .constants = constants, .live = live, .scratch = {.on_oom = arena->on_oom}};
    struct detour *detours = ARENA_ARRAY(arena, struct detour, f->blocks.n);
    for (uint32_t b = 0; b < f->blocks.n; b++)
        detours[b].to = NO_BLOCK;
    d.node = ARENA_ARRAY(&d.scratch, uint32_t, f->regs.n);
    *VEC_PUSH(&d.scratch, &d.nodes) = (struct node){0};
    find_polls(&d);
    for (uint32_t i = 0; i < d.polls.n; i++)
        for (int ends = 0; ends < 2; ends++) {
            const struct poll *p = &d.polls.at[i];
            if (!p->from && detours[p->block].to == NO_BLOCK && find_region(&d, p, ends) > 1)
                make_detours(&d, p, detours);
        }
    arena_free(&d.scratch);
    return detours;
}

const struct ir_func *with_detours(struct arena *arena, const struct ir_func *f, const struct detour *detours)
{
    struct ir_func *other = with_own_code(arena, f);
    for (uint32_t block = 0; block < f->blocks.n; block++) {
        struct ir_block *b = &other->blocks.at[block];
        if (detours[block].to == NO_BLOCK)
            continue;
        other->blocks.at[detours[block].to].loop_header = true;
        b->next = detours[block].to;
        for (uint32_t k = detours[block].from; k < b->n; k++)
            other->insns.at[b->first + k] = (struct ir_insn){.kind = k + 1 < b->n ? IR_FRAME : IR_JUMP};
    }
    return other;
}
