/* Files of sources that findings name: their lines, where they are at hand, and their names from
 * the root of the sources. */
#ifndef HEDDLE_REPORT_LINES_H
#define HEDDLE_REPORT_LINES_H

#include "base/diag.h"

/* Line `number` of the file, as compilers name it, without its end; .p is NULL where there is none.
 * The file is looked for from here and, where its name is none of an absolute path, from the folder
 * of the place's PTX; `p` may be NULL. */
struct str source_line(const char *file, const struct place *p, uint32_t number, struct arena *arena);

/* The folder that reports name files from: the nearest one from here up that has a .git, else this
 * one. Asks the file system. */
const char *source_root(struct arena *arena);
/* The file's name from the root (NULL: the current folder), where it is below it: "src/app.cu";
 * else NULL. */
const char *source_below(const char *root, const char *file, struct arena *arena);
/* That, or the name as it is. */
const char *source_name(const char *root, const char *file, struct arena *arena);

#endif
