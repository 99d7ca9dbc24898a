/* See streams.h. */
#include "explain/streams.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"

/* Measured on an H200 and its host: the host's time for a launch (a copy of pinned memory takes 1.3
 * to 2.5 us, an event 0.8); a copy's time in addition to its bytes (0.8 to 3.6 us); bytes per
 * nanosecond over PCI Express 5 with 16 lanes, from and to pinned memory (16 for pageable memory,
 * whose copies block the host), and within the device's memory, where each byte is read and
 * written. */
static const double CALL_NS = 3000, COPY_NS = 2000, BYTES_PER_NS = 55, DEVICE_BYTES_PER_NS = 2000;

enum { MOST_EVENTS = 20000, MOST_THREADS = 64, MOST_MACHINES = 16, MOST_OPEN_RANGES = 64 };

struct log_task {
    enum task_kind kind;
    unsigned machine;
    uint64_t stream;
    char *name;      /* mangled, or NULL */
    uint32_t before; /* the previous task of its stream, or 0 */
    double ns;
    uint32_t *after; /* further tasks that it waits for */
    uint32_t n_after;
    double end; /* while times are computed */
};

/* In the order in which the host did it. */
struct log_event {
    unsigned thread;
    /* The submitted task; 0: the host waits for `waits`, or the event is about a range. */
    uint32_t task;
    uint32_t *waits;
    uint32_t n_waits;
    bool is_range;
    hd_range_event range;
    uint64_t id;
    char *name; /* of the range that begins */
};

struct log_machine {
    struct order_hooks hooks;
    struct stream_log *log;
};

struct stream_log {
    struct log_machine machines[MOST_MACHINES];
    unsigned n_machines;
    pthread_mutex_t lock;   /* protects what follows */
    struct log_task *tasks; /* task n at index n - 1 */
    struct log_event *events;
    uint32_t n_tasks, n_events;
    pthread_t threads[MOST_THREADS];
    unsigned n_threads;
    uint32_t left_out; /* tasks and ranges beyond those that are kept */
};

/* ---- recording ---- */

static unsigned thread_of_caller(struct stream_log *l)
{
    pthread_t self = pthread_self();
    unsigned i = 0;
    while (i < l->n_threads && !pthread_equal(l->threads[i], self))
        i++;
    if (i == l->n_threads && i < MOST_THREADS)
        l->threads[l->n_threads++] = self;
    return i < MOST_THREADS ? i : MOST_THREADS - 1;
}

static uint32_t *copy_numbers(const uint32_t *numbers, uint32_t n)
{
    uint32_t *copy = n ? malloc(n * sizeof *copy) : NULL;
    if (copy)
        memcpy(copy, numbers, n * sizeof *copy);
    return copy;
}

/* Tasks beyond those that are kept get numbers, too. */
static uint32_t on_submit(void *data, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                          uint32_t n)
{
    const struct log_machine *m = data;
    struct stream_log *l = m->log;
    pthread_mutex_lock(&l->lock);
    uint32_t number = ++l->n_tasks;
    if (number <= MOST_EVENTS && l->n_events < MOST_EVENTS) {
        struct log_task *t = &l->tasks[number - 1];
        *t = (struct log_task){.kind = note->kind,
                               .machine = (unsigned)(m - l->machines),
                               .stream = note->stream,
                               .name = note->name ? strdup(note->name) : NULL,
                               .before = *timeline,
                               .after = copy_numbers(after, n)};
        t->n_after = t->after ? n : 0;
        l->events[l->n_events++] = (struct log_event){.thread = thread_of_caller(l), .task = number};
    } else {
        l->left_out++;
    }
    *timeline = number;
    pthread_mutex_unlock(&l->lock);
    return number;
}

static void on_wait(void *data, const uint32_t *tasks, uint32_t n)
{
    struct stream_log *l = ((const struct log_machine *)data)->log;
    pthread_mutex_lock(&l->lock);
    if (l->n_events < MOST_EVENTS && n) {
        struct log_event e = {.thread = thread_of_caller(l), .waits = copy_numbers(tasks, n)};
        e.n_waits = e.waits ? n : 0;
        l->events[l->n_events++] = e;
    }
    pthread_mutex_unlock(&l->lock);
}

void stream_log_range(struct stream_log *l, hd_range_event event, uint64_t id, const char *name)
{
    pthread_mutex_lock(&l->lock);
    if (l->n_events < MOST_EVENTS)
        l->events[l->n_events++] = (struct log_event){.thread = thread_of_caller(l),
                                                      .is_range = true,
                                                      .range = event,
                                                      .id = id,
                                                      .name = name ? strdup(name) : NULL};
    else
        l->left_out++;
    pthread_mutex_unlock(&l->lock);
}

static void on_task(void *data, uint32_t task)
{
    (void)data;
    (void)task;
}

static void on_learn(void *data, uint32_t task, uint32_t part)
{
    (void)part;
    on_task(data, task);
}

struct stream_log *stream_log_new(void)
{
    struct stream_log *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->tasks = calloc(MOST_EVENTS, sizeof *l->tasks);
    l->events = calloc(MOST_EVENTS, sizeof *l->events);
    pthread_mutex_init(&l->lock, NULL);
    if (l->tasks && l->events)
        return l;
    stream_log_free(l);
    return NULL;
}

void stream_log_free(struct stream_log *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->n_tasks && i < MOST_EVENTS; i++) {
        free(l->tasks[i].name);
        free(l->tasks[i].after);
    }
    for (uint32_t i = 0; i < l->n_events; i++) {
        free(l->events[i].waits);
        free(l->events[i].name);
    }
    free(l->tasks);
    free(l->events);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

const struct order_hooks *stream_log_hooks(struct stream_log *l)
{
    pthread_mutex_lock(&l->lock);
    struct log_machine *m = l->n_machines < MOST_MACHINES ? &l->machines[l->n_machines++] : NULL;
    pthread_mutex_unlock(&l->lock);
    if (m)
        *m = (struct log_machine){{m, on_submit, on_task, on_task, on_wait, on_learn, on_task}, l};
    return m ? &m->hooks : NULL;
}

/* NULL: none, or not kept. */
static struct log_task *task_of(const struct stream_log *l, uint32_t task)
{
    return task && task <= l->n_tasks && task <= MOST_EVENTS ? &l->tasks[task - 1] : NULL;
}

static void set_time(struct stream_log *l, uint32_t task, double ns)
{
    pthread_mutex_lock(&l->lock);
    struct log_task *t = task_of(l, task);
    if (t)
        t->ns = ns;
    pthread_mutex_unlock(&l->lock);
}

void stream_log_launched(struct stream_log *l, uint32_t task, double ns)
{
    set_time(l, task, ns);
}

void stream_log_worked(struct stream_log *l, uint32_t task, double ns, double flops, double bytes)
{
    char name[128];
    pthread_mutex_lock(&l->lock);
    struct log_task *t = task_of(l, task);
    if (t) {
        snprintf(name, sizeof name, "%.64s: %.3g FLOP, %.3g bytes", t->name ? t->name : "?", flops, bytes);
        free(t->name);
        t->name = strdup(name);
        t->ns = ns;
    }
    pthread_mutex_unlock(&l->lock);
}

void stream_log_moved(struct stream_log *l, uint32_t task, uint64_t bytes, bool within_device)
{
    set_time(l, task, COPY_NS + (double)bytes / (within_device ? DEVICE_BYTES_PER_NS : BYTES_PER_NS));
}

/* ---- times ---- */

/* A range that began and has not ended: of a thread, or of the process. */
struct open_range {
    bool is_open, of_process;
    unsigned thread;
    uint64_t id;
    const char *name;
    double from;
    unsigned level; /* the number of open ranges when it began */
};

struct tracks {
    json_t *ranges; /* the spans of its track, by name */
    struct open_range open[MOST_OPEN_RANGES];
    json_t *list;
    json_t *streams; /* the spans of its track, by name */
    json_t *threads[MOST_THREADS];
    double host[MOST_THREADS]; /* the time that each thread has reached */
};

/* Adds a track; returns its spans. */
static json_t *new_track(json_t *list, const char *name)
{
    json_t *spans = json_array();
    json_array_append_new(list, json_pack("{s:s, s:O}", "name", name, "spans", spans));
    return spans;
}

static json_t *track_of_stream(struct tracks *r, const struct log_task *t)
{
    char name[64];
    snprintf(name, sizeof name, "device %u, stream %llu", t->machine, (unsigned long long)t->stream);
    json_t *spans = json_object_get(r->streams, name);
    if (!spans) {
        spans = new_track(r->list, name);
        json_object_set_new(r->streams, name, spans);
        json_object_set_new(json_array_get(r->list, json_array_size(r->list) - 1), "device", json_integer(t->machine));
    }
    return spans;
}

static json_t *track_of_thread(struct tracks *r, unsigned thread)
{
    char name[32];
    snprintf(name, sizeof name, "host thread %u", thread + 1);
    if (r->threads[thread])
        return r->threads[thread];
    /* A thread that starts later starts at the others' time. */
    for (unsigned i = 0; i < MOST_THREADS; i++)
        r->host[thread] = r->host[i] > r->host[thread] ? r->host[i] : r->host[thread];
    return r->threads[thread] = new_track(r->list, name);
}

static void put_span(json_t *spans, double from, double to, const char *kind, const char *name)
{
    json_array_append_new(spans, json_pack("{s:f, s:f, s:s, s:s}", "from", from, "to", to, "kind", kind, "name", name));
}

static const char *kind_name(enum task_kind kind)
{
    static const char *const names[] = {[TASK_LAUNCH] = "kernel",
                                        [TASK_COPY] = "copy",
                                        [TASK_FILL] = "memset",
                                        [TASK_CALL] = "host function",
                                        [TASK_WORK] = "library"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
}

static double latest(const struct stream_log *l, const uint32_t *tasks, uint32_t n, double at)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct log_task *t = task_of(l, tasks[i]);
        at = t && t->end > at ? t->end : at;
    }
    return at;
}

static void put_task(struct stream_log *l, struct tracks *r, const struct log_event *e)
{
    struct log_task *t = &l->tasks[e->task - 1];
    const char *kind = kind_name(t->kind);
    struct arena scratch = {0};
    const char *name = t->name ? demangle(str_of(t->name), &scratch) : kind;
    json_t *host = track_of_thread(r, e->thread);
    double called = r->host[e->thread];
    if (kind) {
        r->host[e->thread] = called + CALL_NS;
        put_span(host, called, called + CALL_NS, "call", name);
    }
    double from = latest(l, t->after, t->n_after, latest(l, &t->before, 1, r->host[e->thread]));
    t->end = from + (kind ? t->ns : 0);
    if (kind)
        put_span(track_of_stream(r, t), from, t->end, kind, name);
    arena_free(&scratch);
}

static void put_wait(const struct stream_log *l, struct tracks *r, const struct log_event *e)
{
    json_t *host = track_of_thread(r, e->thread);
    double from = r->host[e->thread], to = latest(l, e->waits, e->n_waits, from);
    if (to > from)
        put_span(host, from, to, "wait", "waits for the device");
    r->host[e->thread] = to;
}

/* ---- ranges ---- */

/* Adds the range to the track of its level, where no two spans overlap. */
static void put_range(struct tracks *r, const struct open_range *o, double to, const char *kind)
{
    char name[64], level[16] = "";
    if (o->level)
        snprintf(level, sizeof level, ", level %u", o->level + 1);
    if (o->of_process)
        snprintf(name, sizeof name, "ranges of the process%s", level);
    else
        snprintf(name, sizeof name, "host thread %u: %ss%s", o->thread + 1, kind, level);
    json_t *spans = json_object_get(r->ranges, name);
    if (!spans) {
        spans = new_track(r->list, name);
        json_object_set_new(r->ranges, name, spans);
    }
    put_span(spans, o->from, to, kind, o->name ? o->name : "?");
}

/* The innermost open range; NULL if none is open. */
static struct open_range *find_open(struct tracks *r, const struct log_event *e, bool of_process)
{
    struct open_range *found = NULL;
    for (unsigned i = 0; i < MOST_OPEN_RANGES; i++) {
        struct open_range *o = &r->open[i];
        bool fits = o->is_open && o->of_process == of_process && (of_process ? o->id == e->id : o->thread == e->thread);
        if (fits && (!found || o->level > found->level))
            found = o;
    }
    return found;
}

static void begin_range(struct tracks *r, const struct log_event *e, bool of_process, double at)
{
    struct open_range *free_one = NULL;
    bool taken[MOST_OPEN_RANGES + 1] = {false};
    unsigned level = 0;
    for (unsigned i = 0; i < MOST_OPEN_RANGES; i++) {
        struct open_range *o = &r->open[i];
        if (!o->is_open)
            free_one = o;
        else if (o->of_process == of_process && (of_process || o->thread == e->thread))
            taken[o->level] = true;
    }
    while (taken[level])
        level++;
    if (free_one)
        *free_one = (struct open_range){true, of_process, e->thread, e->id, e->name, at, level};
}

/* Adds a range event at the time that its thread has reached. */
static void put_range_event(struct tracks *r, const struct log_event *e)
{
    track_of_thread(r, e->thread);
    double at = r->host[e->thread];
    bool of_process = e->range == HD_RANGE_START || e->range == HD_RANGE_END;
    struct open_range mark = {.thread = e->thread, .name = e->name, .from = at}, *o;
    switch (e->range) {
    case HD_RANGE_MARK: put_range(r, &mark, at, "mark"); break;
    case HD_RANGE_PUSH:
    case HD_RANGE_START: begin_range(r, e, of_process, at); break;
    case HD_RANGE_POP:
    case HD_RANGE_END:
        o = find_open(r, e, of_process);
        if (o) {
            put_range(r, o, at, "range");
            o->is_open = false;
        }
        break;
    }
}

/* Ends ranges that were open when the program ended. */
static void end_ranges(struct tracks *r)
{
    for (unsigned i = 0; i < MOST_OPEN_RANGES; i++)
        if (r->open[i].is_open)
            put_range(r, &r->open[i], r->host[r->open[i].thread], "range");
}

json_t *stream_log_json(struct stream_log *l)
{
    struct tracks r = {.list = json_array(), .streams = json_object(), .ranges = json_object()};
    pthread_mutex_lock(&l->lock);
    for (uint32_t i = 0; i < l->n_events; i++)
        if (l->events[i].is_range)
            put_range_event(&r, &l->events[i]);
        else if (l->events[i].task)
            put_task(l, &r, &l->events[i]);
        else
            put_wait(l, &r, &l->events[i]);
    end_ranges(&r);
    uint32_t left_out = l->left_out;
    pthread_mutex_unlock(&l->lock);
    for (unsigned i = 0; i < MOST_THREADS; i++)
        json_decref(r.threads[i]);
    json_decref(r.streams);
    json_decref(r.ranges);
    for (size_t i = 0; left_out && i < json_array_size(r.list); i++) {
        json_object_set_new(json_array_get(r.list, i), "cut", json_true());
        json_object_set_new(json_array_get(r.list, i), "left_out", json_integer(left_out));
    }
    for (size_t i = json_array_size(r.list); i-- > 0;)
        if (!json_array_size(json_object_get(json_array_get(r.list, i), "spans")))
            json_array_remove(r.list, i);
    return r.list;
}
