/* Stops: who debugs a launch looks at operations before warps execute them.
 *
 * While a kernel's operations are marked, the interpreter counts each that a warp executes, and
 * calls the launch's stopper before those with a breakpoint, and where its count comes to the
 * alarm. The call comes on the thread that runs the warp, which waits for it: all of the launch,
 * which runs under a schedule, stands still then. A launch without a stopper runs marked operations
 * like others.
 */
#ifndef HEDDLE_EXEC_STOPS_H
#define HEDDLE_EXEC_STOPS_H

#include "exec/block.h"
#include "exec/launch.h"
#include "exec/heap_log.h"
#include "exec/snapshot.h"

/* A warp that is about to execute an operation. */
struct stop {
    struct warp *warp;
    struct activation *act;
    const struct op *op;
    /* The lanes that come to the operation; its guard may keep some from it. */
    uint32_t code_block, lanes;
};

struct stopper {
    void *data;
    /* The number that the launch has, each time that it runs; 0: it has not run. */
    uint64_t launch;
    uint64_t now;     /* operations that warps of the launch have executed: its time */
    uint64_t alarm;   /* a time */
    struct stop last; /* the operation that was executed last, or is being executed */
    /* False: the launch has been ended (launch_fail). */
    bool (*stop)(void *data, const struct stop *at);
    /* The launch has failed, its fault is recorded, and nothing of it is gone yet; `op` may be
     * NULL. */
    void (*fault)(void *data, struct warp *w, const struct op *op, unsigned lane);
    /* NULL where the launch never goes back: before each turn of a warp, where snapshots can be
     * taken; and where the launch is over or has failed: true where one has been restored, from
     * which it goes on. */
    void (*turn)(void *data, struct worker *k, const struct turns *t);
    bool (*goes_back)(void *data, struct worker *k, struct turns *t);
    struct heap_log *heap; /* of such a launch; else NULL */
};

/* All operations of a kernel; no launch of it runs. */
void stops_mark(struct kernel *k, bool marked);

bool stops_call(struct stopper *s, struct warp *w, struct activation *a, const struct op *o, uint32_t code_block,
                uint32_t lanes);

/* `s` is the launch's, or NULL. False: the launch has ended. */
static inline bool stops_pass(struct stopper *s, struct warp *w, struct activation *a, const struct op *o,
                              uint32_t code_block, uint32_t lanes)
{
    if (!s)
        return true;
    if ((o->breaks || s->now >= s->alarm) && !stops_call(s, w, a, o, code_block, lanes))
        return false;
    s->last = (struct stop){w, a, o, code_block, lanes};
    s->now++;
    return true;
}

static inline bool stops_may_go_back(const struct stopper *s)
{
    return s && s->turn;
}

static inline void stops_tell_fault(struct launch *l, struct warp *w, const struct op *o, unsigned lane)
{
    struct stopper *s = l->request->stopper;
    if (s)
        s->fault(s->data, w, o, lane);
}

#endif
