/* The command lines of compilers. Private to cc/. */
#ifndef HEDDLE_CC_COMMANDS_H
#define HEDDLE_CC_COMMANDS_H

#include "cc/compile.h"

/* Of a .cu file's device code for one architecture, and of its host's. Both read the source as it
 * is or, where it has such, with closures laid out as nvcc does. `output`: NULL is stdout. */
cc_words cc_device_command(struct job *j, const char *input, const char *arch, const char *output);
cc_words cc_host_command(struct job *j, const char *input, const char *output);
/* The host's compiler alone: C, C++, or our own C. */
cc_words cc_plain_command(struct job *j, const char *input, enum cc_language language, const char *output);
/* The preprocessor for an architecture, or for the host where that is NULL; `output`: what is to be
 * made, for a rule for make. */
cc_words cc_preprocess_command(struct job *j, const char *input, const char *arch, const char *output, const char *to);
/* clang's dump of what lambdas capture in a text (closures.c) that is read in the place of the
 * input. */
cc_words cc_dump_command(struct job *j, const char *input, const char *arch, const char *instead);

/* The number of a relocatable object, by its source and its name: eight hexadecimal digits. */
const char *cc_unit(struct job *j, const char *input);

/* Is it the folder of a toolkit's own headers? */
bool cc_is_toolkit(struct job *j, const char *folder);
/* Options of the host's compiler, where it links, too. */
void cc_add_host_options(struct job *j, cc_words *c);
/* Is -fopenmp among them? */
bool cc_has_openmp(struct job *j);
/* Does the host's compilation end with text, and not with an object? */
bool cc_stops_at_text(const struct cc_options *o);

#endif
