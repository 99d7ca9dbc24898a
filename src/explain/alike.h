/* Launches of which all that is counted is equal: they are told of once.
 *
 * A program that launches a kernel a hundred thousand times has few that differ in a figure. What
 * is remembered of a launch is 32 bytes: its number and a fingerprint of 128 bits of its counters.
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

/* Of all that a launch's record has, which the caller has cleared before it was filled. */
struct fingerprint fingerprint_of(const struct kernel_counters *c);
/* The number that the fingerprint was added with, from 1 on; 0: it is new. */
uint64_t alike_find(const struct alike *a, struct fingerprint f);
/* What is not added, as memory is exhausted, is new again the next time. */
void alike_add(struct alike *a, struct fingerprint f, uint64_t number);
void alike_free(struct alike *a);

#endif
