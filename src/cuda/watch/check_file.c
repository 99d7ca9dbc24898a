/* See check_file.h. */
#include "cuda/watch/check_file.h"

#include <stdlib.h>

#include "api/findings.h"
#include "base/map.h"
#include "base/text.h"
#include "cuda/process/file.h"

/* The contents of the file so far. */
struct said {
    struct arena arena;
    struct map findings; /* numbers of the valid findings, by their texts */
    uintptr_t newest;    /* the last number that was given */
    const char *order, *counts;
    size_t kernels; /* kernels that it has named */
};

static struct {
    struct process_file file;
    struct said said;
} check_file = {.file.fd = -1};

void check_file_open(const char *folder)
{
    process_file_open(&check_file.file, folder, "findings");
}

bool check_file_is_open(void)
{
    return check_file.file.fd >= 0;
}

/* ---- what is new ---- */

static void put_findings(struct said *now, const struct said *before, hd_report *findings, struct text *lines)
{
    struct text order = {.arena = &now->arena};
    size_t at = 0;
    text_puts(&order, "{\"findings\": [");
    for (const char *json; (json = report_next_finding(findings, &at));) {
        struct str text = str_of(arena_strdup(&now->arena, json));
        uintptr_t number = (uintptr_t)map_get(&before->findings, text);
        if (!number) {
            number = ++now->newest;
            text_printf(lines, "{\"finding\": %llu, \"says\": %s}\n", (unsigned long long)number, json);
        }
        text_printf(&order, "%s%llu", now->findings.n ? ", " : "", (unsigned long long)number);
        map_put(&now->findings, text, (void *)number);
    }
    text_puts(&order, "]}\n");
    now->order = order.p;
    if (!before->order || strcmp(order.p, before->order) != 0)
        text_puts(lines, order.p);
}

/* The text of a JSON value, in the arena; frees the value. Jumps if memory is exhausted, as the
 * arena does. */
static const char *dump(json_t *value, struct arena *arena)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(value);
    if (!text)
        longjmp(*arena->on_oom, 1);
    const char *kept = arena_strdup(arena, text);
    free(text);
    return kept;
}

static void put_counts(struct said *now, const struct said *before, const struct check_progress *p, struct text *lines)
{
    struct arena *arena = &now->arena;
    json_t *fresh = json_array(), *set;
    const char *name;
    size_t i = 0;
    json_object_foreach(p->kernels, name, set)
    {
        if (i++ >= before->kernels)
            json_array_append_new(fresh, json_string(name));
    }
    now->kernels = i;
    now->counts = dump(json_pack("{s:I, s:I, s:I, s:O, s:[I, I]}", "launches", (json_int_t)p->launches, "unchecked",
                                 (json_int_t)p->unchecked, "calls", (json_int_t)p->calls, "running", p->running,
                                 "blocks", (json_int_t)p->blocks_done, (json_int_t)p->blocks),
                       arena);
    const char *kernels = dump(fresh, arena);
    if (now->kernels > before->kernels || !before->counts || strcmp(now->counts, before->counts) != 0)
        text_printf(lines, "%.*s,\"kernels\":%s}\n", (int)strlen(now->counts) - 1, now->counts, kernels);
}

/* Composes the new lines, in the arena of the new contents; NULL if memory is exhausted. */
static const char *compose(struct said *now, const struct said *before, const struct check_progress *p,
                           hd_report *findings)
{
    struct text lines = {.arena = &now->arena};
    jmp_buf oom;
    const char *volatile text = NULL;
    map_init(&now->findings, &now->arena);
    now->newest = before->newest;
    now->arena.on_oom = &oom;
    if (setjmp(oom) == 0) {
        text_puts(&lines, "");
        put_findings(now, before, findings, &lines);
        put_counts(now, before, p, &lines);
        if (p->ended)
            text_puts(&lines, "{\"ended\": true}\n");
        text = lines.p;
    }
    now->arena.on_oom = NULL;
    return text;
}

void check_file_write(const struct check_progress *p, hd_report *findings)
{
    struct said now = {0}, *said = &check_file.said;
    if (!check_file_is_open())
        return;
    if (process_file_append(&check_file.file, "", compose(&now, said, p, findings), "")) {
        arena_free(&said->arena);
        *said = now;
        said->findings.arena = &said->arena;
    } else {
        arena_free(&now.arena);
    }
}
