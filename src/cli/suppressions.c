/* See suppressions.h. */
#include "cli/suppressions.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/file.h"

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
static bool read_rule(struct suppressions *s, char *line, struct arena *arena)
{
    size_t n = strlen(line);
    while (n && strchr(" \t\r", line[n - 1]))
        line[--n] = 0;
    line += strspn(line, " \t");
    if (*line == 0 || *line == '#')
        return true;
    const char *code = field(&line), *place = field(&line);
    line += strspn(line, " \t");
    *VEC_PUSH(arena, &s->rules) = (struct suppression){code, place ? place : "*", *line ? line : "*"};
    return !code[strspn(code, "abcdefghijklmnopqrstuvwxyz-*?")];
}

const char *suppressions_read(struct suppressions *s, const char *path, struct arena *arena)
{
    struct file_bytes f;
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
        if (!read_rule(s, line, arena))
            return arena_printf(arena, "%s:%u: no rule: one is CODE PLACE KERNEL, as `data-race app.cu:12 sum`", path,
                                number);
    }
    return NULL;
}

/* ---- what a finding has ---- */

enum { MAX_PLACES = 16 };

struct places {
    unsigned n;
    const char *at[MAX_PLACES];
};

static void add_place(struct places *p, const char *file, uint32_t line, struct arena *arena)
{
    if (p->n < MAX_PLACES && file)
        p->at[p->n++] = arena_printf(arena, "%s:%u", file, line);
}

/* Of a finding and its notes, the line that the user wrote first. */
static struct places places_of(const struct diag *group, uint32_t n, struct arena *arena)
{
    struct places p = {0};
    for (uint32_t i = 0; i < n; i++) {
        const struct cuda_place *cuda = group[i].place.cuda;
        if (cuda) {
            add_place(&p, cuda->file, cuda->line, arena);
            add_place(&p, cuda->inlined_file, cuda->inlined_line, arena);
        }
        if (group[i].place.source)
            add_place(&p, group[i].place.source->name, place_locate(group[i].place).line, arena);
    }
    if (!p.n)
        p.at[p.n++] = "-";
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
    for (unsigned i = 0; i < p->n; i++)
        at |= place_fits(r->place, p->at[i]);
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
#define KNOWN(code, place, kernel) {code, place, kernel},
#include "cli/known.def"
};

static bool is_suppressed(const struct suppressions *s, const struct diag *group, uint32_t n)
{
    struct arena scratch = {0};
    struct places p = places_of(group, n, &scratch);
    bool fits = false;
    for (uint32_t i = 0; i < s->rules.n && !fits; i++)
        fits = rule_fits(&s->rules.at[i], group, &p);
    for (uint32_t i = 0; i < sizeof known / sizeof *known && !fits; i++)
        fits = rule_fits(&known[i], group, &p);
    arena_free(&scratch);
    return fits;
}

uint32_t suppressions_apply(const struct suppressions *s, struct diags *d)
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
        put_pattern(&t, p.at[0], false);
        text_puts(&t, "  ");
        put_pattern(&t, kernel_of(&d->list.at[i]), true);
        text_puts(&t, "\n");
    }
    return (struct str){t.p, t.n};
}
