/* Readable names of C++, whose components are joined by "::". */
#ifndef HEDDLE_BASE_QUALIFIED_H
#define HEDDLE_BASE_QUALIFIED_H

#include "base/arena.h"
#include "base/str.h"

/* Does a name end with `asked` as whole components: "geo::depth" with "depth", "float*
 * ns::pick" with "ns::pick"? */
bool name_ends_with(struct str name, struct str asked);
/* The last component: "tile" of "turn(ns::pair*)::tile",
 * "vec<ns::pair>" of "geo::vec<ns::pair>". */
struct str name_last(struct str name);
/* What stands before that, without the "::"; empty: nothing does. */
struct str name_before(struct str name);

/* The name without spaces that compilers and users write differently: "ring<float,pair<int>>" of
 * "ring<float, pair<int> >". In the arena; one without spaces is itself. */
const char *name_compact(const char *name, struct arena *arena);

/* Without the arguments of templates, of which `operator<` is none: "ring::push" of
 * "ring<float>::push<int>". */
const char *name_without_templates(const char *name, struct arena *arena);

#endif
