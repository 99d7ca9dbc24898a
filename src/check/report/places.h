/* Places of findings: copies that outlive their modules, and their order in reports. */
#ifndef HEDDLE_CHECK_PLACES_H
#define HEDDLE_CHECK_PLACES_H

#include "base/diag.h"
#include "heddle.h"

struct site;

/* One copy of each text that contains a place. */
struct kept_sources {
    struct kept_source *newest;
};

/* Copies the place of a site (or NULL) into the arena. */
struct place place_keep(struct kept_sources *kept, const struct site *s, struct arena *arena);
/* Compares by text and offset; places without a text compare by their line of CUDA. */
int place_compare(const struct place *a, const struct place *b);
/* Do they look the same to a reader of the source? True for copies of a line that a compiler has
 * made, and for host instructions of one line. */
bool place_same_line(const struct place *a, const struct place *b);

/* Adds the calls that launched a kernel: diag_launched(); `where`:
 * hd_checker_options.place, or NULL. */
void place_launch(struct diags *diags, const hd_checker_options *o, const void *where, bool of_note);

#endif
