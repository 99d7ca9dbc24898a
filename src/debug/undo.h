/* What a launch changes in global memory from some time on, so that it can be put back: the bytes
 * that were there before the first write to them since then. */
#ifndef HEDDLE_DEBUG_UNDO_H
#define HEDDLE_DEBUG_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNDO_BYTES = 64 }; /* of a piece, which begins at a multiple of so many */

struct undo_piece {
    uint64_t at;
    uint8_t before[UNDO_BYTES];
};

struct undo {
    struct undo_piece *pieces; /* a hash table, by address; `at` 0: empty */
    size_t n, room;
};

/* Bytes of the process are about to be written. False where they cannot be kept: for want of
 * memory, or as the table, which *left_bytes are left for, would be too large; they can be asked
 * for again. */
bool undo_keep(struct undo *u, uint64_t at, uint64_t bytes, uint64_t *left_bytes);
/* Puts back what was there, and forgets it. */
void undo_all(struct undo *u);
/* What was changed since a later time is so since an earlier one. False for want of memory: the
 * later one is as it was. */
bool undo_merge(struct undo *earlier, struct undo *later, uint64_t *left_bytes);
void undo_free(struct undo *u, uint64_t *left_bytes);

#endif
