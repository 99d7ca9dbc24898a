/* Groups of calls ("Group Calls" in NCCL's guide): calls between a thread's ncclGroupStart and the
 * last ncclGroupEnd are done at the end: communicators are created first, then work is submitted. A
 * call outside a group is a group of its own.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_GROUP_H
#define HEDDLE_LIBRARIES_NCCL_GROUP_H

#include "libraries/nccl/plan.h"

/* A communicator being created: initialised, split off or shrunk from another. */
struct job;

void group_enter(void);
/* Ends what group_enter() began, with the call's result; a group returns its first error. */
ncclResult_t group_leave(ncclResult_t result);
/* Adds a job to the current group, which then owns it. */
ncclResult_t group_add_job(struct job *j);
ncclResult_t group_add(struct comm *c, CUstream stream, const struct operation *o);

/* ---- jobs (jobs.c) ---- */

/* Proceeds without waiting; returns ncclInProgress, or the final result. */
ncclResult_t job_go_on(struct job *j);
/* The parent communicator, whose earlier jobs must end first. */
const struct comm *job_parent(const struct job *j);
bool job_is_blocking(const struct job *j);
/* Leaves it to ncclCommGetAsyncError, if the program has a handle already. */
void job_leave(struct job *j);
/* `result`: the final result. The new communicator becomes the program's, or is freed. */
void job_end(struct job *j, ncclResult_t result);

#endif
