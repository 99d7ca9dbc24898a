/* Memory and events of several processes ("CUDA Driver API", 6.13: cuIpcGetMemHandle). A handle
 * names a memory file of the process that made it. That process must live until the other one has
 * opened the file, through /proc, as the same user.
 */
#include "cuda/state/ipc_event.h"

#include "base/memory_file.h"
#include "cuda/state/allocations.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/events.h"
#include "cuda/state/mapping.h"
#include "cuda/watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(p) ((void *)(uintptr_t)(p))

/* The 64 bytes of a handle. */
struct handle {
    char magic[8];
    int process, file;
    uint64_t number; /* the file's, which reveals stale handles */
    uint64_t offset, bytes;
};
static const char memory_magic[8] = "hdmemory", event_magic[8] = "hdevent";

_Static_assert(sizeof(struct handle) <= sizeof(CUipcMemHandle) && sizeof(CUipcMemHandle) == sizeof(CUipcEventHandle),
               "a handle has room");

static CUresult write_handle(void *to, const char *magic, int file, uint64_t offset, uint64_t bytes)
{
    struct handle h = {.process = getpid(), .file = file, .offset = offset, .bytes = bytes};
    struct stat s;
    if (fstat(file, &s) != 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    h.number = (uint64_t)s.st_ino;
    memcpy(h.magic, magic, sizeof h.magic);
    memset(to, 0, sizeof(CUipcMemHandle));
    memcpy(to, &h, sizeof h);
    return CUDA_SUCCESS;
}

/* CUDA_ERROR_INVALID_CONTEXT: the handle is this process's own. */
static CUresult read_handle(const void *from, const char *magic, struct handle *h)
{
    memcpy(h, from, sizeof *h);
    NEED(memcmp(h->magic, magic, sizeof h->magic) == 0);
    return h->process == getpid() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

static CUresult open_file(const struct handle *h, struct device *d, struct physical **p)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", h->process, h->file);
    int file = memory_file_open(path);
    if (file < 0 && errno == EINVAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (file < 0) {
        log_line(LOG_ERROR, "the process %d, which shares the memory, has ended or belongs to another user",
                 h->process);
        return CUDA_ERROR_MAP_FAILED;
    }
    CUresult r = physical_open(d, file, p);
    close(file);
    bool fits = !r && h->bytes && h->offset <= (*p)->bytes && h->bytes <= (*p)->bytes - h->offset;
    if (!r && ((*p)->number != h->number || !fits)) {
        physical_drop(*p);
        r = CUDA_ERROR_INVALID_VALUE;
    }
    return r;
}

/* ---- memory ---- */

CU_API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer)
{
    CUcontext c;
    int file;
    size_t offset;
    struct device *d;
    struct allocation *a = allocation_find(AT(pointer), NULL, &d);
    TRY(context_current(&c));
    NEED(handle && a && a->type == CU_MEMORYTYPE_DEVICE && !a->managed && !a->pool);
    /* A fault of earlier work is reported here. */
    TRY(from_hd(hd_context_synchronize(a->context->context)));
    TRY(from_hd(hd_share(d->machine, a->start, &file, &offset)));
    return write_handle(handle, memory_magic, file, offset, a->bytes);
}

CU_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned flags)
{
    CUcontext c;
    struct handle h;
    struct physical *p;
    void *start;
    TRY(context_current(&c));
    NEED(pointer && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    TRY(read_handle(&handle, memory_magic, &h));
    if (!mapping_open_again(h.number, h.offset, h.bytes, &start)) {
        TRY(open_file(&h, c->device, &p));
        struct mapping m = {.bytes = h.bytes, .physical = p, .offset = h.offset, .opened = 1};
        CUresult r = mapping_add(&m, PROT_READ | PROT_WRITE);
        physical_drop(p);
        TRY(r);
        start = m.start;
    }
    *pointer = (CUdeviceptr)(uintptr_t)start;
    return CUDA_SUCCESS;
}

#undef cuIpcOpenMemHandle
CU_API CUresult cuIpcOpenMemHandle(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned flags)
{
    return cuIpcOpenMemHandle_v2(pointer, handle, flags);
}

CU_API CUresult cuIpcCloseMemHandle(CUdeviceptr pointer)
{
    CUcontext c;
    TRY(context_current(&c));
    hd_context_synchronize(c->context); /* running kernels may still use it */
    devices_hold();
    bool closed = mapping_close(AT(pointer));
    devices_release();
    return closed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- events ---- */

CU_API CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    TRY(state_ready());
    struct CUevent_st *e = record_of(event, HANDLE_EVENT);
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    NEED(handle && e->shared);
    return write_handle(handle, event_magic, ipc_event_file(e->shared)->file, 0, IPC_EVENT_BYTES);
}

CU_API CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    CUcontext c;
    struct handle h;
    struct physical *file;
    struct ipc_event *shared;
    TRY(context_current(&c));
    NEED(event);
    TRY(read_handle(&handle, event_magic, &h));
    NEED(h.bytes == IPC_EVENT_BYTES);
    TRY(open_file(&h, c->device, &file));
    TRY(ipc_event_on(file, &shared));
    return event_new(c, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, shared, event);
}
