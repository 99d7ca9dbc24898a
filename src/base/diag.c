/* Collecting diagnostics; see diag.h. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/printable.h"

struct source *source_new(struct arena *arena, const char *name, struct str text)
{
    struct source *s = ARENA_NEW(arena, struct source);
    s->name = arena_strdup(arena, name);
    s->text = (struct str){arena_strndup(arena, text.p, text.n), text.n};
    const char *end = s->text.p + text.n;
    uint32_t n = 1;
    for (const char *p = s->text.p; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    uint32_t *lines = ARENA_ARRAY(arena, uint32_t, n);
    n = 1;
    for (const char *p = s->text.p; (p = memchr(p, '\n', (size_t)(end - p)));)
        lines[n++] = (uint32_t)(++p - s->text.p);
    s->lines = lines;
    s->n_lines = n;
    return s;
}

/* The number of the line that holds `offset`, from 0, and where it starts. */
static uint32_t find_line(const struct source *s, size_t offset, size_t *start)
{
    uint32_t line = 0;
    *start = 0;
    if (s->lines) {
        for (uint32_t n = s->n_lines; n > 1;) { /* it is one of the n from `line` on */
            uint32_t half = n / 2;
            bool behind = s->lines[line + half] <= offset;
            line += behind ? half : 0;
            n = behind ? n - half : half;
        }
        *start = s->lines[line];
        return line;
    }
    for (size_t i = 0; i < offset; i++)
        if (s->text.p[i] == '\n') {
            line++;
            *start = i + 1;
        }
    return line;
}

struct place_line place_locate(struct place p)
{
    struct place_line at = {.line = 1, .column = 1};
    if (!p.source)
        return at;
    const struct str text = p.source->text;
    size_t target = p.offset < text.n ? p.offset : text.n, start;
    uint32_t line = find_line(p.source, target, &start);
    const char *newline = NULL;
    size_t stop = text.n;
    if (p.source->lines && line + 1 < p.source->n_lines)
        stop = p.source->lines[line + 1] - 1;
    else if (!p.source->lines && (newline = memchr(text.p + start, '\n', text.n - start)))
        stop = (size_t)(newline - text.p);
    if (stop > start && text.p[stop - 1] == '\r')
        stop--;
    at.line = p.source->lines_before + line + 1;
    at.column = (uint32_t)(target - start) + 1;
    at.text = (struct str){text.p + start, stop - start};
    return at;
}

/* The text is made aside: of what may be megabytes, an excerpt stays. */
static const char *excerpt(struct arena *arena, const char *format, va_list args)
{
    char *whole;
    int n = vasprintf(&whole, format, args);
    if (n < 0)
        return "(not enough memory for this message)";
    /* The arena may jump away: what is long is copied first. */
    jmp_buf oom, *outer = arena->on_oom;
    const char *volatile text = NULL;
    arena->on_oom = &oom;
    if (setjmp(oom) == 0)
        text = printable_excerpt(arena, (struct str){whole, (size_t)n}, false);
    arena->on_oom = outer;
    free(whole);
    return text ? text : arena_strdup(arena, "out of memory");
}

/* Counts it; false where it is not to be kept. */
static bool is_kept(struct diags *d, enum diag_severity severity)
{
    uint32_t *kind = severity == DIAG_ERROR ? &d->errors : &d->warnings;
    if (severity != DIAG_NOTE)
        d->dropping = (*kind)++ >= d->limit && d->limit;
    return !d->dropping;
}

static void add(struct diags *d, enum diag_severity severity, struct place place, const char *code, const char *help,
                uint64_t count, const char *format, va_list args)
{
    if (!is_kept(d, severity))
        return;
    const char *text = excerpt(d->arena, format, args);
    help = help ? printable_excerpt(d->arena, str_of(help), true) : NULL;
    *VEC_PUSH(d->arena, &d->list) =
        (struct diag){.severity = severity, .code = code, .place = place, .text = text, .help = help, .count = count};
}

void diag_verror(struct diags *d, struct place place, const char *code, const char *help, const char *format,
                 va_list args)
{
    add(d, DIAG_ERROR, place, code, help, 0, format, args);
}

void diag_error(struct diags *d, struct place place, const char *code, const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, DIAG_ERROR, place, code, help, 0, format, args);
    va_end(args);
}

void diag_warn(struct diags *d, struct place place, const char *code, const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, DIAG_WARNING, place, code, help, 0, format, args);
    va_end(args);
}

void diag_note(struct diags *d, struct place place, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, DIAG_NOTE, place, code, NULL, 0, format, args);
    va_end(args);
}

/* Merges two runs that are sorted; the first one's go first where they are at the same place. */
static void merge(struct diag *to, const struct diag *a, uint32_t n_a, const struct diag *b, uint32_t n_b)
{
    while (n_a || n_b) {
        bool first = n_a && (!n_b || a->place.offset <= b->place.offset);
        *to++ = first ? *a++ : *b++;
        n_a -= first;
        n_b -= !first;
    }
}

void diags_sort(struct diags *d, uint32_t first)
{
    uint32_t n = d->list.n - first;
    if (n < 2)
        return;
    struct diag *from = d->list.at + first, *to = ARENA_ARRAY(d->arena, struct diag, n);
    for (uint32_t run = 1; run < n; run *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * run) {
            uint32_t n_a = n - i < run ? n - i : run, n_b = n - i - n_a < run ? n - i - n_a : run;
            merge(to + i, from + i, n_a, from + i + n_a, n_b);
        }
        struct diag *swap = from;
        from = to;
        to = swap;
    }
    if (from != d->list.at + first)
        memcpy(d->list.at + first, from, n * sizeof *from);
}

void diag_finding(struct diags *d, enum diag_severity severity, struct place place, const char *code, const char *help,
                  uint64_t count, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, severity, place, code, help, count, format, args);
    va_end(args);
}

void diag_of_kernel(struct diags *d, const char *kernel, const char *reason)
{
    if (d->dropping || !d->list.n)
        return;
    struct diag *last = &d->list.at[d->list.n - 1];
    last->kernel = kernel ? printable_excerpt(d->arena, str_of(kernel), false) : NULL;
    last->reason = reason ? arena_strdup(d->arena, reason) : NULL;
}

static const char *copy_text(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static const struct diag_origin *copy_origin(struct arena *arena, const struct diag_origin *from)
{
    if (!from)
        return NULL;
    struct diag_origin *o = ARENA_NEW(arena, struct diag_origin);
    *o = (struct diag_origin){copy_text(arena, from->program), from->pid, copy_text(arena, from->repeat),
                              copy_text(arena, from->stops)};
    return o;
}

static const hd_frame *copy_frames(struct arena *arena, const hd_frame *from, uint32_t n)
{
    hd_frame *frames = n ? ARENA_ARRAY(arena, hd_frame, n) : NULL;
    for (uint32_t i = 0; i < n; i++)
        frames[i] = (hd_frame){.function = copy_text(arena, from[i].function),
                               .file = copy_text(arena, from[i].file),
                               .line = from[i].line,
                               .object = copy_text(arena, from[i].object),
                               .offset = from[i].offset};
    return frames;
}

void diag_host(struct diags *d, enum diag_severity severity, const char *code, const char *help, uint64_t count,
               const hd_frame *frames, uint32_t n_frames, const char *text)
{
    if (!is_kept(d, severity))
        return;
    struct diag *g = VEC_PUSH(d->arena, &d->list);
    *g = (struct diag){.severity = severity,
                       .code = arena_strdup(d->arena, code),
                       .text = printable_excerpt(d->arena, str_of(text), false),
                       .help = help ? printable_excerpt(d->arena, str_of(help), true) : NULL,
                       .count = count,
                       .frames = copy_frames(d->arena, frames, n_frames),
                       .n_frames = n_frames};
    for (uint32_t i = 0; i < n_frames && !g->place.cuda; i++)
        if (frames[i].file)
            g->place.cuda =
                cuda_place_copy(d->arena, &(struct cuda_place){.file = frames[i].file, .line = frames[i].line});
}

void diag_launched(struct diags *d, const hd_frame *frames, size_t n, bool of_note)
{
    bool says = n > 1 || (n == 1 && (frames->file || !frames->function || strcmp(frames->function, "main") != 0));
    if (!says || d->dropping || !d->list.n)
        return;
    uint32_t last = d->list.n - 1;
    while (!of_note && last && d->list.at[last].severity == DIAG_NOTE)
        last--;
    struct diag *g = &d->list.at[last];
    g->launch = copy_frames(d->arena, frames, (uint32_t)n);
    g->n_launch = (uint32_t)n;
}

void diags_append(struct diags *to, const struct diags *from)
{
    for (uint32_t i = 0; i < from->list.n; i++) {
        struct diag *d = VEC_PUSH(to->arena, &to->list);
        *d = from->list.at[i];
        d->text = arena_strdup(to->arena, d->text);
        d->help = copy_text(to->arena, d->help);
        d->place.cuda = cuda_place_copy(to->arena, d->place.cuda);
        d->frames = copy_frames(to->arena, d->frames, d->n_frames);
        d->launch = copy_frames(to->arena, d->launch, d->n_launch);
        d->code = arena_strdup(to->arena, d->code);
        d->kernel = copy_text(to->arena, d->kernel);
        d->reason = copy_text(to->arena, d->reason);
        d->origin = copy_origin(to->arena, d->origin);
    }
    to->errors += from->errors;
    to->warnings += from->warnings;
}
