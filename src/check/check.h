/* The checker watches launches for bad accesses and leaks (memcheck), uninitialised reads
 * (initcheck), misused barriers and masks (synccheck), and data races (racecheck).
 *
 * One checker serves all launches of a machine, on all streams and workers and under every
 * policy. Its functions may be called from any thread. A bad access is skipped and the launch
 * goes on, so that one run finds several errors. Each finding is reported once, with a count. It
 * names the first thread in the order of blocks and threads; a race names two threads that race.
 * Findings are in the order of the source. So a report does not depend on the number of workers,
 * except for the threads of races.
 */
#ifndef HEDDLE_CHECK_CHECK_H
#define HEDDLE_CHECK_CHECK_H

#include "base/diag.h"
#include "check/world.h"

struct machine;
struct checker;
struct timelines;

/* `with`: the checker of another machine, whose tasks and this machine's are ordered together;
 * or NULL. Returns NULL without memory. If memory runs out during a launch, only findings are
 * lost. */
struct checker *checker_new(struct machine *m, const hd_checker_options *o, const struct checker *with);
/* The same without a machine, for events that come from checker_host() and the clients of
 * checker_begin(). */
struct checker *checker_of_world(const struct checker_world *world, const hd_checker_options *o,
                                 const struct checker *with);
/* From now on `l` receives all that the checker is told. To be called before anything is. */
void checker_listen(struct checker *c, const struct checker_listener *l);
/* An act of the host. False without memory: then memory that should become undefined counts as
 * written. Events before HOST_UNDEFINED concern the order of tasks, which must exist
 * (checker_has_order). A submitted task returns its number. */
bool checker_host(struct checker *c, const struct host_event *e);
static inline bool checker_memory(struct checker *c, enum host_event_kind kind, const void *p, uint64_t bytes)
{
    return checker_host(c, &(struct host_event){.kind = kind, .address = (uintptr_t)p, .bytes = bytes});
}
uint32_t checker_submit(struct checker *c, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                        uint32_t n);
/* Tasks that this thread submits come after what a lane of a block has done. NULL ends this. */
void checker_puts_for(const struct event_block *block, unsigned warp, unsigned lane);
bool checker_has_order(const struct checker *c, enum host_event_kind kind);
void checker_free(struct checker *c);

/* Before a launch of the kernel: its tools become clients of the launch, which HOST_LAUNCH_END
 * ends. False without memory. `rules`: the program's rules about its memory, or NULL. */
bool checker_begin(struct checker *c, const struct site_table *k, struct event_list *events,
                   const struct memory_rules *rules);

/* The order of the machine's tasks; NULL where no tool asks for it. */
struct timelines *checker_timelines(struct checker *c);

/* The number of bytes from p on, at most `bytes`, before the first undefined one. */
uint64_t checker_defined_bytes(struct checker *c, const void *p, uint64_t bytes);
/* The same; bytes that look like padding of structs count as defined. */
uint64_t checker_defined_data(struct checker *c, const void *p, uint64_t bytes);
/* The number of bytes among `bytes` from p on that have never been written. */
uint64_t checker_undefined_bytes(struct checker *c, const void *p, uint64_t bytes);

/* The number of findings. */
size_t checker_count(struct checker *c);
/* The findings of all launches so far, in the order of the source. Texts are copied. False
 * without memory. */
bool checker_report(struct checker *c, struct diags *diags);
/* Begins another period. What occurs again in it is reported with its launch there, no longer with
 * one of an earlier period. */
void checker_period(struct checker *c);

#endif
