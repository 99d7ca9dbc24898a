/* What an exploration is asked: the places whose final values make an outcome, and conditions on
 * these.
 *
 * A place is written NUMBER[ELEMENT] or NAME[ELEMENT], `[0]` may be left out behind a name; behind
 * it :TYPE, as in 2[0]:u64, says how its elements are to be taken. What a number and a name stand
 * for knows whoever has the launch: a name is a parameter's or a variable's. */
#ifndef HEDDLE_EXPLORE_QUESTIONS_H
#define HEDDLE_EXPLORE_QUESTIONS_H

#include "base/opts.h"
#include "base/str.h"
#include "explore/condition.h"
#include "explore/explore.h"

struct place_name {
    unsigned argument; /* from 1; 0: it has a name */
    struct str name;
    uint64_t element;
    enum isa_type type; /* TYPE_none: as it is declared */
};

/* Where a place is, and whether its type is a signed one; returns NULL, or what is wrong, in the
 * arena. */
typedef const char *place_find_fn(void *data, const struct place_name *name, struct observed *at, bool *is_signed);

struct questions {
    struct arena *arena;
    place_find_fn *find;
    void *data;
    VEC(struct observed) observed;
    VEC(const char *) names;  /* of what is observed, as written */
    VEC(uint8_t) signed_bits; /* of those that have a signed type; else 0 */
    VEC(struct claim) claims;
};

/* They return NULL, or what is wrong, in the arena. */
/* All of a command line: what --observe, --require and --forbid say. */
const char *questions_ask(struct questions *q, const struct opt_list *observe, const struct opt_list *require,
                          const struct opt_list *forbid);
const char *questions_observe(struct questions *q, const char *place);
/* What a condition names is observed, too. */
const char *questions_claim(struct questions *q, const char *condition, bool forbidden);
/* Observes what has been found already; what has that name is there once. */
void questions_add(struct questions *q, struct observed at, const char *name, bool is_signed);

#endif
