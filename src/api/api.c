/* The library's functions (include/heddle.h): machines, memory.
 *
 * They check arguments, unwrap handles, set the recovery point for exhausted memory, and call the
 * layers below.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/handles.h"
#include "api/sized.h"
#include "exec/hold.h"
#include "jit/host/engine.h"

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

/* `o` has the library's own size. */
static hd_result new_machine(const hd_machine_options *o, hd_machine **machine, const char **error)
{
    if (!machine || o->stack_bytes > UINT32_MAX / 2 || o->workers > 4096 || o->engine > HD_ENGINE_JIT)
        return HD_ERROR_INVALID_VALUE;
    struct machine_config c = {.workers = o->workers,
                               .memory_bytes = o->memory_bytes,
                               .heap_bytes = o->heap_bytes,
                               .print_bytes = o->print_bytes,
                               .step_limit = o->step_limit,
                               .pending_launches = 2048,
                               .stack_bytes = (uint32_t)o->stack_bytes,
                               .cpu_level = o->cpu_level,
                               .engine = o->engine,
                               .print = o->print,
                               .note = o->note,
                               .print_data = o->print_data,
                               .policy = o->policy,
                               .record_path = o->record_path,
                               .device = o->device,
                               .host_memory = o->host_memory,
                               .host_ranges = o->host_ranges,
                               .host_allows = o->host_allows,
                               .guarded = o->guarded,
                               .open_tails = o->open_tails,
                               .used_tail = o->used_tail,
                               .origin = o->origin};
    const char *ignored;
    error = error ? error : &ignored;
    *error = NULL;
    hd_machine *m = calloc(1, sizeof *m);
    if (!m)
        return HD_ERROR_OUT_OF_MEMORY;
    hd_result r = HD_SUCCESS;
    if (o->trace_path && !(m->tracer = trace_open(o->trace_path))) {
        *error = "the trace file cannot be written";
        r = HD_ERROR_FILE;
    }
    if (!r)
        r = machine_create(&c, &m->machine, error);
    if (!r)
        jit_attach(m->machine);
    if (r) {
        trace_close(m->tracer);
        free(m);
        return r;
    }
    pthread_mutex_init(&m->lock, NULL);
    *machine = m;
    return HD_SUCCESS;
}

hd_result hd_machine_create_sized(const hd_machine_options *options, size_t bytes, hd_machine **machine,
                                  const char **error)
{
    hd_machine_options o;
    if (error)
        *error = NULL;
    hd_result r = SIZED_READ(hd_machine_options, &o, options, bytes);
    return r ? r : new_machine(&o, machine, error);
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

hd_result hd_machine_set_limit(hd_machine *m, enum hd_limit limit, uint64_t value)
{
    if (!m)
        return HD_ERROR_INVALID_VALUE;
    struct machine_config *c = &m->machine->config;
    switch (limit) {
    case HD_LIMIT_STACK_BYTES:
        if (value > UINT32_MAX / 2)
            return HD_ERROR_INVALID_VALUE;
        c->stack_bytes = (uint32_t)value;
        return HD_SUCCESS;
    case HD_LIMIT_HEAP_BYTES: c->heap_bytes = value; return HD_SUCCESS;
    case HD_LIMIT_PRINT_BYTES: c->print_bytes = value; return HD_SUCCESS;
    case HD_LIMIT_PENDING_LAUNCHES: c->pending_launches = value; return HD_SUCCESS;
    }
    return HD_ERROR_INVALID_VALUE;
}

void hd_machine_cancel(hd_machine *m)
{
    if (m)
        machine_cancel(m->machine, NULL);
}

void hd_machine_hold(hd_machine *m)
{
    if (m)
        machine_hold(m->machine);
}

void hd_machine_release(hd_machine *m)
{
    if (m)
        machine_release(m->machine);
}

void hd_machine_get_progress_sized(hd_machine *m, hd_progress *progress, size_t bytes)
{
    hd_progress own = {0};
    if (m)
        machine_progress(m->machine, &own);
    SIZED_WRITE(progress, bytes, &own);
}

/* ---- memory ---- */

/* Copies a name for the machine's lifetime; NULL if memory is exhausted. A program that allocates
 * in a loop repeats names, so the latest ones are searched first. */
static const char *keep_name(hd_machine *m, const char *text)
{
    enum { LATEST = 64 };
    unsigned looked_at = 0;
    pthread_mutex_lock(&m->lock);
    struct name *n = m->names;
    while (n && looked_at++ < LATEST && strcmp(n->text, text) != 0)
        n = n->next;
    if (!n || looked_at > LATEST) {
        n = malloc(sizeof *n + strlen(text) + 1);
        if (n) {
            strcpy(n->text, text);
            n->next = m->names;
            m->names = n;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return n ? n->text : NULL;
}

hd_result hd_alloc_named(hd_machine *m, size_t bytes, const char *name, void **pointer)
{
    if (!m || !pointer || bytes == 0)
        return HD_ERROR_INVALID_VALUE;
    const char *kept = name ? keep_name(m, name) : NULL;
    if (name && !kept)
        return HD_ERROR_OUT_OF_MEMORY;
    *pointer = mem_alloc(&m->machine->mem, bytes, MEM_DEVICE, kept);
    return *pointer ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_alloc(hd_machine *m, size_t bytes, void **pointer)
{
    return hd_alloc_named(m, bytes, NULL, pointer);
}

hd_result hd_alloc_host(hd_machine *m, size_t bytes, void **pointer)
{
    if (!m || !pointer || bytes == 0)
        return HD_ERROR_INVALID_VALUE;
    struct mem *mem = &m->machine->mem;
    *pointer = mem_alloc_zero(mem, bytes, mem->host_shift ? MEM_HOST : MEM_DEVICE, NULL);
    return *pointer ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

void *hd_own_view(hd_machine *m, const void *pointer)
{
    struct mem_block b;
    bool found = m && mem_find(&m->machine->mem, (uint64_t)(uintptr_t)pointer, &b);
    return (char *)pointer + (found ? mem_shift(&m->machine->mem, &b) : 0);
}

static bool is_start(hd_machine *m, const void *pointer)
{
    struct mem_block b;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    return m && mem_find(&m->machine->mem, address, &b) && b.start == address &&
           (b.kind == MEM_DEVICE || b.kind == MEM_HOST);
}

hd_result hd_free(hd_machine *m, void *pointer)
{
    struct mem_block b;
    if (!pointer)
        return HD_SUCCESS;
    if (!is_start(m, pointer))
        return HD_ERROR_INVALID_VALUE;
    if (m->checker && mem_find(&m->machine->mem, (uint64_t)(uintptr_t)pointer, &b))
        checker_memory(m->checker->checker, HOST_FORGET, pointer, b.size);
    return mem_free(&m->machine->mem, pointer) ? HD_SUCCESS : HD_ERROR_INVALID_VALUE;
}

hd_result hd_reserve(hd_machine *m, size_t bytes, void **pointer)
{
    hd_result r = hd_alloc(m, bytes, pointer);
    if (!r)
        mem_close(&m->machine->mem, *pointer);
    return r;
}

hd_result hd_open(hd_machine *m, void *pointer, size_t bytes)
{
    if (!m || !pointer || !bytes)
        return HD_ERROR_INVALID_VALUE;
    return mem_open(&m->machine->mem, pointer, bytes) ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_close(hd_machine *m, void *pointer)
{
    return m && mem_close(&m->machine->mem, pointer) ? HD_SUCCESS : HD_ERROR_INVALID_VALUE;
}

void hd_unreserve(hd_machine *m, void *pointer)
{
    if (m && pointer && hd_free(m, pointer))
        mem_free_closed(&m->machine->mem, pointer);
}

hd_result hd_share(hd_machine *m, void *pointer, int *file, size_t *offset)
{
    uint64_t at = 0;
    if (!file || !offset || !is_start(m, pointer))
        return HD_ERROR_INVALID_VALUE;
    struct mem_block b;
    if (m->checker && mem_find(&m->machine->mem, (uint64_t)(uintptr_t)pointer, &b))
        /* Writes by others are not seen, so the memory counts as initialised. */
        checker_memory(m->checker->checker, HOST_DEFINED, pointer, b.size);
    *file = mem_share(&m->machine->mem, pointer, &at);
    *offset = (size_t)at;
    return *file >= 0 ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

bool hd_find_sized(hd_machine *m, const void *pointer, hd_memory_info *info, size_t bytes)
{
    struct mem_block b;
    if (!m || !info || !mem_find(&m->machine->mem, (uint64_t)(uintptr_t)pointer, &b))
        return false;
    const hd_memory_info own = {.start = (void *)(uintptr_t)b.start,
                                .bytes = b.size,
                                .allocated = b.kind == MEM_DEVICE || b.kind == MEM_HOST,
                                .managed = b.kind == MEM_MANAGED_VARIABLE || b.kind == MEM_HOST_VARIABLE,
                                .name = b.name,
                                .data = b.kind == MEM_HEAP ? NULL : b.data};
    SIZED_WRITE(info, bytes, &own);
    return true;
}

hd_result hd_set_data(hd_machine *m, void *pointer, void *data)
{
    if (!is_start(m, pointer))
        return HD_ERROR_INVALID_VALUE;
    mem_set_data(&m->machine->mem, pointer, data);
    return HD_SUCCESS;
}
