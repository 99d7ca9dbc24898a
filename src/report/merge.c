/* Findings of several runs and processes as one list; see report.h. */
#include <ctype.h>

#include "base/map.h"
#include "base/text.h"
#include "report/report.h"

uint32_t report_finding(const struct diags *d, uint32_t i)
{
    uint32_t n = 1;
    while (i + n < d->list.n && d->list.at[i + n].severity == DIAG_NOTE)
        n++;
    return n;
}

uint32_t report_leave_out(struct diags *d, const bool *out)
{
    uint32_t to = 0, taken = 0;
    for (uint32_t i = 0, n; i < d->list.n; i += n) {
        struct diag *group = &d->list.at[i];
        n = report_finding(d, i);
        if (out[i]) {
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

static void put_place(struct text *key, const struct place *p)
{
    struct place_line at = place_locate(*p);
    if (p->source)
        text_printf(key, "|%s:%u:%u", p->source->name, at.line, at.column);
    if (p->cuda)
        text_printf(key, "|%s:%u", p->cuda->file, p->cuda->line);
    for (uint32_t i = 0; p->cuda && i < p->cuda->n_chain; i++)
        text_printf(key, "|%s:%u", p->cuda->chain[i].file, p->cuda->chain[i].line);
}

void report_put_words(struct text *key, const char *text)
{
    for (const char *p = text; *p;) {
        bool number = isdigit((unsigned char)*p);
        size_t n = number ? strspn(p, "0123456789abcdefx") : 1;
        text_put(key, number ? "0" : p, 1);
        p += n;
    }
}

static struct str key_of(const struct diag *group, uint32_t n, struct arena *arena)
{
    struct text key = {.arena = arena};
    for (uint32_t i = 0; i < n; i++) {
        const struct diag *d = &group[i];
        text_printf(&key, "\n%s|%s|%s", d->code, d->kernel ? d->kernel : "", d->reason ? d->reason : "");
        put_place(&key, &d->place);
        for (uint32_t k = 0; k < d->n_frames; k++)
            text_printf(&key, "|%s+%llx", d->frames[k].object ? d->frames[k].object : "",
                        (unsigned long long)d->frames[k].offset);
        if (!d->place.source && !d->place.cuda && !d->n_frames)
            report_put_words(&key, d->text);
    }
    return (struct str){key.p, key.n};
}

static void set_origin(struct diags *d, uint32_t first, uint32_t n, const struct diag_origin *origin)
{
    for (uint32_t i = first; i < first + n; i++)
        d->list.at[i].origin = origin;
}

static void add_group(struct diags *to, const struct diags *from, uint32_t first, uint32_t n,
                      const struct diag_origin *origin)
{
    struct diags part = {.list = {.at = from->list.at + first, .n = n}};
    uint32_t at = to->list.n;
    part.errors = part.list.at->severity == DIAG_ERROR;
    part.warnings = part.list.at->severity == DIAG_WARNING;
    diags_append(to, &part);
    if (origin)
        set_origin(to, at, to->list.n - at, origin);
}

static uint64_t times(const struct diag *d)
{
    return d->count ? d->count : 1;
}

void report_merge(struct diags *to, const struct diags *from, const struct diag_origin *origin)
{
    struct map known; /* the place in `to` from 1 of each key, as a pointer */
    map_init(&known, to->arena);
    for (uint32_t i = 0, n; i < to->list.n; i += n) {
        n = report_finding(to, i);
        map_put(&known, key_of(&to->list.at[i], n, to->arena), (void *)(uintptr_t)(i + 1));
    }
    for (uint32_t i = 0, n; i < from->list.n; i += n) {
        n = report_finding(from, i);
        struct str key = key_of(&from->list.at[i], n, to->arena);
        uintptr_t place = (uintptr_t)map_get(&known, key);
        if (place) {
            struct diag *d = &to->list.at[place - 1];
            d->count = times(d) + times(&from->list.at[i]);
            if (origin && origin->repeat && d->origin && !d->origin->repeat)
                set_origin(to, place - 1, report_finding(to, place - 1), origin);
        } else {
            map_put(&known, key, (void *)(uintptr_t)(to->list.n + 1));
            add_group(to, from, i, n, origin);
        }
    }
}
