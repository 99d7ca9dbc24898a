/* Decoding functions for the interpreter, and what a kernel is made of; see code.h. */
#include "exec/code.h"

#include "exec/device.h"
#include "exec/matrix.h"
#include "exec/site.h"

enum { HANDLE_BYTES = 16, DEFAULT_ALIGN = 16 };

/* ---- addresses ---- */

uint64_t code_address(const struct mem *mem, const struct ptx_func *f)
{
    return mem_code_window(mem) + (uint64_t)(f->definition->handle + 1) * HANDLE_BYTES;
}

struct code *code_at(const struct kernel *k, uint64_t address)
{
    uint64_t offset = address - k->code_window;
    uint64_t handle = offset / HANDLE_BYTES - 1;
    return offset % HANDLE_BYTES == 0 && handle < k->n_handles ? k->by_handle[handle] : NULL;
}

struct preparer {
    struct kernel *k;
    const struct code_env *env;
    struct diags *diags;
    struct arena *arena;
    struct map placed;    /* struct placed_var by variable */
    struct map functions; /* struct code by function */
};

/* What a pointer is entered by in a map: its own bytes, where it stays. */
static struct str key_of(const void *const *pointer)
{
    return (struct str){(const char *)pointer, sizeof *pointer};
}

static uint32_t round_up(uint32_t x, uint32_t to)
{
    return (x + to - 1) / to * to;
}

/* The offset of a shared or module-scope local variable; its place is given on the first use. */
static uint64_t place_var(struct preparer *p, const struct ptx_var *v)
{
    bool shared = v->space == SPACE_SHARED;
    struct kernel *k = p->k;
    struct placed_var *known = map_get(&p->placed, key_of((const void *const *)&v));
    if (known)
        return known->at;
    uint32_t *bytes = shared ? &k->static_shared_bytes : &k->module_local_bytes;
    uint32_t at = round_up(*bytes, v->align < 4 ? 4 : v->align);
    *bytes = v->size < UINT32_MAX - at ? at + (uint32_t)v->size : UINT32_MAX;
    struct placed_var *placed = ARENA_NEW(p->arena, struct placed_var);
    *placed = (struct placed_var){v, at};
    map_put(&p->placed, key_of((const void *const *)&placed->var), placed);
    if (shared)
        *VEC_PUSH(p->arena, &k->shared_vars) = *placed;
    else
        *VEC_PUSH(p->arena, &k->local_vars) = *placed;
    return at;
}

static bool is_dynamic_shared(const struct ptx_var *v)
{
    return v->space == SPACE_SHARED && (v->unsized || v->size == 0);
}

static bool is_static_shared(const struct ptx_var *v)
{
    return v->space == SPACE_SHARED && !is_dynamic_shared(v);
}

static void fix_const(struct preparer *p, struct ir_const *c)
{
    if (c->base != BASE_SYMBOL || c->symbol->kind != SYMBOL_VAR)
        return;
    const struct ptx_var *v = ((const struct ptx_var *)c->symbol)->definition;
    if (is_static_shared(v)) {
        c->lo += place_var(p, v);
        c->base = BASE_NONE;
    }
}

static void fix_access(const struct ir_func *ir, struct ir_access *a)
{
    const struct ir_const *c = &ir->consts.at[ir_ref_index(a->disp_const)];
    if (a->disp_const && c->base == BASE_NONE) {
        a->disp = (int64_t)((uint64_t)a->disp + c->lo);
        a->disp_const = REF_NONE;
    }
}

enum { LINE_BYTES = 64 };

/* Where no variable is aligned to more than a line, and the first begins one, others lose no byte to those that fill whole lines. */
static bool can_order_by_lines(const struct preparer *p, const struct ir_func *ir)
{
    bool can = p->k->static_shared_bytes % LINE_BYTES == 0;
    for (uint32_t i = 0; i < ir->vars.n; i++) {
        const struct ptx_var *v = ir->vars.at[i]->definition;
        can &= !is_static_shared(v) || v->align <= LINE_BYTES;
    }
    return can;
}

/* Those that fill whole lines of the cache, as most arrays do, before others, where that costs nothing: so consecutive elements of
 * theirs lie in one line each. */
static void place_static_shared(struct preparer *p, const struct ir_func *ir)
{
    bool ordered = can_order_by_lines(p, ir);
    for (int pass = 0; pass < 1 + ordered; pass++)
        for (uint32_t i = 0; i < ir->vars.n; i++) {
            const struct ptx_var *v = ir->vars.at[i]->definition;
            if (is_static_shared(v) && (!ordered || (v->size % LINE_BYTES == 0) == (pass == 0)))
                place_var(p, v);
        }
}

/* Dynamic shared memory starts behind the static variables, so these get their places first: of a kernel they are what they
 * are, so addresses become plain numbers, which the compiler can reckon with. */
static void place_vars(struct preparer *p, struct ir_func *ir)
{
    place_static_shared(p, ir);
    for (uint32_t i = 0; i < ir->vars.n; i++)
        if (ir->vars.at[i]->definition->space == SPACE_LOCAL)
            place_var(p, ir->vars.at[i]->definition);
    for (uint32_t i = 1; i < ir->consts.n; i++)
        fix_const(p, &ir->consts.at[i]);
    for (uint32_t i = 0; i < ir->insns.n; i++)
        if (ir_has_access(&ir->insns.at[i]))
            fix_access(ir, ir->insns.at[i].access);
}

static uint64_t symbol_address(struct preparer *p, const struct ptx_symbol *s)
{
    if (s->kind == SYMBOL_FUNC)
        return code_address(p->env->mem, (const struct ptx_func *)s);
    const struct ptx_var *v = ((const struct ptx_var *)s)->definition;
    if (is_dynamic_shared(v))
        return round_up(p->k->static_shared_bytes, v->align > DEFAULT_ALIGN ? v->align : DEFAULT_ALIGN);
    if (v->space == SPACE_SHARED || v->space == SPACE_LOCAL)
        return place_var(p, v);
    return p->env->address_of(p->env->data, v);
}

static uint64_t base_value(struct preparer *p, const struct ir_const *c)
{
    const struct mem *m = p->env->mem;
    switch ((enum ir_base)c->base) {
    case BASE_SYMBOL: return symbol_address(p, c->symbol);
    case BASE_SHARED_WINDOW: return mem_shared_window(m);
    case BASE_LOCAL_WINDOW: return mem_local_window(m);
    case BASE_SHARED_WINDOW_SIZE: return MEM_SHARED_WINDOW_BYTES;
    case BASE_CLUSTER_WINDOW_SIZE: return MEM_CLUSTER_WINDOW_BYTES;
    case BASE_LOCAL_WINDOW_SIZE: return MEM_LOCAL_WINDOW_BYTES;
    case BASE_CONST_START: return m->const_start;
    case BASE_CONST_SIZE: return m->const_size;
    default: return 0;
    }
}

/* ---- rows ---- */

static void splat(uint8_t *row, unsigned width, uint64_t v)
{
    uint64_t value[2] = {v, 0};
    if (width == 1) {
        uint32_t mask = v ? UINT32_MAX : 0;
        memcpy(row, &mask, 4);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        memcpy(row + l * width / 8, value, width / 8);
}

static void fill_consts(struct preparer *p, struct code *c, const struct code_layout *l)
{
    const struct ir_func *ir = c->ir;
    c->consts = (uint8_t *)(((uintptr_t)arena_alloc(p->arena, l->const_bytes + 64) + 63) & ~(uintptr_t)63);
    for (uint32_t i = 1; i < ir->consts.n; i++) {
        const struct ir_const *k = &ir->consts.at[i];
        splat(c->consts + l->consts[i], k->width, k->lo + base_value(p, k));
    }
}

struct decoder {
    struct preparer *p;
    struct code *c;
    const struct code_layout *layout;
};

static row_ref row_of(const struct decoder *d, ir_ref r)
{
    block_rows_add(&d->p->k->block_rows, d->c->ir, r, d->p->arena);
    return layout_row(d->layout, d->c->ir, &d->p->k->block_rows, r);
}

static uint8_t width_of(const struct decoder *d, ir_ref r)
{
    return layout_width(d->c->ir, r);
}

/* ---- operations ---- */

static const struct op_access *decode_access(const struct decoder *d, const struct ir_insn *in)
{
    const struct ir_access *a = in->access;
    struct op_access *x = ARENA_NEW(d->p->arena, struct op_access);
    *x = (struct op_access){.mem = a->mem, .base_width = width_of(d, in->a), .disp = a->disp};
    if (a->disp_const) {
        const struct ir_const *c = &d->c->ir->consts.at[ir_ref_index(a->disp_const)];
        x->disp = (int64_t)((uint64_t)x->disp + c->lo + base_value(d->p, c));
    }
    for (unsigned k = 0; k < 8; k++) {
        x->regs[k] = row_of(d, a->regs[k]);
        x->width[k] = width_of(d, a->regs[k]);
        x->has_reg[k] = a->regs[k] != REF_NONE;
        x->operands[k] = row_of(d, a->operands[k]);
        x->has_operand[k] = a->operands[k] != REF_NONE;
    }
    return x;
}

static const struct op_matrix *decode_matrix(const struct decoder *d, const struct ir_matrix *ir)
{
    struct op_matrix *x = ARENA_NEW(d->p->arena, struct op_matrix);
    x->ir = ir;
    x->reads = ARENA_ARRAY(d->p->arena, row_ref, ir->n_reads);
    x->writes = ARENA_ARRAY(d->p->arena, row_ref, ir->n_writes);
    for (unsigned k = 0; k < ir->n_reads; k++)
        x->reads[k] = row_of(d, ir->reads[k]);
    for (unsigned k = 0; k < ir->n_writes; k++)
        x->writes[k] = row_of(d, ir->writes[k]);
    matrix_prepare(x);
    return x;
}

static void decode_lanes(struct op *o, const struct ir_insn *in, lane_fn *const *lanes)
{
    const struct lane_info *info = lane_info((enum lane_id)in->lane);
    o->kind = info->e ? OP_LANES : info->c ? OP_LANES : info->b ? OP_LANES2 : OP_LANES1;
    o->fn = lanes[in->lane];
    o->width = info->d;
    o->e_kind = (uint8_t)info->e;
}

static enum op_kind plain_kind(const struct ir_insn *in)
{
    if (ir_is_copy(in))
        return in->kind == IR_LD ? OP_FETCH : OP_ASYNC;
    switch ((enum ir_kind)in->kind) {
    case IR_LD: return OP_LD;
    case IR_ST: return OP_ST;
    case IR_ATOM: return OP_ATOM;
    case IR_FRAME: return OP_FRAME;
    case IR_NOW: return OP_NOW;
    case IR_ACTIVEMASK: return OP_ACTIVEMASK;
    case IR_FENCE: return OP_FENCE;
    case IR_ASYNC: return OP_ASYNC;
    case IR_GROUP: return OP_GROUP;
    case IR_ALLOCA: return OP_ALLOCA;
    case IR_STACKSAVE: return OP_STACKSAVE;
    case IR_STACKRESTORE: return OP_STACKRESTORE;
    case IR_BRA: return OP_BRA;
    case IR_BRX: return OP_BRX;
    case IR_CALL: return OP_CALL;
    case IR_RET: return OP_RET;
    case IR_EXIT: return OP_EXIT;
    case IR_TRAP: return OP_TRAP;
    case IR_BRKPT: return OP_BRKPT;
    case IR_BAR: return OP_BAR;
    case IR_MBARRIER: return OP_MBARRIER;
    case IR_NANOSLEEP: return OP_NANOSLEEP;
    default: return OP_COLLECTIVE;
    }
}

static void decode_insn(const struct decoder *d, const struct ir_insn *in, uint32_t next, struct op *o)
{
    *o = (struct op){.kind = (uint8_t)plain_kind(in),
                     .flags = (uint8_t)((in->guard ? OPF_GUARD : 0) | (in->guard_negated ? OPF_GUARD_NEGATED : 0)),
                     .mode = in->mode,
                     .width = width_of(d, in->d),
                     .next = next,
                     .guard = row_of(d, in->guard),
                     .d = row_of(d, in->d),
                     .e = row_of(d, in->e),
                     .a = row_of(d, in->a),
                     .b = row_of(d, in->b),
                     .c = row_of(d, in->c),
                     .f = row_of(d, in->f),
                     .imm = in->imm,
                     .has_d = in->d != REF_NONE,
                     .has_e = in->e != REF_NONE,
                     .has_b = in->b != REF_NONE,
                     .origin = in};
    d->p->k->has_async |= in->kind == IR_ASYNC || ir_is_copy(in);
    switch (in->kind) {
    case IR_LANES: decode_lanes(o, in, d->p->env->lanes); break;
    case IR_ASYNC:
    case IR_LD:
    case IR_ST:
    case IR_ATOM:
    case IR_MBARRIER: o->access = decode_access(d, in); break;
    case IR_MATRIX:
        o->matrix = decode_matrix(d, in->matrix);
        o->access = in->access ? decode_access(d, in) : NULL;
        break;
    case IR_CALL: o->call = in->call; break;
    case IR_BRA: o->target = layout_order(d->c->ir, in->targets[0]); break;
    case IR_BRX: {
        uint32_t *targets = ARENA_ARRAY(d->p->arena, uint32_t, in->n_targets);
        for (uint32_t k = 0; k < in->n_targets; k++)
            targets[k] = layout_order(d->c->ir, in->targets[k]);
        o->targets = targets;
        o->n_targets = in->n_targets;
        break;
    }
    default:
        if (o->kind == OP_COLLECTIVE && !in->f)
            o->flags |= OPF_NO_MASK;
        break;
    }
}

static void decode_blocks(const struct decoder *d)
{
    struct code *c = d->c;
    const struct ir_func *ir = c->ir;
    c->n_ops = d->layout->blocks[ir->n_ordered];
    c->n_blocks = ir->n_ordered;
    c->ops = ARENA_ARRAY(d->p->arena, struct op, c->n_ops);
    c->blocks = ARENA_ARRAY(d->p->arena, struct code_block, c->n_blocks);
    for (uint32_t i = 0; i < ir->n_ordered; i++) {
        const struct ir_block *b = &ir->blocks.at[ir->order[i]];
        uint32_t next = layout_order(ir, b->next);
        struct op *o = &c->ops[d->layout->blocks[i]];
        c->blocks[i] = (struct code_block){.first = d->layout->blocks[i],
                                           .n = layout_operations(b),
                                           .spins = b->spins,
                                           .serial_from = b->serial_from,
                                           .serial_to = b->serial_to};
        for (uint32_t k = 0; k < b->n; k++)
            decode_insn(d, &ir->insns.at[b->first + k], next, o++);
        if (!layout_has_end(ir, b))
            *o = (struct op){.kind = OP_FALL, .next = next};
        c->has_serial |= b->serial_to > 0;
    }
}

static void decode(struct preparer *p, struct code *c)
{
    struct code_layout layout;
    struct decoder d = {p, c, &layout};
    layout_find(&layout, c->ir, p->arena);
    fill_consts(p, c, &layout);
    decode_blocks(&d);
    c->frame_bytes = layout.frame_bytes;
    c->register_bytes = c->ir->register_bytes;
    for (uint32_t i = 0; i < c->ir->zeroed.n; i++) {
        const struct ir_reg *r = &c->ir->regs.at[c->ir->zeroed.at[i]];
        *VEC_PUSH(p->arena, &c->zeroed) = (struct row_fill){.at = r->slot, .width = r->width};
    }
    p->k->suspends |= c->ir->suspends;
    p->k->instructions += c->ir->insns.n;
}

/* ---- the functions of a kernel ---- */

static struct code *find_code(const struct preparer *p, const struct ptx_func *f)
{
    return map_get(&p->functions, key_of((const void *const *)&f));
}

static struct code *add_function(struct preparer *p, struct ptx_func *f)
{
    struct code *c = find_code(p, f);
    if (c || !f->has_body)
        return c;
    struct ir_func *ir = ir_build(p->arena, f, p->env->serial_walks, p->k->clustered, p->diags);
    if (!ir)
        return NULL;
    place_vars(p, ir);
    c = ARENA_NEW(p->arena, struct code);
    c->ir = ir;
    c->index = p->k->functions.n;
    *VEC_PUSH(p->arena, &p->k->functions) = c;
    map_put(&p->functions, key_of((const void *const *)&c->ir->func), c);
    return c;
}

static bool calls_indirectly(const struct code *c)
{
    for (uint32_t i = 0; i < c->ir->insns.n; i++) {
        const struct ir_insn *in = &c->ir->insns.at[i];
        if (in->kind == IR_CALL && !in->call->callee && !in->call->syscall)
            return true;
    }
    return false;
}

/* A pointer may lead to any function of the image. One that the machine refuses is left out: calling it
 * faults. */
static void add_all_functions(struct preparer *p)
{
    const struct ptx_image *image = p->env->image;
    struct diags ignored = {.arena = p->arena, .limit = 1};
    struct diags *diags = p->diags;
    p->diags = &ignored;
    p->k->n_handles = image->functions.n;
    p->k->by_handle = ARENA_ARRAY(p->arena, struct code *, image->functions.n);
    for (uint32_t i = 0; i < image->functions.n; i++)
        p->k->by_handle[i] = add_function(p, image->functions.at[i]);
    p->diags = diags;
}

/* Everything reachable from the entry, breadth first. */
static bool add_reachable(struct preparer *p)
{
    bool indirect = false;
    p->k->entry = add_function(p, p->k->func);
    if (!p->k->entry)
        return false;
    for (uint32_t i = 0; i < p->k->functions.n; i++) {
        struct code *c = p->k->functions.at[i];
        for (uint32_t k = 0; k < c->ir->callees.n; k++) {
            struct ptx_func *f = c->ir->callees.at[k]->definition;
            if (f->has_body && !f->entry && !add_function(p, f))
                return false;
        }
        if (!indirect && calls_indirectly(c)) {
            indirect = true;
            add_all_functions(p);
        }
    }
    return true;
}

static void resolve_calls(struct preparer *p, struct code *c)
{
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].kind == OP_CALL && c->ops[i].call->callee)
            c->ops[i].callee = find_code(p, c->ops[i].call->callee);
}

/* A function on the way down a chain of calls. */
struct chain_link {
    struct code *c;
    uint32_t callee; /* the next of its callees to look at */
    uint64_t deepest;
};

static bool has_no_bound(const struct code *c)
{
    return calls_indirectly(c) || c->ir->uses_dynamic_stack;
}

static uint32_t with_frame(const struct code *c, uint64_t deepest)
{
    uint64_t bytes = deepest + c->frame_bytes;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static struct chain_link enter_chain(struct code *c)
{
    c->depth_known = true;
    c->depth_bytes = UINT32_MAX; /* what a recursive call will see */
    return (struct chain_link){c, 0, has_no_bound(c) ? UINT32_MAX : 0};
}

/* Local memory of the deepest chain of calls from `first`; UINT32_MAX where it has no bound. Chains may be longer than the
 * stack of the host is deep. */
static uint32_t deepest_chain(struct preparer *p, struct code *first)
{
    struct chain_link *links = ARENA_ARRAY(p->arena, struct chain_link, p->k->functions.n);
    uint32_t n = 0;
    links[n++] = enter_chain(first);
    while (n > 0) {
        struct chain_link *l = &links[n - 1];
        if (l->callee == l->c->ir->callees.n) {
            l->c->depth_bytes = with_frame(l->c, l->deepest);
            n--;
            continue;
        }
        struct code *callee = find_code(p, l->c->ir->callees.at[l->callee]->definition);
        if (callee && !callee->depth_known) {
            links[n++] = enter_chain(callee);
            continue;
        }
        uint32_t bytes = callee ? callee->depth_bytes : 0;
        l->deepest = bytes > l->deepest ? bytes : l->deepest;
        l->callee++;
    }
    return first->depth_bytes;
}

static void read_sizes(uint32_t to[3], const struct ptx_directive *d)
{
    for (uint32_t j = 0; d && j < 3; j++)
        to[j] = j < d->n ? (uint32_t)d->value[j] : 1;
}

/* PTX ISA 11.4, 11.7. */
static void read_directives(struct kernel *k)
{
    const struct ptx_directive *required = ptx_directive(k->func, "reqntid"), *most = ptx_directive(k->func, "maxntid"),
                               *rank = ptx_directive(k->func, "maxclusterrank");
    read_sizes(k->req_ntid, required);
    read_sizes(k->req_cluster, ptx_directive(k->func, "reqnctapercluster"));
    k->max_ntid = required ? ptx_product(required) : most ? ptx_product(most) : 0;
    k->max_cluster_rank = rank ? (uint32_t)rank->value[0] : 0;
    k->explicit_cluster = ptx_directive(k->func, "explicitcluster") != NULL;
    k->blocks_are_clusters = ptx_directive(k->func, "blocksareclusters") != NULL;
}

bool kernel_runs_in_clusters(const struct kernel *k, struct diags *diags)
{
    const struct ptx_module *m = k->func->module;
    const struct ptx_directive *clusters = ptx_directive(k->func, "blocksareclusters");
    if (clusters)
        diag_error(diags, ptx_place(m, (uint32_t)(clusters->name.p - m->source->text.p), (uint32_t)clusters->name.n),
                   "not-supported", "leave the directive out, and let the grid count blocks",
                   "`.blocksareclusters` is not supported for clusters of more than one block");
    return !clusters;
}

/* Few threads use more of a stack that has no bound; compiled code leaves what is beyond to the interpreter. */
enum { READY_STACK_BYTES = 2048 };

static bool needs_clustered(const struct kernel *k)
{
    const struct ptx_directive *required = ptx_directive(k->func, "reqnctapercluster");
    bool needs = required && ptx_product(required) > 1;
    for (uint32_t i = 0; i < k->functions.n; i++)
        needs |= k->functions.at[i]->ir->needs_clustered;
    return needs;
}

/* Once more from the start, with addresses that tell the blocks of a cluster apart. */
static bool add_reachable_clustered(struct preparer *p)
{
    struct kernel *k = p->k;
    struct ptx_func *func = k->func;
    uint64_t code_window = k->code_window;
    *k = (struct kernel){.func = func, .code_window = code_window, .clustered = true};
    map_init(&p->placed, p->arena);
    map_init(&p->functions, p->arena);
    return add_reachable(p);
}

static void number_sites(struct kernel *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->functions.n; i++) {
        struct code *c = k->functions.at[i];
        c->first_site = n;
        for (uint32_t o = 0; o < c->n_ops; o++)
            c->ops[o].site = n++;
    }
}

static bool prepare(struct preparer *p)
{
    struct kernel *k = p->k;
    if (!add_reachable(p) || (needs_clustered(k) && !add_reachable_clustered(p)))
        return false;
    for (uint32_t i = 0; i < k->functions.n; i++)
        decode(p, k->functions.at[i]);
    for (uint32_t i = 0; i < k->functions.n; i++)
        resolve_calls(p, k->functions.at[i]);
    number_sites(k);
    uint32_t stack = deepest_chain(p, k->entry);
    k->unbounded_stack = stack == UINT32_MAX;
    k->module_local_bytes = round_up(k->module_local_bytes, 16);
    k->local_bytes = k->module_local_bytes + (k->unbounded_stack ? p->env->stack_bytes : stack);
    k->local_ready_bytes = k->local_bytes;
    if (k->unbounded_stack && k->local_bytes > k->module_local_bytes + READY_STACK_BYTES)
        k->local_ready_bytes = k->module_local_bytes + READY_STACK_BYTES;
    k->param_bytes = (uint32_t)k->func->signature.param_bytes; /* bounded by the verifier */
    read_directives(k);
    return true;
}

struct kernel *kernel_prepare(struct ptx_func *func, const struct code_env *env, struct diags *diags)
{
    struct arena arena = {.on_oom = diags->arena->on_oom};
    struct kernel *k = ARENA_NEW(&arena, struct kernel);
    k->func = func;
    k->code_window = mem_code_window(env->mem);
    struct preparer p = {.k = k, .env = env, .diags = diags, .arena = &arena};
    map_init(&p.placed, &arena);
    map_init(&p.functions, &arena);
    bool ok = prepare(&p);
    k->arena = arena;
    if (ok)
        return k;
    kernel_free(k);
    return NULL;
}

void kernel_free(struct kernel *k)
{
    if (!k)
        return;
    kernel_free_sites(k);
    struct arena arena = k->arena; /* k lives in it */
    arena_free(&arena);
}

uint32_t kernel_register_limit(const struct kernel *k)
{
    enum { MOST = 255, UNIT = 8 };
    const struct ptx_directive *most = ptx_directive(k->func, "maxnreg"),
                               *blocks = ptx_directive(k->func, "minnctapersm");
    bool bounded = k->max_ntid && k->max_ntid < DEVICE_MAX_THREADS_PER_BLOCK;
    uint64_t threads =
        (uint64_t)(bounded ? k->max_ntid : DEVICE_MAX_THREADS_PER_BLOCK) * (blocks ? blocks->value[0] : 1);
    uint64_t limit = DEVICE_MAX_REGISTERS_PER_BLOCK / threads / UNIT * UNIT;
    if (most && most->value[0] < limit)
        limit = most->value[0];
    return limit > MOST ? MOST : limit < 2 * UNIT ? 2 * UNIT : (uint32_t)limit;
}

/* An estimate: as many as its values that are alive at once take at most, but never more than it may. */
static uint32_t estimate_registers(const struct kernel *k)
{
    enum { ROW_BYTES = 4 * WARP_LANES };
    uint32_t bytes = 0, limit = kernel_register_limit(k);
    for (uint32_t i = 0; i < k->functions.n; i++)
        if (k->functions.at[i]->register_bytes > bytes)
            bytes = k->functions.at[i]->register_bytes;
    return bytes / ROW_BYTES < limit ? bytes / ROW_BYTES : limit;
}

uint32_t kernel_registers(const struct kernel *k, bool *guessed)
{
    enum { LEAST = 16 }; /* an H200 gives no thread fewer (recorded: launch__registers_per_thread) */
    uint32_t n = k->machine_code.registers ? k->machine_code.registers : estimate_registers(k);
    if (guessed)
        *guessed = !k->machine_code.registers;
    return n < LEAST ? LEAST : n;
}
