/* User objects: what a program wants destroyed when no graph needs it any more ("CUDA Driver API", 6.23, cuUserObjectCreate).
 * Graphs hold references, and so do graphs made ready, until their last launch has ended.
 */
#include "cuda/graph.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

struct CUuserObject_st {
    enum handle_kind kind;
    atomic_uint references;
    CUhostFn destroy;
    void *data;
};

static bool is_object(CUuserObject o)
{
    return o && o->kind == HANDLE_USER_OBJECT;
}

/* Returns false where there are not so many references. */
static bool drop(CUuserObject o, unsigned count)
{
    unsigned had = atomic_load(&o->references);
    do {
        if (had < count)
            return false;
    } while (!atomic_compare_exchange_weak(&o->references, &had, had - count));
    if (had == count) {
        o->destroy(o->data);
        o->kind = 0;
        free(o);
    }
    return true;
}

CU_API CUresult cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy, unsigned references,
                                   unsigned flags)
{
    TRY(state_ready());
    NEED(object && destroy && references && references <= INT_MAX && flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    CUuserObject o = calloc(1, sizeof *o);
    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *o = (struct CUuserObject_st){
        .kind = HANDLE_USER_OBJECT, .references = references, .destroy = destroy, .data = data};
    *object = o;
    return CUDA_SUCCESS;
}

CU_API CUresult cuUserObjectRetain(CUuserObject object, unsigned count)
{
    TRY(state_ready());
    NEED(is_object(object) && count && count <= INT_MAX);
    atomic_fetch_add(&object->references, count);
    return CUDA_SUCCESS;
}

CU_API CUresult cuUserObjectRelease(CUuserObject object, unsigned count)
{
    TRY(state_ready());
    NEED(is_object(object) && count && count <= INT_MAX);
    return drop(object, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- references of graphs ---- */

static struct kept **find(struct kept **list, CUuserObject object)
{
    while (*list && (*list)->object != object)
        list = &(*list)->next;
    return list;
}

static CUresult keep(struct kept **list, CUuserObject object, unsigned count)
{
    struct kept **at = find(list, object);
    struct kept *k = *at ? *at : calloc(1, sizeof *k);
    if (!k)
        return CUDA_ERROR_OUT_OF_MEMORY;
    k->object = object;
    k->count += count;
    *at = k;
    return CUDA_SUCCESS;
}

CUresult kept_copy(const struct kept *from, struct kept **to)
{
    for (; from; from = from->next) {
        TRY(keep(to, from->object, from->count));
        atomic_fetch_add(&from->object->references, from->count);
    }
    return CUDA_SUCCESS;
}

void kept_release(struct kept **list)
{
    while (*list) {
        struct kept *k = *list;
        *list = k->next;
        drop(k->object, k->count);
        free(k);
    }
}

CU_API CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
{
    TRY(state_ready());
    NEED(graph && graph->kind == HANDLE_GRAPH && is_object(object) && count && count <= INT_MAX);
    NEED((flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) == 0);
    TRY(keep(&graph->kept, object, count));
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) /* else the caller's become the graph's */
        atomic_fetch_add(&object->references, count);
    return CUDA_SUCCESS;
}

CU_API CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count)
{
    TRY(state_ready());
    NEED(graph && graph->kind == HANDLE_GRAPH && is_object(object) && count);
    struct kept **at = find(&graph->kept, object), *k = *at;
    NEED(k && k->count >= count);
    k->count -= count;
    if (!k->count) {
        *at = k->next;
        free(k);
    }
    drop(object, count);
    return CUDA_SUCCESS;
}
