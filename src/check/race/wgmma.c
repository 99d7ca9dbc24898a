/* Registers of wgmma.mma_async that are used while it is under way (PTX ISA 9.7.15.7): read before
 * wgmma.wait_group, written while they are read or written, or not ordered by wgmma.fence.
 *
 * The machine multiplies at once, so no value shows such a misuse. When a kernel with these
 * instructions is first launched, a forward "may" data-flow analysis of its IR finds which products
 * can be under way at each block of code. A misuse becomes a finding when a warp enters its block;
 * so what the second iteration of a loop would do wrong is found in the first. Moves are no
 * accesses: compilers copy accumulators between virtual registers, and a copy is under way as its
 * source is.
 */
#include <stdlib.h>

#include "check/checker.h"
#include "exec/code.h"

/* Products by age: not committed yet; of the newest group; of the one before it; ... */
enum { IDLE = 16, UNCOMMITTED = 0, OLDEST = IDLE - 1, MOST_CELLS = 1 << 24, MOST_ROUNDS = 64 };

/* What may hold of a register. */
struct flight {
    /* The most recent product that writes it, or reads it as A; IDLE: none. */
    uint8_t result, factor;
    bool changed; /* since the last fence, and not by a product or a move */
};

enum misuse_kind { MISUSE_READ, MISUSE_WRITE, MISUSE_FENCE };

struct wgmma_kernel {
    struct wgmma_kernel *next;
    const struct site_table *kernel;
    struct checker *checker;
    struct event_client client;
    struct arena arena, scratch;
    VEC(struct code_misuse) misuses;
};

/* A pass over one function. */
struct pass {
    const struct code *code;
    const struct site *sites;
    const struct ir_func *f;
    /* Of registers where blocks start, by order; at the instruction that is looked at. */
    struct flight *start, *now;
    bool *start_unfenced, unfenced;
    struct arena *arena;
    struct wgmma_kernel *notes; /* NULL while nothing is noted */
};

static bool is_warpgroup(const struct ir_insn *i)
{
    return i->kind == IR_MATRIX && i->matrix->form.kind == MATRIX_WARPGROUP;
}

static bool has_wgmma(const struct code *c)
{
    for (uint32_t k = 0; k < c->n_ops; k++)
        if (c->ops[k].origin && is_warpgroup(c->ops[k].origin))
            return true;
    return false;
}

static struct flight *register_of(const struct pass *p, ir_ref r)
{
    return ir_ref_kind(r) == REF_REG ? &p->now[ir_ref_index(r)] : NULL;
}

/* ---- what instructions do ---- */

static const struct site *site_of(const struct pass *p, uint32_t order, const struct ir_insn *i)
{
    const struct code_block *b = &p->code->blocks[order];
    for (uint32_t k = b->first; k < b->first + b->n; k++)
        if (p->code->ops[k].origin == i)
            return &p->sites[p->code->ops[k].site];
    return NULL;
}

static void note(struct pass *p, uint32_t order, const struct ir_insn *i, enum misuse_kind kind)
{
    const struct site *s = p->notes ? site_of(p, order, i) : NULL;
    if (!s)
        return;
    for (uint32_t k = 0; k < p->notes->misuses.n; k++)
        if (p->notes->misuses.at[k].site == s && p->notes->misuses.at[k].what == kind)
            return;
    *VEC_PUSH(p->arena, &p->notes->misuses) = (struct code_misuse){p->code->index, order, kind, s};
}

/* 9.7.15.5.2: accumulators of products one after the other need no wait, nor a fence. */
static void pass_product(struct pass *p, uint32_t order, const struct ir_insn *i)
{
    const struct ir_matrix *m = i->matrix;
    unsigned n_factors = m->a_by_descriptor ? 0 : m->form.a.n_regs;
    bool unfenced = p->unfenced;
    for (unsigned k = 0; k < m->n_reads; k++) {
        struct flight *r = register_of(p, m->reads[k]);
        bool accumulates = k >= m->at_c && k < m->at_c + m->n_writes;
        if (!r)
            continue;
        unfenced |= (k < n_factors || accumulates) && r->changed;
        if (!accumulates && r->result != IDLE)
            note(p, order, i, MISUSE_READ);
        if (accumulates && r->factor != IDLE)
            note(p, order, i, MISUSE_WRITE);
    }
    if (unfenced)
        note(p, order, i, MISUSE_FENCE);
    for (unsigned k = 0; k < n_factors; k++)
        if (register_of(p, m->reads[k]))
            register_of(p, m->reads[k])->factor = UNCOMMITTED;
    for (unsigned k = 0; k < m->n_writes; k++)
        if (register_of(p, m->writes[k]))
            *register_of(p, m->writes[k]) = (struct flight){.result = UNCOMMITTED, .factor = IDLE};
}

static uint8_t committed(uint8_t age)
{
    return age < OLDEST ? age + 1 : age;
}

/* wait_group N leaves the N newest groups at work; what is not
 * committed is waited for by nobody. */
static uint8_t waited(uint8_t age, uint64_t n)
{
    return age > n ? IDLE : age;
}

static void pass_group(struct pass *p, const struct ir_insn *i)
{
    p->unfenced &= i->mode != GROUP_WGMMA_FENCE;
    for (uint32_t k = 0; k < p->f->regs.n; k++) {
        struct flight *r = &p->now[k];
        r->changed &= i->mode != GROUP_WGMMA_FENCE;
        if (i->mode == GROUP_WGMMA_COMMIT)
            *r = (struct flight){committed(r->result), committed(r->factor), r->changed};
        if (i->mode == GROUP_WGMMA_WAIT)
            *r = (struct flight){waited(r->result, i->imm), waited(r->factor, i->imm), r->changed};
    }
}

static bool is_move(const struct ir_insn *i)
{
    return ir_is(i) == IS_COPY && ir_ref_kind(i->d) == REF_REG;
}

static void pass_move(struct pass *p, const struct ir_insn *i)
{
    static const struct flight idle = {IDLE, IDLE, false};
    const struct flight *from = register_of(p, i->a);
    *register_of(p, i->d) = from ? *from : idle;
}

static void pass_other(struct pass *p, uint32_t order, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = 0, n = ir_reads(i, refs); k < n; k++)
        if (register_of(p, refs[k]) && register_of(p, refs[k])->result != IDLE)
            note(p, order, i, MISUSE_READ);
    for (unsigned k = 0, n = ir_writes(i, refs); k < n; k++) {
        struct flight *r = register_of(p, refs[k]);
        if (r && (r->result != IDLE || r->factor != IDLE))
            note(p, order, i, MISUSE_WRITE);
        if (r)
            *r = (struct flight){IDLE, IDLE, true};
    }
}

static void pass_block(struct pass *p, uint32_t order)
{
    const struct ir_block *b = &p->f->blocks.at[p->f->order[order]];
    memcpy(p->now, p->start + (size_t)order * p->f->regs.n, p->f->regs.n * sizeof *p->now);
    p->unfenced = p->start_unfenced[order];
    for (uint32_t k = b->first; k < b->first + b->n; k++) {
        const struct ir_insn *i = &p->f->insns.at[k];
        if (is_warpgroup(i))
            pass_product(p, order, i);
        else if (i->kind == IR_GROUP && i->mode >= GROUP_WGMMA_FENCE)
            pass_group(p, i);
        else if (is_move(i))
            pass_move(p, i);
        else
            pass_other(p, order, i);
    }
}

/* ---- a function ---- */

static uint8_t more_recent(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* Propagates the state after a block into its successors; true if one changes. */
static bool flow(struct pass *p, uint32_t order)
{
    bool news = false;
    for (uint32_t k = 0; k < ir_count_from(p->f, order); k++) {
        uint32_t to = ir_order_from(p->f, order, k);
        struct flight *at = p->start + (size_t)to * p->f->regs.n;
        news |= p->unfenced && !p->start_unfenced[to];
        p->start_unfenced[to] |= p->unfenced;
        for (uint32_t r = 0; r < p->f->regs.n; r++) {
            struct flight both = {more_recent(at[r].result, p->now[r].result),
                                  more_recent(at[r].factor, p->now[r].factor), at[r].changed || p->now[r].changed};
            news |= both.result != at[r].result || both.factor != at[r].factor || both.changed != at[r].changed;
            at[r] = both;
        }
    }
    return news;
}

/* To the fixed point; false where that takes too many rounds. */
static bool solve(struct pass *p)
{
    bool news = true;
    for (unsigned round = 0; news && round < MOST_ROUNDS; round++) {
        news = false;
        for (uint32_t o = 0; o < p->f->n_ordered; o++) {
            pass_block(p, o);
            news |= flow(p, o);
        }
    }
    return !news;
}

static void look_at(struct wgmma_kernel *x, const struct code *c)
{
    const struct ir_func *f = c->ir;
    size_t cells = (size_t)f->regs.n * (f->n_ordered + 1);
    if (cells > MOST_CELLS)
        return;
    struct pass p = {.code = c, .sites = x->kernel->at, .f = f, .arena = &x->arena};
    p.start = ARENA_ARRAY(&x->scratch, struct flight, cells);
    p.now = p.start + cells - f->regs.n;
    p.start_unfenced = ARENA_ARRAY(&x->scratch, bool, f->n_ordered + 1);
    for (size_t k = 0; k < cells; k++)
        p.start[k] = (struct flight){IDLE, IDLE, false};
    p.start_unfenced[0] = c == x->kernel->code->entry;
    if (solve(&p)) {
        p.notes = x;
        for (uint32_t o = 0; o < f->n_ordered; o++)
            pass_block(&p, o);
    }
}

/* ---- findings ---- */

static void report(struct checker *c, const struct enter_event *e, const struct code_misuse *m)
{
    static const struct {
        const char *code, *text, *help;
    } words[] = {
        [MISUSE_READ] =
            {"unfinished-wgmma",
             "reads a register that a `wgmma.mma_async` may still write: no wgmma.wait_group came before",
             "add wgmma.commit_group after the products, and wgmma.wait_group before their results are used"},
        [MISUSE_WRITE] =
            {"unfinished-wgmma",
             "writes a register that a `wgmma.mma_async` may still read or write: no wgmma.wait_group came before",
             "add wgmma.commit_group after the products, and wgmma.wait_group before their registers are used again"},
        [MISUSE_FENCE] = {"missing-wgmma-fence",
                          "runs a `wgmma.mma_async` without a `wgmma.fence` since its registers were last written",
                          "add wgmma.fence before the first product, and after every write to its registers"},
    };
    struct finding *f =
        findings_error(&c->findings, words[m->what].code, m->site, words[m->what].text, e->block, e->warp, e->lanes);
    if (f)
        findings_describe(&c->findings, f, words[m->what].help, "%s %s",
                          thread_name(&c->findings.arena, e->block, e->warp, (unsigned)__builtin_ctz(e->lanes)),
                          words[m->what].text);
}

static void on_enter(void *data, const struct enter_event *e)
{
    struct wgmma_kernel *x = data;
    for (uint32_t i = 0; i < x->misuses.n; i++)
        if (x->misuses.at[i].function == e->function && x->misuses.at[i].block == e->code_block)
            report(x->checker, e, &x->misuses.at[i]);
}

/* ---- kernels ---- */

static void find_misuses(struct wgmma_kernel *x)
{
    const struct checker *c = x->checker;
    const struct kernel *k = x->kernel->code;
    struct code_misuse m;
    for (uint32_t i = 0; k && i < k->functions.n; i++)
        if (has_wgmma(k->functions.at[i]))
            look_at(x, k->functions.at[i]);
    for (uint32_t i = 0; !k && c->world.misuse(c->world.data, x->kernel, i, &m); i++)
        *VEC_PUSH(&x->arena, &x->misuses) = m;
    for (uint32_t i = 0; c->listener && i < x->misuses.n; i++)
        c->listener->misuse(c->listener->data, x->kernel, &x->misuses.at[i]);
}

static struct wgmma_kernel *new_kernel(struct checker *c, const struct site_table *k)
{
    struct wgmma_kernel *x = calloc(1, sizeof *x);
    jmp_buf oom;
    if (!x)
        return NULL;
    *x = (struct wgmma_kernel){.next = c->race.wgmma,
                               .kernel = k,
                               .checker = c,
                               .client = {.data = x, .wants = EVENT_BIT(EVENT_ENTER), .enter = on_enter}};
    x->arena.on_oom = x->scratch.on_oom = &oom;
    if (setjmp(oom) == 0)
        find_misuses(x);
    arena_free(&x->scratch);
    c->race.wgmma = x;
    return x;
}

const struct event_client *wgmma_client(struct checker *c, const struct site_table *k)
{
    struct wgmma_kernel *x = c->race.wgmma;
    while (x && x->kernel != k)
        x = x->next;
    x = x ? x : new_kernel(c, k);
    return x && x->misuses.n ? &x->client : NULL;
}

void wgmma_close(struct checker *c)
{
    while (c->race.wgmma) {
        struct wgmma_kernel *next = c->race.wgmma->next;
        arena_free(&c->race.wgmma->arena);
        free(c->race.wgmma);
        c->race.wgmma = next;
    }
}
