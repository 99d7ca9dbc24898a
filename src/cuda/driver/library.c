/* The interface for CUDA's libraries beside the driver API: cuda/library.h. */
#include "cuda/state/state.h"

#include "cuda/library.h"

#include "cuda/process/stack.h"
#include "cuda/state/capture.h"
#include "cuda/state/devices.h"
#include "cuda/state/library_work.h"
#include "cuda/state/limits.h"
#include "cuda/state/machines.h"
#include "cuda/state/streams.h"
#include "cuda/state/work.h"
#include "cuda/watch/watch.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "library_interface.h"

/* Reports memory that does not exist when the call is submitted; when it runs, the context gets a
 * fault. */
static void check_used(const struct library_task *t)
{
    for (size_t i = 0; i < t->used_count; i++) {
        const hd_used *u = &t->used[i];
        size_t bytes;
        if (u->width && u->height)
            watch_used(u->at, library_extent(u, &bytes) ? bytes : SIZE_MAX, u->use & HD_WRITES);
    }
}

CUresult heddle_library_put(CUstream stream, const struct library_task *t, bool wait)
{
    IN_CALL;
    if (watch_is_on())
        check_used(t);
    struct work w = {.kind = WORK_LIBRARY, .library = library_work_new(t)};
    if (!w.library)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = work_put(stream, &w, wait);
    library_work_release(w.library);
    return r;
}

CUresult heddle_library_context(CUcontext *context)
{
    CUresult r = cuCtxGetCurrent(context);
    if (r == CUDA_ERROR_NOT_INITIALIZED) {
        r = cuInit(0);
        r = r ? r : cuCtxGetCurrent(context);
    }
    if (!r && !*context) {
        r = cuDevicePrimaryCtxRetain(context, 0);
        r = r ? r : cuCtxSetCurrent(*context);
    }
    return r;
}

CUresult heddle_library_disturb(bool legacy)
{
    IN_CALL;
    struct CUstream_st *s;
    CUcontext context;
    TRY(capture_unsafe());
    if (!legacy)
        return CUDA_SUCCESS;
    TRY(heddle_library_context(&context));
    TRY(stream_object(CU_STREAM_LEGACY, &s, &context));
    return capture_legacy(context);
}

CUresult heddle_library_disturb_stream(CUstream stream)
{
    CUstreamCaptureStatus status;
    const CUresult r = cuStreamIsCapturing(stream, &status);
    if (r || status == CU_STREAM_CAPTURE_STATUS_NONE)
        return r;
    IN_CALL;
    struct CUstream_st *s;
    const CUresult found = stream_object(stream, &s, NULL);
    return found ? found : s ? capture_forbid(s) : CUDA_SUCCESS;
}

void *heddle_library_view(const void *address)
{
    return device_view(address);
}

/* The bytes from the first element to the end of the last; false if that exceeds any memory. */
static bool shape_extent(struct library_shape s, uint64_t *bytes)
{
    return !__builtin_mul_overflow(s.count - 1, s.step, bytes) && !__builtin_add_overflow(*bytes, s.width, bytes) &&
           !__builtin_mul_overflow(*bytes, s.element_bytes, bytes);
}

bool heddle_library_reach(void **view, const void *address, struct library_shape shape)
{
    uint64_t bytes;
    *view = NULL;
    if (shape.width == 0 || shape.count == 0)
        return true;
    if (!shape_extent(shape, &bytes) || !memory_is_usable(address, bytes))
        return false;
    *view = device_view(address);
    return true;
}

enum library_memory heddle_library_memory(const void *address)
{
    static const enum library_memory kinds[] = {[MEMORY_DEVICE] = LIBRARY_DEVICE,
                                                [MEMORY_MANAGED] = LIBRARY_MANAGED,
                                                [MEMORY_PINNED] = LIBRARY_PINNED,
                                                [MEMORY_PAGEABLE] = LIBRARY_PAGEABLE};
    enum memory_kind kind = memory_kind_of(address, NULL);
    return kind == MEMORY_PAGEABLE && is_of_machines(address) ? LIBRARY_NOTHING : kinds[kind];
}

unsigned heddle_library_devices(void)
{
    return (unsigned)limits_devices();
}

/* A UUID from "heddle" and the device's number: equal in all processes, and different from every
   GPU's. */
void heddle_library_uuid(unsigned number, unsigned char bytes[16])
{
    memset(bytes, 0, 16);
    memcpy(bytes, "heddle", 6);
    bytes[15] = (unsigned char)number;
}

/* The devices are consecutive on bus 0. */
bool heddle_library_place(const char *text, unsigned *number)
{
    unsigned domain = 0, bus, device, function = 0;
    bool ok = sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) >= 3;
    if (!ok) {
        domain = 0;
        ok = sscanf(text, "%x:%x.%x", &bus, &device, &function) >= 2;
    }
    *number = ok && !domain && !bus && !function ? device : UINT_MAX;
    return ok;
}

/* All devices are alike. A device that this process does not see uses none of its memory. */
bool heddle_library_device(unsigned number, struct library_device *l)
{
    struct device *d = NULL;
    hd_machine_info info;
    bool seen = false;
    if (cuInit(0) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < device_count() && !seen; i++)
        seen = device_at(i)->number == (int)number && device_get(i, &d) == CUDA_SUCCESS;
    if (!seen && device_get(0, &d) != CUDA_SUCCESS)
        return false;
    hd_machine_get_info(d->machine, &info);
    *l = (struct library_device){.major = (int)info.compute_major,
                                 .minor = (int)info.compute_minor,
                                 .memory_bytes = info.memory_bytes,
                                 .memory_used_bytes = seen ? info.memory_used_bytes : 0};
    snprintf(l->name, sizeof l->name, "%s", info.name);
    hd_machine_get_attribute(d->machine, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &l->memory_bus_bits);
    return true;
}

void heddle_library_host(const void *p, bool writes, const char *help)
{
    if (p && watch_is_on())
        watch_host_side(p, writes, help);
}

void heddle_library_failed(const char *call, const char *why)
{
    if (watch_is_on())
        say("%s: %s", call ? call : watch_call(), why);
    else
        log_line(LOG_ERROR, "%s: %s", call ? call : "a call", why);
}

/* The name of the object that contains the code. */
static const char *object_of(const void *code)
{
    Dl_info info;
    return dladdr(code, &info) && info.dli_fname ? info.dli_fname : "a library";
}

void heddle_library_meet(const char *interface)
{
    if (strcmp(interface, HEDDLE_LIBRARY_INTERFACE)) {
        fprintf(stderr,
                "heddle: %s and %s belong to different builds of Heddle: run the program with the `heddle` that linked "
                "it, or install Heddle and its libraries in one version\n",
                object_of(__builtin_return_address(0)), object_of(heddle_library_meet));
        _exit(127); /* the loader's exit status for a missing symbol */
    }
    stack_note_own();
}

void heddle_library_loaded(void)
{
    stack_note_own();
}
