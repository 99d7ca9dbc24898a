/* See thread_pool.h. */
#include "exec/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A kernel that has begun has its worker and its blocks' memory until it ends. An H200 holds 128
 * grids at once. */
enum { MOST_LAUNCHES = 1024 };

/* First in, first out. */
struct job_list {
    struct job *first, **end;
};

struct thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct job_list ready;
    _Atomic uint32_t n_ready, n_idle; /* jobs; threads that have none. Changed with the lock held */
    bool stopping;
    struct {
        /* Waiting, or about to: written before `left` is read, and the other way about. */
        _Atomic uint32_t left, n_waiting;
        struct job_list waiting;
    } permits[N_PERMITS];
    _Atomic uint32_t n_threads; /* changed with the lock held */
    uint32_t most_threads;
    pthread_t threads[];
};

static void list_init(struct job_list *l)
{
    l->first = NULL;
    l->end = &l->first;
}

static void list_append(struct job_list *l, struct job *job)
{
    job->next = NULL;
    *l->end = job;
    l->end = &job->next;
}

static struct job *list_pop(struct job_list *l)
{
    struct job *job = l->first;
    if (job && !(l->first = job->next))
        l->end = &l->first;
    return job;
}

struct thread_pool *thread_pool_create(uint32_t most_threads)
{
    struct thread_pool *p = calloc(1, sizeof *p + most_threads * sizeof p->threads[0]);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    list_init(&p->ready);
    p->most_threads = most_threads;
    p->permits[PERMIT_LAUNCH].left = MOST_LAUNCHES;
    p->permits[PERMIT_CALL].left = most_threads > 1 ? most_threads - 1 : 1;
    for (int i = 0; i < N_PERMITS; i++)
        list_init(&p->permits[i].waiting);
    return p;
}

/* ---- threads ---- */

static void *thread_main(void *data)
{
    struct thread_pool *p = data;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->ready.first && !p->stopping)
            pthread_cond_wait(&p->work, &p->lock);
        struct job *job = list_pop(&p->ready);
        if (!job)
            break;
        p->n_ready--;
        p->n_idle--;
        pthread_mutex_unlock(&p->lock);
        job->turn(job);
        pthread_mutex_lock(&p->lock);
        p->n_idle++;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void make_thread(struct thread_pool *p)
{
    if (p->n_threads == p->most_threads || pthread_create(&p->threads[p->n_threads], NULL, thread_main, p) != 0)
        return;
    p->n_threads++;
    p->n_idle++;
}

uint32_t thread_pool_size(const struct thread_pool *p)
{
    return p->most_threads;
}

bool thread_pool_is_ready(struct thread_pool *p)
{
    if (p->n_threads)
        return true;
    pthread_mutex_lock(&p->lock);
    if (!p->n_threads)
        make_thread(p);
    bool ready = p->n_threads > 0;
    pthread_mutex_unlock(&p->lock);
    return ready;
}

void thread_pool_destroy(struct thread_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->n_threads; i++)
        pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    free(p);
}

/* ---- turns ---- */

/* One of the idle threads for each job that is ready, or else a new one. */
static void put(struct thread_pool *p, struct job *job)
{
    list_append(&p->ready, job);
    if (++p->n_ready > p->n_idle)
        make_thread(p);
    pthread_cond_signal(&p->work);
}

void thread_pool_put(struct thread_pool *p, struct job *job)
{
    pthread_mutex_lock(&p->lock);
    put(p, job);
    pthread_mutex_unlock(&p->lock);
}

bool thread_pool_is_crowded(const struct thread_pool *p)
{
    return atomic_load_explicit(&p->n_ready, memory_order_relaxed) >
           atomic_load_explicit(&p->n_idle, memory_order_relaxed);
}

/* One that is left. */
static bool take_left(struct thread_pool *p, enum permit permit)
{
    uint32_t left = atomic_load(&p->permits[permit].left);
    while (left && !atomic_compare_exchange_weak(&p->permits[permit].left, &left, left - 1))
        ;
    return left > 0;
}

bool thread_pool_take_permit(struct thread_pool *p, enum permit permit, struct job *job)
{
    if (take_left(p, permit))
        return true;
    pthread_mutex_lock(&p->lock);
    p->permits[permit].n_waiting++;
    bool taken = take_left(p, permit);
    if (taken)
        p->permits[permit].n_waiting--;
    else
        list_append(&p->permits[permit].waiting, job);
    pthread_mutex_unlock(&p->lock);
    return taken;
}

void thread_pool_give_permit(struct thread_pool *p, enum permit permit)
{
    p->permits[permit].left++;
    if (!p->permits[permit].n_waiting)
        return;
    pthread_mutex_lock(&p->lock);
    while (p->permits[permit].waiting.first && take_left(p, permit)) {
        p->permits[permit].n_waiting--;
        put(p, list_pop(&p->permits[permit].waiting));
    }
    pthread_mutex_unlock(&p->lock);
}
