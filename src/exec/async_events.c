/* Telling clients of copies as they are done; see async_work.h. */
#include "exec/async_work.h"
#include "exec/emit_events.h"
#include "isa/sem.h"

static struct access_event async_event(const struct async_work *x, unsigned lane, const struct location *at,
                                       uint32_t bytes)
{
    struct access_event e = {.site = tell_site(x->warp->block, x->op),
                             .block = x->warp->block->told,
                             .warp = x->warp->index,
                             .owner = at->space == SPACE_SHARED ? tell_block(at->owner) : NULL,
                             .is_async = true,
                             .space = at->space,
                             .pattern = ACCESS_UNIFORM,
                             .lanes = 1u << lane,
                             .bytes = bytes,
                             .base = at->address,
                             .low = at->address,
                             .high = at->address + bytes};
    if (x->signals) {
        uint64_t object;
        e.signals = x->signals->told;
        e.object = x->object;
        memcpy(&object, x->signals->shared + x->object, sizeof object);
        e.parity = sem_mbarrier_parity(object);
    }
    return e;
}

void async_tell_read(const struct async_work *x, unsigned lane, const struct location *from, uint32_t bytes)
{
    struct access_event e = async_event(x, lane, from, bytes);
    e.reads = true;
    EVENT_TELL(x->warp->events, EVENT_ACCESS, access, &e);
}

void async_tell_write(const struct async_work *x, unsigned lane, const struct location *to, uint32_t bytes,
                      const struct access_source *source)
{
    struct access_event e = async_event(x, lane, to, bytes);
    e.writes = true;
    e.source = source;
    EVENT_TELL(x->warp->events, EVENT_ACCESS, access, &e);
}
