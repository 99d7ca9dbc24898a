/* Undoes the changes that a launch has made to global memory since some time. It keeps each byte's
 * value from before the first write since that time. */
#ifndef HEDDLE_DEBUG_UNDO_H
#define HEDDLE_DEBUG_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNDO_BYTES = 64 }; /* the size and alignment of a piece */

struct undo_piece {
    uint64_t at;
    uint8_t before[UNDO_BYTES];
};

struct undo {
    struct undo_piece *pieces; /* a hash table, by address; `at` 0: empty */
    size_t n, room;
};

/* Keeps bytes that are about to be written. False: they cannot be kept, because memory is exhausted
 * or the table would need more than the remaining *left_bytes. The call can then be
 * repeated. */
bool undo_keep(struct undo *u, uint64_t at, uint64_t bytes, uint64_t *left_bytes);
/* Restores all kept bytes, and forgets them. */
void undo_all(struct undo *u);
/* Adds the changes since a later time to those since an earlier time. False: out of memory; `later`
 * is unchanged. */
bool undo_merge(struct undo *earlier, struct undo *later, uint64_t *left_bytes);
void undo_free(struct undo *u, uint64_t *left_bytes);

#endif
