/* Files of sources that findings name: their lines, where they are at hand. */
#ifndef HEDDLE_REPORT_LINES_H
#define HEDDLE_REPORT_LINES_H

#include "base/diag.h"

/* Line `number` of the file, as compilers name it, without its end; .p is NULL where there is none.
 * The file is looked for from here and, where its name is none of an absolute path, from the folder
 * of the place's PTX; `p` may be NULL. */
struct str source_line(const char *file, const struct place *p, uint32_t number, struct arena *arena);
/* The same of the n lines from `first` on, which is at least 1; the file is read once. */
void source_lines(const char *file, const struct place *p, uint32_t first, unsigned n, struct str lines[],
                  struct arena *arena);

#endif
