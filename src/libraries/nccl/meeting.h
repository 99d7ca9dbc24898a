/* How ranks find each other. An ncclUniqueId names a socket; a thread of the process that made the
 * id sends the file that the ranks share (world.h) to processes of the same user. The socket is not
 * in the file system, and ends with the process.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_MEETING_H
#define HEDDLE_LIBRARIES_NCCL_MEETING_H

#include "cuda/nccl.h"

ncclResult_t meeting_open(ncclUniqueId *id);

/* What a rank receives: the file, and a connection that stays open while ranks are missing and the
 * process that made the id lives; or -1. */
struct invitation {
    int file, connection;
};
/* `why` is a sentence after an error. */
ncclResult_t meeting_join(const ncclUniqueId *id, int n_ranks, int rank, struct invitation *invitation,
                          const char **why);
void meeting_after_fork(void);

#endif
