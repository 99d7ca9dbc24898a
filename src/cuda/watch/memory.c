/* Frees, copies and fills of the wrong memory: watch.h. */
#include "cuda/watch/watch_state.h"

#include "cuda/watch/nvtx_memory.h"

#include <stdio.h>

#include "cuda/state/allocations.h"
#include "cuda/state/devices.h"
#include "cuda/state/registered.h"

bool watch_origin(void *data, const void *start, bool was_freed, char *text, size_t bytes)
{
    struct watch_freed f;
    char name[128];
    struct allocation *a = was_freed ? NULL : allocation_find(start, NULL, NULL);
    (void)data;
    if (was_freed && watch_find_freed(start, &f))
        snprintf(text, bytes, "%s (allocated %s)", stack_text(f.freed).place, stack_text(f.allocated).place);
    else if (a && a->stack) {
        const char *named = nvtx_memory_name(start, name, sizeof name);
        snprintf(text, bytes, "%s%sallocated %s", *named ? named + 1 : "", *named ? " " : "",
                 stack_text(a->stack).place);
    } else
        return false;
    return true;
}

/* "the 3600-byte buffer", in the caller's buffer. */
static const char *buffer_name(char text[64], size_t bytes)
{
    snprintf(text, 64, "the %zu-byte buffer", bytes);
    return text;
}

/* ---- bad frees ---- */

static void double_free(const struct watch_finding *what, const struct watch_freed *f, const char *call, const void *p)
{
    struct watch_finding w = *what;
    w.code = "double-free";
    w.notes[0] = (struct watch_note){"freed", "it was freed here", f->freed};
    w.notes[1] = (struct watch_note){"allocated", "it was allocated here", f->allocated};
    watch_found(&w, "%s of %p, a buffer of %zu bytes that was already freed %s", call, p, f->bytes,
                stack_text(f->freed).place);
}

static void free_inside(const struct watch_finding *what, const struct allocation *a, const char *call, const void *p,
                        CUmemorytype type)
{
    struct watch_finding w = *what;
    char name[64];
    size_t offset = (size_t)((const char *)p - (const char *)a->start);
    const char *by = watch_giver(a->stack, a->type);
    w.notes[0] = (struct watch_note){"allocated", "it was allocated here", a->stack};
    if (a->type != type) {
        w.help = a->type == CU_MEMORYTYPE_HOST ? "free memory of cudaMallocHost and cudaHostAlloc with cudaFreeHost"
                                               : "free memory of cudaMalloc and cudaMallocManaged with cudaFree";
        watch_found(&w, "%s of %p, which %s returned %s", call, p, by, stack_text(a->stack).place);
    } else {
        w.help = "free the pointer that the allocation returned, not one that was advanced";
        watch_found(&w, "%s of %p, which is %zu bytes into %s that %s returned %s", call, p, offset,
                    buffer_name(name, a->bytes), by, stack_text(a->stack).place);
    }
}

void watch_bad_free(const void *p, CUmemorytype type)
{
    struct watch_freed f;
    struct allocation *a = allocation_find(p, NULL, NULL);
    if (!watch_options()->memory)
        return;
    struct watch_finding w = {.severity = HD_SEVERITY_ERROR, .code = "invalid-free"};
    const char *call = watch_call_of(stack_here());
    if (a)
        free_inside(&w, a, call, p, type);
    else if (watch_find_freed(p, &f) && f.start == p)
        double_free(&w, &f, call, p);
    else if (registered_find(p, NULL))
        watch_found(&w, "%s of %p, which is registered host memory: use cudaHostUnregister", call, p);
    else
        watch_found(&w, "%s of %p, which no CUDA function has returned", call, p);
}

/* ---- copies and fills ---- */

static void use_after_free(const struct watch_finding *what, const struct watch_freed *f, const char *call,
                           const char *verb, const void *p, size_t bytes)
{
    struct watch_finding w = *what;
    char name[64];
    w.code = "use-after-free";
    w.notes[0] = (struct watch_note){"freed", "it was freed here", f->freed};
    w.notes[1] = (struct watch_note){"allocated", "it was allocated here", f->allocated};
    watch_found(&w, "%s %s %zu bytes at %p, in %s that was already freed %s", call, verb, bytes, p,
                buffer_name(name, f->bytes), stack_text(f->freed).place);
}

static void out_of_bounds(const struct watch_finding *what, const hd_memory_info *info, const char *call,
                          const char *verb, const void *p, size_t bytes)
{
    struct watch_finding w = *what;
    struct allocation *a = info->data;
    size_t offset = (size_t)((const char *)p - (const char *)info->start);
    char name[64], origin[WATCH_TEXT_BYTES / 2] = "";
    if (a && a->stack)
        snprintf(origin, sizeof origin, " allocated %s", stack_text(a->stack).place);
    else if (info->name)
        snprintf(origin, sizeof origin, " `%s`", info->name);
    w.notes[0] = (struct watch_note){"allocated", "it was allocated here", a ? a->stack : NULL};
    watch_found(&w, "%s %s %zu bytes at byte %zu of %s%s: %zu bytes past its end", call, verb, bytes, offset,
                buffer_name(name, info->bytes), origin, offset + bytes - info->bytes);
}

void watch_bad_side(const void *p, size_t bytes, bool writes, enum watch_side wanted)
{
    struct watch_freed f;
    hd_memory_info info;
    if (!watch_options()->memory)
        return;
    struct watch_finding w = {.severity = HD_SEVERITY_ERROR, .code = "copy-out-of-bounds"};
    const char *call = watch_call_of(stack_here()), *verb = writes ? "writes" : "reads";
    if (device_of(p, &info)) {
        out_of_bounds(&w, &info, call, verb, p, bytes);
    } else if (watch_find_freed(p, &f)) {
        use_after_free(&w, &f, call, verb, p, bytes);
    } else if (!p) {
        w.code = "invalid-pointer";
        watch_found(&w, "%s %s %zu bytes at a null pointer", call, verb, bytes);
    } else if (wanted == SIDE_FILL) {
        w.code = "invalid-pointer";
        watch_found(&w, "%s %s %zu bytes at %p, which is not device memory", call, verb, bytes, p);
    } else if (wanted == SIDE_DEVICE) {
        w.code = "copy-direction";
        w.help = "the order is destination, source, bytes, direction: check the direction against the pointers";
        watch_found(&w, "%s %s %zu bytes at %p, which the call treats as device memory, but it is not", call, verb,
                    bytes, p);
    } else {
        w.code = "invalid-pointer";
        watch_found(&w, "%s %s %zu bytes at %p, a device address at which nothing is allocated", call, verb, bytes, p);
    }
}

void watch_used(const void *p, size_t bytes, bool writes)
{
    hd_memory_info info;
    const bool pageable = memory_kind_of(p, &info) == MEMORY_PAGEABLE;
    if (pageable && !memory_is_usable(p, bytes))
        watch_bad_side(p, bytes, writes, is_of_machines(p) ? SIDE_ANY : SIDE_FILL);
    else if (!pageable && info.start && bytes > (size_t)((char *)info.start + info.bytes - (const char *)p))
        watch_bad_side(p, bytes, writes, SIDE_ANY);
}

void watch_host_side(const void *p, bool writes, const char *help)
{
    if (!watch_options()->memory || memory_kind_of(p, NULL) != MEMORY_DEVICE)
        return;
    const struct allocation *a = allocation_find(p, NULL, NULL);
    struct watch_finding w = {.severity = HD_SEVERITY_ERROR,
                              .code = "invalid-pointer",
                              .help = help,
                              .notes = {{"allocated", "it was allocated here", a ? a->stack : NULL}}};
    watch_found(&w, "%s %s %p, which the call treats as host memory, but it is device memory",
                watch_call_of(stack_here()), writes ? "writes to" : "reads from", p);
}

/* "Calling cudaMemcpy() with dst and src pointers that do not match the direction of the copy
 * results in an undefined behavior" (CUDA Runtime API, cudaMemcpy). Managed and pinned memory
 * counts as both sides. */
static bool is_wrong_side(const struct watch_copy *side)
{
    return side->said == SIDE_HOST && side->is == MEMORY_DEVICE;
}

void watch_sides(const struct watch_copy *to, const struct watch_copy *from)
{
    bool wrong_to = is_wrong_side(to);
    if (!watch_options()->memory || !(wrong_to || is_wrong_side(from)))
        return;
    const void *at = wrong_to ? to->at : from->at;
    const struct allocation *a = allocation_find(at, NULL, NULL);
    struct watch_finding w = {.severity = HD_SEVERITY_ERROR,
                              .code = "copy-direction",
                              .help = "name the direction that fits the pointers, or cudaMemcpyDefault",
                              .notes = {{"allocated", "it was allocated here", a ? a->stack : NULL}}};
    watch_found(&w, "%s %s %p, which the call treats as host memory, but it is device memory",
                watch_call_of(stack_here()), wrong_to ? "writes to" : "reads from", at);
}

/* A copy within device memory carries uninitialised bytes along; reading them is the mistake. */
void watch_undefined_copy(void *data, const void *place, const void *to, const void *from, size_t bytes, size_t first)
{
    hd_memory_info info;
    struct allocation *a = allocation_find(from, &info, NULL);
    char name[64];
    (void)data;
    if (!a || !place)
        return;
    size_t at = (size_t)((const char *)from - (const char *)a->start) + first;
    bool passes_on = to && memory_kind_of(to, NULL) == MEMORY_DEVICE;
    struct watch_finding w = {.severity = passes_on ? HD_SEVERITY_WARNING : HD_SEVERITY_ERROR,
                              .code = to ? "copy-uninitialised" : "uninitialised-read",
                              .stack = place,
                              .notes = {{"allocated", "it was allocated here", a->stack}}};
    watch_found(&w, "%s reads %zu bytes of %s allocated %s, and byte %zu is the first that has never been written",
                watch_call_of(place), bytes, buffer_name(name, a->bytes), stack_text(a->stack).place, at);
}

/* ---- what NVTX is told ---- */

void watch_nvtx(const char *call, const char *why)
{
    struct watch_finding w = {.severity = HD_SEVERITY_WARNING, .code = "nvtx"};
    if (watch_is_on())
        watch_found(&w, "%s has no effect: %s", call, why);
}
