/* Asynchronous copies for which no thread has waited (PTX ISA 9.7.9.25): accesses to bytes that a
 * copy will still write, and writes to bytes that it will still read.
 *
 * The machine performs a copy as late as a wait allows (exec/async.h). So an access that comes
 * before has passed no wait, and could find either value on a GPU. If nothing else could run, or
 * under a random schedule, the copy was performed earlier, and nothing is reported.
 */
#include "check/checker.h"

static void on_overtake(void *data, const struct overtake_event *o)
{
    struct checker *c = data;
    struct arena *arena = &c->findings.arena;
    const struct access_event *e = o->access;
    struct finding *f =
        findings_error(&c->findings, "unfinished-copy", e->site, o->copy, e->block, e->warp, 1u << o->lane);
    if (f)
        findings_describe(
            &c->findings, f,
            o->written
                ? "wait for the copy before the access; if other threads read the data, add a barrier after the wait"
                : "wait until the copy has read its source (.read)",
            "%s %s %s, which an asynchronous copy %s may still %s: no thread has waited for the copy",
            thread_name(arena, e->block, e->warp, o->lane), e->writes ? "writes" : "reads",
            memory_place(c, e, o->lane, arena), place_name(arena, o->copy), o->written ? "write" : "read");
}

void copies_open(struct checker *c)
{
    c->race.copies = (struct event_client){.data = c, .wants = EVENT_BIT(EVENT_OVERTAKE), .overtake = on_overtake};
}
