/* A limit for the checker's memory. All data that grows with the watched memory is counted here.
 * A tool that is refused memory stops watching and reports that. Thread-safe. */
#ifndef HEDDLE_CHECK_BUDGET_H
#define HEDDLE_CHECK_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct budget {
    uint64_t limit_bytes;
    _Atomic uint64_t bytes;
    _Atomic bool refused;
};

/* The default limit is half of this computer's memory. */
void budget_init(struct budget *b, uint64_t limit_bytes);
/* False if it would exceed the limit. A NULL budget has no limit. */
bool budget_take(struct budget *b, uint64_t bytes);
void budget_give(struct budget *b, uint64_t bytes);
uint64_t budget_left(const struct budget *b);
/* Is more than half of it taken? */
bool budget_is_short(const struct budget *b);
/* The reason for stopping ("the checker's records have reached their limit, 64 MiB", "memory has
 * run out"), and a remedy. */
const char *budget_words(const struct budget *b, struct arena *arena);
const char *budget_help(const struct budget *b);

#endif
