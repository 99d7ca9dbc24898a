/* A worker's free memory, by size: powers of two and the sizes half way between. What it has, free or in use, counts against the
 * machine's limit of memory: a kernel takes the host's by its threads' registers and stacks as well as by buffers. */
#include <stdlib.h>

#include "exec/machine.h"

struct pool_item {
    struct pool_item *next;
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
    if (!mem_charge(&k->machine->mem, bytes)) {
        pool_free_all(k); /* what is free in other sizes */
        if (!mem_charge(&k->machine->mem, bytes))
            return false;
    }
    k->pool_bytes += bytes;
    return true;
}

static void discharge(struct worker *k, size_t bytes)
{
    k->pool_bytes -= bytes;
    mem_discharge(&k->machine->mem, bytes);
}

void *pool_take(struct worker *k, size_t bytes)
{
    unsigned c = class_of(bytes);
    if (c == POOL_CLASSES)
        return NULL;
    struct pool_item *item = k->pool[c];
    if (item) {
        k->pool[c] = item->next;
        return item;
    }
    if (!charge(k, class_bytes(c)))
        return NULL;
    void *p = aligned_alloc(64, class_bytes(c));
    if (!p)
        discharge(k, class_bytes(c));
    return p;
}

void pool_give(struct worker *k, void *p, size_t bytes)
{
    if (!p)
        return;
    unsigned c = class_of(bytes);
    struct pool_item *item = p;
    item->next = k->pool[c];
    k->pool[c] = item;
}

void pool_free_all(struct worker *k)
{
    for (unsigned c = 0; c < POOL_CLASSES; c++) {
        while (k->pool[c]) {
            struct pool_item *item = k->pool[c];
            k->pool[c] = item->next;
            free(item);
            discharge(k, class_bytes(c));
        }
    }
}

void pool_trim(struct worker *k)
{
    enum { PARTS = 16 };
    if (k->pool_bytes > k->machine->mem.limit_bytes / PARTS / (k->machine->n_threads + 1))
        pool_free_all(k);
}
