/* The memory that the ranks of a communicator share, in one process or in several: a file without a
 * name. In it are channels, one from each rank to each other in each of two lanes, and what is
 * known of each rank.
 *
 * Whether a rank's process lives shows in a lock that it holds on a byte of the file: the system
 * gives it back when the process ends, however it does, and whatever the ranks know of each other's
 * process numbers.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_WORLD_H
#define HEDDLE_LIBRARIES_NCCL_WORLD_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/nccl.h"

/* As many as Heddle has devices: a device has one rank of a communicator. */
enum { WORLD_RANKS = 16, CHANNEL_SLOTS = 4, SLOT_BYTES = 64 << 10 };

enum lane { LANE_COLLECTIVE, LANE_PAIR, LANES };

/* What the sender is about: the receiver finds out whether it is about the same. */
struct message {
    uint32_t function; /* enum function, in plan.h */
    uint32_t type, op;
    int32_t root;
    uint64_t bytes; /* of all of it */
};

struct slot {
    struct message of;
    uint32_t bytes;
    alignas(64) char data[SLOT_BYTES];
};

/* A queue of one writer and one reader. */
struct channel {
    alignas(64) _Atomic uint64_t written;
    alignas(64) _Atomic uint64_t read;
    struct slot slots[CHANNEL_SLOTS];
};

/* What a rank says to the others of itself, when a communicator is split. */
struct split_note {
    int32_t color, key;
};

enum seat { SEAT_EMPTY, SEAT_TAKEN, SEAT_LEFT, SEAT_FAILED };

struct member {
    _Atomic int seat;        /* enum seat; SEAT_LEFT: its communicator has been destroyed */
    char device[16];         /* its UUID; valid once the seat is taken */
    _Atomic uint64_t splits; /* how often it has said something here: */
    struct split_note notes[2];
    _Atomic uint64_t mails; /* how often it has given the others an id for a new communicator: */
    uint32_t mail_ranks;    /* those that it is for */
    ncclUniqueId mail;
};

struct shared {
    uint32_t n_ranks;
    _Atomic bool complete; /* every rank has come */
    struct member members[WORLD_RANKS];
    struct channel channels[];
};

struct world {
    struct shared *shared;
    size_t bytes;
    int file, rank;
};

size_t world_bytes(int n_ranks);
/* Takes a seat in the world that the file is of; the file stays the caller's. NULL: no. */
struct world *world_enter(int file, int n_ranks, int rank);
/* The others learn how it has ended. */
void world_leave(struct world *w, enum seat end);
/* In a child of fork(), which is no rank. */
void world_let_go(struct world *w);

static inline struct channel *world_channel(const struct world *w, enum lane lane, int from, int to)
{
    struct shared *s = w->shared;
    return &s->channels[((size_t)lane * s->n_ranks + (size_t)from) * s->n_ranks + (size_t)to];
}

/* Has the rank, which had taken its seat, left, failed, or ended with its process? */
bool world_has_lost(const struct world *w, int rank);

#endif
