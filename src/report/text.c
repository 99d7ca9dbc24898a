/* Diagnostics as text, in the manner of gcc and clang; see report.h. */
#include "base/file_name.h"
#include "base/printable.h"
#include "report/codes.h"
#include "report/lines.h"
#include "report/report.h"

/* What is shown of a line: a long one is cut on both sides of the place. */
enum { LINE_BYTES = 400, BEFORE_PLACE_BYTES = 200 };

struct window {
    struct str text;
    size_t place; /* in the text */
    bool cut_before, cut_behind;
};

/* `place` is in the line, or at its end. */
static struct window window_of(struct str line, size_t place)
{
    size_t from = line.n > LINE_BYTES && place > BEFORE_PLACE_BYTES ? place - BEFORE_PLACE_BYTES : 0;
    size_t to = line.n - from > LINE_BYTES ? from + LINE_BYTES : line.n;
    return (struct window){{line.p + from, to - from}, place - from, from > 0, to < line.n};
}

static void put_line(struct text *o, uint32_t number, struct window w)
{
    text_printf(o, "%5u | %s", number, w.cut_before ? "..." : "");
    printable_put(o, w.text);
    text_puts(o, w.cut_behind ? "...\n" : "\n");
}

/* Tabs stay tabs, so that the caret stands where the editor shows it. */
static void put_caret(struct text *o, struct window w, uint32_t length)
{
    text_puts(o, w.cut_before ? "      |    " : "      | ");
    for (const char *c = printable(o->arena, (struct str){w.text.p, w.place}); *c; c++)
        if ((*c & 0xc0) != 0x80) /* not inside of a character of UTF-8 */
            text_put(o, *c == '\t' ? "\t" : " ", 1);
    size_t left = w.text.n - w.place, n = length < left ? length : left;
    text_puts(o, "^");
    struct text aside = {.arena = o->arena};
    for (size_t k = printable_put(&aside, (struct str){w.text.p + w.place, n}); k > 1; k--)
        text_put(o, "~", 1);
    text_puts(o, "\n");
}

static void put_help(struct text *o, const char *help)
{
    text_puts(o, "  help: ");
    text_puts(o, help);
    text_puts(o, "\n");
}

/* ---- the line of CUDA, where its file is at hand ---- */

static void put_cuda_line(struct text *o, const struct place *p, const char *file, uint32_t number)
{
    struct str line = source_line(file, p, number, o->arena);
    if (line.p)
        put_line(o, number, window_of(line, 0));
}

/* What the line has inlined, to the innermost; then what it is inlined in, which is a library's. Of
 * lines that are the user's, their text. */
static void put_chain(struct text *o, const struct place *p)
{
    const struct cuda_place *cuda = p->cuda;
    for (uint32_t i = cuda->shown + 1; i < cuda->n_chain; i++) {
        const struct cuda_line *l = &cuda->chain[i];
        text_printf(o, "  inlined from %s:%u\n", file_as_shown(l->file, o->arena), l->line);
        if (!is_library_file(l->file))
            put_cuda_line(o, p, l->file, l->line);
    }
    for (uint32_t i = cuda->shown; i-- > 0;)
        text_printf(o, "  inlined in %s:%u\n", file_as_shown(cuda->chain[i].file, o->arena), cuda->chain[i].line);
}

/* "main at main.cu:27", "main in app+0x1139" */
static void put_frame(struct text *o, const hd_frame *f)
{
    const char *slash = f->object ? strrchr(f->object, '/') : NULL;
    text_puts(o, f->function ? printable_excerpt(o->arena, str_of(f->function), false) : "a function");
    if (f->file)
        text_printf(o, " at %s:%u\n", file_as_shown(f->file, o->arena), f->line);
    else if (f->object)
        text_printf(o, " in %s+0x%llx\n", printable(o->arena, str_of(slash ? slash + 1 : f->object)),
                    (unsigned long long)f->offset);
    else
        text_puts(o, "\n");
}

static void put_frames(struct text *o, const char *first, const hd_frame *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        text_puts(o, i ? "  called by " : first);
        put_frame(o, &frames[i]);
    }
}

/* Where several things were checked: which it was. */
static void put_origin(struct text *o, const struct diag *d)
{
    const char *name = d->kernel ? arena_printf(o->arena, "kernel `%s`", d->kernel) : NULL;
    if (name && strstr(d->text, name))
        name = NULL; /* it says so itself */
    if (name)
        text_printf(o, "  in %s", name);
    if (d->origin->pid)
        text_printf(o, "%s process %d, `%s`", name ? " of" : "  in", d->origin->pid,
                    printable(o->arena, str_of(d->origin->program)));
    if (name || d->origin->pid)
        text_puts(o, "\n");
}

/* The command that has the run again; and of what a kernel does, the one that stops there. */
static void put_repeat(struct text *o, const struct diag_origin *origin, bool in_kernel)
{
    text_printf(o, "  again by: %s\n", printable(o->arena, str_of(origin->repeat)));
    if (in_kernel && origin->stops)
        text_printf(o, "  stops there: %s\n", printable(o->arena, str_of(origin->stops)));
}

static void put_diag(struct text *o, const struct diag *d)
{
    struct place_line at = place_locate(d->place);
    const struct cuda_place *cuda = d->place.cuda;
    const char *file = d->place.source ? file_as_shown(d->place.source->name, o->arena) : NULL;
    const char *ptx = file ? arena_printf(o->arena, "%s:%u:%u", file, at.line, at.column) : NULL;
    const char *times = d->count > 1 ? arena_printf(o->arena, ", %llu times", (unsigned long long)d->count) : "";
    if (cuda)
        text_printf(o, "%s:%u: ", file_as_shown(cuda->file, o->arena), cuda->line);
    else if (ptx)
        text_printf(o, "%s: ", ptx);
    text_printf(o, "%s: %s [%s%s]\n", report_severity(d), d->text, d->code, times);
    if (cuda) {
        put_cuda_line(o, &d->place, cuda->file, cuda->line);
        put_chain(o, &d->place);
    }
    put_frames(o, "  in ", d->frames, d->n_frames);
    if (d->origin && d->severity != DIAG_NOTE)
        put_origin(o, d);
    put_frames(o, "  launched by ", d->launch, d->n_launch);
    if (cuda && ptx)
        text_printf(o, "  in %s:\n", ptx);
    if (ptx && at.text.n) {
        size_t place = at.column - 1 < at.text.n ? at.column - 1 : at.text.n;
        struct window w = window_of(at.text, place);
        put_line(o, at.line, w);
        put_caret(o, w, d->place.length);
    }
    if (d->help)
        put_help(o, d->help);
    if (d->origin && d->origin->repeat && d->severity != DIAG_NOTE)
        put_repeat(o, d->origin, d->place.source != NULL);
}

const char *report_severity(const struct diag *d)
{
    static const char *const severities[] = {"error", "warning", "note"};
    return severities[d->severity];
}

const char *report_tool(const struct diag *d)
{
    const struct report_code *code = d->severity == DIAG_NOTE ? NULL : report_code_find(d->code);
    if (code && code->tool)
        return code->tool;
    return d->severity != DIAG_NOTE && strcmp(d->code, "not-watched") == 0 ? d->reason : NULL;
}

struct str report_text(const struct diags *d, struct arena *arena)
{
    struct text o = {.arena = arena};
    text_put(&o, "", 0);
    for (uint32_t i = 0; i < d->list.n; i++)
        put_diag(&o, &d->list.at[i]);
    uint32_t kept[3] = {0};
    for (uint32_t i = 0; i < d->list.n; i++)
        kept[d->list.at[i].severity]++;
    if (d->errors > kept[DIAG_ERROR])
        text_printf(&o, "and %u more errors\n", d->errors - kept[DIAG_ERROR]);
    if (d->warnings > kept[DIAG_WARNING])
        text_printf(&o, "and %u more warnings\n", d->warnings - kept[DIAG_WARNING]);
    return (struct str){o.p, o.n};
}
