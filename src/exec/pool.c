/* A worker's free memory, by size: powers of two and the sizes half way between. What it has, free
 * or in use, counts against the machine's limit of memory: a kernel takes the host's by its
 * threads' registers and stacks as well as by buffers. What kernels address as shared or local
 * memory lies between guards (mem/window.h), and goes from worker to worker. */
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __GLIBC__ /* as the header above says */
#include <malloc.h>
#endif

#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/snapshot.h"
#include "exec/worker.h"

struct pool_item {
    struct pool_item *next;
    size_t behind; /* so many more of this size lie behind it, which nobody has touched */
};

enum { SMALLEST_LOG2 = 7 };

/* Class c holds (2 + c % 2) << (c / 2 + SMALLEST_LOG2 - 1) bytes. */
static size_t class_bytes(unsigned c)
{
    return (size_t)(2 + c % 2) << (c / 2 + SMALLEST_LOG2 - 1);
}

static unsigned class_of(size_t bytes)
{
    unsigned c = 0;
    while (c < POOL_CLASSES && class_bytes(c) < bytes)
        c++;
    return c;
}

static bool charge(struct worker *k, size_t bytes)
{
    if (!mem_charge(&k->machine->mem, bytes))
        return false;
    k->pool_bytes += bytes;
    return true;
}

static void discharge(struct worker *k, size_t bytes)
{
    k->pool_bytes -= bytes;
    mem_discharge(&k->machine->mem, bytes);
}

static void push_row(struct pool_item **list, void *p, size_t behind)
{
    struct pool_item *item = p;
    *item = (struct pool_item){*list, behind};
    *list = item;
}

static void push(struct pool_item **list, void *p)
{
    push_row(list, p, 0);
}

static void *pop(struct pool_item **list, unsigned c)
{
    struct pool_item *item = *list;
    if (!item)
        return NULL;
    *list = item->next;
    if (item->behind)
        push_row(list, (uint8_t *)item + class_bytes(c), item->behind - 1);
    return item;
}

static void *take_from_host(struct worker *k, unsigned c)
{
    if (!charge(k, class_bytes(c)))
        return NULL;
    void *p = aligned_alloc(64, class_bytes(c));
    if (!p)
        discharge(k, class_bytes(c));
    return p;
}

/* Whoever takes snapshots of what the worker holds hears of it. */
static void *noted(struct worker *k, void *p, size_t bytes, bool window)
{
    if (!p || !k->ledger || ledger_take(k->ledger, p, bytes, window))
        return p;
    push(window ? &k->windows[class_of(bytes)] : &k->pool[class_of(bytes)], p);
    return NULL;
}

static bool is_kept(struct worker *k, void *p)
{
    return k->ledger && ledger_give(k->ledger, p);
}

void *pool_take(struct worker *k, size_t bytes)
{
    unsigned c = class_of(bytes);
    if (c == POOL_CLASSES)
        return NULL;
    void *p = pop(&k->pool[c], c);
    return noted(k, p ? p : take_from_host(k, c), bytes, false);
}

void pool_give(struct worker *k, void *p, size_t bytes)
{
    if (p && !is_kept(k, p))
        push(&k->pool[class_of(bytes)], p);
}

/* ---- behind windows ---- */

static void *take_left(struct worker *k, unsigned c)
{
    struct windows *w = &k->machine->windows;
    if (!charge(k, class_bytes(c)))
        return NULL;
    pthread_mutex_lock(&w->lock);
    void *p = pop(&w->free[c], c);
    pthread_mutex_unlock(&w->lock);
    if (!p)
        discharge(k, class_bytes(c));
    return p;
}

/* As many as what is taken has room for; the first, where there are any. */
static void *take_new(struct worker *k, unsigned c)
{
    struct windows *w = &k->machine->windows;
    size_t bytes = class_bytes(c), whole = bytes < WINDOW_UNIT ? WINDOW_UNIT : bytes, n = whole / bytes;
    if (!charge(k, n * bytes))
        return NULL;
    pthread_mutex_lock(&w->lock);
    uint8_t *p = window_take(&w->area, whole);
    pthread_mutex_unlock(&w->lock);
    if (p && n > 1)
        push_row(&k->windows[c], p + bytes, n - 2);
    if (!p)
        discharge(k, n * bytes);
    return p;
}

void *pool_take_window(struct worker *k, size_t bytes)
{
    unsigned c = class_of(bytes);
    void *p = c < POOL_CLASSES ? pop(&k->windows[c], c) : NULL;
    if (!p && c < POOL_CLASSES) {
        p = take_left(k, c);
        p = p ? p : take_new(k, c);
        p = p ? p : take_from_host(k, c);
    }
    return noted(k, p, bytes, true);
}

void pool_give_window(struct worker *k, void *p, size_t bytes)
{
    if (p && !is_kept(k, p))
        push(&k->windows[class_of(bytes)], p);
}

/* What lies between the guards is for the next worker, its addresses at least. */
static void leave_window(struct worker *k, void *p, unsigned c)
{
    struct windows *w = &k->machine->windows;
    if (!window_has(&w->area, p)) {
        free(p);
        return;
    }
    if (class_bytes(c) >= WINDOW_UNIT)
        madvise(p, class_bytes(c), MADV_DONTNEED);
    push(&w->free[c], p);
}

void windows_open(struct windows *w)
{
    pthread_mutex_init(&w->lock, NULL);
    window_init(&w->area);
}

void windows_close(struct windows *w)
{
    window_destroy(&w->area);
    pthread_mutex_destroy(&w->lock);
}

/* ---- all of it ---- */

void pool_free_all(struct worker *k)
{
    struct windows *w = &k->machine->windows;
    pthread_mutex_lock(&w->lock);
    for (unsigned c = 0; c < POOL_CLASSES; c++) {
        for (void *p; (p = pop(&k->pool[c], c)); discharge(k, class_bytes(c)))
            free(p);
        for (void *p; (p = pop(&k->windows[c], c)); discharge(k, class_bytes(c)))
            leave_window(k, p, c);
    }
    pthread_mutex_unlock(&w->lock);
}

void pool_trim(struct worker *k)
{
    enum { PARTS = 16 };
    if (k->pool_bytes <= k->machine->mem.limit_bytes / PARTS / (k->machine->n_threads + 1))
        return;
    pool_free_all(k);
#ifdef __GLIBC__
    malloc_trim(0); /* what is not counted any more is to be the system's again */
#endif
}
