/* The memory that a call uses, as ranges of equally spaced rows. */
#ifndef HEDDLE_CUBLAS_MEMORY_H
#define HEDDLE_CUBLAS_MEMORY_H

#include "libraries/cublas/call.h"

/* Ranges of an operand: a triangle has two for each power of 2. */
enum { PIECES = 64, MOST_USED = OPERANDS * PIECES + 4 };

struct uses {
    hd_used used[MOST_USED];
    size_t n;
    double bytes; /* each byte once, although the ranges of a triangle may overlap */
};

void uses_add(struct uses *u, const void *at, int64_t width, int64_t height, int64_t pitch, unsigned use);
/* For a batch: the operand of all problems, or the array of its addresses. */
void uses_add_operand(struct uses *u, const struct call *c, int i, const struct region *r);
/* In a task: the operands of all problems of a batch by addresses. The array is freed by free(). */
hd_used *uses_of_addresses(const struct call *c, const struct region r[], size_t *count);
int64_t region_bytes(const struct call *c, int i, const struct region *r);

#endif
