/* Static shared memory of kernels: CUDA gives a kernel 48 KB at most, on every device; more has to
 * be dynamic (CUDA C++ Programming Guide, "Compute Capabilities"; ptxas refuses more). What counts
 * are the variables that a kernel uses, and the functions that it calls by name.
 */
#include "base/demangle.h"
#include "ptx/link.h"

enum { STATIC_SHARED_BYTES = 48 << 10 };

/* One kernel. */
struct use {
    struct arena *arena;
    VEC(const struct ptx_func *) functions; /* the kernel, and what it calls */
    /* These, and the variables: by the bytes of `definition`, which points to itself. */
    struct map seen;
    uint64_t bytes;
    /* Where the largest variable is used first; the kernel's first line of CUDA C. */
    struct place largest_at;
    uint64_t largest;
};

static bool is_static_shared(const struct ptx_var *v)
{
    return v->space == SPACE_SHARED && !v->unsized && v->size > 0 && v->linkage != LINK_EXTERN;
}

static void use_var(struct use *u, const struct ptx_var *v, struct place at)
{
    v = v->definition;
    if (!is_static_shared(v))
        return;
    if (map_put(&u->seen, (struct str){(const char *)&v->definition, sizeof v->definition}, (void *)v))
        return;
    uint64_t align = v->align < 4 ? 4 : v->align;
    u->bytes = (u->bytes + align - 1) / align * align + v->size;
    if (v->size > u->largest) {
        u->largest = v->size;
        u->largest_at = at;
    }
}

static void use_operand(struct use *u, const struct ptx_operand *o, struct place at)
{
    bool has_parts = o->kind == OPND_VECTOR || o->kind == OPND_PAIR || o->kind == OPND_MEM;
    for (uint32_t i = 0; has_parts && i < o->n; i++)
        use_operand(u, &o->elems[i], at);
    if (o->kind == OPND_SYMBOL && o->symbol->kind == SYMBOL_VAR)
        use_var(u, (const struct ptx_var *)o->symbol, at);
}

static void use_func(struct use *u, const struct ptx_func *f)
{
    if (!map_put(&u->seen, (struct str){(const char *)&f->definition, sizeof f->definition}, (void *)f))
        *VEC_PUSH(u->arena, &u->functions) = f;
}

static void use_insn(struct use *u, const struct ptx_func *f, const struct ptx_insn *insn)
{
    struct place at = ptx_place(f->module, insn->offset, insn->length);
    for (uint32_t i = 0; i < insn->n_operands; i++)
        use_operand(u, &insn->operands[i], at);
    const struct ptx_call *c = insn->call;
    for (uint32_t i = 0; c && i < c->n_args; i++)
        use_operand(u, &c->args[i], at);
    if (c && c->callee.kind == OPND_SYMBOL && c->callee.symbol->kind == SYMBOL_FUNC)
        use_func(u, ((const struct ptx_func *)c->callee.symbol)->definition);
}

/* Takes from *work what it looks at; where that is spent, the kernel is refused. */
static void check_kernel(const struct ptx_func *kernel, uint64_t *work, struct diags *diags)
{
    struct arena scratch = {.on_oom = diags->arena->on_oom};
    struct use u = {.arena = &scratch};
    map_init(&u.seen, &scratch);
    use_func(&u, kernel);
    for (uint32_t k = 0; k < u.functions.n && *work; k++) {
        const struct ptx_func *f = u.functions.at[k];
        *work -= *work < f->body.n + 1 ? *work : f->body.n + 1;
        for (uint32_t i = 0; i < f->body.n; i++)
            if (f->body.at[i].kind == STMT_INSN)
                use_insn(&u, f, f->body.at[i].insn);
    }
    for (uint32_t i = 0; !u.largest_at.cuda && i < kernel->body.n; i++)
        if (kernel->body.at[i].kind == STMT_LOC)
            u.largest_at.cuda = ptx_cuda_place(kernel->module, kernel->body.at[i].loc, diags->arena);
    if (!*work)
        diag_error(diags, ptx_place(kernel->module, kernel->symbol.offset, (uint32_t)kernel->symbol.name.n),
                   "shared-size", "give each kernel a module of its own",
                   "the static shared memory of each kernel cannot be found: the kernels call too many functions");
    else if (u.bytes > STATIC_SHARED_BYTES)
        diag_error(
            diags, u.largest_at, "shared-size",
            "make the largest array dynamic: `extern __shared__`, its size as the third launch argument and, above "
            "48 KB, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
            "kernel `%s` has %llu bytes of static shared memory; 49152 are the most",
            demangle(kernel->symbol.name, diags->arena), (unsigned long long)u.bytes);
    arena_free(&scratch);
}

/* All that a module declares, in its functions and outside. */
static uint64_t declared(const struct ptx_module *m)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_item *it = &m->items.at[i];
        if (it->kind == ITEM_VAR && is_static_shared(it->var))
            bytes += it->var->size;
        for (uint32_t k = 0; it->kind == ITEM_FUNC && k < it->func->body.n; k++)
            if (it->func->body.at[k].kind == STMT_VAR && is_static_shared(it->func->body.at[k].var))
                bytes += it->func->body.at[k].var->size;
    }
    return bytes;
}

void ptx_check_shared(struct ptx_module *const *modules, uint32_t n, struct diags *diags)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += declared(modules[i]);
    if (bytes <= STATIC_SHARED_BYTES)
        return;
    uint64_t work = 50u << 20;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < modules[i]->items.n && work; k++) {
            const struct ptx_item *it = &modules[i]->items.at[k];
            if (it->kind == ITEM_FUNC && it->func->entry && it->func->has_body)
                check_kernel(it->func, &work, diags);
        }
}
