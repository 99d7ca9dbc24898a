/* What a finding is known by in other runs; see report.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/text.h"
#include "report/lines.h"
#include "report/report.h"

/* FNV-1a. */
static uint64_t hash_of(struct str text)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (unsigned char)text.p[i]) * 0x100000001b3;
    return h;
}

/* Without blanks, which editors and formatters change. */
static void put_line_text(struct text *t, struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!isspace((unsigned char)line.p[i]))
            text_put(t, line.p + i, 1);
}

static void put_line(struct text *t, const char *file, uint32_t number, const struct place *p)
{
    struct str line = source_line(file, p, number, t->arena);
    const char *slash = strrchr(file, '/');
    text_printf(t, "%s|", slash ? slash + 1 : file);
    if (line.p)
        put_line_text(t, line);
    else
        text_printf(t, "%u", number);
}

/* Of PTX that no line of a source is known of, the instruction: a compiler gives its registers
 * other numbers. */
static void put_instruction(struct text *t, struct place p)
{
    struct str line = place_locate(p).text;
    line.n = line.p && memchr(line.p, '%', line.n) ? (size_t)((char *)memchr(line.p, '%', line.n) - line.p) : line.n;
    put_line_text(t, line);
}

static struct str place_words(const struct diag *d, struct arena *arena)
{
    struct text t = {.arena = arena};
    const hd_frame *f = d->frames;
    for (uint32_t i = 0; i < d->n_frames && !(f && f->file); i++)
        f = &d->frames[i];
    text_puts(&t, "");
    if (d->place.cuda)
        put_line(&t, d->place.cuda->file, d->place.cuda->line, &d->place);
    else if (d->place.source)
        put_instruction(&t, d->place);
    if (d->n_frames && f && f->function)
        text_printf(&t, "|%s", f->function);
    return (struct str){t.p, t.n};
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct str *)a)->p, ((const struct str *)b)->p);
}

/* The sides of a race in an order of their own: which of them is told first may follow from numbers
 * of lines. */
static const char *words_of(const struct diag *group, uint32_t n, struct arena *arena)
{
    struct text t = {.arena = arena};
    struct str *places = ARENA_ARRAY(arena, struct str, n);
    uint32_t n_places = 0;
    text_printf(&t, "%s|%s|%s", group->code, group->kernel ? group->kernel : "", group->reason ? group->reason : "");
    for (uint32_t i = 0; i < n; i++) {
        struct str words = place_words(&group[i], arena);
        if (words.n)
            places[n_places++] = words;
    }
    if (n_places)
        qsort(places, n_places, sizeof *places, by_text);
    else
        report_put_words(&t, group->text);
    for (uint32_t i = 0; i < n_places; i++)
        text_printf(&t, "\n%s", places[i].p);
    return t.p;
}

const char **report_fingerprints(const struct diags *d, struct arena *arena)
{
    const char **prints = ARENA_ARRAY(arena, const char *, d->list.n + 1);
    struct map seen; /* how many there have been, as a pointer */
    map_init(&seen, arena);
    for (uint32_t i = 0, n; i < d->list.n; i += n) {
        n = report_finding(d, i);
        struct str key = {arena_printf(arena, "%016" PRIx64, hash_of(str_of(words_of(&d->list.at[i], n, arena)))), 16};
        uintptr_t number = (uintptr_t)map_get(&seen, key) + 1;
        map_put(&seen, key, (void *)number);
        for (uint32_t k = 0; k < n; k++)
            prints[i + k] = NULL;
        if (d->list.at[i].severity != DIAG_NOTE)
            prints[i] = arena_printf(arena, "%s:%u", key.p, (unsigned)number);
    }
    return prints;
}
