/* The arguments of heddle debug's commands, and those of the program; see debug_commands.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/debug_commands.h"

char *command_skip(char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

bool front_is_ok(const json_t *answer)
{
    return answer && !json_object_get(answer, "error");
}

/* Reads a count, by default 1; returns -1 after an error message. */
int64_t command_count(struct front *f, char *text)
{
    char *end;
    if (!*text)
        return 1;
    long long n = strtoll(text, &end, 0);
    if (!*command_skip(end) && n > 0)
        return front_small(n);
    front_error(f, "`%s` is not a count", text);
    return -1;
}

bool command_has_word(char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0 || ((*at)[n] && !isspace((unsigned char)(*at)[n]) && (*at)[n] != '('))
        return false;
    *at = command_skip(*at + n);
    return true;
}

bool front_stands(struct front *f)
{
    if (f->state == FRONT_STANDS || f->state == FRONT_READY || f->state == FRONT_ENDED)
        return true;
    front_error(f, f->state == FRONT_GONE   ? "the program has ended; `run` starts it again"
                   : f->state == FRONT_RUNS ? "the program is running: it must stop first"
                                            : "the program is not running: `run` starts it");
    return false;
}

/* Cuts off the next word, as a shell does it with quotes and backslashes. False: a quote has no
 * end. */
static bool next_word(char **at, char **word)
{
    char *to = *word = *at, *p = *at, quote = 0;
    for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
        if (*p == '\\' && quote != '\'' && p[1])
            *to++ = *++p;
        else if (quote ? *p == quote : *p == '"' || *p == '\'')
            quote = quote ? 0 : *p;
        else
            *to++ = *p;
    }
    *at = command_skip(p);
    *to = 0;
    return !quote;
}

bool front_take_arguments(struct front *f, const char *text)
{
    struct session *s = f->s;
    char *rest = arena_strdup(&s->arena, text), *word;
    const char **words = ARENA_ARRAY(&s->arena, const char *, strlen(text) + 2), **to = words;
    const char *wrong = !f->is_program ? "a kernel's arguments are written on the command line"
                        : strpbrk(text, "|>&")
                            ? "the program's output cannot be redirected here: redirect that of heddle debug"
                            : NULL;
    *to++ = s->words[0];
    for (rest = command_skip(rest); *rest && !wrong; *to++ = word)
        wrong = next_word(&rest, &word) ? NULL : "a quote has no end";
    if (wrong) {
        front_error(f, "%s", wrong);
        return false;
    }
    *to = NULL;
    s->words = words;
    s->n_words = (int)(to - words);
    return true;
}
