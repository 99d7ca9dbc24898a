/* The commands of heddle debug's terminal: debug_commands.def. Each takes what stands behind its
 * name. Private to cli/. */
#ifndef HEDDLE_CLI_DEBUG_COMMANDS_H
#define HEDDLE_CLI_DEBUG_COMMANDS_H

#include "cli/debug_front.h"

#define DEBUG_COMMAND(name, alias, function, repeats, usage, help)                                                     \
    void debug_command_##function(struct front *f, char *arguments);
#include "cli/debug_commands.def"
#undef DEBUG_COMMAND

/* ---- arguments ---- */

char *command_skip(char *p);
/* A count, 1 where there is none; -1 with what is wrong said. */
int64_t command_count(struct front *f, char *text);
/* Past a word that stands there. */
bool command_has_word(char **at, const char *word);
/* Something can be asked; else what is wrong has been said. */
bool front_stands(struct front *f);
bool front_is_ok(const json_t *answer);

/* What there is instead of a line that other debuggers have; NULL: nothing is known of it. */
const char *debug_elsewhere(const char *line);

/* ---- debug_complete.c ---- */

/* Words that may stand behind a line's beginning; the array is the caller's. */
json_t *debug_completions(struct front *f, const char *before);

#endif
