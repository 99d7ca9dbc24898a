/* See shell.h. */
#include "base/shell.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_plain(const char *word)
{
    for (const char *p = word; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-_=+./,:@%", *p))
            return false;
    return *word;
}

const char *shell_word(struct arena *arena, const char *word)
{
    const char *text = "'";
    if (is_plain(word))
        return word;
    for (size_t n; *word; word += n + (word[n] == '\'')) {
        n = strcspn(word, "'");
        text = arena_printf(arena, "%s%.*s%s", text, (int)n, word, word[n] ? "'\\''" : "");
    }
    return arena_printf(arena, "%s'", text);
}
