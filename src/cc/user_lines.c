/* Messages about a line that was rewritten for clang (rewrite.c, nested.c), with the line and
 * column that the user wrote: see cc.h.
 *
 * clang shows the line as it reads it. The words and signs that also occur in the user's line, in
 * the same order (the longest such sequence; the last one of several), are matched with it. A
 * place between two of them becomes the place of the next one.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cc/cc.h"
#include "cc/declarations.h"

enum { MOST_TOKENS = 500, TAB = 8 };

/* A word or a sign of a line. */
struct token {
    size_t at, n;
    int other; /* the same one of the other line; -1: none */
};

struct tokens {
    struct token at[MOST_TOKENS];
    int n;
};

static void read_tokens(struct str line, struct tokens *t)
{
    t->n = 0;
    for (size_t at = 0; at < line.n && t->n < MOST_TOKENS; at += t->at[t->n - 1].n) {
        while (at < line.n && isspace((unsigned char)line.p[at]))
            at++;
        if (at == line.n)
            return;
        struct str word = cc_word_at(line, at);
        size_t prefix = str_starts(word, CC_DEDUCING) ? strlen(CC_DEDUCING) : 0;
        at += prefix;
        word.n -= prefix;
        t->at[t->n++] = (struct token){at, word.n ? word.n : 1, -1};
    }
}

static bool is_same(struct str a, const struct token *x, struct str b, const struct token *y)
{
    return x->n == y->n && memcmp(a.p + x->at, b.p + y->at, x->n) == 0;
}

/* Finds the longest sequence that both have. */
static void match(struct str a, struct tokens *x, struct str b, struct tokens *y, struct arena *arena)
{
    size_t width = (size_t)y->n + 1;
    uint16_t *longest = arena_array(arena, ((size_t)x->n + 1) * width, sizeof *longest);
    for (int i = 1; i <= x->n; i++)
        for (int j = 1; j <= y->n; j++) {
            uint16_t *here = &longest[(size_t)i * width + (size_t)j], up = here[-(ptrdiff_t)width], left = here[-1];
            *here = is_same(a, &x->at[i - 1], b, &y->at[j - 1]) ? here[-(ptrdiff_t)width - 1] + 1
                    : up > left                                 ? up
                                                                : left;
        }
    for (int i = x->n, j = y->n; i > 0 && j > 0;) {
        if (is_same(a, &x->at[i - 1], b, &y->at[j - 1])) {
            x->at[--i].other = --j;
            y->at[j].other = i;
        } else if (longest[(size_t)(i - 1) * width + (size_t)j] >= longest[(size_t)i * width + (size_t)j - 1]) {
            i--;
        } else {
            j--;
        }
    }
}

/* Where in the user's line what stands at a column of clang's does. */
static size_t users_column(const struct tokens *clangs, const struct tokens *users, size_t column)
{
    size_t last = 0;
    for (int i = 0; i < clangs->n; i++) {
        const struct token *t = &clangs->at[i];
        if (t->other < 0)
            continue;
        const struct token *u = &users->at[t->other];
        if (t->at + t->n > column)
            return u->at + (t->at < column ? column - t->at : 0);
        last = u->at + u->n - 1;
    }
    return last;
}

/* The line of a text, without its end. */
static struct str line_of(struct str text, unsigned line)
{
    size_t at = 0, n = 0;
    for (; line > 1 && at < text.n; at++)
        line -= text.p[at] == '\n';
    while (at + n < text.n && text.p[at + n] != '\n')
        n++;
    return (struct str){text.p + at, n};
}

/* The text of a line of clang's picture: behind its `NUMBER | `. */
static struct str behind_bar(struct str line)
{
    const char *bar = memchr(line.p, '|', line.n);
    size_t skip = bar ? (size_t)(bar - line.p) + 2 : line.n;
    return skip < line.n ? (struct str){line.p + skip, line.n - skip} : (struct str){line.p + line.n, 0};
}

/* Is it the user's line, but that clang shows spaces for a tab? */
static bool is_same_line(struct str clangs, struct str users)
{
    size_t at = 0, n = 0; /* in clang's; bytes since the last tab */
    for (size_t i = 0; i < users.n; i++) {
        bool is_tab = users.p[i] == '\t';
        for (size_t left = is_tab ? TAB - n % TAB : 1; left > 0; left--, at++)
            if (at == clangs.n || clangs.p[at] != (is_tab ? ' ' : users.p[i]))
                return false;
        n = is_tab ? 0 : n + 1;
    }
    return at == clangs.n;
}

/* Where the numbers of FILE:LINE:COLUMN begin, or place.n. */
static size_t numbers_of(struct str place)
{
    size_t at = place.n;
    for (int colons = 0; at > 0 && (isdigit((unsigned char)place.p[at - 1]) || place.p[at - 1] == ':'); at--)
        if (place.p[at - 1] == ':' && ++colons == 2)
            return at;
    return place.n;
}

const struct cc_source *cc_source_at(const struct cc_diagnostics *d, struct str place)
{
    size_t n = numbers_of(place);
    struct stat s;
    char path[PATH_MAX];
    if (n == place.n || n > sizeof path)
        return NULL;
    snprintf(path, sizeof path, "%.*s", (int)n - 1, place.p);
    if (stat(path, &s))
        return NULL;
    for (uint32_t i = 0; i < d->n_sources; i++) {
        const struct cc_source *c = &d->sources[i];
        if (c->instead && c->inode == s.st_ino && c->device == s.st_dev)
            return c;
    }
    return NULL;
}

bool cc_users_line(const struct cc_diagnostics *d, struct str *place, struct str *picture, struct arena *arena)
{
    const struct cc_source *source = cc_source_at(d, *place);
    if (!source)
        return false;
    size_t path = numbers_of(*place) - 1;
    unsigned number = (unsigned)strtoul(place->p + path + 1, NULL, 10);
    struct str shown = line_of(*picture, 1), marks = behind_bar(line_of(*picture, 2));
    struct str clangs = behind_bar(shown), users = line_of(source->user, number);
    const char *caret = memchr(marks.p, '^', marks.n);
    if (!caret || strtoul(shown.p, NULL, 10) != number || is_same_line(clangs, users))
        return false;
    struct tokens *x = arena_alloc(arena, sizeof *x), *y = arena_alloc(arena, sizeof *y);
    read_tokens(clangs, x);
    read_tokens(users, y);
    match(clangs, x, users, y, arena);
    size_t column = users_column(x, y, (size_t)(caret - marks.p));
    char *line = arena_alloc(arena, users.n + 2);
    for (size_t i = 0; i <= users.n; i++)
        line[i] = i < users.n && users.p[i] == '\t' ? '\t' : ' ';
    for (int i = 0; i < x->n; i++)
        if (x->at[i].other >= 0 && x->at[i].at < marks.n && marks.p[x->at[i].at] != ' ')
            memset(line + y->at[x->at[i].other].at, '~', x->at[i].n);
    line[column] = '^';
    size_t end = cc_before_blanks((struct str){line, users.n + 1}, users.n + 1);
    *place = str_of(arena_printf(arena, "%.*s:%u:%zu", (int)path, place->p, number, column + 1));
    *picture = str_of(arena_printf(arena, "%5u | %.*s\n      | %.*s\n", number, STR_ARG(users), (int)end, line));
    return true;
}

/* ---- words ---- */

/* What clang says of the functions that launches are written as. */
static const struct {
    const char *clangs, *ours;
} texts[] = {
    {"no matching function for call to object of type 'nested_launch<",
     "the arguments do not fit the parameters of the kernel"},
    {"no matching function for call to 'choose'", "no kernel of this name has so many parameters"},
    {"no matching function for call to 'nested'", "a launch needs a kernel and, in <<<...>>>, a grid and a block; "
                                                  "bytes of shared memory and a stream may follow"},
};

/* What follows from a mistake in the name of a kernel. */
static const char *const echoes[] = {"type-id cannot have a name",
                                     "expected ';' after alias declaration",
                                     "'heddle_named'",
                                     "expected ')'",
                                     "reference to __host__ function 'operator()'",
                                     "could not match 'void (*)(P...)' against 'void'"};

bool cc_is_echo(struct str text, struct str picture)
{
    bool is_launch = str_has(picture, "HEDDLE_KERNEL(") || str_has(picture, CC_DEDUCING);
    for (size_t i = 0; i < sizeof echoes / sizeof echoes[0]; i++)
        if (is_launch && str_has(text, echoes[i]))
            return true;
    return false;
}

struct str cc_users_text(struct str text, struct arena *arena)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (str_starts(text, texts[i].clangs))
            return str_of(texts[i].ours);
    const char *name = memmem(text.p, text.n, CC_DEDUCING, strlen(CC_DEDUCING));
    if (!name)
        return text;
    const char *behind = name + strlen(CC_DEDUCING);
    return str_of(
        arena_printf(arena, "%.*s%.*s", (int)(name - text.p), text.p, (int)(text.p + text.n - behind), behind));
}
