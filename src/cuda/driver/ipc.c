/* Memory and events of several processes ("CUDA Driver API", 6.13: cuIpcGetMemHandle). A handle names a file in memory of the
 * process that made it, which has to live until the other one opens it: through /proc, as the same user.
 */
#include "cuda/state/ipc.h"

#include "base/memory_file.h"
#include "cuda/state/allocations.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/events.h"
#include "cuda/state/mapping.h"
#include "cuda/watch/watch.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(p) ((void *)(uintptr_t)(p))

/* What is in the 64 bytes of a handle. */
struct handle {
    char magic[8];
    int process, file;
    uint64_t number; /* of the file, against handles that are out of date */
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

/* CUDA_ERROR_INVALID_CONTEXT: a handle is for other processes. */
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
        log_line(LOG_ERROR, "the process %d, which has shared memory, has ended or is another user's", h->process);
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
    /* A fault of the work before it is reported here. */
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
    hd_context_synchronize(c->context); /* kernels may still use it */
    devices_hold();
    bool closed = mapping_close(AT(pointer));
    devices_release();
    return closed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- events ---- */

/* Records are counted; the place of each, of so many, says that it is done, or one that came there later. */
enum { PLACES = 511 };
struct page {
    uint64_t recorded, done[PLACES];
};

struct ipc_event {
    unsigned refs; /* the event, and work in streams */
    struct physical *file;
    struct page *page;
};

static CUresult event_on(struct physical *file, struct ipc_event **event)
{
    struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file->file, 0);
    struct ipc_event *e = page == MAP_FAILED ? NULL : malloc(sizeof *e);
    if (!e) {
        if (page != MAP_FAILED)
            munmap(page, sizeof *page);
        physical_drop(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *e = (struct ipc_event){.refs = 1, .file = file, .page = page};
    *event = e;
    return CUDA_SUCCESS;
}

CUresult ipc_event_new(struct device *d, struct ipc_event **event)
{
    struct physical *file;
    TRY(physical_new(d, sizeof(struct page), NULL, &file));
    return event_on(file, event);
}

void ipc_event_drop(struct ipc_event *e)
{
    if (!e || __atomic_sub_fetch(&e->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    munmap(e->page, sizeof *e->page);
    physical_drop(e->file);
    free(e);
}

static uint64_t last_record(const struct ipc_event *e)
{
    return __atomic_load_n(&e->page->recorded, __ATOMIC_ACQUIRE);
}

static bool is_done(const struct ipc_event *e, uint64_t record)
{
    return __atomic_load_n(&e->page->done[record % PLACES], __ATOMIC_ACQUIRE) >= record;
}

static void set_done(struct ipc_event *e, uint64_t record)
{
    uint64_t *place = &e->page->done[record % PLACES], seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (seen < record &&
           !__atomic_compare_exchange_n(place, &seen, record, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static void wait_for(const struct ipc_event *e, uint64_t record, hd_context *c)
{
    for (unsigned n = 0; !is_done(e, record) && hd_context_status(c) == HD_SUCCESS; n++)
        if (n < 100)
            sched_yield();
        else
            usleep(100);
}

struct event_work {
    struct ipc_event *event;
    uint64_t record;
};

static void end_work(struct event_work *w)
{
    ipc_event_drop(w->event);
    free(w);
}

/* After a fault, too: others must not wait for ever. */
static void record_event(void *data, hd_result status)
{
    struct event_work *w = data;
    (void)status;
    set_done(w->event, w->record);
    end_work(w);
}

static bool event_has_come(void *data, hd_result status)
{
    struct event_work *w = data;
    bool has_come = status || is_done(w->event, w->record);
    if (has_come)
        end_work(w);
    return has_come;
}

static CUresult put(struct ipc_event *e, uint64_t record, bool wait, hd_stream *s)
{
    struct event_work *w = malloc(sizeof *w);
    if (!w)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *w = (struct event_work){e, record};
    __atomic_add_fetch(&e->refs, 1, __ATOMIC_RELAXED);
    return from_hd(wait ? hd_stream_gate(s, event_has_come, w) : hd_stream_call(s, record_event, w, HD_CALL_ALWAYS));
}

CUresult ipc_event_record(struct ipc_event *e, hd_stream *s)
{
    return put(e, __atomic_add_fetch(&e->page->recorded, 1, __ATOMIC_ACQ_REL), false, s);
}

CUresult ipc_event_wait(struct ipc_event *e, hd_stream *s)
{
    uint64_t record = last_record(e);
    return is_done(e, record) ? CUDA_SUCCESS : put(e, record, true, s);
}

bool ipc_event_is_done(const struct ipc_event *e)
{
    return is_done(e, last_record(e));
}

void ipc_event_synchronize(const struct ipc_event *e, CUcontext c)
{
    wait_for(e, last_record(e), c->context);
}

CU_API CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    TRY(state_ready());
    struct CUevent_st *e = record_of(event, HANDLE_EVENT);
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    NEED(handle && e->shared);
    return write_handle(handle, event_magic, e->shared->file->file, 0, sizeof(struct page));
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
    NEED(h.bytes == sizeof(struct page));
    TRY(open_file(&h, c->device, &file));
    TRY(event_on(file, &shared));
    return event_new(c, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, shared, event);
}
