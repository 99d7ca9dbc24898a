/* Files that are written from inside of the sandbox: the broker (sandbox/broker.h) makes them and
 * gives them their names at the end, by the functions of file.h, whose counterparts these are. */
#ifndef HEDDLE_FILES_OUTPUTS_H
#define HEDDLE_FILES_OUTPUTS_H

#include <stdbool.h>

#include "base/arena.h"

/* Adds the service, before the sandbox is entered: `may_write` is asked in the broker. False with
 * errno. */
bool outputs_serve(bool (*may_write)(void *data, const char *path), void *data);
bool outputs_are_outside(void);

/* All three return NULL or what went wrong, in the arena. */
const char *outputs_may_create(struct arena *arena, const char *path);
const char *outputs_create(struct arena *arena, const char *path, int *fd);
/* What has been created there gets its name, or is removed. */
const char *outputs_finish(struct arena *arena, const char *path, bool good);

#endif
