/* Files of sources that findings name: their lines, where they are at hand. */
#ifndef HEDDLE_REPORT_LINES_H
#define HEDDLE_REPORT_LINES_H

#include "base/diag.h"

/* Line `number` of the file, as compilers name it, without its end; .p is NULL where there is none.
 * The file is looked for from here and, where its name is none of an absolute path, from the folder
 * of the place's PTX; `p` may be NULL. */
struct str source_line(const char *file, const struct place *p, uint32_t number, struct arena *arena);

#endif
