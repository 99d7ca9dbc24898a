/* See user_object.h. */
#include "cuda/state/user_object.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

struct CUuserObject_st {
    CUuserObject handle;
    atomic_uint references;
    CUhostFn destroy;
    void *data;
};

CUresult user_object_of(CUuserObject handle, struct CUuserObject_st **o)
{
    TRY(state_ready());
    *o = record_of(handle, HANDLE_USER_OBJECT);
    return *o ? CUDA_SUCCESS : handle_error(handle);
}

CUresult user_object_new(CUhostFn destroy, void *data, unsigned references, CUuserObject *object)
{
    CUuserObject o = calloc(1, sizeof *o);
    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *o = (struct CUuserObject_st){.references = references, .destroy = destroy, .data = data};
    CUresult r = handle_give(HANDLE_USER_OBJECT, o, NULL, &o->handle);
    if (r)
        free(o);
    else
        *object = o->handle;
    return r;
}

bool user_object_hold(struct CUuserObject_st *o, unsigned count)
{
    unsigned had = atomic_load(&o->references);
    do {
        if (had == 0)
            return false;
    } while (!atomic_compare_exchange_weak(&o->references, &had, had + count));
    return true;
}

bool user_object_drop(struct CUuserObject_st *o, unsigned count)
{
    unsigned had = atomic_load(&o->references);
    do {
        if (had < count || had == 0)
            return false;
    } while (!atomic_compare_exchange_weak(&o->references, &had, had - count));
    if (had == count) {
        record_take(o->handle, HANDLE_USER_OBJECT);
        o->destroy(o->data);
        call_later(free, o);
    }
    return true;
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
        struct CUuserObject_st *o = record_of(from->object, HANDLE_USER_OBJECT);
        /* fails if the program has released the graph's references, too */
        if (!o || !user_object_hold(o, from->count))
            continue;
        /* moves the object to the list's end; it is in it once */
        CUresult r = keep(to, from->object, from->count);
        if (r) {
            user_object_drop(o, from->count);
            return r;
        }
        to = &(*to)->next;
    }
    return CUDA_SUCCESS;
}

void kept_release(struct kept **list)
{
    while (*list) {
        struct kept *k = *list;
        struct CUuserObject_st *o = record_of(k->object, HANDLE_USER_OBJECT);
        *list = k->next;
        if (o)
            user_object_drop(o, k->count);
        free(k);
    }
}

CUresult kept_retain(struct kept **list, CUuserObject object, unsigned count, unsigned flags)
{
    struct CUuserObject_st *o;
    TRY(user_object_of(object, &o));
    NEED(count && count <= INT_MAX && (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) == 0);
    bool moves = flags & CU_GRAPH_USER_OBJECT_MOVE; /* the caller's references become the graph's */
    if (!moves && !user_object_hold(o, count))
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult r = keep(list, object, count);
    if (r && !moves)
        user_object_drop(o, count);
    return r;
}

CUresult kept_give_back(struct kept **list, CUuserObject object, unsigned count)
{
    struct CUuserObject_st *o;
    TRY(user_object_of(object, &o));
    NEED(count);
    struct kept **at = find(list, object), *k = *at;
    NEED(k && k->count >= count);
    k->count -= count;
    if (!k->count) {
        *at = k->next;
        free(k);
    }
    user_object_drop(o, count);
    return CUDA_SUCCESS;
}
