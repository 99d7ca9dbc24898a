/* Call stacks of allocations and frees: watch.h. */
#include "cuda/watch/watch_state.h"

#include <stdlib.h>

enum { MAX_FREED = 1 << 16 };

static struct {
    pthread_mutex_t lock;
    struct watch_freed *at; /* a ring of MAX_FREED */
    size_t n;
} freed = {.lock = PTHREAD_MUTEX_INITIALIZER};

void watch_allocated(struct allocation *a)
{
    if (watch_is_on())
        a->stack = stack_here();
}

void watch_freed(void *start, size_t bytes, CUmemorytype type, const struct stack *allocated)
{
    if (!watch_is_on())
        return;
    const struct stack *s = stack_here();
    pthread_mutex_lock(&freed.lock);
    if (!freed.at)
        freed.at = calloc(MAX_FREED, sizeof *freed.at);
    if (freed.at)
        freed.at[freed.n++ % MAX_FREED] = (struct watch_freed){start, bytes, type, allocated, s};
    pthread_mutex_unlock(&freed.lock);
}

bool watch_find_freed(const void *p, struct watch_freed *found)
{
    bool is_there = false;
    pthread_mutex_lock(&freed.lock);
    for (size_t i = 1; i <= freed.n && i <= MAX_FREED && !is_there; i++) {
        const struct watch_freed *f = &freed.at[(freed.n - i) % MAX_FREED];
        is_there = (size_t)((const char *)p - (const char *)f->start) < f->bytes;
        *found = is_there ? *f : *found;
    }
    pthread_mutex_unlock(&freed.lock);
    return is_there;
}

const char *watch_giver(const struct stack *s, CUmemorytype type)
{
    const char *call = stack_text(s).call;
    return call ? call : type == CU_MEMORYTYPE_HOST ? "cudaMallocHost" : "cudaMalloc";
}
