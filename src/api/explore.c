/* Explorations of a launch; see explore.h. */
#include "api/explore.h"

#include <string.h>

#include "api/handles.h"

struct exploring {
    hd_kernel *kernel;
    const hd_launch_config *config;
    const struct explore_options *options;
    struct explore_result *result;
    struct launch_request request;
};

/* Like make_grid_barrier() in exec/launch.c. */
static uint8_t *make_grid_barrier(struct mem *mem)
{
    enum { BYTES = 64 };
    uint8_t *barrier = mem_alloc(mem, BYTES, MEM_DEVICE, "grid barrier");
    if (barrier)
        memset(barrier, 0, BYTES);
    if (barrier)
        barrier[0] = BYTES;
    return barrier;
}

static hd_result prepare_and_explore(void *data, struct diags *diags)
{
    struct exploring *e = data;
    hd_result r = launch_prepare(e->kernel, e->config, &e->request, diags);
    if (r)
        return r;
    struct mem *mem = &e->kernel->module->machine->machine->mem;
    uint8_t *barrier = e->request.flags & HD_LAUNCH_COOPERATIVE ? make_grid_barrier(mem) : NULL;
    if (e->request.flags & HD_LAUNCH_COOPERATIVE && !barrier)
        return HD_ERROR_OUT_OF_MEMORY;
    struct explore_launch l = {.kernel = e->request.kernel,
                               .mem = mem,
                               .dims = e->request.dims,
                               .params = e->request.params,
                               .grid_barrier = barrier};
    struct explore_options o = *e->options;
    hd_machine_info info;
    hd_machine_get_info(e->kernel->module->machine, &info);
    unsigned all = o.n_threads ? o.n_threads : info.workers, sharing = o.ranks ? o.ranks->on_this_host : 1;
    o.n_threads = all > sharing ? all / sharing : 1;
    explore(&l, &o, e->result);
    if (barrier)
        mem_free(mem, barrier);
    return HD_SUCCESS;
}

hd_result api_explore(hd_kernel *kernel, const hd_launch_config *config, const struct explore_options *options,
                      struct explore_result *result, hd_report **report)
{
    struct exploring e = {.kernel = kernel, .config = config, .options = options, .result = result};
    *report = NULL;
    hd_result r = report_during(report, NULL, prepare_and_explore, &e);
    launch_release(kernel->module->machine, &e.request);
    return r;
}

/* ---- places ---- */

/* The element type of a variable, if the user states none. Compilers declare arrays as bytes, too:
 * then it is a word of the variable's alignment. */
static enum isa_type declared_type(const struct ptx_var *v)
{
    enum isa_type type = v->type;
    unsigned bits = isa_type_bits(type);
    if (bits == 8 && v->align >= 8)
        return TYPE_u64;
    if (bits == 8 && v->align == 4)
        return TYPE_u32;
    return bits >= 8 && bits <= 64 ? type : TYPE_u32;
}

/* Names the element at an address, if the object has as many elements. */
static const char *place_at(uint32_t block, uint64_t address, uint64_t size, enum isa_type type,
                            const struct place_name *name, struct observed *at, bool *is_signed, struct arena *arena)
{
    uint64_t bytes = isa_type_bits(type) / 8, count = size / bytes;
    if (name->element >= count)
        return arena_printf(arena, "it has %llu element%s of type %s", (unsigned long long)count, count == 1 ? "" : "s",
                            isa_type_name(type));
    *at = (struct observed){block, address + name->element * bytes, (uint8_t)bytes, NULL};
    *is_signed = isa_type_class(type) == CLASS_S;
    return NULL;
}

/* The most similar name to one that does not exist. */
struct near {
    struct str wanted, best;
    unsigned edits;
};

static void is_it(struct near *n, struct str name)
{
    unsigned edits = str_distance(n->wanted, name, n->edits);
    if (edits < n->edits) {
        n->edits = edits;
        n->best = name;
    }
}

static const char *no_such_variable(hd_kernel *kernel, struct str wanted, struct arena *arena)
{
    enum { FAR = 4 };
    struct near n = {.wanted = wanted, .edits = FAR};
    const struct kernel *k = kernel->kernel;
    for (uint32_t i = 0; i < k->func->signature.params.n; i++)
        is_it(&n, k->func->signature.params.at[i]->symbol.name);
    for (uint32_t i = 0; i < kernel->module->variables.n; i++)
        is_it(&n, str_of(kernel->module->variables.at[i].name));
    for (uint32_t i = 0; i < k->shared_vars.n; i++)
        is_it(&n, k->shared_vars.at[i].var->symbol.name);
    if (n.edits < FAR)
        return arena_printf(arena, "there is no such parameter or variable; did you mean `%.*s`?", STR_ARG(n.best));
    return "there is no such parameter or variable in the PTX; 1[0] is the first element of the first argument";
}

static const char *shared_place(hd_kernel *kernel, const struct place_name *name, struct observed *at, bool *is_signed,
                                struct arena *arena)
{
    const struct kernel *k = kernel->kernel;
    for (uint32_t i = 0; i < k->shared_vars.n; i++) {
        const struct ptx_var *v = k->shared_vars.at[i].var;
        if (str_eq(v->symbol.name, name->name))
            return place_at(0, k->shared_vars.at[i].at, v->size, name->type ? name->type : declared_type(v), name, at,
                            is_signed, arena);
    }
    return no_such_variable(kernel, name->name, arena);
}

const char *api_variable_place(hd_kernel *kernel, const struct place_name *name, struct observed *at, bool *is_signed,
                               struct arena *arena)
{
    const hd_module *m = kernel->module;
    for (uint32_t i = 0; i < m->variables.n; i++) {
        const struct variable *v = &m->variables.at[i];
        if (str_is(name->name, v->name))
            return place_at(GLOBAL_MEMORY, (uint64_t)(uintptr_t)v->at, v->var->size,
                            name->type ? name->type : declared_type(v->var), name, at, is_signed, arena);
    }
    return shared_place(kernel, name, at, is_signed, arena);
}

unsigned api_argument_of(const hd_kernel *kernel, const struct place_name *name)
{
    const struct ptx_signature *s = &kernel->kernel->func->signature;
    unsigned i = 0;
    if (name->argument)
        return name->argument;
    while (i < s->params.n && !str_eq(s->params.at[i]->symbol.name, name->name))
        i++;
    return i < s->params.n ? i + 1 : 0;
}

/* A place in the allocation that an argument points to. */
static const char *argument_place(hd_kernel *kernel, unsigned argument, const void *packed,
                                  const struct place_name *name, struct observed *at, bool *is_signed,
                                  struct arena *arena)
{
    const struct ptx_signature *s = &kernel->kernel->func->signature;
    struct mem_block b;
    uint64_t address = 0;
    if (argument > s->params.n)
        return arena_printf(arena, "the kernel takes %u argument%s", s->params.n, s->params.n == 1 ? "" : "s");
    const struct ptx_var *p = s->params.at[argument - 1];
    if (p->size != sizeof address)
        return arena_printf(arena, "argument %u has %llu bytes and is not an address", argument,
                            (unsigned long long)p->size);
    memcpy(&address, (const uint8_t *)packed + p->param_at, sizeof address);
    if (!mem_reach(&kernel->module->machine->machine->mem, address, &b))
        return arena_printf(arena, "argument %u is 0x%llx, which is not an address that kernels can reach", argument,
                            (unsigned long long)address);
    return place_at(GLOBAL_MEMORY, address, b.start + b.size - address, name->type ? name->type : TYPE_u32, name, at,
                    is_signed, arena);
}

const char *api_launch_place(hd_kernel *kernel, const void *packed_args, const struct place_name *name,
                             struct observed *at, bool *is_signed, struct arena *arena)
{
    unsigned argument = api_argument_of(kernel, name);
    return argument ? argument_place(kernel, argument, packed_args, name, at, is_signed, arena)
                    : api_variable_place(kernel, name, at, is_signed, arena);
}

static const char *shared_name(hd_kernel *kernel, const struct location *l, struct arena *arena)
{
    const struct kernel *k = kernel->kernel;
    for (uint32_t i = 0; i < k->shared_vars.n; i++) {
        const struct placed_var *v = &k->shared_vars.at[i];
        uint64_t at = l->address - v->at, size = v->var->size;
        if (l->address < v->at || (size && at >= size)) /* extern: its size is not known */
            continue;
        return size == l->bytes ? arena_printf(arena, "%.*s of block %u", STR_ARG(v->var->symbol.name), l->block)
                                : arena_printf(arena, "%.*s[%llu] of block %u", STR_ARG(v->var->symbol.name),
                                               (unsigned long long)(at / l->bytes), l->block);
    }
    return NULL;
}

static const char *variable_name(const hd_module *m, const struct location *l, struct arena *arena)
{
    for (uint32_t i = 0; i < m->variables.n; i++) {
        const struct variable *v = &m->variables.at[i];
        uint64_t at = l->address - (uint64_t)(uintptr_t)v->at;
        if (at < v->var->size)
            return v->var->size == l->bytes
                       ? arena_strdup(arena, v->name)
                       : arena_printf(arena, "%s[%llu]", v->name, (unsigned long long)(at / l->bytes));
    }
    return NULL;
}

/* Names an element of the allocation that an argument points to; chooses the argument with the
 * nearest address at or before it. */
static const char *argument_name(hd_kernel *kernel, const uint8_t *packed, const struct location *l,
                                 struct arena *arena)
{
    const struct ptx_signature *s = &kernel->kernel->func->signature;
    const struct mem *mem = &kernel->module->machine->machine->mem;
    uint64_t near = 0;
    uint32_t number = 0;
    for (uint32_t i = 0; packed && i < s->params.n; i++) {
        uint64_t address = 0;
        struct mem_block b;
        if (s->params.at[i]->size != sizeof address)
            continue;
        memcpy(&address, packed + s->params.at[i]->param_at, sizeof address);
        if (address <= l->address && address > near && mem_reach(mem, address, &b) && l->address < b.start + b.size) {
            near = address;
            number = i + 1;
        }
    }
    return number ? arena_printf(arena, "%u[%llu]", number, (unsigned long long)((l->address - near) / l->bytes))
                  : NULL;
}

const char *api_location_name(hd_kernel *kernel, const void *packed_args, const struct location *l, struct arena *arena)
{
    if (l->block != GLOBAL_MEMORY)
        return shared_name(kernel, l, arena);
    const char *name = variable_name(kernel->module, l, arena);
    return name ? name : argument_name(kernel, packed_args, l, arena);
}
