/* The numbered PTX texts inside a program or a library, which messages call `PTX 2 of app`. */
#ifndef HEDDLE_CLI_PROGRAM_PTX_H
#define HEDDLE_CLI_PROGRAM_PTX_H

#include "cli/cli.h"

/* The text of this number that fits an H200; .p is NULL if there is none. */
struct str program_ptx(const char *path, unsigned number, struct arena *arena);
/* The same by the text's name in messages, for the program at that path. */
struct str program_ptx_named(const char *path, const char *name, struct arena *arena);
/* heddle ptx --of PROGRAM [NUMBER]... */
int program_ptx_show(struct session *s, const char *path);

#endif
