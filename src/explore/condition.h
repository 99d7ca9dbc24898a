/* Conditions on outcomes: --require, --forbid.
 *
 *     2[0] == 1 && (counter[3] < 5 || !(1[0] == 1[1]))
 *
 * Places are those of --observe; numbers are C's; the operators are C's || && == != < <= > >= + - !
 * and parentheses, on whole numbers that do not wrap: a place of a signed type may be less than 0. */
#ifndef HEDDLE_EXPLORE_CONDITION_H
#define HEDDLE_EXPLORE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct condition;

/* The number of a place among those observed, which it may add; -1 with an error said where there
 * is none such. Of a signed type: its bits in *signed_bits, which is 0 before. */
typedef int condition_place_fn(void *data, const char *name, unsigned *signed_bits);

/* NULL with *error, in the arena, what is wrong, the text and a mark under the place; "" where the
 * place function has said it. */
struct condition *condition_parse(struct arena *arena, const char *text, condition_place_fn *place, void *data,
                                  const char **error);
bool condition_holds(const struct condition *c, const uint64_t *values);

/* A condition on outcomes, as it was asked for. */
struct claim {
    const char *text;
    bool forbidden; /* --forbid: of no outcome; else --require: of every one */
    const struct condition *condition;
};

bool claim_is_broken(const struct claim *c, const uint64_t *values);

#endif
