/* A worker's free memory, by size: powers of two and the sizes half way between. */
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
    return aligned_alloc(64, class_bytes(c));
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
        }
    }
}
