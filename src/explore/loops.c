/* Await loops. Iterations that only read and leave the state unchanged can be repeated for ever or
 * left out: fewer events are fewer constraints, because PTX's axioms only forbid. So only the last
 * iteration of an await loop matters: when an iteration fails, the run ends with RUN_SPINS. A
 * failed compare-and-swap is a read. It makes an iteration an await only if it is the only read and
 * its comparand does not come from this iteration: other threads' writes bound the retry loops of a
 * stack, for example, and each of their iterations counts. If a search with these does not end,
 * they are left out, too (program.swaps_left_out): a combiner, for example, looks at its answer and
 * at the lock in turn, for ever.
 *
 * An atomic operation that writes the value it has read, such as `atomicAdd(p, 0)` or the exchange
 * of a lock that is taken, does not change anything either. A read from it can read from the write
 * that it has read from instead, which has the same value, if it observes no more through the
 * atomic operation. That holds if all accesses of the place are morally strong with the operation:
 * nothing comes between the two writes then (axiom Atomicity), and observation order passes through
 * it. skipped_atomics.c checks whether they are.
 *
 * Iterations that continue because of what they read, and differ from earlier ones, are retries: at
 * most --unroll of them are run. */
#include "explore/machine.h"
#include "explore/memory.h"

#include <string.h>

static struct head *find_head(struct machine *m, uint32_t block)
{
    for (uint32_t i = m->n_heads; i-- > 0;)
        if (m->heads[i].frame == m->n_frames - 1 && m->heads[i].block == block)
            return &m->heads[i];
    return NULL;
}

static const struct ir_live *live_of(const struct execution *x)
{
    return &x->r->program->live[top(x->m)->code->index];
}

/* Calls `visit` for each register that is live at the head, until it returns false. */
static bool for_live(struct execution *x, uint32_t block, const struct value *kept,
                     bool (*visit)(const struct value *now, const struct value *kept, void *data), void *data)
{
    const struct ir_live *live = live_of(x);
    const struct frame *f = top(x->m);
    const uint64_t *in = live->in + (size_t)f->code->ir->blocks.at[block].order * live->words;
    uint32_t n = 0;
    for (uint32_t i = 0; i < live->n; i++)
        if (ir_in_set(in, i) && !visit(&x->m->values[f->registers + live->regs[i]], kept ? &kept[n++] : NULL, data))
            return false;
    return true;
}

static bool count_one(const struct value *now, const struct value *kept, void *n)
{
    (void)now, (void)kept;
    ++*(uint32_t *)n;
    return true;
}

static bool keep_one(const struct value *now, const struct value *kept, void *at)
{
    (void)kept;
    *(*(struct value **)at)++ = *now;
    return true;
}

/* How a value, or all values, compare with earlier ones. */
enum sameness { SAME, UNKNOWN, DIFFERENT };
struct comparison {
    enum sameness found;
    uint64_t needs;
};

static bool compare_one(const struct value *now, const struct value *kept, void *data)
{
    struct comparison *c = data;
    if (now->set == kept->set)
        return true;
    if (now->needs | kept->needs) {
        c->found = UNKNOWN;
        c->needs |= now->needs | kept->needs;
    } else if (now->lo != kept->lo || now->hi != kept->hi) {
        c->found = DIFFERENT;
    }
    return c->found != DIFFERENT;
}

static uint64_t local_needs(const struct machine *m)
{
    uint64_t needs = 0;
    for (uint32_t i = 0; i < m->n_local; i++)
        needs |= m->local_needs[i];
    return needs;
}

static void keep_head(struct execution *x, struct head *h)
{
    uint32_t n = 0;
    for_live(x, h->block, NULL, count_one, &n);
    struct value *kept = ARENA_ARRAY(x->r->arena, struct value, n), *end = kept;
    for_live(x, h->block, NULL, keep_one, &end);
    h->live = kept;
    h->started = x->m->n_events;
    h->n_local = x->m->n_local;
    h->local_needs = local_needs(x->m);
    h->local = x->m->n_local ? memcpy(arena_alloc(x->r->arena, x->m->n_local), x->m->local, x->m->n_local) : NULL;
}

/* Did the iterations since the head only read? Allowed are loads, atomic operations that wrote the
 * value they had read, and one compare-and-swap that failed with a comparand from outside the
 * iterations; any number of failed ones if such iterations are left out. */
static struct comparison only_read(const struct execution *x, const struct head *h)
{
    struct comparison c = {SAME, 0};
    unsigned reads = 0, swaps = 0;
    bool one_swap = !x->r->program->swaps_left_out;
    for (uint16_t i = h->started; i < x->m->n_events; i++) {
        const struct run_event *e = &x->run->events[i];
        if (e->kind == RUN_FENCE || e->kind == RUN_NOTHING)
            continue;
        if (e->kind == RUN_UPDATE && !(e->flags & RUN_RESOLVED) && !x->r->updates_stay) {
            c.found = UNKNOWN;
            c.needs |= 1ull << i % 64;
        } else if (e->kind == RUN_UPDATE ? x->r->updates_stay || e->wrote != e->read
                                         : e->kind != RUN_READ || (one_swap && e->compares_from > h->started)) {
            return (struct comparison){DIFFERENT, 0};
        }
        reads++;
        swaps += e->kind == RUN_READ && e->insn->kind == IR_ATOM;
    }
    if (one_swap && swaps && reads > 1)
        c.found = DIFFERENT;
    return c;
}

static struct comparison compare(struct execution *x, const struct head *h)
{
    struct comparison c = {SAME, 0};
    if (h->n_local != x->m->n_local || (h->n_local && memcmp(h->local, x->m->local, h->n_local)))
        c.found = DIFFERENT;
    else
        for_live(x, h->block, h->live, compare_one, &c);
    if (c.found == DIFFERENT)
        return c;
    struct comparison events = only_read(x, h);
    c.needs |= events.needs | h->local_needs | local_needs(x->m);
    c.found = events.found == DIFFERENT ? DIFFERENT : c.needs ? UNKNOWN : SAME;
    return c;
}

/* The updates of iterations that are left out become reads, because they wrote the value they had
   read. */
static void leave_out(struct execution *x, const struct head *h)
{
    x->run->round = h->started;
    for (uint16_t i = h->started; i < x->m->n_events; i++)
        if (x->run->events[i].kind == RUN_UPDATE) {
            x->run->events[i].kind = RUN_READ;
            x->run->leaves_updates = true;
        }
}

/* Is the state the same as at an earlier head, with only reads since then? If it depends on values
 * that are not known yet, the thread's further steps are `beyond` the iteration. */
static bool has_come_back(struct execution *x, const struct head *h)
{
    for (unsigned rounds = 1; h; h = h->before, rounds++) {
        struct comparison c = compare(x, h);
        if (c.found == DIFFERENT)
            continue;
        if (c.found == SAME) {
            leave_out(x, h);
            x->run->is_chain = rounds > ROUNDS_PUT_BACK;
            return true;
        }
        x->run->round_needs |= c.needs;
        if (x->run->beyond == NO_EVENT)
            x->run->beyond = x->m->n_events;
    }
    return false;
}

static struct head *push_head(struct execution *x, uint32_t block)
{
    struct machine *m = x->m;
    struct head *h = find_head(m, block);
    if (!h) {
        if (m->n_heads == m->heads_room) {
            m->heads = memory_grow(m->heads, m->heads_room * 2 + 4, sizeof *m->heads);
            m->heads_room = m->heads_room * 2 + 4;
        }
        h = &m->heads[m->n_heads++];
    }
    *h = (struct head){.frame = m->n_frames - 1, .block = block};
    return h;
}

/* Begins the next iteration. Earlier iterations may later turn out to be part of one that left the
   state unchanged. */
static void next_round(struct execution *x, struct head *h, bool quiet)
{
    enum { MAX_BEFORE = 64 };
    const struct head before = *h;
    bool chained = quiet && h->n_before < MAX_BEFORE;
    keep_head(x, h);
    h->before = chained ? ARENA_NEW(x->r->arena, struct head) : NULL;
    h->n_before = chained ? before.n_before + 1 : 0;
    if (chained)
        *(struct head *)h->before = before;
}

bool loop_enter(struct execution *x, uint32_t block, bool back)
{
    bool entry = x->r->program->loops[top(x->m)->code->index][block].entry;
    struct head *h = back || entry ? find_head(x->m, block) : NULL;
    bool quiet = h && only_read(x, h).found != DIFFERENT;
    if (quiet && has_come_back(x, h)) {
        x->end = RUN_SPINS;
        return false;
    }
    if (!h || entry) { /* entering here is not an iteration: only the header counts them */
        keep_head(x, push_head(x, block));
        return true;
    }
    if (x->m->control_from > h->started)
        h->retries++;
    if (h->retries > x->r->unroll) {
        x->end = RUN_CUT;
        return false;
    }
    next_round(x, h, quiet);
    return true;
}

enum round_kind loop_round(const struct execution *x)
{
    const struct machine *m = x->m;
    enum round_kind kind = ROUND_NONE;
    for (uint32_t i = m->n_heads; i-- > 0 && m->heads[i].frame == m->n_frames - 1;) {
        const struct loop_kind *loop = &x->r->program->loops[m->frames[m->n_frames - 1].code->index][m->heads[i].block];
        if (m->heads[i].started == m->n_events && loop->awaits && kind != ROUND_SEVERAL)
            kind = loop->several ? ROUND_SEVERAL : ROUND_SINGLE;
    }
    return kind;
}
