/* Asynchronous copies that nobody has waited for (PTX ISA 9.7.9.25): accesses to what one is still to write, and writes to what one is
 * still to read; part of racecheck.
 *
 * The machine does a copy when a wait asks for it (exec/async.h), so whoever comes before has passed no wait, and would find either
 * value on a GPU. Where nothing else moved, or by a random schedule, the copy has been done earlier, and nothing is said.
 */
#include "check/report/findings.h"
#include "exec/async.h"
#include "exec/block.h"
#include "exec/launch.h"

static void tell(struct checker *c, const struct access_event *e, unsigned lane, const struct async_work *copy,
                 bool written)
{
    struct arena *arena = &c->findings.arena;
    struct sight s = {.code = "unfinished-copy",
                      .severity = DIAG_ERROR,
                      .op = e->op,
                      .key = copy->op,
                      .warp = e->warp,
                      .lane = lane,
                      .count = 1};
    struct finding *f = findings_sight(&c->findings, &s);
    if (!f)
        return;
    f->text = arena_printf(arena, "%s %s %s, which an asynchronous copy %s is still to %s: nobody has waited for it",
                           thread_name(arena, e->warp, lane), e->writes ? "writes" : "reads",
                           memory_place(c, e, lane, arena), place_name(arena, copy->op), written ? "write" : "read");
    f->help = written
                  ? "wait for the copy, and have the block meet at a barrier where threads read what others have copied"
                  : "wait until the copy has read its source (.read)";
    findings_done(&c->findings);
}

static void on_access(void *data, const struct access_event *e)
{
    bool object = e->op->kind == OP_MBARRIER, written;
    const struct block *b = e->warp->block;
    if (e->is_async || object || e->space == SPACE_LOCAL || !async_is_pending(b) ||
        !async_find(b, e->owner, e->low, e->high - e->low, e->writes, &written))
        return;
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        const struct async_work *copy = async_find(b, e->owner, access_address(e, lane), e->bytes, e->writes, &written);
        if (copy)
            tell(data, e, lane, copy, written);
    }
}

void copies_open(struct checker *c)
{
    c->copies = (struct hooks){.data = c, .access = on_access};
}
