/* See suppressions.h. */
#include "cli/suppressions.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_name.h"
#include "base/map.h"
#include "base/printable.h"
#include "base/text.h"
#include "files/file.h"
#include "report/codes.h"
#include "report/lines.h"
#include "report/report.h"

/* ---- reading ---- */

/* Takes the next field of a line, up to a blank; NULL if there is none. */
static const char *field(char **line)
{
    char *start = *line + strspn(*line, " \t");
    size_t n = strcspn(start, " \t");
    if (!n)
        return NULL;
    *line = start + n + (start[n] != 0);
    start[n] = 0;
    return start;
}

static const char *no_code(const char *code, struct arena *arena)
{
    return arena_printf(arena, "there is no code `%s`; did you mean `%s`? docs/FINDINGS.md has them all", code,
                        report_code_nearest(code)->code);
}

/* Returns what is wrong with the line, or NULL. */
static const char *read_rule(struct suppressions *s, char *line, uint32_t number, struct arena *arena)
{
    size_t n = strlen(line);
    while (n && strchr(" \t\r", line[n - 1]))
        line[--n] = 0;
    line += strspn(line, " \t");
    if (*line == 0 || *line == '#')
        return NULL;
    const char *code = field(&line), *place = field(&line);
    line += strspn(line, " \t");
    if (code[strspn(code, "abcdefghijklmnopqrstuvwxyz-*?[]")])
        return "this is not a rule; a rule is CODE PLACE FUNCTION, as `data-race app.cu sum`";
    if (!report_code_fits(code))
        return no_code(code, arena);
    *VEC_PUSH(arena, &s->rules) = (struct suppression){code, place ? place : "*", *line ? line : "*", number, false};
    return NULL;
}

const char *suppressions_read(struct suppressions *s, const char *path, struct arena *arena)
{
    struct file_bytes f;
    s->path = path;
    const char *error = file_read(arena, path, 0, &f);
    if (error)
        return error;
    if (f.n && memchr(f.bytes, 0, f.n)) {
        free(f.bytes);
        return arena_printf(arena, "%s is not a text file: it has NUL bytes", path);
    }
    char *text = arena_strndup(arena, f.bytes, f.n), *next;
    free(f.bytes);
    if (text[strspn(text, " \t\r\n")] == '<')
        return arena_printf(arena,
                            "%s is XML (compute-sanitizer's format). Heddle reads lines of the form `CODE PLACE "
                            "FUNCTION`: --generate-suppressions FILE writes one for each finding",
                            path);
    uint32_t number = 0;
    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        const char *wrong = read_rule(s, line, number, arena);
        if (wrong)
            return arena_printf(arena, "%s:%u: %s", path, number, wrong);
    }
    return NULL;
}

/* ---- what a finding has ---- */

struct places {
    VEC(struct cuda_line) list; /* by the files' paths from the root */
};

static void add_place(struct places *p, const char *root, const char *file, uint32_t line, struct arena *arena)
{
    *VEC_PUSH(arena, &p->list) = (struct cuda_line){source_name(root, file, arena), line};
}

/* The source lines of a finding and its notes: for each, the line that the user wrote and the lines
 * into which it was inlined. */
static struct places places_of(const struct diag *group, uint32_t n, const char *root, struct arena *arena)
{
    struct places p = {0};
    for (uint32_t i = 0; i < n; i++) {
        const struct cuda_place *cuda = group[i].place.cuda;
        if (cuda) {
            add_place(&p, root, cuda->file, cuda->line, arena);
            for (uint32_t k = 0; k < cuda->n_chain; k++)
                add_place(&p, root, cuda->chain[k].file, cuda->chain[k].line, arena);
        }
        if (group[i].place.source)
            add_place(&p, root, group[i].place.source->name, place_locate(group[i].place).line, arena);
    }
    return p;
}

/* Does the pattern match the path, or an end of it behind a slash, with or without the line? */
static bool place_fits(const char *pattern, const char *root, const struct cuda_line *at, struct arena *arena)
{
    const char *path = at->file[0] == '/' || !root ? at->file : arena_printf(arena, "%s/%s", root, at->file);
    for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
        if (fnmatch(pattern, p, 0) == 0 || fnmatch(pattern, arena_printf(arena, "%s:%u", p, at->line), 0) == 0)
            return true;
    return false;
}

static bool function_fits(const char *pattern, const struct diag *group, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct diag *d = &group[i];
        any |= d->kernel != NULL;
        if (d->kernel && fnmatch(pattern, d->kernel, 0) == 0)
            return true;
        for (uint32_t k = 0; k < d->n_frames; k++) {
            any |= d->frames[k].function != NULL;
            if (d->frames[k].function && fnmatch(pattern, d->frames[k].function, 0) == 0)
                return true;
        }
    }
    return !any && fnmatch(pattern, "-", 0) == 0;
}

static bool rule_fits(const struct suppression *r, const struct diag *group, uint32_t n, const char *root,
                      const struct places *p, struct arena *arena)
{
    bool at = !p->list.n && fnmatch(r->place, "-", 0) == 0;
    for (uint32_t i = 0; i < p->list.n && !at; i++)
        at = place_fits(r->place, root, &p->list.at[i], arena);
    return at && fnmatch(r->code, group->code, 0) == 0 && function_fits(r->function, group, n);
}

/* ---- comments ---- */

static void remark(struct suppressions *s, const struct cuda_line *at, uint32_t line, const char *text,
                   struct arena *arena)
{
    const char *whole = arena_printf(arena, "heddle: %s:%u: %s\n", printable(arena, str_of(at->file)), line, text);
    for (uint32_t i = 0; i < s->remarks.n; i++)
        if (strcmp(s->remarks.at[i], whole) == 0)
            return;
    *VEC_PUSH(arena, &s->remarks) = whole;
}

/* Parses "data-race, leak) reason", the text behind the opening parenthesis. */
static bool allows(struct suppressions *s, const char *codes, const char *code, const struct cuda_line *at,
                   uint32_t line, struct arena *arena)
{
    bool fits = false;
    const char *end = strchr(codes, ')');
    if (!end) {
        remark(s, at, line, "`heddle: allow(` has no closing parenthesis, so it allows nothing", arena);
        return false;
    }
    for (const char *p = codes; p < end;) {
        size_t n = strcspn(p, ", )");
        const char *word = arena_strndup(arena, p, n);
        fits |= n && fnmatch(word, code, 0) == 0;
        if (n && !report_code_fits(word))
            remark(s, at, line, no_code(printable(arena, str_of(word)), arena), arena);
        p += n + strspn(p + n, ", ");
    }
    return fits;
}

/* Is the code allowed at the line, or by the line above if that has only a comment? */
static bool is_allowed(struct suppressions *s, const struct diag *d, const struct cuda_line *at, struct arena *arena)
{
    static const char words[] = "heddle: allow(";
    const char *path = at->file[0] == '/' || !s->root ? at->file : arena_printf(arena, "%s/%s", s->root, at->file);
    bool fits = false;
    for (uint32_t line = at->line; line && line + 1 >= at->line && !fits; line--) {
        const char *text = source_line(path, &d->place, line, arena).p, *found = text ? strstr(text, words) : NULL;
        const char *first = text ? text + strspn(text, " \t") : NULL;
        bool counts = found && (line == at->line || strncmp(first, "//", 2) == 0 || strncmp(first, "/*", 2) == 0 ||
                                *first == '#');
        fits = counts && allows(s, found + sizeof words - 1, d->code, at, line, arena);
    }
    return fits;
}

/* ---- all findings ---- */

static const struct suppression known[] = {
#define KNOWN(code, place, kernel) {code, place, kernel, 0, false},
#include "cli/known.def"
};

/* Tries every rule, so that unused rules are known. */
static bool is_suppressed(struct suppressions *s, const struct diag *group, uint32_t n, struct arena *arena)
{
    struct places p = places_of(group, n, s->root, arena);
    bool fits = false;
    for (uint32_t i = 0; i < s->rules.n; i++)
        if (rule_fits(&s->rules.at[i], group, n, s->root, &p, arena))
            fits = s->rules.at[i].fitted = true;
    for (uint32_t i = 0; i < sizeof known / sizeof *known && !fits; i++)
        fits = rule_fits(&known[i], group, n, s->root, &p, arena);
    for (uint32_t i = 0; i < p.list.n && !fits; i++)
        fits = is_allowed(s, group, &p.list.at[i], arena);
    return fits;
}

uint32_t suppressions_apply(struct suppressions *s, struct diags *d)
{
    bool *out = ARENA_ARRAY(d->arena, bool, d->list.n + 1);
    for (uint32_t i = 0, n; i < d->list.n; i += n) {
        n = report_finding(d, i);
        out[i] = is_suppressed(s, &d->list.at[i], n, d->arena);
    }
    return report_leave_out(d, out);
}

struct str suppressions_unused(const struct suppressions *s, struct arena *arena)
{
    struct text t = {.arena = arena};
    text_puts(&t, "");
    for (uint32_t i = 0; i < s->rules.n; i++) {
        const struct suppression *r = &s->rules.at[i];
        if (!r->fitted)
            text_printf(&t, "heddle: %s:%u: the rule `%s` matched no finding\n", printable(arena, str_of(s->path)),
                        r->line,
                        printable(arena, str_of(arena_printf(arena, "%s %s %s", r->code, r->place, r->function))));
    }
    for (uint32_t i = 0; i < s->remarks.n; i++)
        text_puts(&t, s->remarks.at[i]);
    return (struct str){t.p, t.n};
}

/* Writes a text as a pattern that matches itself, without blanks where a field would end. */
static void put_pattern(struct text *t, const char *text, bool is_last)
{
    for (const char *p = text; *p; p++) {
        if (strchr("*?[\\", *p))
            text_puts(t, "\\");
        text_put(t, !is_last && strchr(" \t", *p) ? "?" : *p == '\n' ? "?" : p, 1);
    }
}

/* The kernel; for a host mistake, the innermost function that has a line. */
static const char *function_of(const struct diag *d)
{
    const char *function = d->kernel;
    for (uint32_t i = 0; i < d->n_frames && !function; i++)
        function = d->frames[i].file ? d->frames[i].function : NULL;
    return function ? function : d->n_frames ? "*" : "-";
}

struct str suppressions_text(const struct suppressions *s, const struct diags *d, struct arena *arena)
{
    struct text t = {.arena = arena};
    struct map seen;
    map_init(&seen, arena);
    text_puts(&t, "# Findings that `heddle check --suppressions FILE` leaves out: code, file of one of its places, "
                  "kernel or function.\n# * matches any text, ? any character; FILE:LINE matches only that line.\n");
    for (uint32_t i = 0; i < d->list.n; i += report_finding(d, i)) {
        const struct diag *g = &d->list.at[i];
        struct places p = places_of(g, report_finding(d, i), s->root, arena);
        struct text rule = {.arena = arena};
        put_pattern(&rule, g->code, false);
        text_puts(&rule, "  ");
        put_pattern(&rule, p.list.n ? p.list.at[0].file : "-", false);
        text_puts(&rule, "  ");
        put_pattern(&rule, function_of(g), true);
        text_puts(&rule, "\n");
        if (!map_put(&seen, (struct str){rule.p, rule.n}, d->list.at))
            text_put(&t, rule.p, rule.n);
    }
    return (struct str){t.p, t.n};
}
