/* See message.h. */
#include "base/message.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/printable.h"

void message_print(struct arena *arena, const char *prefix, const char *format, va_list args)
{
    char *text = NULL;
    fflush(stdout);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    jmp_buf oom, *outer = arena->on_oom;
    arena->on_oom = &oom;
    if (setjmp(oom) == 0)
        fprintf(stderr, "heddle: %s%s\n", prefix,
                text ? printable_excerpt(arena, str_of(text), true) : "out of memory");
    else
        fprintf(stderr, "heddle: %sout of memory\n", prefix);
    arena->on_oom = outer;
    free(text);
}
