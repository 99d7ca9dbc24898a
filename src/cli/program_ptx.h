/* The PTX that a program or a library has inside, by its numbers: what messages call `PTX 2 of
 * app`. */
#ifndef HEDDLE_CLI_PROGRAM_PTX_H
#define HEDDLE_CLI_PROGRAM_PTX_H

#include "cli/cli.h"

/* The text, for an H200, of that number; .p is NULL where there is none. */
struct str program_ptx(const char *path, unsigned number, struct arena *arena);
/* The same by the name that a place has, of a program at that path. */
struct str program_ptx_named(const char *path, const char *name, struct arena *arena);
/* heddle ptx --of PROGRAM [NUMBER]... */
int program_ptx_show(struct session *s, const char *path);

#endif
