/* Groups of calls ("Group Calls" of NCCL's guide): what a thread calls between ncclGroupStart and
 * the last ncclGroupEnd is done there: first communicators are made, then work is put into streams.
 * A call outside of a group is a group of its own.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_GROUP_H
#define HEDDLE_LIBRARIES_NCCL_GROUP_H

#include "libraries/nccl/plan.h"

/* A communicator that is being made: initialised, split off or shrunk from another one. */
struct job;

void group_enter(void);
/* Ends what group_enter() began, with the result of the call: the first error of a group is its
 * own. */
ncclResult_t group_leave(ncclResult_t result);
/* In a group. The job becomes the group's. */
ncclResult_t group_add_job(struct job *j);
ncclResult_t group_add(struct comm *c, CUstream stream, const struct operation *o);

/* ---- jobs (jobs.c) ---- */

/* Goes on, without waiting; ncclInProgress, or how it has ended. */
ncclResult_t job_go_on(struct job *j);
/* What waits for the end of an earlier job of the same communicator. */
const struct comm *job_parent(const struct job *j);
bool job_is_blocking(const struct job *j);
/* Leaves it to ncclCommGetAsyncError, where somebody has a handle of what it makes. */
void job_leave(struct job *j);
/* `result`: how it has ended. What it has made is the program's, or is no more. */
void job_end(struct job *j, ncclResult_t result);

#endif
