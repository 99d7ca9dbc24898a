/* Words of a command, as a shell reads them. */
#ifndef HEDDLE_BASE_SHELL_H
#define HEDDLE_BASE_SHELL_H

#include "base/arena.h"

/* The word, in quotes where it needs some. */
const char *shell_word(struct arena *arena, const char *word);

#endif
