/* Places that findings are at: kept beyond their modules, and compared for the order of reports. */
#ifndef HEDDLE_CHECK_PLACES_H
#define HEDDLE_CHECK_PLACES_H

#include "base/diag.h"

struct site;

/* One copy of each text that places are in. */
struct kept_sources {
    struct kept_source *newest;
};

/* The place of a site, or of NULL, in the arena. */
struct place place_keep(struct kept_sources *kept, const struct site *s, struct arena *arena);
/* By text and offset; those without a text by the line of CUDA. */
int place_compare(const struct place *a, const struct place *b);
/* Are they one to a reader of the source? Copies of a line that a compiler has made are, and
 * instructions of the host of one line. */
bool place_same_line(const struct place *a, const struct place *b);

#endif
