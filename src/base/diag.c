/* Collecting diagnostics; see diag.h. */
#include "base/diag.h"

#include <stdarg.h>

struct place_line place_locate(struct place p)
{
    struct place_line at = {.line = 1, .column = 1};
    if (!p.source)
        return at;
    const char *text = p.source->text.p, *end = text + p.source->text.n;
    const char *target = p.offset <= p.source->text.n ? text + p.offset : end;
    const char *line = text;
    for (const char *c = text; c < target; c++) {
        if (*c == '\n') {
            at.line++;
            line = c + 1;
        }
    }
    const char *stop = line;
    while (stop < end && *stop != '\n' && *stop != '\r')
        stop++;
    at.column = (uint32_t)(target - line) + 1;
    at.text = (struct str){line, (size_t)(stop - line)};
    return at;
}

static void add(struct diags *d, enum diag_severity severity, struct place place, const char *code, const char *help,
                uint64_t count, const char *format, va_list args)
{
    if (severity == DIAG_ERROR && d->errors++ >= d->limit && d->limit)
        return;
    struct diag *g = VEC_PUSH(d->arena, &d->list);
    *g = (struct diag){severity, code, place, arena_vprintf(d->arena, format, args), help, count};
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

void diags_sort(struct diags *d, uint32_t first)
{
    for (uint32_t i = first + 1; i < d->list.n; i++) {
        struct diag moved = d->list.at[i];
        uint32_t to = i;
        for (; to > first && d->list.at[to - 1].place.offset > moved.place.offset; to--)
            d->list.at[to] = d->list.at[to - 1];
        d->list.at[to] = moved;
    }
}

void diag_finding(struct diags *d, enum diag_severity severity, struct place place, const char *code, const char *help,
                  uint64_t count, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, severity, place, code, help, count, format, args);
    va_end(args);
}

static const struct cuda_place *copy_cuda(struct arena *arena, const struct cuda_place *from)
{
    if (!from)
        return NULL;
    struct cuda_place *p = ARENA_NEW(arena, struct cuda_place);
    *p = *from;
    p->file = arena_strdup(arena, from->file);
    p->inlined_file = from->inlined_file ? arena_strdup(arena, from->inlined_file) : NULL;
    return p;
}

void diags_append(struct diags *to, const struct diags *from)
{
    for (uint32_t i = 0; i < from->list.n; i++) {
        struct diag *d = VEC_PUSH(to->arena, &to->list);
        *d = from->list.at[i];
        d->text = arena_strdup(to->arena, d->text);
        d->help = d->help ? arena_strdup(to->arena, d->help) : NULL;
        d->place.cuda = copy_cuda(to->arena, d->place.cuda);
    }
    to->errors += from->errors;
}
