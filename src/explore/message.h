/* A rank's findings as bytes for the first rank. Ranks run one program on machines of one kind, so
 * numbers have their format in memory. */
#ifndef HEDDLE_EXPLORE_MESSAGE_H
#define HEDDLE_EXPLORE_MESSAGE_H

#include "explore/searchers.h"

struct bytes {
    uint8_t *at;
    size_t n, room;
    bool failed; /* memory was exhausted */
};
void bytes_put(struct bytes *b, const void *from, size_t n);

/* Findings of another rank that are not part of the result itself. */
struct found_elsewhere {
    bool is_full, interrupted;
};

/* `counts`: false if the search restarts: then only the header is written. */
void message_write(const struct search *s, bool counts, struct bytes *b);
/* Adds the findings to a result, and to `leaves` the executions that must be examined here: those
 * with findings, and examples. Returns false if the bytes are invalid, or of another launch. */
bool message_read(const struct search *s, const uint8_t *at, size_t n, struct explore_result *r, struct tree *leaves,
                  struct found_elsewhere *f);

#endif
