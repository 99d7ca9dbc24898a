/* See ipc_event.h. */
#include "cuda/state/ipc_event.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/state/mapping.h"

/* Records are numbered. The slot of a record's number says that it is done, or that a later one
 * with this slot is. */
enum { PLACES = 511 };
struct page {
    uint64_t recorded, done[PLACES];
};
_Static_assert(sizeof(struct page) == IPC_EVENT_BYTES, "a file has room for a page");

struct ipc_event {
    unsigned refs; /* the event, and work in streams */
    struct physical *file;
    struct page *page;
};

CUresult ipc_event_on(struct physical *file, struct ipc_event **event)
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
    return ipc_event_on(file, event);
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

/* Called after a fault, too, so that other processes do not wait for ever. */
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

struct physical *ipc_event_file(const struct ipc_event *e)
{
    return e->file;
}
