/* The words of a tool's command line; see tools.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "toolkit/tools.h"

int tool_fail(const struct tool *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s fatal   : %s\n", t->name, arena_vprintf(t->arena, format, args));
    va_end(args);
    return 255;
}

bool tool_option(struct tool *t, const char *name, const char *short_name, const char **value)
{
    const char *word = t->words[t->at], *names[] = {name, short_name};
    word += 1 + (word[0] == '-' && word[1] == '-');
    for (int i = 0; i < 2; i++) {
        size_t n = names[i] ? strlen(names[i]) : 0;
        if (!n || strncmp(word, names[i], n) != 0 || (word[n] && (!value || word[n] != '=')))
            continue;
        if (value)
            *value = word[n] ? word + n + 1 : t->at + 1 < t->n ? t->words[++t->at] : NULL;
        return true;
    }
    return false;
}
