/* See tables.h. */
#include "explain/tables.h"

#include <stdlib.h>

#include "base/demangle.h"
#include "exec/code.h"
#include "exec/fault.h"
#include "explain/sample.h"

/* ---- tables ---- */

bool tables_make(struct tables *t, const struct sites *s)
{
    t->blocks = calloc(s->n_blocks ? s->n_blocks : 1, sizeof *t->blocks);
    t->sites = calloc(s->n ? s->n : 1, sizeof *t->sites);
    if (t->blocks && t->sites)
        return true;
    tables_free(t);
    return false;
}

void tables_clear(struct tables *t, const struct sites *s)
{
    memset(t->blocks, 0, s->n_blocks * sizeof *t->blocks);
    memset(t->sites, 0, s->n * sizeof *t->sites);
}

void tables_free(struct tables *t)
{
    free(t->blocks);
    free(t->sites);
    *t = (struct tables){0};
}

void control_counters_add(struct control_counters *to, const struct control_counters *from)
{
    to->branches += from->branches;
    to->divergent += from->divergent;
    to->taken += from->taken;
    to->barrier_warps += from->barrier_warps;
    to->barrier_wait += from->barrier_wait;
    to->barrier_longest = from->barrier_longest > to->barrier_longest ? from->barrier_longest : to->barrier_longest;
}

void access_counters_add(struct access_counters *to, const struct access_counters *from)
{
    if (from->strided)
        to->stride = !to->strided || to->stride == from->stride ? from->stride : INT64_MIN;
#define ACCESS(name, meaning) to->name += from->name;
#include "explain/counters.def"
#undef ACCESS
}

void tables_add(struct tables *to, const struct tables *from, const struct sites *s)
{
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        struct block_tally *t = &to->blocks[i];
        const struct block_tally *f = &from->blocks[i];
        t->executed += f->executed;
        t->threads += f->threads;
        control_counters_add(&t->control, &f->control);
    }
    for (uint32_t i = 0; i < s->n; i++)
        for (int k = 0; k < SITE_SPACES; k++)
            access_counters_add(&to->sites[i].by[k], &from->sites[i].by[k]);
}

/* ---- a kernel's instructions ---- */

struct insn_key {
    const struct ptx_insn *ptx;
    uint32_t number;      /* of the first operation that it was lowered to, or of a site */
    uint32_t block, site; /* site: 1 + number, or 0 */
    const struct ir_insn *origin;
    const struct code *code;
    bool ends;
};

static bool ends_block(const struct op *o)
{
    return o->kind == OP_BRA || o->kind == OP_BRX || o->kind == OP_BAR;
}

/* An entry for each operation that comes from a PTX instruction, in the order of operations. */
static struct insn_key *find_keys(const struct counted_kernel *k, struct arena *scratch, uint32_t *n)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < k->sites->n_functions; i++)
        most += k->sites->functions[i].code->n_ops;
    struct insn_key *keys = ARENA_ARRAY(scratch, struct insn_key, most);
    *n = 0;
    for (uint32_t i = 0; i < k->sites->n_functions; i++) {
        const struct function_sites *f = &k->sites->functions[i];
        for (uint32_t b = 0; b < f->code->n_blocks; b++)
            for (uint32_t o = f->code->blocks[b].first; o < f->code->blocks[b].first + f->code->blocks[b].n; o++) {
                const struct op *op = &f->code->ops[o];
                if (!op->origin || !op->origin->origin)
                    continue;
                keys[*n] = (struct insn_key){.ptx = op->origin->origin,
                                             .number = *n,
                                             .block = f->first_block + b,
                                             .site = f->of_op[o],
                                             .origin = op->origin,
                                             .code = f->code,
                                             .ends = ends_block(op)};
                ++*n;
            }
    }
    return keys;
}

/* In the order of the text; operations of one instruction keep their order. */
static int compare_keys(const void *a, const void *b)
{
    const struct insn_key *x = a, *y = b;
    if (x->origin->module != y->origin->module)
        return x->code->index < y->code->index ? -1 : 1;
    if (x->ptx->offset != y->ptx->offset)
        return x->ptx->offset < y->ptx->offset ? -1 : 1;
    if (x->ptx != y->ptx)
        return x->ptx < y->ptx ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void list_insns(struct counted_kernel *k, struct arena *scratch)
{
    uint32_t n;
    struct insn_key *keys = find_keys(k, scratch, &n);
    if (n)
        qsort(keys, n, sizeof *keys, compare_keys);
    k->insns = ARENA_ARRAY(&k->arena, struct insn, n);
    k->insns_of_block = ARENA_ARRAY(&k->arena, uint32_t, k->sites->n_blocks);
    k->insn_of_site = ARENA_ARRAY(&k->arena, uint32_t, k->sites->n);
    for (uint32_t i = 0; i < n; i++) {
        const struct insn_key *key = &keys[i];
        if (i == 0 || key->ptx != keys[i - 1].ptx) {
            k->insns[k->n_insns++] =
                (struct insn){.ptx = key->ptx, .place = fault_place(key->origin, &k->arena), .block = key->block};
            k->insns_of_block[key->block]++;
        }
        struct insn *insn = &k->insns[k->n_insns - 1];
        if (key->ends) {
            insn->ends = true;
            insn->block = key->block;
        }
        if (key->site)
            k->insn_of_site[key->site - 1] = k->n_insns - 1;
    }
}

static void find_costs(struct counted_kernel *k)
{
    k->costs = cost_table_make(k->kernel, k->rates, &k->arena);
    k->cost = ARENA_ARRAY(&k->arena, const struct block_cost *, k->sites->n_blocks);
    for (uint32_t i = 0; i < k->sites->n_functions; i++)
        for (uint32_t b = 0; b < k->sites->functions[i].code->n_blocks; b++)
            k->cost[k->sites->functions[i].first_block + b] = cost_of(k->costs, k->sites->functions[i].code, b);
}

static void find_facts(struct counted_kernel *k)
{
    struct arena scratch = {.on_oom = k->arena.on_oom};
    struct str mangled = k->kernel->func->symbol.name;
    k->mangled = arena_strndup(&k->arena, mangled.p, mangled.n);
    k->name = demangle(mangled, &k->arena);
    k->sites = sites_find(k->kernel, &k->arena);
    find_costs(k);
    list_insns(k, &scratch);
    arena_free(&scratch);
}

/* Returns false if memory is exhausted. */
static bool prepare(struct counted_kernel *k)
{
    jmp_buf oom;
    volatile bool ok = false;
    k->arena.on_oom = &oom;
    if (setjmp(oom) == 0) {
        find_facts(k);
        ok = true;
    }
    k->arena.on_oom = NULL;
    return ok && tables_make(&k->sums, k->sites);
}

struct counted_kernel *counted_kernel_new(const struct kernel *kernel, const struct device_rates *rates)
{
    struct counted_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->kernel = kernel;
    k->rates = rates;
    if (prepare(k))
        return k;
    counted_kernel_free(k);
    return NULL;
}

void counted_kernel_free(struct counted_kernel *k)
{
    tables_free(&k->sums);
    shapes_free(k->shapes);
    arena_free(&k->arena);
    free(k);
}

/* ---- collecting ---- */

void insn_counters_add(struct insn_counters *to, const struct insn_counters *from)
{
    to->warp_instructions += from->warp_instructions;
    to->thread_instructions += from->thread_instructions;
    control_counters_add(&to->control, &from->control);
    for (int i = 0; i < ACCESS_KINDS; i++)
        access_counters_add(&to->access[i], &from->access[i]);
}

static struct insn_counters of_insn(const struct insn *i, const struct tables *t)
{
    const struct block_tally *b = &t->blocks[i->block];
    struct insn_counters c = {
        .insn = i->ptx, .place = i->place, .warp_instructions = b->executed, .thread_instructions = b->threads};
    if (i->ends)
        c.control = b->control;
    return c;
}

/* The innermost line of the user's own source. */
static struct line_counters line_of(const struct insn_counters *i)
{
    const struct cuda_place *p = i->place.cuda;
    struct line_counters l = {0};
    if (p) {
        l.file = p->file;
        l.line = p->line;
        for (uint32_t k = p->shown + 1; k < p->n_chain; k++)
            if (!is_library_file(p->chain[k].file)) {
                l.file = p->chain[k].file;
                l.line = p->chain[k].line;
            }
    } else if (i->place.source) {
        l.file = i->place.source->name;
        l.line = place_locate(i->place).line;
    } else {
        l.file = "?";
    }
    return l;
}

struct line_key {
    struct line_counters line;
    uint32_t insn;
};

static int compare_lines(const void *a, const void *b)
{
    const struct line_key *x = a, *y = b;
    int order = strcmp(x->line.file, y->line.file);
    if (order || x->line.line != y->line.line)
        return order ? order : x->line.line < y->line.line ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static void collect_lines(struct kernel_counters *c, struct arena *arena)
{
    struct arena scratch = {.on_oom = arena->on_oom};
    struct line_key *keys = ARENA_ARRAY(&scratch, struct line_key, c->insns.n);
    for (uint32_t i = 0; i < c->insns.n; i++)
        keys[i] = (struct line_key){line_of(&c->insns.at[i]), i};
    if (c->insns.n)
        qsort(keys, c->insns.n, sizeof *keys, compare_lines);
    for (uint32_t i = 0; i < c->insns.n; i++) {
        const struct line_counters *last = c->lines.n ? &c->lines.at[c->lines.n - 1] : NULL;
        if (!last || last->line != keys[i].line.line || strcmp(last->file, keys[i].line.file) != 0)
            *VEC_PUSH(arena, &c->lines) = keys[i].line;
        insn_counters_add(&c->lines.at[c->lines.n - 1].sum, &c->insns.at[keys[i].insn]);
    }
    arena_free(&scratch);
}

/* Rows of 128 bytes, laid out without bank conflicts. Each of the four warps executed the
 * instruction. */
static void add_warpgroup_reads(struct insn_counters *i, uint32_t bytes)
{
    enum { WARPS = 4, WAVEFRONT_BYTES = 128 };
    struct access_counters *c = &i->access[KIND_of_wgmma_ld];
    c->requests += i->warp_instructions;
    c->lanes += i->thread_instructions;
    c->bytes += i->warp_instructions * bytes / WARPS;
    c->wavefronts += i->warp_instructions * bytes / WARPS / WAVEFRONT_BYTES;
    c->ideal_wavefronts = c->wavefronts;
}

void tables_collect(const struct counted_kernel *k, const struct tables *t, struct kernel_counters *c, bool by_line,
                    struct arena *arena)
{
    struct arena scratch = {.on_oom = arena->on_oom};
    struct insn_counters *insns = ARENA_ARRAY(&scratch, struct insn_counters, k->n_insns), sum = {0};
    for (uint32_t i = 0; i < k->n_insns; i++)
        insns[i] = of_insn(&k->insns[i], t);
    for (uint32_t i = 0; i < k->sites->n; i++)
        for (int s = 0; s < SITE_SPACES; s++)
            access_counters_add(&insns[k->insn_of_site[i]].access[k->sites->at[i].kind[s]], &t->sites[i].by[s]);
    for (uint32_t i = 0; i < k->sites->n; i++)
        if (k->sites->at[i].warpgroup_bytes)
            add_warpgroup_reads(&insns[k->insn_of_site[i]], k->sites->at[i].warpgroup_bytes);
    for (uint32_t i = 0; i < k->n_insns; i++) {
        insn_counters_add(&sum, &insns[i]);
        if (by_line && insns[i].warp_instructions)
            *VEC_PUSH(arena, &c->insns) = insns[i];
    }
    c->warp_instructions = sum.warp_instructions;
    c->thread_instructions = sum.thread_instructions;
    c->control = sum.control;
    memcpy(c->access, sum.access, sizeof c->access);
    for (uint32_t b = 0; b < k->sites->n_blocks; b++) {
        const float *classes = k->cost[b]->classes;
        for (int class = 0; class < COST_CLASSES; class ++)
            c->classes[class] += (double)classes[class] * (double)t->blocks[b].executed;
        c->flops += (double)(classes[COST_fp32] + 2 * classes[COST_fma32]) * (double)t->blocks[b].threads;
        c->flops64 += (double)(classes[COST_fp64] + 2 * classes[COST_fma64]) * (double)t->blocks[b].threads;
        for (int type = 0; type < PRODUCT_TYPES; type++)
            c->tensor[type] += (double)k->cost[b]->tensor[type] * (double)t->blocks[b].executed;
        c->spill_loads += (double)k->cost[b]->spill_loads * (double)t->blocks[b].executed;
        c->spill_stores += (double)k->cost[b]->spill_stores * (double)t->blocks[b].executed;
    }
    if (by_line)
        collect_lines(c, arena);
    arena_free(&scratch);
}
