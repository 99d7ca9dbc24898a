/* See suppressions.h. */
#include "cli/suppressions.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "base/printable.h"
#include "base/text.h"
#include "files/file.h"

/* ---- reading ---- */

/* The next field of a line, up to a blank; NULL where there is none. */
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

/* False where the line is no rule. */
static bool read_rule(struct suppressions *s, char *line, uint32_t number, struct arena *arena)
{
    size_t n = strlen(line);
    while (n && strchr(" \t\r", line[n - 1]))
        line[--n] = 0;
    line += strspn(line, " \t");
    if (*line == 0 || *line == '#')
        return true;
    const char *code = field(&line), *place = field(&line);
    line += strspn(line, " \t");
    *VEC_PUSH(arena, &s->rules) = (struct suppression){code, place ? place : "*", *line ? line : "*", number, false};
    return !code[strspn(code, "abcdefghijklmnopqrstuvwxyz-*?")];
}

const char *suppressions_read(struct suppressions *s, const char *path, struct arena *arena)
{
    struct file_bytes f;
    s->path = path;
    const char *error = file_read(arena, path, 0, &f);
    if (error)
        return error;
    char *text = arena_strndup(arena, f.bytes, f.n), *next;
    free(f.bytes);
    if (text[strspn(text, " \t\r\n")] == '<')
        return arena_printf(
            arena,
            "%s is XML, as compute-sanitizer writes it; Heddle's rules are lines `CODE PLACE KERNEL`, which "
            "--generate-suppressions FILE writes for all that is found",
            path);
    uint32_t number = 0;
    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        if (!read_rule(s, line, number, arena))
            return arena_printf(arena, "%s:%u: no rule: one is CODE PLACE KERNEL, as `data-race app.cu:12 sum`", path,
                                number);
    }
    return NULL;
}

/* ---- what a finding has ---- */

struct places {
    VEC(const char *) list;
};

static void add_place(struct places *p, const char *file, uint32_t line, struct arena *arena)
{
    *VEC_PUSH(arena, &p->list) = arena_printf(arena, "%s:%u", file, line);
}

/* Of a finding and its notes, the line that the user wrote first; all those of the chain of calls that are inlined there, too. */
static struct places places_of(const struct diag *group, uint32_t n, struct arena *arena)
{
    struct places p = {0};
    for (uint32_t i = 0; i < n; i++) {
        const struct cuda_place *cuda = group[i].place.cuda;
        if (cuda) {
            add_place(&p, cuda->file, cuda->line, arena);
            for (uint32_t k = 0; k < cuda->n_chain; k++)
                add_place(&p, cuda->chain[k].file, cuda->chain[k].line, arena);
        }
        if (group[i].place.source)
            add_place(&p, group[i].place.source->name, place_locate(group[i].place).line, arena);
    }
    if (!p.list.n)
        *VEC_PUSH(arena, &p.list) = "-";
    return p;
}

static const char *kernel_of(const struct diag *d)
{
    return d->kernel ? d->kernel : "-";
}

static bool place_fits(const char *pattern, const char *place)
{
    const char *slash = strrchr(place, '/');
    return fnmatch(pattern, place, 0) == 0 || (slash && fnmatch(pattern, slash + 1, 0) == 0);
}

static bool rule_fits(const struct suppression *r, const struct diag *d, const struct places *p)
{
    bool at = false;
    for (uint32_t i = 0; i < p->list.n; i++)
        at |= place_fits(r->place, p->list.at[i]);
    return at && fnmatch(r->code, d->code, 0) == 0 && fnmatch(r->kernel, kernel_of(d), 0) == 0;
}

/* ---- all findings ---- */

static uint32_t group_of(const struct diags *d, uint32_t i)
{
    uint32_t n = 1;
    while (i + n < d->list.n && d->list.at[i + n].severity == DIAG_NOTE)
        n++;
    return n;
}

static const struct suppression known[] = {
#define KNOWN(code, place, kernel) {code, place, kernel, 0, false},
#include "cli/known.def"
};

/* Each rule is looked at, so that it is known of each whether it fits anything. */
static bool is_suppressed(struct suppressions *s, const struct diag *group, uint32_t n)
{
    struct arena scratch = {0};
    struct places p = places_of(group, n, &scratch);
    bool fits = false;
    for (uint32_t i = 0; i < s->rules.n; i++)
        if (rule_fits(&s->rules.at[i], group, &p))
            fits = s->rules.at[i].fitted = true;
    for (uint32_t i = 0; i < sizeof known / sizeof *known && !fits; i++)
        fits = rule_fits(&known[i], group, &p);
    arena_free(&scratch);
    return fits;
}

uint32_t suppressions_apply(struct suppressions *s, struct diags *d)
{
    uint32_t to = 0, taken = 0;
    for (uint32_t i = 0, n; i < d->list.n; i += n) {
        struct diag *group = &d->list.at[i];
        n = group_of(d, i);
        if (is_suppressed(s, group, n)) {
            taken++;
            d->errors -= group->severity == DIAG_ERROR;
            d->warnings -= group->severity == DIAG_WARNING;
        } else {
            memmove(&d->list.at[to], group, n * sizeof *group);
            to += n;
        }
    }
    d->list.n = to;
    return taken;
}

struct str suppressions_unused(const struct suppressions *s, struct arena *arena)
{
    struct text t = {.arena = arena};
    text_puts(&t, "");
    for (uint32_t i = 0; i < s->rules.n; i++) {
        const struct suppression *r = &s->rules.at[i];
        if (!r->fitted)
            text_printf(&t, "heddle: %s:%u: the rule `%s` fits no finding\n", printable(arena, str_of(s->path)),
                        r->line,
                        printable(arena, str_of(arena_printf(arena, "%s %s %s", r->code, r->place, r->kernel))));
    }
    return (struct str){t.p, t.n};
}

/* A text as a pattern for itself: without blanks where a field would end. */
static void put_pattern(struct text *t, const char *text, bool is_last)
{
    for (const char *p = text; *p; p++) {
        if (strchr("*?[\\", *p))
            text_puts(t, "\\");
        text_put(t, !is_last && strchr(" \t", *p) ? "?" : *p == '\n' ? "?" : p, 1);
    }
}

struct str suppressions_text(const struct diags *d, struct arena *arena)
{
    struct text t = {.arena = arena};
    text_puts(
        &t, "# Findings that `heddle check --suppressions FILE` leaves out: code, file and line of one place, kernel.\n"
            "# * and ? stand for anything and any character.\n");
    for (uint32_t i = 0, n; i < d->list.n; i += n) {
        n = group_of(d, i);
        struct places p = places_of(&d->list.at[i], n, arena);
        put_pattern(&t, d->list.at[i].code, false);
        text_puts(&t, "  ");
        put_pattern(&t, p.list.at[0], false);
        text_puts(&t, "  ");
        put_pattern(&t, kernel_of(&d->list.at[i]), true);
        text_puts(&t, "\n");
    }
    return (struct str){t.p, t.n};
}
