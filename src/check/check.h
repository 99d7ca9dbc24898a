/* The checker: watches launches for bad accesses and leaks (memcheck), uninitialised reads
 * (initcheck), misused barriers and masks (synccheck), data races (racecheck).
 *
 * One checker serves all launches of a machine, those of several streams at once, on all workers
 * and under every policy: it may be called from any thread. Bad accesses are left out and the
 * launch goes on, so that one run finds several errors. Each finding stands once, with a count, and
 * with the thread that was first in the order of blocks and threads (of a race: with two that
 * race); findings come in the order of the source. So what is reported does not depend on how many
 * workers there were, but for the threads of races.
 */
#ifndef HEDDLE_CHECK_CHECK_H
#define HEDDLE_CHECK_CHECK_H

#include "base/diag.h"
#include "check/world.h"

struct machine;
struct checker;
struct timelines;

/* `with`: of another machine whose work this one's is ordered with, or NULL. NULL where memory is
 * exhausted. Where that happens during a launch, findings are lost, and nothing else. */
struct checker *checker_new(struct machine *m, const hd_checker_options *o, const struct checker *with);
/* The same without a machine: of what is told by checker_host() and by the clients of
 * checker_begin(). */
struct checker *checker_of_world(const struct checker_world *world, const hd_checker_options *o,
                                 const struct checker *with);
/* From here on `l` hears of all that the checker is told; before anything is. */
void checker_listen(struct checker *c, const struct checker_listener *l);
/* What the host does. False where memory is exhausted: what was to be undefined counts as written.
 * Events before HOST_UNDEFINED are of the order of tasks, which has to be there
 * (checker_has_order); a task that is submitted gives a number. */
bool checker_host(struct checker *c, const struct host_event *e);
static inline bool checker_memory(struct checker *c, enum host_event_kind kind, const void *p, uint64_t bytes)
{
    return checker_host(c, &(struct host_event){.kind = kind, .address = (uintptr_t)p, .bytes = bytes});
}
uint32_t checker_submit(struct checker *c, uint32_t *strand, const struct task_note *note, const uint32_t *after,
                        uint32_t n);
/* Tasks that this thread puts come after what a lane of a block has done; NULL: not any more. */
void checker_puts_for(const struct event_block *block, unsigned warp, unsigned lane);
bool checker_has_order(const struct checker *c, enum host_event_kind kind);
void checker_free(struct checker *c);

/* Before a launch of the kernel, which HOST_LAUNCH_END ends: its tools become clients of it; false
 * where memory is exhausted. `rules`: about its memory, or NULL. */
bool checker_begin(struct checker *c, const struct site_table *k, struct event_list *events,
                   const struct memory_rules *rules);

/* The order of the machine's tasks; NULL where no tool asks for it. */
struct timelines *checker_timelines(struct checker *c);

/* How many bytes from p on, of `bytes`, are defined before the first that is not. */
uint64_t checker_defined_bytes(struct checker *c, const void *p, uint64_t bytes);
/* The same, where what looks like padding of structs counts as defined. */
uint64_t checker_defined_data(struct checker *c, const void *p, uint64_t bytes);
/* How many of them have never been written. */
uint64_t checker_undefined_bytes(struct checker *c, const void *p, uint64_t bytes);

/* How many findings there are. */
size_t checker_count(struct checker *c);
/* The findings of all launches so far, in the order of the source. Texts are copied. False where
 * memory is exhausted. */
bool checker_report(struct checker *c, struct diags *diags);

#endif
