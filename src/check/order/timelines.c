/* The order of tasks; see timelines.h.
 *
 * A task is named by its timeline and its place there. Its clock (task_clock.h) has for each other
 * timeline the place up to which tasks come before it. Clocks are made when tasks begin, since a
 * host function can add to what comes before a task that was submitted long ago. They are
 * immutable, and share what they have in common: most tasks of a timeline have one clock, and so
 * have the branches behind a task. A clock that counts a task counts all that comes before it, too,
 * so a join looks no further; but not what a task that was counted while it ran has learnt since.
 *
 * A task is *retired* when it comes before all that has not ended and all that the host will
 * submit. Nothing is kept of retired tasks: they come before whoever asks, and add nothing to a
 * clock. So what is kept grows with what the host has not waited for.
 */
#include "check/order/timelines_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- what comes before a task ---- */

/* A clock in the making. */
struct predecessors {
    struct clock *clock;
    /* The last that was: a join need not look at what that shares with the next. */
    const struct clock *joined;
};

static void join(struct predecessors *p, struct clock *c)
{
    if (c != p->joined)
        clock_join_since(&p->clock, c, p->joined);
    p->joined = c;
}

static bool counts(const struct clock *c, const struct task_record *r)
{
    return task_clock_counts(c, r->timeline, r->place);
}

/* The task, and all that comes before it. */
static bool counts_wholly(const struct predecessors *p, const struct task_record *r)
{
    return !r->counted_early && counts(p->clock, r);
}

/* Joins what comes before a task. */
static void join_predecessors(const struct timelines *s, struct predecessors *p, uint32_t task)
{
    const struct task_record *r = task_record_of(s, task);
    if (counts_wholly(p, r))
        return;
    join(p, r->clock);
    task_clock_count(&p->clock, r->timeline, r->place - 1);
}

/* Joins what threads of a launch have learnt. */
static void join_learnt(const struct timelines *s, struct predecessors *p, const struct task_record *r)
{
    for (unsigned i = 0; i < MOST_LEARNT; i++) {
        uint32_t from = atomic_load(&r->learnt[i]);
        if (is_forgotten(s, from)) /* or 0 */
            continue;
        struct task_record *other = task_record_of(s, from);
        join_predecessors(s, p, from);
        task_clock_count(&p->clock, other->timeline, other->place);
        other->counted_early |= other->place > s->timelines.at[other->timeline].ended;
    }
}

/* Joins what comes before a successor of the task. */
static void join_task(const struct timelines *s, struct predecessors *p, uint32_t task)
{
    if (is_forgotten(s, task)) /* or 0 */
        return;
    const struct task_record *r = task_record_of(s, task);
    if (counts_wholly(p, r))
        return;
    join_predecessors(s, p, task);
    task_clock_count(&p->clock, r->timeline, r->place);
    join_learnt(s, p, r);
}

/* Begins a new task for the host's next accesses, because the host's clock changes, or a task is
 * ordered after its accesses so far. */
static void end_segment(struct timelines *s)
{
    s->segment = 0;
}

/* Orders tasks before the host's next actions: join_predecessors() or join_task(). */
static void host_learns(struct timelines *s, void (*what)(const struct timelines *, struct predecessors *, uint32_t),
                        const uint32_t *tasks, uint32_t n)
{
    struct predecessors now = {.clock = s->now};
    end_segment(s);
    for (uint32_t i = 0; i < n; i++)
        what(s, &now, tasks[i]);
    s->now = now.clock;
}

/* ---- timelines and records ---- */

/* A new timeline; NULL without memory. */
static struct timeline *timeline_add(struct timelines *s)
{
    struct timeline *new = VEC_RESERVE(&s->least, 1) ? VEC_ADD(&s->timelines) : NULL;
    if (!new)
        return NULL;
    s->least.n++;
    *new = (struct timeline){0};
    return new;
}

/* Reuses a closed timeline if the host has waited for all of its tasks: everything submitted from
 * now on comes after them. */
static uint32_t timeline_again(struct timelines *s)
{
    struct task_clock_reader now = {.clock = s->now};
    for (uint32_t i = HOST_TIMELINE + 1; s->n_closed && i < s->timelines.n; i++)
        if (s->timelines.at[i].closed && task_clock_read(&now, i) == s->timelines.at[i].n) {
            s->timelines.at[i].closed = false;
            s->n_closed--;
            return i;
        }
    return 0;
}

static bool timeline_new(struct timelines *s, uint32_t *timeline)
{
    *timeline = timeline_again(s);
    if (*timeline)
        return true;
    *timeline = s->timelines.n;
    return timeline_add(s);
}

/* The next number, with a record; 0 where memory is exhausted. */
static uint32_t task_add(struct timelines *s, uint32_t timeline, const struct task_note *note)
{
    uint32_t task = s->n_tasks + 1;
    struct timeline *x = &s->timelines.at[timeline];
    const struct task_note *kept = timelines_keep_note(s, note);
    if (task == 0 || !kept)
        return 0;
    if (!s->chunks[task >> CHUNK_LOG2]) {
        struct task_record *chunk = calloc(CHUNK_TASKS, sizeof *chunk);
        if (!chunk)
            return 0;
        atomic_store_explicit(&s->chunks[task >> CHUNK_LOG2], chunk, memory_order_release);
    }
    uint32_t *new = VEC_ADD(&x->tasks);
    if (!new)
        return 0;
    *new = task;
    x->n++;
    if (note->kind != TASK_MARK)
        x->last_work = x->n;
    s->n_tasks = task;
    *task_record_of(s, task) = (struct task_record){.timeline = timeline, .place = x->n, .note = kept};
    return task;
}

/* ---- tasks ---- */

struct clock *timelines_published(const struct timelines *s, uint32_t task)
{
    return is_forgotten(s, task) ? NULL : task_record_of(s, task)->published; /* or 0 */
}

/* The frontier of a task with this clock, all tasks up to `least` among those that it counts. */
static uint32_t frontier_of(const struct timelines *s, uint32_t task, const struct clock *c, uint32_t least)
{
    uint32_t last = task - 1, own = task_record_of(s, task)->timeline;
    struct task_clock_reader counted = {.clock = c};
    for (uint32_t i = 0; i < s->timelines.n && last > least; i++)
        if (i != own)
            last = timeline_counted(&s->timelines.at[i], task_clock_read(&counted, i), last);
    return last;
}

/* `before`, whose reference it gets, is all that comes before the task; it includes all tasks up to
 * `least`. */
static void set_clock(struct timelines *s, uint32_t task, struct clock *before, uint32_t least)
{
    struct task_record *r = task_record_of(s, task);
    r->frontier = frontier_of(s, task, before, least);
    if (r->overlapped && task_at(&s->timelines.at[r->timeline], r->overlapped) <= r->frontier)
        r->frontier = task_at(&s->timelines.at[r->timeline], r->overlapped) - 1;
    clock_replace(&r->clock, before);
}

/* All that comes before a task for who submits it: the host, or a thread of a launch, whose own
 * accesses are no tasks. */
static struct clock *known_by_submitter(struct timelines *s, const struct task_note *note)
{
    if (!note->by)
        return clock_ref(s->now);
    if (is_forgotten(s, note->by))
        return NULL;
    struct predecessors before = {0};
    join_predecessors(s, &before, note->by);
    if (note->tail)
        join_task(s, &before, note->by);
    return before.clock;
}

static struct pending *pending_new(struct timelines *s, const struct task_note *note, uint32_t previous,
                                   const uint32_t *after, uint32_t n)
{
    struct pending *p = malloc(sizeof *p + n * sizeof *after);
    if (!p)
        return NULL;
    p->host = known_by_submitter(s, note);
    p->previous = previous;
    p->n = n;
    if (n)
        memcpy(p->after, after, n * sizeof *after);
    return p;
}

/* Does `after` come before `previous`, too, or has the host waited for it? */
static bool is_known_to(const struct timelines *s, uint32_t previous, uint32_t after)
{
    if (is_forgotten(s, after)) /* or 0 */
        return true;
    const struct task_record *p = task_record_of(s, previous), *r = task_record_of(s, after);
    bool known = r->timeline == p->timeline || counts(s->now, r) || counts(p->clock, r);
    for (uint32_t i = 0; p->pending && i < p->pending->n; i++)
        known |= p->pending->after[i] == after;
    return known;
}

/* The place of the first launch that a launch after `previous` overlaps, or 0: what the host has
 * waited for comes before it. */
static uint32_t first_overlapped(const struct timelines *s, uint32_t timeline, uint32_t previous, const uint32_t *after,
                                 uint32_t n)
{
    const struct task_record *p = previous ? task_record_of(s, previous) : NULL;
    if (!p || p->note->kind != TASK_LAUNCH)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!is_known_to(s, previous, after[i]))
            return 0;
    uint32_t first = p->overlapped ? p->overlapped : p->place, known = task_clock_at(s->now, timeline) + 1;
    first = first > known ? first : known;
    return first <= p->place ? first : 0;
}

/* Information published for a task also holds for its successors. */
static void inherit_published(const struct timelines *s, struct task_record *r, uint32_t earlier)
{
    struct clock *published = timelines_published(s, earlier);
    if (published && published != r->published)
        clock_join(&r->published, published);
}

uint32_t timelines_submit(struct timelines *s, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                          uint32_t n, struct clock *published)
{
    uint32_t task = 0;
    pthread_mutex_lock(&s->lock);
    end_segment(s);
    if (*timeline || timeline_new(s, timeline)) {
        struct timeline *x = &s->timelines.at[*timeline];
        uint32_t previous = x->n > x->gone ? task_at(x, x->n) : 0;
        task = task_add(s, *timeline, note);
        struct task_record *r = task ? task_record_of(s, task) : NULL;
        if (r) {
            r->pending = pending_new(s, note, previous, after, n);
            r->published = clock_ref(published);
            inherit_published(s, r, previous);
            for (uint32_t i = 0; i < n; i++)
                inherit_published(s, r, after[i]);
        }
        if (r && note->programmatic)
            r->overlapped = first_overlapped(s, *timeline, previous, after, n);
    }
    pthread_mutex_unlock(&s->lock);
    clock_release(published);
    return task;
}

/* The frontier of a successor of `earlier`. */
static uint32_t frontier_behind(const struct timelines *s, uint32_t earlier)
{
    if (is_forgotten(s, earlier)) /* or 0 */
        return 0;
    uint32_t frontier = task_record_of(s, earlier)->frontier;
    return frontier == earlier - 1 ? earlier : frontier;
}

static uint32_t frontier_behind_all(const struct timelines *s, const struct pending *p)
{
    uint32_t most = frontier_behind(s, p->previous);
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t frontier = frontier_behind(s, p->after[i]);
        most = most > frontier ? most : frontier;
    }
    return most;
}

/* What the host knew at the submission, and what comes before a successor of each that the task
 * comes after; not of its timeline. */
static struct clock *common_predecessors(struct timelines *s, const struct pending *p)
{
    struct predecessors before = {.clock = clock_ref(p->host), .joined = p->host};
    bool is_branch = p->n == 1 && p->after[0];
    if (is_branch && p->after[0] == s->common.after && p->host == s->common.host) {
        clock_replace(&before.clock, clock_ref(s->common.clock));
        return before.clock;
    }
    for (uint32_t i = 0; i < p->n; i++)
        join_task(s, &before, p->after[i]);
    if (is_branch) {
        s->common.after = p->after[0];
        clock_replace(&s->common.host, clock_ref(p->host));
        clock_replace(&s->common.clock, clock_ref(before.clock));
    }
    return before.clock;
}

/* Joins what comes before a successor of the task before `r` in its timeline, which itself needs
 * not be counted. */
static void join_previous(const struct timelines *s, struct predecessors *p, const struct task_record *r,
                          uint32_t previous)
{
    /* Or 0. */
    struct task_record *before = is_forgotten(s, previous) ? NULL : task_record_of(s, previous);
    if (!before || counts_wholly(p, before))
        return;
    join(p, before->clock);
    join_learnt(s, p, before);
    before->counted_early |= r->overlapped != 0;
}

static void begin(struct timelines *s, uint32_t task)
{
    struct task_record *r = task_record_of(s, task);
    struct pending *p = r->pending;
    struct predecessors before = {.clock = p ? common_predecessors(s, p) : NULL};
    if (p)
        join_previous(s, &before, r, p->previous);
    set_clock(s, task, before.clock, p ? frontier_behind_all(s, p) : 0);
    if (p)
        clock_release(p->host);
    free(p);
    r->pending = NULL;
    s->timelines.at[r->timeline].begun = r->place;
}

static bool is_host_function(const struct timelines *s, uint32_t task)
{
    enum task_kind kind = task_record_of(s, task)->note->kind;
    return kind == TASK_CALL || kind == TASK_GATE;
}

void timelines_begin(struct timelines *s, uint32_t task)
{
    if (!task)
        return;
    pthread_mutex_lock(&s->lock);
    begin(s, task);
    if (is_host_function(s, task))
        host_learns(s, join_predecessors, &task, 1);
    pthread_mutex_unlock(&s->lock);
}

/* All that has begun comes before, which may go on. */
static void count_begun(struct timelines *s, struct clock **c)
{
    for (uint32_t i = HOST_TIMELINE + 1; i < s->timelines.n; i++) {
        const struct timeline *x = &s->timelines.at[i];
        task_clock_count(c, i, x->begun);
        for (uint32_t place = x->ended + 1; place <= x->begun; place++)
            task_record_of(s, task_at(x, place))->counted_early = true;
    }
}

void timelines_end(struct timelines *s, uint32_t task)
{
    if (!task)
        return;
    pthread_mutex_lock(&s->lock);
    const struct task_record *r = task_record_of(s, task);
    s->timelines.at[r->timeline].ended = r->place;
    if (is_host_function(s, task)) {
        struct predecessors before = {.clock = clock_ref(s->now), .joined = s->now};
        join(&before, r->clock);
        if (r->note->kind == TASK_GATE)
            count_begun(s, &before.clock);
        set_clock(s, task, before.clock, r->frontier);
        host_learns(s, join_task, &task, 1);
    }
    pthread_mutex_unlock(&s->lock);
}

void timelines_learn(struct timelines *s, uint32_t task, uint32_t from)
{
    struct task_record *r = task_record_of(s, task);
    uint32_t none = 0;
    for (unsigned i = 0; i < MOST_LEARNT; i++, none = 0)
        if (atomic_load(&r->learnt[i]) == from || atomic_compare_exchange_strong(&r->learnt[i], &none, from))
            return;
    atomic_store(&r->learnt[MOST_LEARNT - 1], from);
}

void timelines_close(struct timelines *s, uint32_t timeline)
{
    pthread_mutex_lock(&s->lock);
    if (timeline && !s->timelines.at[timeline].closed) {
        s->timelines.at[timeline].closed = true;
        s->n_closed++;
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- the host ---- */

void timelines_wait(struct timelines *s, const uint32_t *tasks, uint32_t n)
{
    pthread_mutex_lock(&s->lock);
    host_learns(s, join_task, tasks, n);
    timelines_retire(s);
    pthread_mutex_unlock(&s->lock);
}

uint32_t timelines_retired(const struct timelines *s)
{
    return atomic_load_explicit(&s->retired, memory_order_relaxed);
}

static uint32_t new_segment(struct timelines *s)
{
    static const struct task_note note = {.kind = TASK_HOST};
    uint32_t task = task_add(s, HOST_TIMELINE, &note);
    if (!task)
        return 0;
    set_clock(s, task, clock_ref(s->now), 0);
    task_clock_count(&s->now, HOST_TIMELINE, task_record_of(s, task)->place);
    return task;
}

uint32_t timelines_host(struct timelines *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->segment)
        s->segment = new_segment(s);
    uint32_t task = s->segment;
    pthread_mutex_unlock(&s->lock);
    return task;
}

bool timelines_is_synchronized(struct timelines *s)
{
    pthread_mutex_lock(&s->lock);
    bool all = timelines_all_waited_for(s);
    pthread_mutex_unlock(&s->lock);
    return all;
}

/* ---- asking ---- */

bool timelines_before(const struct timelines *s, uint32_t a, uint32_t b)
{
    if (a <= timelines_frontier(s, b))
        return true;
    if (is_forgotten(s, b))
        return false;
    const struct task_record *x = task_record_of(s, a), *y = task_record_of(s, b);
    if (x->timeline == y->timeline)
        return x->place < (y->overlapped ? y->overlapped : y->place);
    return counts(y->clock, x);
}

bool timelines_overlap(const struct timelines *s, uint32_t a, uint32_t b)
{
    if (is_forgotten(s, a) || is_forgotten(s, b))
        return false;
    const struct task_record *x = task_record_of(s, a), *y = task_record_of(s, b);
    return y->overlapped && x->timeline == y->timeline && x->place >= y->overlapped && x->place < y->place;
}

uint32_t timelines_frontier(const struct timelines *s, uint32_t b)
{
    return is_forgotten(s, b) ? b - 1 : task_record_of(s, b)->frontier;
}

const struct task_note *timelines_note(const struct timelines *s, uint32_t task)
{
    static const struct task_note forgotten = {.kind = TASK_MARK};
    return is_forgotten(s, task) ? &forgotten : task_record_of(s, task)->note;
}

/* ---- life ---- */

struct timelines *timelines_new(void)
{
    struct timelines *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    map_init(&s->names, &s->arena);
    map_init(&s->notes, &s->arena);
    s->chunks = calloc(N_CHUNKS, sizeof *s->chunks);
    if (!s->chunks || !timeline_add(s)) {
        timelines_free(s);
        return NULL;
    }
    return s;
}

struct timelines *timelines_share(struct timelines *s)
{
    atomic_fetch_add(&s->users, 1);
    return s;
}

void timelines_free(struct timelines *s)
{
    if (!s || atomic_fetch_sub(&s->users, 1) > 0)
        return;
    for (uint32_t t = s->forgotten + 1; t <= s->n_tasks && t; t++)
        timelines_drop_record(task_record_of(s, t));
    for (uint32_t i = 0; s->chunks && i <= s->n_tasks >> CHUNK_LOG2; i++)
        free(s->chunks[i]);
    for (uint32_t i = 0; i < s->timelines.n; i++)
        free(s->timelines.at[i].tasks.at);
    clock_release(s->now);
    clock_release(s->common.host);
    clock_release(s->common.clock);
    free((void *)s->chunks);
    free(s->timelines.at);
    free(s->least.at);
    arena_free(&s->arena);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
