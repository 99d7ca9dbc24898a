/* See numbered_runs.h. A thread of the first rank hands out the numbers of runs, and collects the
 * results. */
#include "cli/numbered_runs.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/supervise.h"

/* messages: three kinds to the first rank, two from it. */
enum { ASKS = 1, SAYS, FAILED, NUMBER, NO_MORE };

struct shared {
    struct numbered_runs *runs;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned next;
    unsigned last;    /* no run behind this one starts */
    bool interrupted; /* a user has interrupted a run */
    unsigned n_gone;  /* ranks that know that there are no more runs */
    unsigned n_doing; /* runs that other ranks are doing */
};

/* ---- with the lock ---- */

static unsigned take_number(struct shared *s)
{
    return s->next < s->runs->n && s->next <= s->last ? s->next++ : 0;
}

static void note(struct shared *s, unsigned number, json_t *said)
{
    struct numbered_runs *r = s->runs;
    r->said[number] = said;
    r->n_done += said != NULL;
    r->failed |= !said;
    bool interrupted = false;
    if ((!said || r->ends(r->data, said, &interrupted)) && number < s->last)
        s->last = number;
    s->interrupted |= interrupted;
    pthread_cond_broadcast(&s->changed);
}

/* ---- the first rank ---- */

static void answer(struct shared *s, const struct rank_message *m)
{
    struct ranks *ranks = s->runs->ranks;
    unsigned number = 0;
    if (m->kind != ASKS) {
        memcpy(&number, m->bytes, sizeof number);
        s->n_doing--;
        if (number < s->runs->n)
            note(s, number,
                 m->kind == SAYS
                     ? json_loadb((const char *)m->bytes + sizeof number, m->n - sizeof number, JSON_ALLOW_NUL, NULL)
                     : NULL);
    }
    number = take_number(s);
    s->n_doing += number != 0;
    s->n_gone += !number;
    ranks_send(ranks, m->from, number ? NUMBER : NO_MORE, &number, sizeof number);
}

static void *serve(void *data)
{
    struct shared *s = data;
    for (bool done = false; !done;) {
        struct rank_message m;
        bool any = ranks_receive(s->runs->ranks, &m);
        pthread_mutex_lock(&s->lock);
        if (any) {
            answer(s, &m);
            free(m.bytes);
        }
        done = s->n_gone == s->runs->ranks->n - 1 || s->runs->ranks->lost;
        pthread_mutex_unlock(&s->lock);
        if (!any)
            ranks_rest(s->runs->ranks);
    }
    return NULL;
}

/* Starts a thread that blocks the signals supervise() waits for. */
static bool start(pthread_t *thread, struct shared *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread, NULL, serve, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void do_run(struct shared *s, unsigned number)
{
    json_t *said = s->runs->run(s->runs->data, number);
    pthread_mutex_lock(&s->lock);
    note(s, number, said);
    pthread_mutex_unlock(&s->lock);
}

static void do_own(struct shared *s)
{
    for (unsigned number = 1; number;) {
        bool asked = supervise_is_asked();
        if (asked)
            numbered_runs_asked(s->runs);
        pthread_mutex_lock(&s->lock);
        if (asked && s->last >= s->next) {
            s->interrupted = true;
            s->last = s->next - 1;
        }
        number = take_number(s);
        pthread_mutex_unlock(&s->lock);
        if (number)
            do_run(s, number);
    }
}

/* Waits for the other ranks' results. A launcher that ends all ranks, because one failed or because
   of Ctrl-C, gives them about a second. */
static void await_others(struct shared *s)
{
    enum { MOST_MS = 600 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (until.tv_nsec + MOST_MS * 1000000L) / 1000000000L;
    until.tv_nsec = (until.tv_nsec + MOST_MS * 1000000L) % 1000000000L;
    pthread_mutex_lock(&s->lock);
    for (int late = 0; s->n_doing && !(late && s->interrupted);)
        late = s->interrupted ? pthread_cond_timedwait(&s->changed, &s->lock, &until)
                              : pthread_cond_wait(&s->changed, &s->lock);
    s->runs->ranks->lost = s->n_doing;
    pthread_mutex_unlock(&s->lock);
}

/* Drops the results behind the run that ended the series, as if the runs had been done one after
   the other. */
static void leave_rest_out(struct shared *s)
{
    struct numbered_runs *r = s->runs;
    for (unsigned i = s->last + 1; i < r->n; i++) {
        json_decref(r->said[i]);
        r->said[i] = NULL;
    }
}

static void do_all(struct numbered_runs *r)
{
    struct shared s = {.runs = r, .next = 1, .last = r->n};
    pthread_t thread;
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.changed, NULL);
    bool has_thread = r->ranks->n > 1 && start(&thread, &s);
    if (!r->first_is_last)
        do_run(&s, 0);
    do_own(&s);
    await_others(&s);
    leave_rest_out(&s);
    if (has_thread)
        pthread_join(thread, NULL);
    if (r->first_is_last && !s.interrupted && !r->failed)
        do_run(&s, 0);
    pthread_mutex_destroy(&s.lock);
    pthread_cond_destroy(&s.changed);
}

/* ---- another rank ---- */

static void tell(struct ranks *ranks, unsigned number, json_t *said)
{
    char *text = said ? json_dumps(said, JSON_COMPACT) : NULL;
    size_t n = text ? strlen(text) : 0;
    char *message = malloc(sizeof number + n);
    if (!message)
        ranks->transport->abort(1);
    memcpy(message, &number, sizeof number);
    memcpy(message + sizeof number, text ? text : "", n);
    ranks_send(ranks, 0, text ? SAYS : FAILED, message, sizeof number + n);
    free(message);
    free(text);
    json_decref(said);
}

static void follow(struct numbered_runs *r)
{
    ranks_send(r->ranks, 0, ASKS, NULL, 0);
    for (bool more = true; more;) {
        struct rank_message m;
        unsigned number;
        if (!ranks_receive(r->ranks, &m)) {
            ranks_rest(r->ranks);
            continue;
        }
        memcpy(&number, m.bytes, sizeof number);
        more = m.kind == NUMBER;
        free(m.bytes);
        if (more)
            tell(r->ranks, number, r->run(r->data, number));
    }
}

void numbered_runs_do(struct numbered_runs *r, struct arena *arena)
{
    r->said = ARENA_ARRAY(arena, json_t *, r->n);
    supervise_begin_series();
    if (r->ranks->number)
        follow(r);
    else
        do_all(r);
    supervise_end_series();
}

void numbered_runs_asked(const struct numbered_runs *r)
{
    if (r->ranks->n > 1 && !r->ranks->number)
        fprintf(stderr, "heddle: interrupted after %u of %u runs\n", r->n_done, r->n);
}

void numbered_runs_free(struct numbered_runs *r)
{
    for (unsigned i = 0; r->said && i < r->n; i++)
        json_decref(r->said[i]);
}
