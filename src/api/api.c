/* The library's functions (include/heddle.h): machines, memory, launches.
 *
 * They check arguments, unwrap handles, set the place to return to when memory runs out, and call the layers
 * below.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/handles.h"

const char *hd_version(void)
{
    return HEDDLE_VERSION;
}

static const struct {
    hd_result result;
    const char *name, *string;
} results[] = {
#define RESULT(name, string) {HD_##name, "HD_" #name, string},
#include "api/results.def"
#undef RESULT
};

const char *hd_result_name(hd_result result)
{
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].result == result)
            return results[i].name;
    return "HD_ERROR_UNKNOWN";
}

const char *hd_result_string(hd_result result)
{
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].result == result)
            return results[i].string;
    return "unknown error";
}

/* ---- machines ---- */

hd_result hd_machine_create(const hd_machine_options *options, hd_machine **machine, const char **error)
{
    static const hd_machine_options none;
    const hd_machine_options *o = options ? options : &none;
    if (!machine || o->stack_bytes > UINT32_MAX / 2 || o->workers > 4096)
        return HD_ERROR_INVALID_VALUE;
    struct machine_config c = {.workers = o->workers,
                               .memory_bytes = o->memory_bytes,
                               .heap_bytes = o->heap_bytes,
                               .step_limit = o->step_limit,
                               .stack_bytes = (uint32_t)o->stack_bytes,
                               .cpu_level = o->cpu_level,
                               .print = o->print,
                               .note = o->note,
                               .print_data = o->print_data,
                               .policy = o->policy,
                               .record_path = o->record_path};
    const char *ignored;
    error = error ? error : &ignored;
    *error = NULL;
    hd_machine *m = calloc(1, sizeof *m);
    if (!m)
        return HD_ERROR_OUT_OF_MEMORY;
    hd_result r = HD_SUCCESS;
    if (o->trace_path && !(m->tracer = trace_open(o->trace_path))) {
        *error = "the trace cannot be written there";
        r = HD_ERROR_FILE;
    }
    if (!r)
        r = machine_create(&c, &m->machine, error);
    if (r) {
        trace_close(m->tracer);
        free(m);
        return r;
    }
    pthread_mutex_init(&m->lock, NULL);
    *machine = m;
    return HD_SUCCESS;
}

hd_result hd_machine_destroy(hd_machine *m)
{
    if (!m)
        return HD_SUCCESS;
    while (m->modules)
        hd_module_unload(m->modules);
    bool ok = machine_destroy(m->machine);
    ok &= trace_close(m->tracer);
    for (struct name *n = m->names; n;) {
        struct name *next = n->next;
        free(n);
        n = next;
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
    return ok ? HD_SUCCESS : HD_ERROR_FILE;
}

void hd_machine_cancel(hd_machine *m)
{
    if (m)
        machine_cancel(m->machine);
}

void hd_machine_get_progress(hd_machine *m, hd_progress *progress)
{
    machine_progress(m->machine, progress);
}

/* ---- memory ---- */

hd_result hd_alloc_named(hd_machine *m, size_t bytes, const char *name, void **pointer)
{
    struct name *n = NULL;
    if (!m || !pointer || bytes == 0)
        return HD_ERROR_INVALID_VALUE;
    if (name) {
        n = malloc(sizeof *n + strlen(name) + 1);
        if (!n)
            return HD_ERROR_OUT_OF_MEMORY;
        strcpy(n->text, name);
        pthread_mutex_lock(&m->lock);
        n->next = m->names;
        m->names = n;
        pthread_mutex_unlock(&m->lock);
    }
    *pointer = mem_alloc(&m->machine->mem, bytes, MEM_DEVICE, n ? n->text : NULL);
    return *pointer ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_alloc(hd_machine *m, size_t bytes, void **pointer)
{
    return hd_alloc_named(m, bytes, NULL, pointer);
}

hd_result hd_free(hd_machine *m, void *pointer)
{
    struct mem_block b;
    if (!pointer)
        return HD_SUCCESS;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!m || !mem_find(&m->machine->mem, address, &b) || b.start != address || b.kind != MEM_DEVICE)
        return HD_ERROR_INVALID_VALUE;
    return mem_free(&m->machine->mem, pointer) ? HD_SUCCESS : HD_ERROR_INVALID_VALUE;
}

/* ---- launches ---- */

static bool launch_fits(const hd_kernel *k, const hd_launch_config *c, struct diags *d)
{
    static const unsigned max_block[3] = {DEVICE_MAX_BLOCK_DIM_X, DEVICE_MAX_BLOCK_DIM_Y, DEVICE_MAX_BLOCK_DIM_Z};
    static const unsigned max_grid[3] = {DEVICE_MAX_GRID_DIM_X, DEVICE_MAX_GRID_DIM_Y, DEVICE_MAX_GRID_DIM_Z};
    static const char axis[] = "xyz";
    const struct kernel *kernel = k->kernel;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (c->grid[i] == 0 || c->grid[i] > max_grid[i])
            diag_error(d, (struct place){0}, "launch-config", NULL, "grid.%c is %u; 1 to %u are possible", axis[i],
                       c->grid[i], max_grid[i]);
        if (c->block[i] == 0 || c->block[i] > max_block[i])
            diag_error(d, (struct place){0}, "launch-config", NULL, "block.%c is %u; 1 to %u are possible", axis[i],
                       c->block[i], max_block[i]);
        if (kernel->req_ntid[0] && kernel->req_ntid[i] != c->block[i])
            diag_error(d, (struct place){0}, "launch-config", NULL, "block.%c is %u; the kernel requires %u (.reqntid)",
                       axis[i], c->block[i], kernel->req_ntid[i]);
        threads *= c->block[i];
    }
    unsigned limit = device_max_threads(kernel);
    if (threads > limit)
        diag_error(d, (struct place){0}, "launch-config", NULL, "a block of %llu threads; at most %u are possible%s",
                   (unsigned long long)threads, limit,
                   limit < DEVICE_MAX_THREADS_PER_BLOCK ? " for this kernel (.maxntid)" : "");
    if (kernel->static_shared_bytes + (uint64_t)c->shared_bytes > DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        diag_error(d, (struct place){0}, "launch-config", NULL,
                   "%llu bytes of shared memory (%u static, %llu dynamic); a block can have %u",
                   (unsigned long long)(kernel->static_shared_bytes + c->shared_bytes), kernel->static_shared_bytes,
                   (unsigned long long)c->shared_bytes, DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    return d->errors == 0;
}

static bool cooperates(const hd_kernel *k, const hd_launch_config *c, struct diags *d)
{
    uint32_t threads = c->block[0] * c->block[1] * c->block[2];
    uint32_t shared = k->kernel->static_shared_bytes + (uint32_t)c->shared_bytes;
    uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2], limit = launch_capacity(threads, shared);
    if (!(c->flags & HD_LAUNCH_COOPERATIVE) || blocks <= limit)
        return true;
    diag_error(d, (struct place){0}, "cooperative", NULL,
               "a cooperative launch of %llu blocks; %llu of this size can be resident at once",
               (unsigned long long)blocks, (unsigned long long)limit);
    return false;
}

/* The parameters packed, from an array of pointers or packed already. */
static void *pack_params(const hd_kernel *k, const hd_launch_config *c)
{
    const struct ptx_signature *s = &k->kernel->func->signature;
    uint8_t *packed = calloc(1, k->kernel->param_bytes + 16);
    if (packed && c->packed_args) {
        memcpy(packed, c->packed_args, k->kernel->param_bytes);
    } else if (packed) {
        for (uint32_t i = 0; i < s->params.n; i++)
            memcpy(packed + ir_param_offset(k->kernel->func, &s->params.at[i]->symbol), c->args[i],
                   s->params.at[i]->size);
    }
    return packed;
}

static hd_result launch_checked(hd_kernel *k, hd_checker *c, struct launch_request *q, hd_launch_stats *stats,
                                struct diags *diags)
{
    pthread_mutex_lock(&c->lock);
    checker_begin(c->checker, k->kernel);
    q->hooks.at[q->hooks.n++] = checker_hooks(c->checker);
    hd_result r = machine_launch(k->module->machine->machine, q, stats, diags);
    checker_end(c->checker);
    pthread_mutex_unlock(&c->lock);
    return r;
}

hd_result hd_launch(hd_kernel *k, const hd_launch_config *c, hd_launch_stats *stats, hd_report **report)
{
    if (report)
        *report = NULL;
    if (!k || !c)
        return HD_ERROR_INVALID_VALUE;
    bool has_params = k->kernel->param_bytes > 0;
    if (has_params &&
        ((c->args != NULL) == (c->packed_args != NULL) || (c->packed_args && c->packed_bytes < k->kernel->param_bytes)))
        return HD_ERROR_INVALID_VALUE;
    hd_report *r = report_new();
    if (!r)
        return HD_ERROR_OUT_OF_MEMORY;
    hd_result result = HD_ERROR_OUT_OF_MEMORY;
    void *packed = NULL;
    jmp_buf oom;
    if (setjmp(oom) == 0) {
        r->arena.on_oom = &oom;
        if (!launch_fits(k, c, &r->diags)) {
            result = HD_ERROR_INVALID_VALUE;
        } else if (!cooperates(k, c, &r->diags)) {
            result = HD_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
        } else if (!has_params || (packed = pack_params(k, c))) {
            struct launch_request q = {
                .kernel = k->kernel, .shared_bytes = (uint32_t)c->shared_bytes, .flags = c->flags, .params = packed};
            for (int i = 0; i < 3; i++) {
                q.grid[i] = c->grid[i];
                q.block[i] = c->block[i];
            }
            if (k->module->machine->tracer)
                q.hooks.at[q.hooks.n++] = trace_hooks(k->module->machine->tracer);
            if (c->checker)
                result = launch_checked(k, c->checker, &q, stats, &r->diags);
            else
                result = machine_launch(k->module->machine->machine, &q, stats, &r->diags);
        }
    }
    r->arena.on_oom = NULL;
    free(packed);
    report_give(r, report);
    return result;
}
