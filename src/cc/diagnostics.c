/* What clang says, as the user of `heddle cc` reads it: places are in the user's files, never in
 * Heddle's headers.
 *
 * clang's text is read as a list of messages, each with the lines that lead to it ("In file
 * included from") and those that show it; a message and the notes behind it belong together. An
 * error in one of our headers, as of a static_assert, moves to the user's line that led there.
 * Notes in our headers go, but for what is wrong with a candidate. What has been said before, by
 * the compiler for the device or for another architecture, is not said again. Where clang itself
 * fails, it writes a page for its makers: that becomes a line. See cc.h; the hints are in
 * hints.def.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cc/cc.h"

enum { MAX_REASONS = 4 };

/* One message: "PLACE: WORD: TEXT", or other lines, whose WORD is empty. */
struct message {
    struct str includes, place, word, text, picture;
    bool is_note, ours;
};

static struct str line_at(const char *p)
{
    size_t n = strcspn(p, "\n");
    return (struct str){p, n + (p[n] == '\n')};
}

/* Headers of Heddle, and those of clang that they stand on. */
static bool is_ours(const struct cc_diagnostics *d, struct str path)
{
    return str_starts(path, d->headers) || str_starts(path, "<") || memmem(path.p, path.n, "/include/__clang_cuda", 21);
}

/* Splits "PLACE: error: TEXT"; false where the line is no message. */
static bool read_head(struct str line, struct message *m)
{
    static const char *const words[] = {"error", "fatal error", "warning", "note"};
    size_t best = line.n;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char mark[32];
        size_t n = (size_t)snprintf(mark, sizeof mark, ": %s: ", words[i]);
        const char *at = memmem(line.p, line.n, mark, n);
        if (!at || (size_t)(at - line.p) >= best)
            continue;
        best = (size_t)(at - line.p);
        m->place = (struct str){line.p, best};
        m->word = str_of(words[i]);
        m->text = (struct str){at + n, line.n - best - n};
        m->is_note = strcmp(words[i], "note") == 0;
    }
    if (best < line.n && m->text.n && m->text.p[m->text.n - 1] == '\n')
        m->text.n--;
    return best < line.n;
}

static bool is_include(struct str line)
{
    return str_starts(line, "In file included from ");
}

/* "2 errors generated when compiling for sm_75.": not of what is shown. */
static bool is_count(struct str line)
{
    return line.n && isdigit((unsigned char)line.p[0]) && memmem(line.p, line.n, " generated", 10);
}

/* The message at *at, which moves on. */
static struct message read_message(const struct cc_diagnostics *d, const char **at)
{
    struct message m = {.includes = {*at, 0}};
    struct str line = line_at(*at), next;
    for (; is_include(line); line = line_at(*at)) {
        m.includes.n += line.n;
        *at += line.n;
    }
    if (read_head(line, &m)) {
        struct str path = m.place;
        for (const char *p = m.place.p; p + 1 < m.place.p + m.place.n; p++)
            if (*p == ':' && isdigit((unsigned char)p[1])) {
                path.n = (size_t)(p - m.place.p);
                break;
            }
        m.ours = is_ours(d, path);
    } else {
        m.text = line;
    }
    *at += line.n;
    m.picture = (struct str){*at, 0};
    struct message ignored;
    while (m.word.n && **at &&
           (next = line_at(*at), !is_include(next) && !is_count(next) && !read_head(next, &ignored))) {
        m.picture.n += next.n;
        *at += next.n;
    }
    return m;
}

/* ---- printing ---- */

static void put(struct str s)
{
    fwrite(s.p, 1, s.n, stderr);
}

static void print_head(const struct cc_diagnostics *d, struct str place, struct str word, struct str text)
{
    bool note = str_is(word, "note");
    const char *color = note ? "\33[36m" : str_is(word, "warning") ? "\33[1;35m" : "\33[1;31m";
    if (place.n)
        fprintf(stderr, d->color ? "\33[1m%.*s:\33[0m " : "%.*s: ", STR_ARG(place));
    fprintf(stderr, d->color ? "%s%.*s:\33[0m " : "%s%.*s: ", d->color ? color : "", STR_ARG(word));
    fprintf(stderr, d->color && !note ? "\33[1m%.*s\33[0m\n" : "%.*s\n", STR_ARG(text));
}

/* "In file included from FILE:3:", but for our files. */
static void print_includes(const struct cc_diagnostics *d, struct str lines)
{
    for (const char *p = lines.p; p < lines.p + lines.n;) {
        struct str line = line_at(p), path = {p + 22, line.n - 22};
        if (!is_ours(d, path))
            put(line);
        p += line.n;
    }
}

/* True where it is new. */
static bool say_once(struct cc_diagnostics *d, struct arena *arena, const char *what)
{
    for (uint32_t i = 0; i < d->said.n; i++)
        if (strcmp(d->said.at[i], what) == 0)
            return false;
    *VEC_PUSH(arena, &d->said) = what;
    return true;
}

static void print_hint(struct cc_diagnostics *d, struct arena *arena, struct str text)
{
    const char *hint = cc_hint(text, arena);
    if (hint && say_once(d, arena, hint))
        print_head(d, (struct str){0}, str_of("note"), str_of(hint));
}

/* What is wrong with the functions of our headers that might have been meant, each reason once. */
static void print_reason(const struct cc_diagnostics *d, const struct message *note, struct str *reasons, int *n)
{
    if (!str_starts(note->text, "candidate") || *n == MAX_REASONS)
        return;
    for (int i = 0; i < *n; i++)
        if (str_eq(reasons[i], note->text))
            return;
    reasons[(*n)++] = note->text;
    print_head(d, (struct str){0}, note->word, note->text);
}

/* A message with its notes. */
static void print_group(struct cc_diagnostics *d, struct arena *arena, struct message *all, uint32_t n)
{
    bool is_echo = false;
    for (uint32_t i = 0; i < n; i++)
        is_echo |= cc_is_echo(all[i].text, all[0].picture);
    for (uint32_t i = 0; i < n; i++) {
        cc_users_line(d, &all[i].place, &all[i].picture, arena);
        all[i].text = cc_users_text(all[i].text, arena);
    }
    /* The user's line that led to an error of ours. */
    const struct message *first = &all[0], *led = NULL;
    for (uint32_t i = 1; first->ours && !led && i < n; i++)
        if (!all[i].ours)
            led = &all[i];
    const struct message *at = led ? led : first;
    const char *key =
        arena_printf(arena, "%.*s %.*s %.*s", STR_ARG(at->place), STR_ARG(first->word), STR_ARG(first->text));
    if ((is_echo && d->failed) || !say_once(d, arena, key))
        return;
    d->failed |= str_has(first->word, "error") && cc_source_at(d, at->place);
    print_includes(d, at->includes);
    print_head(d, at->place, first->word, first->text);
    put(at->picture);
    struct str reasons[MAX_REASONS];
    int n_reasons = 0;
    for (uint32_t i = 1; i < n; i++) {
        if (&all[i] == led)
            continue;
        if (all[i].ours && (led || !first->ours)) {
            print_reason(d, &all[i], reasons, &n_reasons);
        } else {
            print_includes(d, all[i].includes);
            print_head(d, all[i].place, all[i].word, all[i].text);
            put(all[i].picture);
        }
    }
    print_hint(d, arena, first->text);
}

/* ---- where clang fails ---- */

/* Where the page begins that clang writes when it fails; NULL: it has not. */
static const char *failure_in(const char *text)
{
    static const char *const marks[] = {"fatal error: error in backend: ", "LLVM ERROR: ", "PLEASE submit a bug report",
                                        "error: clang frontend command failed"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *at = strstr(text, marks[i]);
        if (at && (!first || at < first))
            first = at;
    }
    while (first && first > text && first[-1] != '\n')
        first--;
    return first;
}

/* The last text between a mark and an end: what was being done when it failed. */
static struct str last_between(const char *page, const char *mark, const char *end)
{
    struct str found = {"", 0};
    for (const char *p = page; (p = strstr(p, mark));) {
        p += strlen(mark);
        size_t n = strcspn(p, "\n");
        const char *stop = memmem(p, n, end, strlen(end));
        if (stop)
            found = (struct str){p, (size_t)(stop - p)};
    }
    return found;
}

static void print_failure(struct cc_diagnostics *d, const char *page, struct arena *arena)
{
    struct str why = {"", 0}, line = line_at(page);
    struct str place = last_between(page, "\n1.\t", ": current parser token"),
               file = last_between(page, "on module '", "'");
    struct str function = last_between(page, "on function '@", "'");
    if (str_starts(line, "fatal error: error in backend: "))
        why = (struct str){line.p + 31, line.n - 31 - (line.p[line.n - 1] == '\n')};
    const char *hint = cc_hint(why, arena);
    const char *text = arena_printf(arena, "clang has failed%s%.*s%s%s%.*s; %s", function.n ? " at `" : "",
                                    STR_ARG(function), function.n ? "`" : "", why.n ? ": " : "", STR_ARG(why),
                                    hint ? hint : "-G (no optimisation) may avoid it; -v shows clang's whole output");
    struct str at = place.n ? place : file.n ? file : str_of("heddle: cc");
    if (say_once(d, arena, text))
        print_head(d, at, str_of("error"), str_of(text));
}

void cc_print_diagnostics(struct cc_diagnostics *d, const char *text, struct arena *arena)
{
    VEC(struct message) group = {0};
    const char *failure = failure_in(text);
    if (failure)
        text = arena_strndup(arena, text, (size_t)(failure - text));
    while (*text) {
        struct message m = read_message(d, &text);
        if (!m.is_note && group.n) {
            print_group(d, arena, group.at, group.n);
            group.n = 0;
        }
        if (m.word.n) {
            *VEC_PUSH(arena, &group) = m;
        } else if (!is_count(m.text)) {
            put(m.text);
            print_hint(d, arena, m.text); /* of the linker */
        }
    }
    if (group.n)
        print_group(d, arena, group.at, group.n);
    if (failure)
        print_failure(d, failure, arena);
}
