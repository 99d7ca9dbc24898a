/* Shows buffers after a launch: as text, as JSON, in files. */
#ifndef HEDDLE_CLI_SHOW_H
#define HEDDLE_CLI_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "cli/arg.h"

/* The number of elements that differ from `before`. */
uint64_t buffer_changed(const struct buffer *b);

/* Shows the buffer as its +WHAT asks; without one, a line if the kernel changed it. Returns whether
 * something was shown. */
bool show_buffer(FILE *out, const struct buffer *b, struct arena *arena);

/* {"argument" or "variable", "type", "shape", "bytes", "changed", "crc32", "min", "max", "mean",
 * "nan", "values" (all of them with +print, else the first)}. Infinities, NaNs and integers above
 * 2^63 are strings.
 */
json_t *show_buffer_json(const struct buffer *b);

/* Writes +save's file. Returns NULL, or what went wrong, in the arena. */
const char *show_save(const struct buffer *b, struct arena *arena);

#endif
