/* What a rank has found, as bytes for the first one. Ranks are one program on machines of one kind:
 * numbers are as they are in memory. */
#ifndef HEDDLE_EXPLORE_MESSAGE_H
#define HEDDLE_EXPLORE_MESSAGE_H

#include "explore/searchers.h"

struct bytes {
    uint8_t *at;
    size_t n, room;
    bool failed; /* there was no memory */
};
void bytes_put(struct bytes *b, const void *from, size_t n);

/* What is not a part of the result itself. */
struct found_elsewhere {
    bool is_full, interrupted;
};

/* `counts`: false: the search begins once more, and nothing but who it is is written. */
void message_write(const struct search *s, bool counts, struct bytes *b);
/* Adds it to a result, and to `leaves` the executions that have to be looked at again: those with
 * findings, and those that are examples. False: the bytes are none, or of another launch. */
bool message_read(const struct search *s, const uint8_t *at, size_t n, struct explore_result *r, struct tree *leaves,
                  struct found_elsewhere *f);

#endif
