/* Finds launches whose counts are all equal, so that each set is reported once.
 *
 * A program that launches a kernel a hundred thousand times has few launches that differ. The table
 * keeps 32 bytes of each: its number and a 128-bit fingerprint of its counters.
 */
#ifndef HEDDLE_EXPLAIN_ALIKE_H
#define HEDDLE_EXPLAIN_ALIKE_H

#include "explain/counters.h"

struct fingerprint {
    uint64_t half[2];
};

struct alike {
    struct alike_entry *at; /* open addressing; number 0: free */
    size_t n, room;         /* a power of two, or 0 */
};

/* The fingerprint of a launch's whole record, padding included: the caller cleared the record
   before filling it. */
struct fingerprint fingerprint_of(const struct kernel_counters *c);
/* The number that was added with the fingerprint, from 1; 0 if it is new. */
uint64_t alike_find(const struct alike *a, struct fingerprint f);
/* If memory is exhausted nothing is added, and the fingerprint is new again next time. */
void alike_add(struct alike *a, struct fingerprint f, uint64_t number);
void alike_free(struct alike *a);

#endif
