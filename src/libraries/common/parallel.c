/* Runs the pieces of a task on several threads: library.h. The threads belong to the library, and
 * start when they are first needed. One task at a time uses them; other tasks do their pieces
 * themselves.
 */
#include "libraries/common/library.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_THREADS = 64 };

static struct {
    pthread_mutex_t lock, user; /* user: held by the task that uses the threads */
    pthread_cond_t begun, ended;
    unsigned n_threads; /* started threads */
    uint64_t round;
    unsigned at_work;
    size_t n;
    void (*piece)(void *data, size_t i);
    void *data;
    _Atomic size_t next;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .user = PTHREAD_MUTEX_INITIALIZER,
          .begun = PTHREAD_COND_INITIALIZER,
          .ended = PTHREAD_COND_INITIALIZER};

unsigned library_threads(void)
{
    static _Atomic unsigned known;
    unsigned n = atomic_load(&known);
    if (!n) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        n = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
        n = n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : n;
        atomic_store(&known, n);
    }
    return n;
}

static void take_pieces(void)
{
    for (size_t i; (i = atomic_fetch_add(&pool.next, 1)) < pool.n;)
        pool.piece(pool.data, i);
}

static void *work(void *round)
{
    uint64_t seen = (uint64_t)(uintptr_t)round;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.round == seen)
            pthread_cond_wait(&pool.begun, &pool.lock);
        seen = pool.round;
        pthread_mutex_unlock(&pool.lock);
        take_pieces();
        pthread_mutex_lock(&pool.lock);
        if (--pool.at_work == 0)
            pthread_cond_signal(&pool.ended);
    }
    return NULL;
}

/* Call with both locks held. */
static void make_threads(unsigned wanted)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (pool.n_threads < wanted && pthread_create(&thread, &attributes, work, (void *)(uintptr_t)pool.round) == 0)
        pool.n_threads++;
    pthread_attr_destroy(&attributes);
}

static void run_together(size_t n, void (*piece)(void *data, size_t i), void *data)
{
    pthread_mutex_lock(&pool.lock);
    make_threads(library_threads() - 1);
    pool.n = n;
    pool.piece = piece;
    pool.data = data;
    atomic_store(&pool.next, 0);
    pool.at_work = pool.n_threads;
    pool.round++;
    pthread_cond_broadcast(&pool.begun);
    pthread_mutex_unlock(&pool.lock);
    take_pieces();
    pthread_mutex_lock(&pool.lock);
    while (pool.at_work)
        pthread_cond_wait(&pool.ended, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void library_parallel(size_t n, void (*piece)(void *data, size_t i), void *data)
{
    if (n > 1 && library_threads() > 1 && pthread_mutex_trylock(&pool.user) == 0) {
        run_together(n, piece, data);
        pthread_mutex_unlock(&pool.user);
        return;
    }
    for (size_t i = 0; i < n; i++)
        piece(data, i);
}

/* A child of fork() has none of its parent's threads. */
static void after_fork(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_mutex_init(&pool.user, NULL);
    pool.n_threads = 0;
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}
