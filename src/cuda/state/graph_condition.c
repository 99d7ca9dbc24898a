/* See graph_condition.h. */
#include "cuda/state/graph_condition.h"

#include <stdlib.h>

struct condition {
    struct condition *next, **link;
    _Atomic unsigned refs;
    struct device *device;
    uint32_t *word;
    unsigned value;
    bool assigned, used;
};

static struct {
    pthread_mutex_t lock;
    struct condition *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- life ---- */

static uint32_t *view(const struct condition *c)
{
    return hd_own_view(c->device->machine, c->word);
}

struct condition *condition_hold(struct condition *c)
{
    if (c)
        c->refs++;
    return c;
}

void condition_release(struct condition *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&all.lock);
    bool last = --c->refs == 0;
    if (last) {
        *c->link = c->next;
        if (c->next)
            c->next->link = c->link;
    }
    pthread_mutex_unlock(&all.lock);
    if (!last)
        return;
    hd_unreserve(c->device->machine, c->word);
    free(c);
}

static CUresult add(struct condition_use **list, struct condition *c)
{
    struct condition_use *u = calloc(1, sizeof *u);
    if (!u)
        return CUDA_ERROR_OUT_OF_MEMORY;
    u->condition = condition_hold(c);
    u->next = *list;
    *list = u;
    return CUDA_SUCCESS;
}

CUresult condition_new(CUgraph g, CUcontext context, unsigned value, bool assigned, cuuint64_t *handle)
{
    void *word;
    struct condition *c = calloc(1, sizeof *c);
    hd_result r = c ? hd_reserve(context->device->machine, sizeof *c->word, &word) : HD_ERROR_OUT_OF_MEMORY;
    if (r) {
        free(c);
        return from_hd(r);
    }
    c->refs = 1;
    c->device = context->device;
    c->word = word;
    c->value = value;
    c->assigned = assigned;
    *view(c) = 0;
    pthread_mutex_lock(&all.lock);
    c->next = all.first;
    c->link = &all.first;
    if (c->next)
        c->next->link = &c->next;
    all.first = c;
    pthread_mutex_unlock(&all.lock);
    CUresult added = add(&g->conditions, c);
    *handle = (cuuint64_t)(uintptr_t)word;
    condition_release(c);
    return added;
}

struct condition *condition_at(cuuint64_t handle)
{
    pthread_mutex_lock(&all.lock);
    struct condition *c = all.first;
    while (c && (cuuint64_t)(uintptr_t)c->word != handle)
        c = c->next;
    condition_hold(c);
    pthread_mutex_unlock(&all.lock);
    return c;
}

bool condition_use(struct condition *c)
{
    pthread_mutex_lock(&all.lock);
    bool first = !c->used;
    c->used = true;
    pthread_mutex_unlock(&all.lock);
    return first;
}

void condition_leave(struct condition *c)
{
    c->used = false;
}

unsigned condition_value(const struct condition *c)
{
    return __atomic_load_n(view(c), __ATOMIC_ACQUIRE);
}

bool condition_is_used(const struct condition *c)
{
    return c->used;
}

void conditions_release(struct condition_use **list)
{
    for (struct condition_use *u = *list, *next; u; u = next) {
        next = u->next;
        condition_release(u->condition);
        free(u);
    }
    *list = NULL;
}

CUresult conditions_collect(CUgraph g, struct condition_use **list)
{
    for (const struct condition_use *u = g->conditions; u; u = u->next)
        TRY(add(list, u->condition));
    for (CUgraphNode n = g->n_conditional ? g->first : NULL; n; n = n->next)
        for (unsigned i = 0; n->bodies && i < n->work.condition.n; i++)
            TRY(conditions_collect(n->bodies[i], list));
    return CUDA_SUCCESS;
}

CUresult conditions_begin(const struct condition_use *list, hd_stream *stream)
{
    for (; list; list = list->next) {
        const struct condition *c = list->condition;
        const hd_fill f = {.to = c->word, .value = c->value, .element_bytes = 4, .width = 1, .height = 1};
        TRY(from_hd(hd_stream_open(stream, c->word, sizeof *c->word)));
        if (c->assigned)
            TRY(from_hd(hd_stream_fill(stream, &f, HD_NO_WAIT)));
    }
    return CUDA_SUCCESS;
}

CUresult conditions_end(const struct condition_use *list, hd_stream *stream)
{
    for (; list; list = list->next)
        TRY(from_hd(hd_stream_close(stream, list->condition->word, sizeof *list->condition->word)));
    return CUDA_SUCCESS;
}
