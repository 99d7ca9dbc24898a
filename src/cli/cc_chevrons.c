/* `k << <blocks, threads>> >(x)`: nvcc takes the signs of a launch apart, as formatters that know no CUDA leave them; clang wants
 * `<<<` and `>>>`. They are put together where they stand, so that no other text moves; within comments and strings they are
 * left alone. A launch is three `<` in a line, not behind `operator`, up to three `>` before a `(`. See cc.h.
 */
#include <ctype.h>

#include "base/str.h"
#include "cli/cc.h"

/* Three of the character, from `at` on, with blanks of one line between: behind the last of them, or 0. */
static size_t three(struct str text, size_t at, char c)
{
    for (int i = 0;; at++) {
        if (at < text.n && text.p[at] == c) {
            if (++i == 3)
                return at + 1;
        } else if (i == 0 || at >= text.n || (text.p[at] != ' ' && text.p[at] != '\t')) {
            return 0;
        }
    }
}

/* Behind R"x( ... )x", whose R stands in front of the quote. */
static size_t after_raw_string(struct str text, size_t quote)
{
    size_t n = 0;
    while (quote + 1 + n < text.n && text.p[quote + 1 + n] != '(')
        n++;
    for (size_t at = quote + 1 + n; at + n + 1 < text.n; at++)
        if (text.p[at] == ')' && memcmp(text.p + at + 1, text.p + quote + 1, n) == 0 && text.p[at + n + 1] == '"')
            return at + n + 2;
    return text.n;
}

/* Behind the comment, string or character that begins here, else the same place. */
static size_t skip(struct str text, size_t at)
{
    char c = text.p[at], next = at + 1 < text.n ? text.p[at + 1] : 0;
    if (c == '/' && next == '/') {
        for (; at < text.n && text.p[at] != '\n'; at++)
            at += text.p[at] == '\\'; /* also the end of a line that goes on */
        return at < text.n ? at : text.n;
    }
    if (c == '/' && next == '*') {
        const char *end = memmem(text.p + at + 2, text.n - at - 2, "*/", 2);
        return end ? (size_t)(end - text.p) + 2 : text.n;
    }
    if (c == '"' && at > 0 && text.p[at - 1] == 'R')
        return after_raw_string(text, at);
    bool digits = c == '\'' && at > 0 && isalnum((unsigned char)text.p[at - 1]); /* 1'000 */
    if (c != '"' && (c != '\'' || digits))
        return at;
    for (at++; at < text.n && text.p[at] != c && text.p[at] != '\n'; at++)
        at += text.p[at] == '\\';
    return at < text.n ? at + 1 : text.n;
}

static bool is_behind_operator(struct str text, size_t at)
{
    while (at > 0 && isspace((unsigned char)text.p[at - 1]))
        at--;
    return at >= 8 && memcmp(text.p + at - 8, "operator", 8) == 0;
}

/* The three `>` of the launch whose `<` end before `at`: where they are, or 0. */
static size_t closing(struct str text, size_t at)
{
    for (int depth = 0; at < text.n && depth >= 0 && text.p[at] != ';'; at++) {
        size_t behind = skip(text, at);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        char c = text.p[at];
        depth += (c == '(' || c == '{') - (c == ')' || c == '}');
        size_t end = depth == 0 && c == '>' ? three(text, at, '>') : 0;
        size_t next = end;
        while (end && next < text.n && isspace((unsigned char)text.p[next]))
            next++;
        if (end && next < text.n && text.p[next] == '(')
            return at;
    }
    return 0;
}

/* Moves three characters of a kind together; true where they were apart. */
static bool join(char *text, size_t from, size_t end, char c)
{
    memset(text + from, ' ', end - from);
    memset(text + from, c, 3);
    return end - from > 3;
}

const char *cc_join_chevrons(struct str text, struct arena *arena)
{
    char *joined = NULL;
    bool changed = false;
    for (size_t at = 0; at < text.n; at++) {
        size_t behind = skip(text, at);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        size_t end = text.p[at] == '<' ? three(text, at, '<') : 0;
        size_t close = end && !is_behind_operator(text, at) ? closing(text, end) : 0;
        if (!close)
            continue;
        if (!joined)
            joined = arena_strndup(arena, text.p, text.n);
        changed = join(joined, at, end, '<') | join(joined, close, three(text, close, '>'), '>') || changed;
        at = end - 1;
    }
    return changed ? joined : NULL;
}
