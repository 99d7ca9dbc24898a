/* Static shared memory of kernels: CUDA gives a kernel 48 KB at most, on every device; more has to be dynamic (CUDA C++
 * Programming Guide, "Compute Capabilities"; ptxas refuses more). What counts are the variables that a kernel uses, and the
 * functions that it calls by name.
 */
#include "base/demangle.h"
#include "ptx/link.h"

enum { STATIC_SHARED_BYTES = 48 << 10 };

/* One kernel. */
struct use {
    struct arena *arena;
    VEC(const struct ptx_func *) functions; /* the kernel, and what it calls */
    VEC(const struct ptx_var *) vars;
    uint64_t bytes;
    struct place largest_at; /* where the largest variable is used first; the kernel's first line of CUDA C */
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
    for (uint32_t i = 0; i < u->vars.n; i++)
        if (u->vars.at[i] == v)
            return;
    *VEC_PUSH(u->arena, &u->vars) = v;
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
    for (uint32_t i = 0; has_parts && i < (o->kind == OPND_MEM ? 1u : o->n); i++)
        use_operand(u, &o->elems[i], at);
    if (o->kind == OPND_SYMBOL && o->symbol->kind == SYMBOL_VAR)
        use_var(u, (const struct ptx_var *)o->symbol, at);
}

static void use_func(struct use *u, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < u->functions.n; i++)
        if (u->functions.at[i] == f)
            return;
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

static void check_kernel(const struct ptx_func *kernel, struct diags *diags)
{
    struct use u = {.arena = diags->arena};
    use_func(&u, kernel);
    for (uint32_t k = 0; k < u.functions.n; k++) {
        const struct ptx_func *f = u.functions.at[k];
        for (uint32_t i = 0; i < f->body.n; i++)
            if (f->body.at[i].kind == STMT_INSN)
                use_insn(&u, f, f->body.at[i].insn);
    }
    for (uint32_t i = 0; !u.largest_at.cuda && i < kernel->body.n; i++)
        if (kernel->body.at[i].kind == STMT_LOC)
            u.largest_at.cuda = ptx_cuda_place(kernel->module, kernel->body.at[i].loc, diags->arena);
    if (u.bytes > STATIC_SHARED_BYTES)
        diag_error(
            diags, u.largest_at, "shared-size",
            "make the largest array dynamic: `extern __shared__`, its size as the third launch argument and, above "
            "48 KB, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
            "kernel `%s` has %llu bytes of static shared memory; 49152 are the most",
            demangle(kernel->symbol.name, diags->arena), (unsigned long long)u.bytes);
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
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < modules[i]->items.n; k++) {
            const struct ptx_item *it = &modules[i]->items.at[k];
            if (it->kind == ITEM_FUNC && it->func->entry && it->func->has_body)
                check_kernel(it->func, diags);
        }
}
