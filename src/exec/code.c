/* The parts of a kernel: its functions, variables and needs; see code.h. */
#include "exec/preparer.h"

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

const struct ptx_func *code_function(const struct mem *mem, const struct ptx_image *image, uint64_t address)
{
    uint64_t offset = address - mem_code_window(mem), handle = offset / HANDLE_BYTES - 1;
    return offset % HANDLE_BYTES == 0 && handle < image->functions.n ? image->functions.at[handle] : NULL;
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
    struct placed_var *known = map_get(&p->placed, preparer_key((const void *const *)&v));
    if (known)
        return known->at;
    uint32_t *bytes = shared ? &k->static_shared_bytes : &k->module_local_bytes;
    uint32_t at = round_up(*bytes, v->align < 4 ? 4 : v->align);
    *bytes = v->size < UINT32_MAX - at ? at + (uint32_t)v->size : UINT32_MAX;
    struct placed_var *placed = ARENA_NEW(p->arena, struct placed_var);
    *placed = (struct placed_var){v, at};
    map_put(&p->placed, preparer_key((const void *const *)&placed->var), placed);
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

/* If no variable needs more than the alignment of a cache line, and the first begins a line, then
 * placing whole-line variables first wastes no byte. */
static bool can_order_by_lines(const struct preparer *p, const struct ir_func *ir)
{
    bool can = p->k->static_shared_bytes % LINE_BYTES == 0;
    for (uint32_t i = 0; i < ir->vars.n; i++) {
        const struct ptx_var *v = ir->vars.at[i]->definition;
        can &= !is_static_shared(v) || v->align <= LINE_BYTES;
    }
    return can;
}

/* Variables that fill whole cache lines, as most arrays do, come first if that costs nothing: then
 * consecutive elements are in one line. */
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

/* Dynamic shared memory starts behind the static variables, so these get their places first: of a
 * kernel they are what they are, so addresses become plain numbers, which the compiler can reckon
 * with. */
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

uint64_t preparer_symbol_address(struct preparer *p, const struct ptx_symbol *s)
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

/* ---- the functions of a kernel ---- */

static struct code *find_code(const struct preparer *p, const struct ptx_func *f)
{
    return map_get(&p->functions, preparer_key((const void *const *)&f));
}

static struct code *add_function(struct preparer *p, struct ptx_func *f)
{
    struct code *c = find_code(p, f);
    if (c || !f->has_body)
        return c;
    struct ir_func *ir = ir_build(
        p->arena, f, (p->env->serial_walks ? IR_SERIAL_WALKS : 0) | (p->env->keeps_registers ? IR_KEEPS_REGISTERS : 0),
        p->k->clustered, p->diags);
    if (!ir)
        return NULL;
    place_vars(p, ir);
    c = ARENA_NEW(p->arena, struct code);
    c->ir = ir;
    c->index = p->k->functions.n;
    *VEC_PUSH(p->arena, &p->k->functions) = c;
    map_put(&p->functions, preparer_key((const void *const *)&c->ir->func), c);
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

static void note_calls(struct kernel *k, const struct code *c)
{
    for (uint32_t i = 0; i < c->ir->insns.n; i++) {
        const struct ir_insn *in = &c->ir->insns.at[i];
        enum ir_syscall s = in->kind == IR_CALL ? in->call->syscall : SYSCALL_NONE;
        bool graph = s == SYSCALL_GRAPH_LAUNCH || s == SYSCALL_GRAPH_LAUNCH_PTSZ;
        k->nests |= ir_is_nested(s);
        k->uses_heap |= s == SYSCALL_MALLOC || s == SYSCALL_FREE;
        k->prints |= s == SYSCALL_VPRINTF;
        k->launches_graphs |= graph;
        k->launches_kernels |= ir_is_nested(s) && !graph;
    }
}

/* A function pointer may refer to any function of the image. Functions that the machine refuses are
 * left out: calling one faults. */
static void add_all_functions(struct preparer *p)
{
    const struct ptx_image *image = p->env->image;
    struct diags ignored = {.arena = p->arena, .limit = 1};
    struct diags *diags = p->diags;
    p->diags = &ignored;
    p->k->n_handles = image->functions.n;
    p->k->by_handle = ARENA_ARRAY(p->arena, struct code *, image->functions.n);
    for (uint32_t i = 0; i < image->functions.n; i++)
        p->k->by_handle[i] = image->functions.at[i]->entry ? NULL : add_function(p, image->functions.at[i]);
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

/* Local memory of the deepest chain of calls from `first`; UINT32_MAX where it has no bound. Chains
 * may be longer than the stack of the host is deep. */
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

/* If the depth has no bound, few threads use more than this; compiled code leaves deeper calls to
 * the interpreter. */
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
        code_decode(p, k->functions.at[i]);
    for (uint32_t i = 0; i < k->functions.n; i++) {
        resolve_calls(p, k->functions.at[i]);
        note_calls(k, k->functions.at[i]);
    }
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

/* An estimate: the registers for the most values that are alive at once, within the kernel's
 * limit. */
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
    /* An H200 gives no thread fewer (recorded: launch__registers_per_thread). */
    enum { LEAST = 16 };
    uint32_t n = k->machine_code.registers ? k->machine_code.registers : estimate_registers(k);
    if (guessed)
        *guessed = !k->machine_code.registers;
    return n < LEAST ? LEAST : n;
}
