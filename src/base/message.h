/* What a command says on stderr, a line that begins with `heddle: `. It may name what a file holds:
 * base/printable.h. */
#ifndef HEDDLE_BASE_MESSAGE_H
#define HEDDLE_BASE_MESSAGE_H

#include <stdarg.h>

#include "base/arena.h"

/* `prefix` stands before the text, as "cc: " does. What stdout has got comes out before. */
void message_print(struct arena *arena, const char *prefix, const char *format, va_list args);

#endif
