/* The life of a recorder; records launches and what the host does; see recorder.h. events.c writes
 * events of launches; definitions.c writes definitions before an event names them. */
#include "record/recorder.h"

#include <errno.h>
#include <stdlib.h>

#include "check/check.h"
#include "check/memory/rules.h"
#include "record/recording.h"

/* The event of this thread that clients are being told of. */
static _Thread_local uint64_t position __attribute__((tls_model("initial-exec")));

/* ---- answers, which are written at the end ---- */

static struct kept_answer *add_answer(struct recorder *r, enum answer_kind kind, uint64_t key, uint64_t value)
{
    struct kept_answer *a = VEC_ADD(&r->answers);
    if (a)
        *a = (struct kept_answer){.kind = kind, .position = position, .key = key, .value = value};
    else
        atomic_store(&r->no_memory, true);
    return a;
}

void recorder_answer(struct recorder *r, enum answer_kind kind, uint64_t key, uint64_t value, const char *text)
{
    pthread_mutex_lock(&r->answers_lock);
    struct kept_answer *a = add_answer(r, kind, key, value);
    if (a && text && !(a->text = strdup(text)))
        atomic_store(&r->no_memory, true);
    pthread_mutex_unlock(&r->answers_lock);
}

static void on_buffer(void *data, uint64_t start, const char *text)
{
    recorder_answer(data, ANSWER_BUFFER, start, 0, text);
}

static void on_behind(void *data, const struct site *barrier, const uint64_t *set, uint32_t words)
{
    struct recorder *r = data;
    pthread_mutex_lock(&r->answers_lock);
    struct kept_answer *a = add_answer(r, ANSWER_BEHIND, (uintptr_t)barrier, 0);
    uint64_t *copy = a ? malloc(words * sizeof *copy) : NULL;
    if (copy) {
        memcpy(copy, set, words * sizeof *copy);
        a->list = copy;
        a->n = words;
    }
    pthread_mutex_unlock(&r->answers_lock);
}

void recorder_write_event(struct recorder *r, struct record *x)
{
    position = ++r->n_events;
    record_write(r->file, x);
}

/* ---- one after the other ---- */

static void hold(void *data)
{
    struct recorder *r = data;
    pthread_mutex_lock(&r->lock);
}

static void give_back(void *data)
{
    struct recorder *r = data;
    pthread_mutex_unlock(&r->lock);
}

/* ---- launches ---- */

static void write_rules(struct recorder *r, const struct memory_rules *rules)
{
    for (size_t i = 0; rules && i < rules->n; i++) {
        const struct memory_rule *m = &rules->at[i];
        struct record x = {.kind = RECORD_RULE,
                           .rule = {.start = m->start,
                                    .end = m->end,
                                    .uses = m->uses,
                                    .given = m->given,
                                    .name = m->name ? str_of(m->name) : (struct str){0}}};
        recorder_write_event(r, &x);
    }
}

static bool on_launch(void *data, const struct checker *c, const struct site_table *kernel,
                      const struct memory_rules *rules, struct event_list *events)
{
    struct recorder *r = data;
    struct recorded_launch *l = calloc(1, sizeof *l);
    if (!l)
        return false;
    recorder_look_at_memory(r);
    write_rules(r, rules);
    l->recorder = r;
    l->id = r->n_launches++;
    l->next = r->launches;
    r->launches = l;
    recorder_set_clients(l, events);
    struct record x = {
        .kind = RECORD_LAUNCH,
        .launch = {
            .id = l->id, .checker = recorder_number_of(r, c), .kernel = recorder_kernel(r, kernel), .ruled = rules}};
    recorder_write_event(r, &x);
    return events_add_first(events, &l->client) && events_add(events, &l->last);
}

/* ---- the host ---- */

static void on_host(void *data, const struct checker *c, const struct host_event *e)
{
    struct recorder *r = data;
    recorder_look_at_memory(r);
    r->tasks.n = 0;
    for (uint32_t i = 0; i < e->n_tasks && VEC_RESERVE(&r->tasks, 1); i++)
        r->tasks.at[r->tasks.n++] = e->tasks[i];
    const char *name = e->note ? e->note->name : e->name;
    const void *place = e->note ? e->note->where : e->place;
    if (place)
        recorder_place(r, place);
    struct record x = {.kind = RECORD_HOST,
                       .host = {.kind = e->kind,
                                .checker = recorder_number_of(r, c),
                                .task = e->task,
                                .timeline = e->timeline,
                                .timeline_after = e->timeline_after,
                                .task_kind = e->note ? e->note->kind : 0,
                                .stream = e->note ? e->note->stream : 0,
                                .place = (uintptr_t)place,
                                .address = e->address,
                                .bytes = e->bytes,
                                .from = e->from,
                                .programmatic = e->note && e->note->programmatic,
                                .by = e->note ? e->note->by : 0,
                                .tail = e->note && e->note->tail,
                                .block = recorder_block(e->block),
                                .warp = e->warp,
                                .lane = e->lane,
                                .write = e->write,
                                .whole = e->whole,
                                .done = e->done,
                                .name = name ? str_of(name) : (struct str){0},
                                .tasks = {r->tasks.at, r->tasks.n}}};
    recorder_write_event(r, &x);
}

static void on_misuse(void *data, const struct site_table *kernel, const struct code_misuse *m)
{
    struct recorder *r = data;
    struct record x = {.kind = RECORD_MISUSE,
                       .misuse = {.kernel = recorder_kernel(r, kernel),
                                  .function = m->function,
                                  .block = m->block,
                                  .site = recorder_site(r, kernel, m->site),
                                  .what = m->what}};
    record_write(r->file, &x);
}

/* ---- life ---- */

struct recorder *recorder_open(const char *path)
{
    struct recorder *r = calloc(1, sizeof *r);
    recorder_open_events();
    if (!r)
        return NULL;
    r->file = record_create(path);
    if (!r->file) {
        int error = errno;
        free(r);
        errno = error;
        return NULL;
    }
    /* A client that is told of an event may cause another on the same thread. */
    pthread_mutexattr_t nested;
    pthread_mutexattr_init(&nested);
    pthread_mutexattr_settype(&nested, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&r->lock, &nested);
    pthread_mutexattr_destroy(&nested);
    pthread_mutex_init(&r->answers_lock, NULL);
    r->listener = (struct checker_listener){.data = r,
                                            .hold = hold,
                                            .give_back = give_back,
                                            .host = on_host,
                                            .launch = on_launch,
                                            .buffer = on_buffer,
                                            .behind = on_behind,
                                            .misuse = on_misuse};
    return r;
}

bool recorder_add(struct recorder *r, struct checker *c, struct machine *m, const hd_checker_options *o)
{
    pthread_mutex_lock(&r->lock);
    bool fits = r->n_checkers < RECORDED_CHECKERS;
    if (fits) {
        struct record x = {
            .kind = RECORD_CHECKER,
            .checker = {
                .id = r->n_checkers, .tools = o->tools, .on_error = o->on_error, .shadow_bytes = o->shadow_bytes}};
        r->checkers[r->n_checkers++] = (struct recorded_checker){.checker = c, .machine = m, .options = *o};
        record_write(r->file, &x);
        checker_listen(c, &r->listener);
    }
    pthread_mutex_unlock(&r->lock);
    return fits;
}

void recorder_summary(struct recorder *r, const char *program, const char *findings)
{
    struct record x = {.kind = RECORD_SUMMARY,
                       .summary = {.program = program ? str_of(program) : (struct str){0},
                                   .findings = findings ? str_of(findings) : (struct str){0}}};
    pthread_mutex_lock(&r->lock);
    record_write(r->file, &x);
    pthread_mutex_unlock(&r->lock);
}

static void write_answers(struct recorder *r)
{
    for (uint32_t i = 0; i < r->answers.n; i++) {
        struct kept_answer *a = &r->answers.at[i];
        struct record x = {.kind = RECORD_ANSWER,
                           .answer = {.kind = a->kind,
                                      .position = a->position,
                                      .key = a->key,
                                      .value = a->value,
                                      .text = a->text ? str_of(a->text) : (struct str){0},
                                      .list = {a->list, a->n}}};
        if (a->kind == ANSWER_BEHIND)
            recorder_name_site(r, (const struct site *)(uintptr_t)a->key, &x);
        record_write(r->file, &x);
        free(a->text);
        free(a->list);
    }
}

bool recorder_close(struct recorder *r)
{
    if (!r)
        return true;
    for (unsigned i = 0; i < r->n_checkers; i++)
        checker_listen(r->checkers[i].checker, NULL);
    write_answers(r);
    recorder_write_frames(r);
    bool lost = atomic_load(&r->no_memory), ok = record_finish(r->file) && !lost;
    int error = lost ? ENOMEM : errno;
    while (r->launches) {
        struct recorded_launch *next = r->launches->next;
        free(r->launches);
        r->launches = next;
    }
    recorder_free_definitions(r);
    free(r->answers.at);
    free(r->ranges.at);
    free(r->parties.at);
    free(r->tasks.at);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->answers_lock);
    free(r);
    errno = error;
    return ok;
}
