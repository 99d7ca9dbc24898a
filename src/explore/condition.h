/* Conditions on outcomes: --require, --forbid.
 *
 *     2[0] == 1 && (counter[3] < 5 || !(1[0] == 1[1]))
 *
 * Places are those of --observe; numbers are C's; the operators are C's || && == != <
 * <= > >= + - ! and parentheses, on whole numbers that do not wrap: a place of a
 * signed type may be less than 0. */
#ifndef HEDDLE_EXPLORE_CONDITION_H
#define HEDDLE_EXPLORE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct condition;

/* Returns the number of an observed place, adding it if needed; -1 after reporting that there is no
 * such place. *signed_bits is 0 at the call, and receives the width of a signed type. */
typedef int condition_place_fn(void *data, const char *name, unsigned *signed_bits);

/* Returns NULL after an error. *error, in the arena, has the reason, and the text with a mark under
 * the place; "" if the place function has reported the error. */
struct condition *condition_parse(struct arena *arena, const char *text, condition_place_fn *place, void *data,
                                  const char **error);
bool condition_holds(const struct condition *c, const uint64_t *values);

/* A condition on outcomes, as the user wrote it. */
struct claim {
    const char *text;
    bool forbidden; /* --forbid: false for every outcome; else --require: true for every one */
    const struct condition *condition;
};

bool claim_is_broken(const struct claim *c, const uint64_t *values);

#endif
