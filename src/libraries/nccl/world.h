/* Memory shared by the ranks of a communicator, in one or several processes: an unnamed file with
 * channels from each rank to each other, in each of two lanes, and a record for each rank.
 *
 * A rank's process holds a lock on a byte of the file, which shows that it lives: the system
 * releases the lock when the process ends in any way, and process numbers need not be shared.
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

/* What the sender is doing, so that the receiver can check that it does the same. */
struct message {
    uint32_t function; /* enum function, in plan.h */
    uint32_t type, op;
    int32_t root;
    uint64_t bytes; /* in total */
};

struct slot {
    struct message of;
    uint32_t bytes;
    alignas(64) char data[SLOT_BYTES];
};

/* A queue with one writer and one reader. */
struct channel {
    alignas(64) _Atomic uint64_t written;
    alignas(64) _Atomic uint64_t read;
    struct slot slots[CHANNEL_SLOTS];
};

/* A rank's announcement when a communicator is split. */
struct split_note {
    int32_t color, key;
};

enum seat { SEAT_EMPTY, SEAT_TAKEN, SEAT_LEFT, SEAT_FAILED };

struct member {
    _Atomic int seat;        /* enum seat; SEAT_LEFT: its communicator was destroyed */
    char device[16];         /* its UUID; valid once the seat is taken */
    _Atomic uint64_t splits; /* number of its announcements here: */
    struct split_note notes[2];
    _Atomic uint64_t mails; /* number of ids for new communicators that it has sent: */
    uint32_t mail_ranks;    /* the ranks that the id is for */
    ncclUniqueId mail;
};

struct shared {
    uint32_t n_ranks;
    _Atomic bool complete; /* all ranks have come */
    struct member members[WORLD_RANKS];
    struct channel channels[];
};

struct world {
    struct shared *shared;
    size_t bytes;
    int file, rank;
};

size_t world_bytes(int n_ranks);
/* Takes a seat in the world of the file, which stays the caller's. Returns NULL if that fails. */
struct world *world_enter(int file, int n_ranks, int rank);
/* Leaves; the others see how it ended. */
void world_leave(struct world *w, enum seat end);
/* In a child of fork(), which is no rank. */
void world_let_go(struct world *w);

static inline struct channel *world_channel(const struct world *w, enum lane lane, int from, int to)
{
    struct shared *s = w->shared;
    return &s->channels[((size_t)lane * s->n_ranks + (size_t)from) * s->n_ranks + (size_t)to];
}

/* Has a seated rank left, failed, or ended with its process? */
bool world_has_lost(const struct world *w, int rank);

#endif
