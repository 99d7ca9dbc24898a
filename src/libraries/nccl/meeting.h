/* How ranks find each other: an ncclUniqueId is the name of a socket, at which a thread of the
 * process that has made the id hands out the file that the ranks share (world.h), to processes of
 * its own user alone. The socket has no place in the file system, and goes with the process.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_MEETING_H
#define HEDDLE_LIBRARIES_NCCL_MEETING_H

#include "cuda/nccl.h"

ncclResult_t meeting_open(ncclUniqueId *id);

/* What a rank has got: the file, and a connection that is open as long as some ranks are missing
 * and the process that made the id lives; or -1. */
struct invitation {
    int file, connection;
};
/* `why` is a sentence after an error. */
ncclResult_t meeting_join(const ncclUniqueId *id, int n_ranks, int rank, struct invitation *invitation,
                          const char **why);
void meeting_after_fork(void);

#endif
