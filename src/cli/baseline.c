/* See baseline.h. */
#include "cli/baseline.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "cli/cli.h"
#include "files/file.h"
#include "report/report.h"

/* Returns false if the finding has no fingerprint. Notes belong to
 * another finding and need none. */
static bool add(struct baseline *b, const json_t *finding, const json_t *fingerprint, struct arena *arena)
{
    const char *text = json_string_value(fingerprint),
               *severity = json_string_value(json_object_get(finding, "severity"));
    if (text && !map_put(&b->known, str_of(arena_strdup(arena, text)), b))
        b->n++;
    return text || (severity && strcmp(severity, "note") == 0);
}

/* Returns false if the report has neither of the two formats, or a finding has no fingerprint. */
static bool add_all(struct baseline *b, const json_t *report, struct arena *arena)
{
    const json_t *findings = json_object_get(report, "findings"), *diagnostics = json_object_get(report, "diagnostics"),
                 *runs = json_object_get(report, "runs"), *run, *one;
    size_t i, k;
    bool all = json_is_array(findings) || json_is_array(diagnostics) || json_is_array(runs);
    json_array_foreach(diagnostics, i, one) all &= add(b, one, json_object_get(one, "fingerprint"), arena);
    json_array_foreach(findings, i, one) all &= add(b, one, json_object_get(one, "fingerprint"), arena);
    json_array_foreach(runs, k, run)
    {
        json_array_foreach(json_object_get(run, "results"), i, one) all &=
            add(b, one, json_object_get(json_object_get(one, "partialFingerprints"), "heddle/v1"), arena);
    }
    return all;
}

const char *baseline_read(struct baseline *b, const char *path, struct arena *arena)
{
    struct file_bytes f;
    const char *wrong = file_read(arena, path, 0, &f);
    *b = (struct baseline){.path = path};
    map_init(&b->known, arena);
    if (wrong)
        return arena_printf(
            arena,
            "%s (`heddle check --save %s ./app` writes one, and `heddle check --format json FILE.ptx ... "
            ">%s`)",
            wrong, path, path);
    json_t *report = json_loadb(f.bytes, f.n, 0, NULL);
    free(f.bytes);
    bool ok = report && add_all(b, report, arena);
    json_decref(report);
    return ok ? NULL : arena_printf(arena, "%s is not a report that `heddle check` wrote, as JSON or SARIF", path);
}

static bool *find_known(const struct baseline *b, const struct diags *d, uint32_t *n)
{
    const char **prints = report_fingerprints(d, d->arena);
    bool *known = ARENA_ARRAY(d->arena, bool, d->list.n + 1);
    *n = 0;
    for (uint32_t i = 0; i < d->list.n; i++)
        *n += known[i] = prints[i] && map_get(&b->known, str_of(prints[i]));
    return known;
}

void baseline_meet(struct baseline *b, const struct diags *d)
{
    find_known(b, d, &b->met);
}

uint32_t baseline_apply(void *baseline, struct diags *d)
{
    struct baseline *b = baseline;
    uint32_t n;
    report_leave_out(d, find_known(b, d, &n));
    b->met = b->met > n ? b->met : n;
    return n;
}

const char *baseline_verdict(uint32_t known, struct arena *arena)
{
    return known ? arena_printf(arena, "; %s known by the baseline\n", count_text(known, arena)) : "\n";
}

const char *baseline_remark(const struct baseline *b, struct arena *arena)
{
    uint32_t gone = b->n - b->met;
    if (!gone)
        return "";
    return arena_printf(arena, "heddle: %s: %u of its %u findings did not occur this time\n",
                        printable(arena, str_of(b->path)), gone, b->n);
}
