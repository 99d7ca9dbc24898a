/* See world.h. */
#include "libraries/nccl/world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

size_t world_bytes(int n_ranks)
{
    return sizeof(struct shared) + (size_t)LANES * (size_t)n_ranks * (size_t)n_ranks * sizeof(struct channel);
}

static struct flock byte_of(int rank, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
}

/* Opens the file again: locks belong to an open file, and last as long as it is open or mapped,
 * even in a child of fork(). */
static int open_again(int file)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR | O_CLOEXEC);
}

static bool take_seat(struct world *w, int file, int n_ranks)
{
    struct stat s;
    struct flock lock = byte_of(w->rank, F_WRLCK);
    w->bytes = world_bytes(n_ranks);
    if (w->file < 0 || fstat(w->file, &s) != 0 || (size_t)s.st_size < w->bytes ||
        fcntl(w->file, F_OFD_SETLK, &lock) != 0)
        return false;
    w->shared = mmap(NULL, w->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return w->shared != MAP_FAILED && w->shared->n_ranks == (uint32_t)n_ranks;
}

void world_let_go(struct world *w)
{
    if (w->file >= 0)
        close(w->file);
    w->file = -1;
}

static void forget(struct world *w)
{
    if (w->shared != MAP_FAILED)
        munmap(w->shared, w->bytes);
    world_let_go(w);
    free(w);
}

struct world *world_enter(int file, int n_ranks, int rank)
{
    struct world *w = malloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (struct world){.shared = MAP_FAILED, .file = open_again(file), .rank = rank};
    if (take_seat(w, file, n_ranks))
        return w;
    forget(w);
    return NULL;
}

void world_leave(struct world *w, enum seat end)
{
    int taken = SEAT_TAKEN;
    atomic_compare_exchange_strong(&w->shared->members[w->rank].seat, &taken, (int)end);
    forget(w);
}

bool world_has_lost(const struct world *w, int rank)
{
    struct flock lock = byte_of(rank, F_WRLCK);
    int seat = atomic_load(&w->shared->members[rank].seat);
    if (seat == SEAT_EMPTY || rank == w->rank)
        return false;
    return seat != SEAT_TAKEN || (fcntl(w->file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
}
