/* The table of a kernel's sites; see site.h. */
#include "exec/site.h"

#include <pthread.h>

#include "exec/code.h"
#include "exec/fault.h"
#include "isa/opcodes.h"

/* A table, and the memory that it is in. */
struct sites_of_kernel {
    struct arena arena;
    struct site_table table;
};

static enum site_kind kind_of(const struct op *o)
{
    const struct isa_inst *i = o->origin && o->origin->origin ? o->origin->origin->inst : NULL;
    switch (o->kind) {
    case OP_LD: return SITE_LOAD;
    case OP_ST: return SITE_STORE;
    case OP_ATOM: return i && i->kind == KIND_RED ? SITE_RED : SITE_ATOM;
    case OP_FENCE: return SITE_FENCE;
    case OP_BAR: return SITE_BARRIER;
    case OP_MBARRIER: return SITE_MBARRIER;
    case OP_ASYNC: return SITE_COPY;
    case OP_GROUP: return SITE_GROUP;
    case OP_TEXTURE:
        return o->origin->texture->form.op == SURFACE_REDUCE ? SITE_RED
               : op_writes(o)                                ? SITE_STORE
               : op_reads(o)                                 ? SITE_LOAD
                                                             : SITE_OTHER;
    case OP_CALL: return SITE_CALL;
    case OP_EXIT: return SITE_EXIT;
    case OP_COLLECTIVE:
        if (o->origin->kind != IR_MATRIX)
            return SITE_COLLECTIVE;
        return o->origin->matrix->form.kind == MATRIX_WARPGROUP ? SITE_WGMMA : SITE_MATRIX;
    default: return SITE_OTHER;
    }
}

/* fence.proxy.async: of all memory or of one space (9.7.13.4). What is no other fence orders
 * threads. */
static uint8_t fence_of(const struct isa_inst *i)
{
    bool two_way = isa_has(i, MOD_async), one_way = isa_has(i, MOD_async_generic),
         of_shared = isa_has(i, MOD_shared_cta) || isa_has(i, MOD_shared_cluster),
         of_proxy = isa_has(i, MOD_proxy) && (two_way || one_way), acquires = isa_has(i, MOD_acquire),
         releases = isa_has(i, MOD_release);
    uint8_t proxy = !of_proxy ? 0 : FENCE_PROXY;
    if (i->op == OP_griddepcontrol)
        return FENCE_GRIDS;
    if (of_proxy && !isa_has(i, MOD_global))
        proxy |= FENCE_PROXY_SHARED;
    if (of_proxy && two_way && !of_shared)
        proxy |= FENCE_PROXY_GLOBAL;
    if (of_proxy && !acquires && !releases)
        return proxy;
    if (isa_has(i, MOD_mbarrier_init))
        return proxy | FENCE_INITS;
    return proxy | (uint8_t)(releases ? 0 : FENCE_ACQUIRES) | (uint8_t)(acquires ? 0 : FENCE_RELEASES);
}

static uint8_t fence_scope(const struct isa_inst *i)
{
    return isa_has(i, MOD_cta)       ? MOD_cta
           : isa_has(i, MOD_cluster) ? MOD_cluster
           : isa_has(i, MOD_sys)     ? MOD_sys
                                     : MOD_gpu;
}

static bool is_const_row(row_ref r)
{
    return (r & 3) == ROW_CONST;
}

/* Does the text say that all meet? */
static bool is_whole(const struct code *c, const struct op *o)
{
    if (o->kind == OP_BAR)
        return o->mode != BAR_ARRIVE && o->mode != BAR_CLUSTER_ARRIVE && !o->has_b && is_const_row(o->a);
    return is_const_row(o->f) && *(const uint32_t *)(c->consts + (o->f & ~3u)) == UINT32_MAX;
}

static void describe(struct site *s, const struct code *c, const struct op *o)
{
    const struct isa_inst *i = o->origin && o->origin->origin ? o->origin->origin->inst : NULL;
    s->kind = (uint8_t)kind_of(o);
    s->mode = o->mode;
    s->imm = o->imm;
    if (i)
        s->opcode = i->text;
    switch ((enum site_kind)s->kind) {
    case SITE_LOAD:
    case SITE_STORE:
    case SITE_ATOM:
    case SITE_RED:
    case SITE_MBARRIER:
    case SITE_COPY:
    case SITE_MATRIX: s->accesses = o->access; break;
    case SITE_FENCE:
        s->fence = i ? fence_of(i) : FENCE_ACQUIRES | FENCE_RELEASES;
        s->scope = i ? fence_scope(i) : MOD_gpu;
        s->order = (uint8_t)o->imm;
        break;
    case SITE_BARRIER:
        s->aligned = i && (i->op == OP_bar || isa_has(i, MOD_aligned));
        s->whole = is_whole(c, o);
        break;
    case SITE_COLLECTIVE:
        s->active = o->flags & OPF_NO_MASK;
        s->whole = o->mode == COLLECTIVE_SYNC && is_whole(c, o);
        break;
    default: break;
    }
    if (s->accesses) {
        s->access = o->access->mem;
        s->reads = op_reads(o);
        s->writes = op_writes(o);
        s->signals = s->kind == SITE_COPY && o->access->has_operand[ASYNC_MBARRIER];
    }
}

static void add_function(const struct code *c, struct site *at, struct arena *arena)
{
    const struct ptx_loc *loc = NULL;
    const struct cuda_place *cuda = NULL;
    for (uint32_t b = 0; b < c->n_blocks; b++)
        for (uint32_t k = c->blocks[b].first; k < c->blocks[b].first + c->blocks[b].n; k++) {
            const struct op *o = &c->ops[k];
            const struct ptx_insn *p = o->origin ? o->origin->origin : NULL;
            struct site *s = &at[o->site];
            *s = (struct site){.number = o->site, .function = c->index, .block = b, .instruction = p};
            describe(s, c, o);
            if (!o->origin)
                continue;
            if (o->origin->loc != loc) {
                loc = o->origin->loc;
                cuda = ptx_cuda_place(o->origin->module, loc, arena);
            }
            s->loc = loc;
            if (p && p->length)
                s->place = ptx_place(o->origin->module, p->offset, p->length);
            s->place.cuda = cuda;
        }
}

static const struct site_variable *add_variables(const struct kernel *k, struct arena *arena)
{
    struct site_variable *v = ARENA_ARRAY(arena, struct site_variable, k->shared_vars.n);
    for (uint32_t i = 0; i < k->shared_vars.n; i++)
        v[i] = (struct site_variable){k->shared_vars.at[i].var->symbol.name, k->shared_vars.at[i].at,
                                      k->shared_vars.at[i].var->size};
    return v;
}

/* Not inlined: nothing of it is alive where setjmp() returns again. */
__attribute__((noinline)) static struct sites_of_kernel *find_all(const struct kernel *k, struct arena *arena)
{
    struct sites_of_kernel *s = ARENA_NEW(arena, struct sites_of_kernel);
    s->table = (struct site_table){.kernel = k->func->symbol.name,
                                   .n_shared = k->shared_vars.n,
                                   .static_shared_bytes = k->static_shared_bytes,
                                   .clustered = k->clustered,
                                   .has_async = k->has_async,
                                   .code = k};
    for (uint32_t i = 0; i < k->functions.n; i++)
        s->table.n += k->functions.at[i]->n_ops;
    struct site *at = ARENA_ARRAY(arena, struct site, s->table.n);
    s->table.at = at;
    for (uint32_t i = 0; i < k->functions.n; i++)
        add_function(k->functions.at[i], at, arena);
    s->table.shared = add_variables(k, arena);
    return s;
}

static struct sites_of_kernel *make(const struct kernel *k)
{
    jmp_buf no_memory;
    struct arena arena = {.on_oom = &no_memory};
    struct sites_of_kernel *volatile s = NULL;
    if (setjmp(no_memory) == 0)
        s = find_all(k, &arena);
    arena.on_oom = NULL;
    if (s)
        s->arena = arena;
    else
        arena_free(&arena);
    return s;
}

const struct site_table *kernel_sites(struct kernel *k)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    struct sites_of_kernel *s = atomic_load_explicit(&k->sites, memory_order_acquire);
    if (s)
        return &s->table;
    pthread_mutex_lock(&making);
    s = atomic_load(&k->sites);
    if (!s && (s = make(k)))
        atomic_store_explicit(&k->sites, s, memory_order_release);
    pthread_mutex_unlock(&making);
    return s ? &s->table : NULL;
}

void kernel_free_sites(struct kernel *k)
{
    struct sites_of_kernel *s = atomic_load(&k->sites);
    if (!s)
        return;
    struct arena arena = s->arena; /* s lives in it */
    arena_free(&arena);
}

const char *site_line(const struct site *s, struct arena *arena)
{
    return place_line(s ? &s->place : NULL, arena);
}
