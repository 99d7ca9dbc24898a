/* What a launch has changed in memory, so that it can be run again from its start: the bytes that
 * were there before its first write to them. Shared and local memory begin anew with each run. */
#ifndef HEDDLE_DEBUG_UNDO_H
#define HEDDLE_DEBUG_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum { UNDO_BYTES = 64 }; /* of a piece, which begins at a multiple of so many */

struct undo_piece {
    uint64_t at;
    uint8_t before[UNDO_BYTES];
};

struct undo {
    uint64_t limit_bytes;      /* of what it keeps */
    struct undo_piece *pieces; /* a hash table, by address; `at` 0: empty */
    size_t n, room;
    bool lost; /* not all could be kept: there is no way back */
};

/* Bytes of the process are about to be written. */
void undo_keep(struct undo *u, uint64_t at, uint64_t bytes);
/* Puts back what was there, and forgets it. */
void undo_all(struct undo *u);
void undo_free(struct undo *u);

#endif
