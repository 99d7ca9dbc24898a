/* Names of sources: how messages name them, and how reports do that are read elsewhere. */
#ifndef HEDDLE_BASE_FILE_NAME_H
#define HEDDLE_BASE_FILE_NAME_H

#include "base/arena.h"

/* The folder that reports name files from: the nearest one that has a .git, from where the process
 * was upwards when it first asked, else that one. Whoever enters the sandbox asks before. */
const char *source_root(void);
/* The file's name from a folder (NULL: the current one), where it is below it: "src/app.cu"; else
 * NULL. */
const char *source_below(const char *from, const char *file, struct arena *arena);
/* That, or the name as it is. */
const char *source_name(const char *from, const char *file, struct arena *arena);

/* How all messages name a file, of CUDA C or of PTX, that compilers or users name: from the current
 * folder, where it is below that or below the source root: "src/app.cu", "../src/app.cu"; else by
 * its absolute path. What is no path of a file ("PTX 1 of app") stays. As printable_excerpt() makes
 * it. */
const char *file_as_shown(const char *file, struct arena *arena);

#endif
