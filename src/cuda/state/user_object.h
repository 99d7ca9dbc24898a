/* User objects: what a program wants destroyed when no graph needs it any more. Graphs hold
 * references, and so do graphs made ready, until their last launch has ended. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_USER_OBJECT_H
#define HEDDLE_CUDA_STATE_USER_OBJECT_H

#include "cuda/state/state.h"

CUresult user_object_new(CUhostFn destroy, void *data, unsigned references, CUuserObject *object);
CUresult user_object_of(CUuserObject handle, struct CUuserObject_st **o);
/* False where it is about to be destroyed. */
bool user_object_hold(struct CUuserObject_st *o, unsigned count);
/* False where there are not so many references. */
bool user_object_drop(struct CUuserObject_st *o, unsigned count);

/* References to a user object. */
struct kept {
    struct kept *next;
    CUuserObject object; /* its handle */
    unsigned count;
};

/* More references to an object, as cuGraphRetainUserObject has it, and fewer. */
CUresult kept_retain(struct kept **list, CUuserObject object, unsigned count, unsigned flags);
CUresult kept_give_back(struct kept **list, CUuserObject object, unsigned count);
/* References to the same user objects; where that fails, those that there are so far. */
CUresult kept_copy(const struct kept *from, struct kept **to);
void kept_release(struct kept **list);

#endif
