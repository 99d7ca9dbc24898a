/* The questions to an exploration: the places whose final values are the outcome, and conditions on
 * these.
 *
 * A place is written NUMBER[ELEMENT] or NAME[ELEMENT]; behind a name, `[0]` may be left out. A
 * suffix :TYPE, as in 2[0]:u64, sets the type of its elements. The caller, who has the launch,
 * resolves numbers and names: a name is a parameter's or a variable's. */
#ifndef HEDDLE_EXPLORE_QUESTIONS_H
#define HEDDLE_EXPLORE_QUESTIONS_H

#include "base/opts.h"
#include "base/str.h"
#include "explore/condition.h"
#include "explore/explore.h"

struct place_name {
    unsigned argument; /* from 1; 0: the place has a name */
    struct str name;
    uint64_t element;
    enum isa_type type; /* TYPE_none: the declared type */
};

/* Finds a place, and whether its type is signed; returns NULL, or what is wrong, in the arena. */
typedef const char *place_find_fn(void *data, const struct place_name *name, struct observed *at, bool *is_signed);

struct questions {
    struct arena *arena;
    place_find_fn *find;
    void *data;
    VEC(struct observed) observed;
    VEC(const char *) names;  /* of the observed places, as written */
    VEC(uint8_t) signed_bits; /* widths of those with a signed type; else 0 */
    VEC(struct claim) claims;
};

/* These functions return NULL, or what is wrong, in the arena. */
/* Takes all of a command line's --observe, --require and --forbid. */
const char *questions_ask(struct questions *q, const struct opt_list *observe, const struct opt_list *require,
                          const struct opt_list *forbid);
const char *questions_observe(struct questions *q, const char *place);
/* The places that a condition names are observed, too. */
const char *questions_claim(struct questions *q, const char *condition, bool forbidden);
/* Observes a place that was resolved before; a name is added once. */
void questions_add(struct questions *q, struct observed at, const char *name, bool is_signed);

#endif
