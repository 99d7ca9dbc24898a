/* Diagnostics as text, in the manner of gcc and clang; see report.h. */
#include "report/report.h"

struct out {
    struct arena *arena;
    char *text;
    size_t n, capacity;
};

static void put(struct out *o, const char *s, size_t n)
{
    if (o->n + n + 1 > o->capacity) {
        size_t capacity = 2 * (o->n + n + 1);
        o->text = arena_grow(o->arena, o->text, o->n, capacity);
        o->capacity = capacity;
    }
    memcpy(o->text + o->n, s, n);
    o->n += n;
    o->text[o->n] = 0;
}

static void put_text(struct out *o, const char *s)
{
    put(o, s, strlen(s));
}

/* Tabs stay tabs, so that the caret stands where the editor shows it. */
static void put_caret(struct out *o, struct place_line at, uint32_t length)
{
    put_text(o, "      | ");
    for (uint32_t i = 0; i + 1 < at.column && i < at.text.n; i++)
        put(o, at.text.p[i] == '\t' ? "\t" : " ", 1);
    put_text(o, "^");
    for (uint32_t i = 1; i < length && at.column - 1 + i < at.text.n; i++)
        put_text(o, "~");
    put_text(o, "\n");
}

static void put_help(struct out *o, const char *help)
{
    put_text(o, "  help: ");
    put_text(o, help);
    put_text(o, "\n");
}

static void put_diag(struct out *o, const struct diag *d)
{
    struct place_line at = place_locate(d->place);
    const struct cuda_place *cuda = d->place.cuda;
    const char *ptx =
        d->place.source ? arena_printf(o->arena, "%s:%u:%u", d->place.source->name, at.line, at.column) : NULL;
    const char *times = d->count > 1 ? arena_printf(o->arena, ", %llu times", (unsigned long long)d->count) : "";
    if (cuda)
        put_text(o, arena_printf(o->arena, "%s:%u: ", cuda->file, cuda->line));
    else if (ptx)
        put_text(o, arena_printf(o->arena, "%s: ", ptx));
    put_text(o, arena_printf(o->arena, "%s: %s [%s%s]\n", report_severity(d), d->text, d->code, times));
    if (cuda && cuda->inlined_file)
        put_text(o, arena_printf(o->arena, "  inlined from %s:%u\n", cuda->inlined_file, cuda->inlined_line));
    if (cuda && ptx)
        put_text(o, arena_printf(o->arena, "  in %s:\n", ptx));
    if (ptx && at.text.n) {
        put_text(o, arena_printf(o->arena, "%5u | %.*s\n", at.line, STR_ARG(at.text)));
        put_caret(o, at, d->place.length);
    }
    if (d->help)
        put_help(o, d->help);
}

const char *report_severity(const struct diag *d)
{
    static const char *const severities[] = {"error", "warning", "note"};
    return severities[d->severity];
}

struct str report_text(const struct diags *d, struct arena *arena)
{
    struct out o = {.arena = arena};
    put(&o, "", 0);
    for (uint32_t i = 0; i < d->list.n; i++)
        put_diag(&o, &d->list.at[i]);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->list.n; i++)
        kept += d->list.at[i].severity == DIAG_ERROR;
    if (d->errors > kept)
        put_text(&o, arena_printf(arena, "and %u more errors\n", d->errors - kept));
    return (struct str){o.text, o.n};
}
