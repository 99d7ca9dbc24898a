/* User objects, which are destroyed when no graph needs them any more. Graphs and instantiated
 * graphs hold references, the latter until their last launch has ended. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_USER_OBJECT_H
#define HEDDLE_CUDA_STATE_USER_OBJECT_H

#include "cuda/state/state.h"

CUresult user_object_new(CUhostFn destroy, void *data, unsigned references, CUuserObject *object);
CUresult user_object_of(CUuserObject handle, struct CUuserObject_st **o);
/* Returns false if it is about to be destroyed. */
bool user_object_hold(struct CUuserObject_st *o, unsigned count);
/* Returns false if there are fewer references. */
bool user_object_drop(struct CUuserObject_st *o, unsigned count);

/* References to a user object. */
struct kept {
    struct kept *next;
    CUuserObject object; /* its handle */
    unsigned count;
};

/* Adds references to an object, as cuGraphRetainUserObject does; removes them. */
CUresult kept_retain(struct kept **list, CUuserObject object, unsigned count, unsigned flags);
CUresult kept_give_back(struct kept **list, CUuserObject object, unsigned count);
/* Copies the references; after an error, only some of them. */
CUresult kept_copy(const struct kept *from, struct kept **to);
void kept_release(struct kept **list);

#endif
