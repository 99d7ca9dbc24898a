/* See compile_queue.h. */
#include "jit/host/compile_queue.h"

#include <signal.h>
#include <stdio.h>

#include "jit/host/unit_compile.h"

static void run_queue(struct jit *j, struct compile_queue *l)
{
    while (l->first) {
        struct unit *u = l->busy = l->first;
        l->first = u->next_queued;
        pthread_mutex_unlock(&j->lock);
        bool ok = unit_compile(j, u);
        if (!ok && !l->process.ended)
            unit_tell_why(j, u);
        pthread_mutex_lock(&j->lock);
        l->busy = NULL;
        if (u->abandoned)
            unit_free(u);
        else
            unit_finish(j, u, ok);
    }
}

static void *compiler_main(void *data)
{
    struct compile_queue *l = data;
    struct jit *j = l->jit;
    pthread_mutex_lock(&j->lock);
    while (!j->stopping) {
        run_queue(j, l);
        if (!j->stopping)
            pthread_cond_wait(&l->work, &j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* The thread blocks the program's signals. */
static bool start_thread(struct compile_queue *l)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&l->thread, NULL, compiler_main, l) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

bool queue_add(struct jit *j, struct unit *u)
{
    struct compile_queue *l = queue_of(j, u);
    struct unit **link = &l->first;
    l->has_thread = l->has_thread || (!j->stopping && start_thread(l));
    if (!l->has_thread) {
        snprintf(u->why, sizeof u->why, "no thread can be started");
        return false;
    }
    while (*link)
        link = &(*link)->next_queued;
    u->next_queued = NULL;
    *link = u;
    pthread_cond_signal(&l->work);
    return true;
}

void queue_drop(struct jit *j, struct unit *u)
{
    struct compile_queue *l = queue_of(j, u);
    struct unit **link = &l->first;
    while (*link && *link != u)
        link = &(*link)->next_queued;
    if (*link)
        *link = u->next_queued;
    if (u == l->busy)
        u->abandoned = true;
    else
        unit_free(u);
}
