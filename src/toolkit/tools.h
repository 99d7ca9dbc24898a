/* heddle-tools NAME ARG...: programs by the names of the CUDA toolkit's that build systems call
 * beside nvcc. Scripts of a folder of `heddle cc --install-tools` call it. Each takes argv[0], its
 * name, and returns its exit status. */
#ifndef HEDDLE_TOOLKIT_TOOLS_H
#define HEDDLE_TOOLKIT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"

/* One run of a tool: the words of its command line. */
struct tool {
    struct arena *arena;
    const char *name;
    char **words;
    int n, at;
};

/* "ptxas fatal   : ..." as the vendor's programs say it; returns their exit status. */
int tool_fail(const struct tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Is the word at hand the option `--NAME` or `-NAME` or `-SHORT` (NULL: none)? Where `value` is not
 * NULL, it takes one, behind = or as the next word, which is skipped; *value is NULL where it is
 * missing. */
bool tool_option(struct tool *t, const char *name, const char *short_name, const char **value);

int tool_bin2c(struct tool *t);
int tool_cuobjdump(struct tool *t);
int tool_fatbinary(struct tool *t);
int tool_nvlink(struct tool *t);

#endif
