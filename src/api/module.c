/* Modules and kernels of the library (include/heddle.h). */
#include <stdlib.h>

#include "api/handles.h"
#include "api/sized.h"
#include "base/sparse.h"
#include "exec/compiler.h"

/* ---- variables ---- */

static uint64_t address_of(void *data, const struct ptx_var *v)
{
    const hd_module *m = data;
    uint32_t handle = v->definition->handle;
    if (handle & REFERENCE)
        return m->references.at[handle & ~REFERENCE]->handle;
    return handle ? (uint64_t)(uintptr_t)m->variables.at[handle - 1].at : 0;
}

static struct variable *variable_by_name(const hd_module *m, const char *name)
{
    uintptr_t handle = (uintptr_t)map_get(&m->variables_by_name, str_of(name));
    return handle ? &m->variables.at[handle - 1] : NULL;
}

static bool is_reference(const struct ptx_var *v)
{
    return v->definition == v && (v->space == SPACE_TEX || isa_type_class(v->type) == CLASS_O);
}

static bool is_placed(const struct ptx_var *v)
{
    return (v->space == SPACE_GLOBAL || v->space == SPACE_CONST) && v->definition == v && v->size > 0;
}

static void report_no_room(const hd_module *m, const struct ptx_module *ptx, const struct ptx_var *v,
                           struct diags *diags)
{
    const struct mem *mem = &m->machine->machine->mem;
    unsigned long long size = v->size, limit = mem->limit_bytes, used = mem->allocated_bytes;
    struct place at = ptx_place(ptx, v->symbol.offset, (uint32_t)v->symbol.name.n);
    if (v->space == SPACE_CONST && size <= limit - used)
        diag_error(diags, at, "memory-limit", "make it .global",
                   "`%.*s` needs %llu bytes; all .const variables together can have %llu", STR_ARG(v->symbol.name),
                   size, (unsigned long long)mem->const_size);
    else
        diag_error(diags, at, "memory-limit",
                   "give the machine more memory: `--memory`, hd_machine_options.memory_bytes",
                   "`%.*s` needs %llu bytes; of the machine's %llu, %llu are in use", STR_ARG(v->symbol.name), size,
                   limit, used);
}

/* Memory is allocated as zeros: pages without initialisers are not touched, and cost nothing until
 * the kernel uses them. */
static bool place_variable(hd_module *m, const struct ptx_module *ptx, struct ptx_var *v, struct diags *diags)
{
    if (is_reference(v))
        return v->space == SPACE_PARAM || module_add_reference(m, v);
    if (!is_placed(v))
        return true;
    const char *name = arena_strndup(&m->arena, v->symbol.name.p, v->symbol.name.n);
    bool host = v->managed && m->machine->machine->mem.host_shift;
    enum mem_kind kind = v->space == SPACE_CONST ? MEM_CONST
                         : host                  ? MEM_HOST_VARIABLE
                         : v->managed            ? MEM_MANAGED_VARIABLE
                                                 : MEM_VARIABLE;
    void *at = mem_alloc_zero(&m->machine->machine->mem, v->size, kind, name);
    if (!at) {
        report_no_room(m, ptx, v, diags);
        return false;
    }
    *VEC_PUSH(&m->arena, &m->variables) = (struct variable){v, name, at};
    v->handle = m->variables.n;
    if (!map_get(&m->variables_by_name, str_of(name)))
        map_put(&m->variables_by_name, str_of(name), (void *)(uintptr_t)v->handle);
    if (v->init_bytes)
        copy_sparse(hd_own_view(m->machine, at), v->init, v->init_bytes);
    return true;
}

/* Fills in addresses in initialisers, once every variable has been placed. */
static void relocate(hd_module *m, const struct variable *v)
{
    const struct mem *mem = &m->machine->machine->mem;
    for (uint32_t i = 0; i < v->var->relocs.n; i++) {
        const struct ptx_reloc *r = &v->var->relocs.at[i];
        uint64_t value = (uint64_t)r->addend;
        if (r->symbol->kind == SYMBOL_FUNC)
            value += code_address(mem, (const struct ptx_func *)r->symbol);
        else
            value += address_of(m, (const struct ptx_var *)r->symbol);
        value >>= r->shift;
        memcpy((uint8_t *)hd_own_view(m->machine, v->at) + r->at, &value, r->bytes < 8 ? r->bytes : 8);
    }
}

static bool place_variables(hd_module *m, struct diags *diags)
{
    for (uint32_t i = 0; i < m->image->n_modules; i++) {
        const struct ptx_module *ptx = m->image->modules[i];
        for (uint32_t k = 0; k < ptx->items.n; k++) {
            const struct ptx_item *it = &ptx->items.at[k];
            if (it->kind == ITEM_VAR && !place_variable(m, ptx, it->var, diags))
                return false;
            for (uint32_t s = 0; it->kind == ITEM_FUNC && s < it->func->body.n; s++)
                if (it->func->body.at[s].kind == STMT_VAR && !place_variable(m, ptx, it->func->body.at[s].var, diags))
                    return false;
        }
    }
    for (uint32_t i = 0; i < m->variables.n; i++)
        relocate(m, &m->variables.at[i]);
    return true;
}

/* ---- loading ---- */

static hd_result load(hd_module *m, const hd_source *sources, size_t n, struct diags *diags)
{
    struct ptx_module **modules = ARENA_ARRAY(&m->arena, struct ptx_module *, n);
    for (size_t i = 0; i < n; i++) {
        struct source *s = source_new(&m->arena, sources[i].name ? sources[i].name : "<ptx>",
                                      (struct str){sources[i].text, sources[i].bytes});
        uint32_t before = diags->list.n;
        modules[i] = ptx_parse(&m->arena, s, diags);
        if (modules[i])
            ptx_verify(modules[i], diags);
        diags_sort(diags, before);
    }
    if (diags->errors)
        return HD_ERROR_INVALID_PTX;
    m->image = ptx_link(&m->arena, modules, (uint32_t)n, diags);
    if (diags->errors)
        return HD_ERROR_INVALID_PTX;
    for (uint32_t i = 0; i < m->image->kernels.n; i++) {
        struct str name = m->image->kernels.at[i]->symbol.name;
        *VEC_PUSH(&m->arena, &m->kernel_names) = arena_strndup(&m->arena, name.p, name.n);
    }
    return place_variables(m, diags) ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

struct loading {
    hd_module *module;
    const hd_source *sources;
    size_t n;
};

static hd_result load_sources(void *data, struct diags *diags)
{
    const struct loading *l = data;
    return load(l->module, l->sources, l->n, diags);
}

hd_result hd_module_load(hd_machine *machine, const hd_source *sources, size_t n, hd_module **module,
                         hd_report **report)
{
    if (report)
        *report = NULL;
    if (!machine || !sources || n == 0 || n > 100000 || !module)
        return HD_ERROR_INVALID_VALUE;
    hd_module *m = calloc(1, sizeof *m);
    if (!m)
        return HD_ERROR_OUT_OF_MEMORY;
    m->machine = machine;
    m->refs = 1;
    map_init(&m->variables_by_name, &m->arena);
    map_init(&m->references_by_name, &m->arena);
    map_init(&m->kernels_by_name, &m->arena);
    map_init(&m->machine_code, &m->arena);
    pthread_mutex_init(&m->lock, NULL);
    hd_result result = report_during(report, &m->arena, load_sources, &(struct loading){m, sources, n});
    if (result == HD_SUCCESS) {
        pthread_mutex_lock(&machine->lock);
        m->next = machine->modules;
        machine->modules = m;
        pthread_mutex_unlock(&machine->lock);
        *module = m;
    } else {
        module_free(m);
    }
    return result;
}

static void free_variables(hd_module *m)
{
    for (uint32_t i = 0; i < m->variables.n; i++)
        mem_free(&m->machine->machine->mem, m->variables.at[i].at);
    m->variables.n = 0;
}

void module_free(hd_module *m)
{
    free_variables(m);
    module_free_references(m);
    for (hd_kernel *k = m->kernels; k;) {
        hd_kernel *next = k->next;
        machine_free_kernel(m->machine->machine, k->kernel);
        free(k);
        k = next;
    }
    pthread_mutex_destroy(&m->lock);
    arena_free(&m->arena);
    free(m);
}

void module_hold(hd_module *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
}

void module_release(hd_module *m)
{
    if (!m || atomic_fetch_sub(&m->refs, 1) != 1)
        return;
    pthread_mutex_lock(&m->machine->lock);
    bool keep = m->machine->checker || m->machine->explainer;
    if (keep) {
        free_variables(m);
        module_free_references(m);
        m->next = m->machine->unloaded;
        m->machine->unloaded = m;
    }
    pthread_mutex_unlock(&m->machine->lock);
    if (!keep)
        module_free(m);
}

void hd_module_unload(hd_module *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->machine->lock);
    hd_module **link = &m->machine->modules;
    while (*link && *link != m)
        link = &(*link)->next;
    if (*link)
        *link = m->next;
    pthread_mutex_unlock(&m->machine->lock);
    module_release(m);
}

void modules_forget(hd_machine *machine)
{
    while (machine->unloaded && !machine->checker && !machine->explainer) {
        hd_module *m = machine->unloaded;
        machine->unloaded = m->next;
        module_free(m);
    }
}

/* ---- kernels ---- */

size_t hd_module_kernel_count(const hd_module *m)
{
    return m ? m->kernel_names.n : 0;
}

const char *hd_module_kernel_name(const hd_module *m, size_t i)
{
    return m && i < m->kernel_names.n ? m->kernel_names.at[i] : NULL;
}

static const char **names_of_params(hd_module *m, const struct ptx_func *func)
{
    const struct ptx_signature *s = &func->signature;
    const char **names = ARENA_ARRAY(&m->arena, const char *, s->params.n);
    for (uint32_t i = 0; i < s->params.n; i++)
        names[i] = arena_strndup(&m->arena, s->params.at[i]->symbol.name.p, s->params.at[i]->symbol.name.n);
    return names;
}

static hd_kernel *prepare(hd_module *m, struct ptx_func *func, struct diags *diags)
{
    struct machine *machine = m->machine->machine;
    struct code_env env = {.image = m->image,
                           .mem = &machine->mem,
                           .lanes = machine->lanes,
                           .stack_bytes = machine->config.stack_bytes,
                           .serial_walks = machine->compiler && machine->compiler->wants_serial_walks(machine),
                           .keeps_registers = machine->config.keeps_registers,
                           .address_of = address_of,
                           .data = m};
    struct kernel *kernel = kernel_prepare(func, &env, diags);
    hd_kernel *k = kernel ? calloc(1, sizeof *k) : NULL;
    if (!k) {
        machine_free_kernel(machine, kernel);
        return NULL;
    }
    struct str name = func->symbol.name;
    const hd_machine_code *code = map_get(&m->machine_code, name);
    if (code)
        kernel->machine_code =
            (struct machine_code){code->registers, code->frame_bytes, code->local_loads, code->local_stores};
    *k = (hd_kernel){.next = m->kernels,
                     .module = m,
                     .func = func,
                     .kernel = kernel,
                     .name = arena_strndup(&m->arena, name.p, name.n),
                     .param_names = names_of_params(m, func)};
    m->kernels = k;
    map_put(&m->kernels_by_name, str_of(k->name), k);
    return k;
}

struct finding_kernel {
    hd_module *module;
    const char *name;
    hd_kernel *kernel;
};

static hd_result get_kernel(void *data, struct diags *diags)
{
    struct finding_kernel *k = data;
    hd_module *m = k->module;
    const char *name = k->name;
    struct ptx_func *func = ptx_find_kernel(m->image, str_of(name));
    if (!func) {
        const char *near = NULL;
        unsigned least = 4;
        for (uint32_t i = 0; i < m->kernel_names.n; i++) {
            unsigned distance = str_distance(str_of(name), str_of(m->kernel_names.at[i]), 3);
            if (distance < least) {
                least = distance;
                near = m->kernel_names.at[i];
            }
        }
        diag_error(diags, (struct place){0}, "not-found",
                   near ? arena_printf(diags->arena, "did you mean `%s`?", near) : NULL, "there is no kernel `%s`",
                   name);
        return HD_ERROR_NOT_FOUND;
    }
    k->kernel = map_get(&m->kernels_by_name, str_of(name));
    if (!k->kernel)
        k->kernel = prepare(m, func, diags);
    if (k->kernel)
        return HD_SUCCESS;
    for (uint32_t i = 0; i < diags->list.n; i++)
        if (strcmp(diags->list.at[i].code, "not-supported") == 0)
            return HD_ERROR_NOT_SUPPORTED;
    return diags->errors ? HD_ERROR_INVALID_PTX : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_module_get_kernel(hd_module *m, const char *name, hd_kernel **kernel, hd_report **report)
{
    if (report)
        *report = NULL;
    if (!m || !name || !kernel)
        return HD_ERROR_INVALID_VALUE;
    struct finding_kernel k = {.module = m, .name = name};
    pthread_mutex_lock(&m->lock);
    hd_result result = report_during(report, &m->arena, get_kernel, &k);
    pthread_mutex_unlock(&m->lock);
    *kernel = k.kernel;
    return result;
}

hd_result hd_module_set_machine_code_sized(hd_module *m, const char *kernel, const hd_machine_code *code, size_t bytes)
{
    hd_machine_code own;
    hd_result r = SIZED_READ(hd_machine_code, &own, code, bytes);
    if (r)
        return r;
    if (!m || !kernel || !own.registers)
        return HD_ERROR_INVALID_VALUE;
    struct ptx_func *func = ptx_find_kernel(m->image, str_of(kernel));
    if (!func)
        return HD_ERROR_NOT_FOUND;
    volatile hd_result result = HD_ERROR_OUT_OF_MEMORY;
    jmp_buf oom;
    pthread_mutex_lock(&m->lock);
    if (setjmp(oom) == 0) {
        m->arena.on_oom = &oom;
        hd_machine_code *copy = ARENA_NEW(&m->arena, hd_machine_code);
        *copy = own;
        map_put(&m->machine_code, func->symbol.name, copy);
        result = HD_SUCCESS;
    }
    m->arena.on_oom = NULL;
    pthread_mutex_unlock(&m->lock);
    return result;
}

hd_result hd_module_get_global(hd_module *m, const char *name, void **pointer, size_t *bytes)
{
    if (!m || !name)
        return HD_ERROR_INVALID_VALUE;
    const struct variable *v = variable_by_name(m, name);
    if (!v)
        return HD_ERROR_NOT_FOUND;
    if (pointer)
        *pointer = v->at;
    if (bytes)
        *bytes = v->var->size;
    return HD_SUCCESS;
}

static bool refers_to(const struct ptx_var *v, const struct ptx_var *to)
{
    for (uint32_t i = 0; i < v->relocs.n; i++) {
        const struct ptx_symbol *s = v->relocs.at[i].symbol;
        if (s->kind == SYMBOL_VAR && ((const struct ptx_var *)s)->definition == to)
            return true;
    }
    return false;
}

hd_result hd_module_place_global(hd_module *m, const char *name, void *to)
{
    if (!m || !name || !to)
        return HD_ERROR_INVALID_VALUE;
    struct variable *v = variable_by_name(m, name);
    if (!v || v->var->space != SPACE_GLOBAL)
        return HD_ERROR_NOT_FOUND;
    mem_free(&m->machine->machine->mem, v->at); /* does nothing if the variable was placed before */
    v->at = to;
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (refers_to(m->variables.at[k].var, v->var))
            relocate(m, &m->variables.at[k]);
    return HD_SUCCESS;
}

size_t hd_module_variable_count(const hd_module *m)
{
    return m ? m->variables.n : 0;
}

bool hd_module_get_variable_sized(const hd_module *m, size_t i, hd_variable_info *info, size_t bytes)
{
    if (!m || !info || i >= m->variables.n)
        return false;
    const struct variable *v = &m->variables.at[i];
    const hd_variable_info own = {.name = v->name,
                                  .space = v->var->space == SPACE_CONST ? "const" : "global",
                                  .type = isa_type_name(v->var->type),
                                  .bytes = v->var->size,
                                  .pointer = v->at};
    SIZED_WRITE(info, bytes, &own);
    return true;
}

static hd_kernel_info info_of(const hd_kernel *k)
{
    const struct kernel *kernel = k->kernel;
    hd_kernel_info info = {.name = k->name,
                           .param_count = k->func->signature.params.n,
                           .param_bytes = kernel->param_bytes,
                           .static_shared_bytes = kernel->static_shared_bytes,
                           .local_bytes = kernel->local_bytes,
                           .max_threads = device_max_threads(kernel),
                           .registers = kernel_registers(kernel, NULL),
                           .explicit_cluster = kernel->explicit_cluster,
                           .max_cluster = kernel->max_cluster_rank,
                           .instructions = kernel->instructions};
    for (int i = 0; i < 3; i++) {
        info.required_block[i] = kernel->req_ntid[i];
        info.required_cluster[i] = kernel->req_cluster[i];
    }
    return info;
}

void hd_kernel_get_info_sized(const hd_kernel *k, hd_kernel_info *info, size_t bytes)
{
    const hd_kernel_info own = k ? info_of(k) : (hd_kernel_info){0};
    SIZED_WRITE(info, bytes, &own);
}

unsigned hd_kernel_nesting(const hd_kernel *k)
{
    return !k ? 0
              : (k->kernel->launches_graphs ? HD_NESTS_GRAPHS : 0u) |
                    (k->kernel->launches_kernels ? HD_NESTS_KERNELS : 0u) |
                    (k->kernel->uses_heap ? HD_NESTS_HEAP : 0u) | (k->kernel->prints ? HD_NESTS_PRINTING : 0u);
}

bool hd_kernel_get_param_sized(const hd_kernel *k, size_t i, hd_param_info *info, size_t bytes)
{
    if (!k || !info || i >= k->func->signature.params.n)
        return false;
    const struct ptx_signature *s = &k->func->signature;
    const struct ptx_var *v = s->params.at[i];
    const hd_param_info own = {.name = k->param_names[i],
                               .type = isa_type_name(v->type),
                               .offset = (uint32_t)v->param_at,
                               .bytes = v->size,
                               .align = v->align,
                               .is_pointer = v->pointer};
    SIZED_WRITE(info, bytes, &own);
    return true;
}
