/* Handles that cannot lie: numbers that stand for records. A handle is a place in the table and how
 * often the place had been given out before, so that what was destroyed, NULL, a small number, an
 * address, or the handle of another process or kind is told from a good one, and nothing is read
 * through it to find out.
 *
 * Looking up takes no lock. What it finds may be on its way out: a record is freed when no call is
 * left that may have found it (base/calls.h).
 */
#ifndef HEDDLE_BASE_HANDLE_TABLE_H
#define HEDDLE_BASE_HANDLE_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { HANDLE_CHUNK = 4096, HANDLE_CHUNKS = 4096 };

/* A place. Its tag is the handle and the kind; 0 where it is free. */
struct handle_slot {
    _Atomic uint64_t tag;
    void *_Atomic record;
    const void *owner;   /* what it ends with, or NULL */
    uint64_t generation; /* of the next handle here */
};

/* Zeroed, with PTHREAD_MUTEX_INITIALIZER, it is empty. */
struct handle_table {
    pthread_mutex_t lock; /* for all but looking up */
    struct handle_slot *_Atomic chunks[HANDLE_CHUNKS];
    uint32_t n; /* places that have ever been given out */
    /* And those that are free again: a ring, so that each rests as long as the others. */
    uint32_t *free;
    uint32_t n_free, first_free, free_capacity;
};

/* A handle for a record; kinds are 1 to 15. NULL: memory, or the table, is exhausted. It has the
 * alignment of an address, and is none. */
void *handle_add(struct handle_table *t, unsigned kind, void *record, const void *owner);
/* The record; NULL where it is no handle of that kind, or none any more. */
void *handle_find(struct handle_table *t, const void *handle, unsigned kind);
/* The same, and it is no handle from now on: one of several callers gets the record. */
void *handle_take(struct handle_table *t, const void *handle, unsigned kind);
/* Gives a handle that is one another record. */
void handle_replace(struct handle_table *t, const void *handle, void *record);
/* Takes what ends with the owner, one after the other: from place *at on, which is 0 at first.
 * NULL: there is no more. */
void *handle_take_owned(struct handle_table *t, const void *owner, uint32_t *at, unsigned *kind);
/* Calls `visit` for all of a kind, with the lock held. */
void handle_each(struct handle_table *t, unsigned kind, void (*visit)(void *data, void *record), void *data);
/* In a child of fork(): the lock is free. */
void handle_after_fork(struct handle_table *t);

#endif
