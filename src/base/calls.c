/* See calls.h. A call is counted at one of two counters, while the other counter drains. Postponed
 * work waits until each of the two has been seen at 0 since. A call that reads which counter is in
 * use, but counts itself late, is therefore counted at one of them. Each thread has its own part
 * of the counters, so that threads do not share cache lines. */
#include "base/calls.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SHARD_BITS = 5, SHARDS = 1 << SHARD_BITS, CACHE_LINE = 64 };

struct later {
    struct later *next;
    void (*end)(void *data);
    void *data;
};

struct list {
    struct later *first, **end;
};

static struct {
    _Alignas(CACHE_LINE) _Atomic uint32_t counted[2];
} shards[SHARDS];

static struct {
    _Alignas(CACHE_LINE) _Atomic uint32_t in_use; /* which of the two counters */
    _Atomic bool any;                             /* something is put off */
    pthread_mutex_t lock;                         /* of `fresh` and `any` */
    /* Of the others, and of running what is due; to be taken first. */
    pthread_mutex_t looking;
    /* `waiting`: since before the counter was looked at. */
    struct list fresh, waiting, seen_once;
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .looking = PTHREAD_MUTEX_INITIALIZER};

_Atomic uint32_t *call_begin(void)
{
    uint64_t thread = (uint64_t)pthread_self() * 0x9e3779b97f4a7c15u >> (64 - SHARD_BITS);
    _Atomic uint32_t *counted = &shards[thread].counted[atomic_load_explicit(&calls.in_use, memory_order_relaxed)];
    atomic_fetch_add(counted, 1);
#ifndef __x86_64__ /* where the addition is a fence */
    atomic_thread_fence(memory_order_seq_cst);
#endif
    return counted;
}

static void put(struct list *l, struct list *more)
{
    if (!more->first)
        return;
    *(l->first ? l->end : &l->first) = more->first;
    l->end = more->end;
    more->first = NULL;
}

void call_later(void (*end)(void *data), void *data)
{
    struct later *x = malloc(sizeof *x);
    if (!x)
        return;
    *x = (struct later){NULL, end, data};
    pthread_mutex_lock(&calls.lock);
    put(&calls.fresh, &(struct list){x, &x->next});
    atomic_store(&calls.any, true);
    pthread_mutex_unlock(&calls.lock);
}

static bool is_dry(uint32_t which)
{
    for (int i = 0; i < SHARDS; i++)
        if (atomic_load(&shards[i].counted[which]))
            return false;
    return true;
}

/* Has what is put off see the counter that is not in use, if that is at 0, and puts what has now
 * seen both into `due`. */
static bool see(struct list *due)
{
    uint32_t in_use = atomic_load(&calls.in_use);
    pthread_mutex_lock(&calls.lock);
    put(&calls.waiting, &calls.fresh);
    pthread_mutex_unlock(&calls.lock);
    if (!is_dry(!in_use))
        return false;
    put(due, &calls.seen_once);
    put(&calls.seen_once, &calls.waiting);
    atomic_store(&calls.in_use, !in_use);
    pthread_mutex_lock(&calls.lock);
    atomic_store(&calls.any, calls.fresh.first || calls.seen_once.first);
    pthread_mutex_unlock(&calls.lock);
    return true;
}

static void run(struct list *due)
{
    _Atomic uint32_t *call = call_begin();
    for (struct later *x = due->first, *next; x; x = next) {
        next = x->next;
        x->end(x->data);
        free(x);
    }
    call_end(call);
}

/* One thread at a time, for the order. */
static void look(void)
{
    if (pthread_mutex_trylock(&calls.looking) != 0)
        return;
    for (bool more = true; more;) {
        struct list due = {0};
        if (see(&due))
            see(&due);
        more = due.first != NULL;
        if (more)
            run(&due);
    }
    pthread_mutex_unlock(&calls.looking);
}

void call_end(_Atomic uint32_t *counted)
{
    atomic_fetch_sub(counted, 1);
    if (atomic_load(&calls.any))
        look();
}

void calls_after_fork(void)
{
    pthread_mutex_init(&calls.lock, NULL);
    pthread_mutex_init(&calls.looking, NULL);
    calls.fresh = calls.waiting = calls.seen_once = (struct list){0};
    atomic_store(&calls.any, false);
}
