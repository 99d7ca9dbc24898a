/* The commands of heddle debug's terminal: debug_commands.def. Each function gets the text behind
 * the command's name. Private to cli/. */
#ifndef HEDDLE_CLI_DEBUG_COMMANDS_H
#define HEDDLE_CLI_DEBUG_COMMANDS_H

#include "cli/debug_front.h"

#define DEBUG_COMMAND(name, alias, function, repeats, usage, help)                                                     \
    void debug_command_##function(struct front *f, char *arguments);
#include "cli/debug_commands.def"
#undef DEBUG_COMMAND

/* ---- debug_arguments.c ---- */

char *command_skip(char *p);
/* Reads a count, by default 1; returns -1 after it has printed an error. */
int64_t command_count(struct front *f, char *text);
/* Skips the word, if the text starts with it. */
bool command_has_word(char **at, const char *word);
/* Can the debugger be asked? If not, it has printed why. */
bool front_stands(struct front *f);
bool front_is_ok(const json_t *answer);

/* ---- debug_breaks.c ---- */

/* Sets a breakpoint. Returns in how many places of the kernel it is now; -1: there is no kernel,
 * or what was typed is wrong, which was printed. */
int64_t command_break(struct front *f, char *arguments, bool temporary);
/* Deletes a breakpoint, if it is still there. */
bool command_forget_break(struct front *f, long long id);

/* ---- debug_script.c ---- */

/* The number in a shown value: "97" of "97 'a'", "0x10" of "(@shared int *) 0x10". */
const char *command_number_in(const char *value);
/* The name behind a $: "n" of "$n + 1"; empty if the text begins with none. */
struct str command_name_at(const char *text);
/* Prints the character behind a backslash; returns what is behind it. */
const char *command_put_escape(const char *p);
/* What Heddle offers instead of a line that other debuggers understand; NULL: the line is not
 * known. */
const char *debug_elsewhere(const char *line);

/* ---- debug_complete.c ---- */

/* Possible next words after a line's beginning; the caller frees the array. */
json_t *debug_completions(struct front *f, const char *before);

#endif
