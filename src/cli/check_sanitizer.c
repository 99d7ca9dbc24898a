/* The findings of `heddle check` as compute-sanitizer writes them, for programs such as CTest that
 * parse its output: a line `========= Head` for each finding, indented lines `=========     ...`
 * for its details, and a summary. See check_report.h. */
#include <stdlib.h>

#include "base/text.h"
#include "cli/check_report.h"
#include "report/report.h"

static const char bar[] = "=========";

/* The number of bytes in a text such as "... of 4 bytes": the first such number. */
static unsigned bytes_of(const char *text)
{
    for (const char *at = text; (at = strstr(at, " bytes")); at++) {
        const char *digit = at;
        while (digit > text && digit[-1] >= '0' && digit[-1] <= '9')
            digit--;
        if (digit < at)
            return (unsigned)strtoul(digit, NULL, 10);
    }
    return 0;
}

static const char *space_of(const char *text)
{
    return strstr(text, "shared") ? "__shared__" : strstr(text, " local ") ? "__local__" : "__global__";
}

static bool is_one_of(const char *code, const char *const *codes)
{
    while (*codes && strcmp(code, *codes) != 0)
        codes++;
    return *codes != NULL;
}

/* The head of a finding, in compute-sanitizer's words. */
static const char *head_of(const struct diag *d, struct arena *arena)
{
    static const char *const bad[] = {"illegal-address", "misaligned-address", "address-space", "not-given-out",
                                      "not-permitted",   "read-only",          "block-ended",   NULL},
                             *const frees[] = {"double-free", "invalid-free", "bad-free", NULL},
                             *const copies[] = {"copy-out-of-bounds", "copy-direction", "use-after-free",
                                                "invalid-pointer", NULL};
    const char *code = d->code, *text = d->text;
    if (is_one_of(code, bad))
        return arena_printf(arena, "Invalid %s %s of size %u bytes", space_of(text),
                            strstr(text, " updates ") ? "atomic"
                            : strstr(text, "writes")  ? "write"
                                                      : "read",
                            bytes_of(text));
    if (is_one_of(code, frees))
        return arena_printf(arena, "Malloc/Free error encountered: %s", text);
    if (is_one_of(code, copies))
        return arena_printf(arena, "Host API memory access error: %s", text);
    if (strcmp(code, "leak") == 0 || strcmp(code, "region-leak") == 0)
        return arena_printf(arena, "Leaked %u bytes at %s", bytes_of(text), text);
    if (strcmp(code, "api-error") == 0)
        return arena_printf(arena, "Program hit %s on CUDA API call to CUDA", text);
    const char *tool = report_tool(d);
    if (tool && strcmp(tool, "racecheck") == 0)
        return arena_printf(arena, "Error: Race reported: %s", text);
    if (strcmp(code, "uninitialised-read") == 0)
        return arena_printf(arena, "Uninitialized %s memory read of size %u bytes", space_of(text), bytes_of(text));
    if (strcmp(code, "unused-memory") == 0)
        return arena_printf(arena, "Unused memory: %s", text);
    if (tool && strcmp(tool, "synccheck") == 0)
        return arena_printf(arena, "Barrier error detected. %s", text);
    return arena_printf(arena, "Error: %s", text);
}

/* Writes a text behind the bars, as people read it. */
static void put_text(struct text *t, const char *text)
{
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        text_printf(t, "%s     %.*s\n", bar, (int)(end - line), line);
    }
}

const char *check_sanitizer_text(const struct diags *d, struct arena *arena)
{
    struct text t = {.arena = arena};
    text_printf(&t, "%s COMPUTE-SANITIZER (Heddle in its place)\n", bar);
    for (uint32_t i = 0, n; i < d->list.n; i += n) {
        n = report_finding(d, i);
        const struct diags one = {.arena = arena, .list = {.at = d->list.at + i, .n = n}};
        text_printf(&t, "%s %s\n", bar, head_of(&d->list.at[i], arena));
        put_text(&t, report_text(&one, arena).p);
        text_printf(&t, "%s\n", bar);
    }
    text_printf(&t, "%s ERROR SUMMARY: %u error%s\n", bar, d->errors, d->errors == 1 ? "" : "s");
    return t.p;
}
