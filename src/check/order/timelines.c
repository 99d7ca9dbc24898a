/* The order of tasks; see timelines.h.
 *
 * A task is named by its timeline and its place there. Its clock (task_clock.h) has for each other timeline the place up to which tasks
 * come before it. Clocks are made when tasks begin, since a host function can add to what comes before a task that was submitted long
 * ago. They are immutable and shared: most tasks have that of the one before them.
 *
 * A task is *retired* when it comes before all that has not ended and all that the host will submit. Nothing is kept of retired tasks: they
 * come before whoever asks, and add nothing to a clock. So what is kept grows with what the host has not waited for.
 */
#include "check/order/timelines_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- what comes before a task ---- */

/* Joins what comes before a task. */
static void join_past(const struct timelines *s, struct times *t, uint32_t task)
{
    const struct task_record *r = record_of(s, task);
    times_join(t, r->clock);
    times_join_place(t, r->timeline, r->place - 1);
}

/* Joins what comes before a successor of the task. */
static void join_task(const struct timelines *s, struct times *t, uint32_t task)
{
    if (is_forgotten(s, task)) /* or 0 */
        return;
    const struct task_record *r = record_of(s, task);
    join_past(s, t, task);
    times_join_place(t, r->timeline, r->place);
    for (unsigned i = 0; i < MOST_LEARNT; i++) {
        uint32_t from = atomic_load(&r->learnt[i]);
        if (!is_forgotten(s, from)) {
            join_past(s, t, from);
            times_join_place(t, record_of(s, from)->timeline, record_of(s, from)->place);
        }
    }
}

/* A reference to the host's clock; NULL without memory. */
static struct task_clock *host_clock(struct timelines *s)
{
    if (!s->shared)
        s->shared = task_clock_new(&s->now);
    return task_clock_keep(s->shared);
}

/* The host's clock changes, or a task comes after what the host has done: its next accesses are another task. */
static void end_segment(struct timelines *s)
{
    s->segment = 0;
}

static void host_moves(struct timelines *s)
{
    end_segment(s);
    task_clock_release(s->shared);
    s->shared = NULL;
}

/* ---- timelines and records ---- */

/* A new timeline, with room in the host's clock; NULL without memory. */
static struct timeline *timeline_add(struct timelines *s)
{
    uint32_t n = s->timelines.n + 1;
    bool fits = VEC_RESERVE(&s->now, n - s->now.n) && VEC_RESERVE(&s->scratch, n - s->scratch.n);
    struct timeline *new = fits ? VEC_ADD(&s->timelines) : NULL;
    if (new)
        *new = (struct timeline){0};
    return new;
}

/* A closed timeline, all of whose tasks the host has waited for, is used again: whatever is submitted now comes after them anyway. */
static uint32_t timeline_again(struct timelines *s)
{
    for (uint32_t i = HOST_TIMELINE + 1; s->n_closed && i < s->timelines.n; i++)
        if (s->timelines.at[i].closed && times_at(&s->now, i) == s->timelines.at[i].n) {
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

/* The note that equal tasks share. */
static const struct task_note *find_note(struct timelines *s, const struct task_note *note)
{
    struct task_note key, *known;
    memset(&key, 0, sizeof key); /* the bytes are compared */
    key.kind = note->kind;
    key.stream = note->stream;
    key.where = note->where;
    if (note->name && !(key.name = map_get(&s->names, str_of(note->name)))) {
        char *name = arena_strdup(&s->arena, note->name);
        map_put(&s->names, str_of(name), name);
        key.name = name;
    }
    known = map_get(&s->notes, (struct str){(const char *)&key, sizeof key});
    if (known)
        return known;
    known = memcpy(arena_alloc(&s->arena, sizeof *known), &key, sizeof key);
    map_put(&s->notes, (struct str){(const char *)known, sizeof *known}, known);
    return known;
}

/* NULL where memory is exhausted. */
static const struct task_note *keep_note(struct timelines *s, const struct task_note *note)
{
    jmp_buf oom;
    const struct task_note *volatile kept = NULL;
    s->arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        kept = find_note(s, note);
    s->arena.on_oom = NULL;
    return kept;
}

/* The next number, with a record; 0 where memory is exhausted. */
static uint32_t task_add(struct timelines *s, uint32_t timeline, const struct task_note *note)
{
    uint32_t task = s->n_tasks + 1;
    struct timeline *x = &s->timelines.at[timeline];
    const struct task_note *kept = keep_note(s, note);
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
    *record_of(s, task) = (struct task_record){.timeline = timeline, .place = x->n, .note = kept};
    return task;
}

/* ---- tasks ---- */

/* `t` is all that comes before the task; it includes all tasks up to `least`. */
static void set_clock(struct timelines *s, uint32_t task, struct times *t, struct task_clock *like, uint32_t least)
{
    struct task_record *r = record_of(s, task);
    if (r->timeline < t->n)
        t->at[r->timeline] = 0;
    while (t->n && !t->at[t->n - 1])
        t->n--;
    struct task_clock *old = r->clock;
    r->frontier = timelines_counted(s, t, task - 1, least, r->timeline);
    if (r->overlapped && task_at(&s->timelines.at[r->timeline], r->overlapped) <= r->frontier)
        r->frontier = task_at(&s->timelines.at[r->timeline], r->overlapped) - 1;
    r->clock = like && times_equal(like, t) ? task_clock_keep(like) : task_clock_new(t);
    task_clock_release(old);
}

static struct pending *pending_new(struct timelines *s, uint32_t previous, const uint32_t *after, uint32_t n)
{
    struct pending *p = malloc(sizeof *p + n * sizeof *after);
    if (!p)
        return NULL;
    p->host = host_clock(s);
    p->previous = previous;
    p->n = n;
    if (n)
        memcpy(p->after, after, n * sizeof *after);
    return p;
}

static bool counts(const struct task_clock *c, const struct task_record *r)
{
    return c && r->timeline < c->n && r->place <= c->at[r->timeline];
}

/* Does `after` come before `previous`, too, or has the host waited for it? */
static bool is_known_to(const struct timelines *s, uint32_t previous, uint32_t after)
{
    if (is_forgotten(s, after)) /* or 0 */
        return true;
    const struct task_record *p = record_of(s, previous), *r = record_of(s, after);
    bool known = r->timeline == p->timeline || r->place <= times_at(&s->now, r->timeline) || counts(p->clock, r);
    for (uint32_t i = 0; p->pending && i < p->pending->n; i++)
        known |= p->pending->after[i] == after;
    return known;
}

/* The place of the first launch that a launch after `previous` overlaps, or 0: what the host has waited for comes before it. */
static uint32_t first_overlapped(const struct timelines *s, uint32_t timeline, uint32_t previous, const uint32_t *after,
                                 uint32_t n)
{
    const struct task_record *p = previous ? record_of(s, previous) : NULL;
    if (!p || p->note->kind != TASK_LAUNCH)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!is_known_to(s, previous, after[i]))
            return 0;
    uint32_t first = p->overlapped ? p->overlapped : p->place, known = times_at(&s->now, timeline) + 1;
    first = first > known ? first : known;
    return first <= p->place ? first : 0;
}

uint32_t timelines_submit(struct timelines *s, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                          uint32_t n)
{
    uint32_t task = 0;
    pthread_mutex_lock(&s->lock);
    end_segment(s);
    if (*timeline || timeline_new(s, timeline)) {
        struct timeline *x = &s->timelines.at[*timeline];
        uint32_t previous = x->n > x->gone ? task_at(x, x->n) : 0;
        task = task_add(s, *timeline, note);
        if (task)
            record_of(s, task)->pending = pending_new(s, previous, after, n);
        if (task && note->programmatic)
            record_of(s, task)->overlapped = first_overlapped(s, *timeline, previous, after, n);
    }
    pthread_mutex_unlock(&s->lock);
    return task;
}

/* The frontier of a successor of `earlier`. */
static uint32_t frontier_behind(const struct timelines *s, uint32_t earlier)
{
    if (is_forgotten(s, earlier)) /* or 0 */
        return 0;
    uint32_t frontier = record_of(s, earlier)->frontier;
    return frontier == earlier - 1 ? earlier : frontier;
}

static void join_earlier(struct timelines *s, uint32_t earlier, uint32_t *least)
{
    uint32_t frontier = frontier_behind(s, earlier);
    *least = *least > frontier ? *least : frontier;
    join_task(s, &s->scratch, earlier);
}

static void begin(struct timelines *s, uint32_t task)
{
    struct task_record *r = record_of(s, task);
    struct pending *p = r->pending;
    struct task_clock *like = p && !is_forgotten(s, p->previous) ? record_of(s, p->previous)->clock : NULL;
    uint32_t least = 0;
    s->scratch.n = 0;
    if (p) {
        times_join(&s->scratch, p->host);
        join_earlier(s, p->previous, &least);
        for (uint32_t i = 0; i < p->n; i++)
            join_earlier(s, p->after[i], &least);
    }
    set_clock(s, task, &s->scratch, like, least);
    if (p)
        task_clock_release(p->host);
    free(p);
    r->pending = NULL;
    s->timelines.at[r->timeline].begun = r->place;
}

static bool is_host_function(const struct timelines *s, uint32_t task)
{
    enum task_kind kind = record_of(s, task)->note->kind;
    return kind == TASK_CALL || kind == TASK_GATE;
}

void timelines_begin(struct timelines *s, uint32_t task)
{
    if (!task)
        return;
    pthread_mutex_lock(&s->lock);
    begin(s, task);
    if (is_host_function(s, task)) {
        host_moves(s);
        join_past(s, &s->now, task);
    }
    pthread_mutex_unlock(&s->lock);
}

void timelines_end(struct timelines *s, uint32_t task)
{
    if (!task)
        return;
    pthread_mutex_lock(&s->lock);
    s->timelines.at[record_of(s, task)->timeline].ended = record_of(s, task)->place;
    if (is_host_function(s, task)) {
        times_set(&s->scratch, &s->now);
        times_join(&s->scratch, record_of(s, task)->clock);
        for (uint32_t i = HOST_TIMELINE + 1; i < s->timelines.n && record_of(s, task)->note->kind == TASK_GATE; i++)
            times_join_place(&s->scratch, i, s->timelines.at[i].begun);
        set_clock(s, task, &s->scratch, NULL, record_of(s, task)->frontier);
        host_moves(s);
        join_task(s, &s->now, task);
    }
    pthread_mutex_unlock(&s->lock);
}

void timelines_learn(struct timelines *s, uint32_t task, uint32_t from)
{
    struct task_record *r = record_of(s, task);
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
    host_moves(s);
    for (uint32_t i = 0; i < n; i++)
        join_task(s, &s->now, tasks[i]);
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
    times_set(&s->scratch, &s->now);
    set_clock(s, task, &s->scratch, NULL, 0);
    host_moves(s);
    times_join_place(&s->now, HOST_TIMELINE, record_of(s, task)->place);
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
    const struct task_record *x = record_of(s, a), *y = record_of(s, b);
    if (x->timeline == y->timeline)
        return x->place < (y->overlapped ? y->overlapped : y->place);
    return counts(y->clock, x);
}

bool timelines_overlap(const struct timelines *s, uint32_t a, uint32_t b)
{
    if (is_forgotten(s, a) || is_forgotten(s, b))
        return false;
    const struct task_record *x = record_of(s, a), *y = record_of(s, b);
    return y->overlapped && x->timeline == y->timeline && x->place >= y->overlapped && x->place < y->place;
}

uint32_t timelines_frontier(const struct timelines *s, uint32_t b)
{
    return is_forgotten(s, b) ? b - 1 : record_of(s, b)->frontier;
}

const struct task_note *timelines_note(const struct timelines *s, uint32_t task)
{
    static const struct task_note forgotten = {.kind = TASK_MARK};
    return is_forgotten(s, task) ? &forgotten : record_of(s, task)->note;
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
        timelines_drop_record(record_of(s, t));
    for (uint32_t i = 0; s->chunks && i <= s->n_tasks >> CHUNK_LOG2; i++)
        free(s->chunks[i]);
    for (uint32_t i = 0; i < s->timelines.n; i++)
        free(s->timelines.at[i].tasks.at);
    task_clock_release(s->shared);
    free((void *)s->chunks);
    free(s->timelines.at);
    free(s->now.at);
    free(s->scratch.at);
    arena_free(&s->arena);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
