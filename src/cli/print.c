/* What all commands print: errors, reports, JSON, numbers. */
#include <stdio.h>

#include "cli/cli.h"

static void complain(struct session *s, const char *format, va_list args)
{
    progress_end(&s->progress);
    fflush(stdout);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int usage_error(struct session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(s, format, args);
    va_end(args);
    return 2;
}

int failure(struct session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(s, format, args);
    va_end(args);
    return 1;
}

void report_print(struct session *s, hd_report *report)
{
    progress_end(&s->progress);
    fflush(stdout);
    fputs(hd_report_text(report), stderr);
    hd_report_free(report);
}

int report_failure(struct session *s, hd_result result, hd_report *report)
{
    if (!hd_report_count(report))
        return failure(s, "%s", hd_result_string(result));
    report_print(s, report);
    return 1;
}

json_t *report_entries(hd_report *report)
{
    json_t *entries = json_loads(hd_report_json(report), 0, NULL);
    hd_report_free(report);
    return entries ? entries : json_array();
}

int print_json(json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    putchar('\n');
    json_decref(value);
    return 0;
}

const char *size_text(uint64_t bytes, struct arena *arena)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024)
        return arena_printf(arena, "%llu bytes", (unsigned long long)bytes);
    double size = (double)bytes / 1024;
    int unit = 0;
    for (; size >= 1024 && unit < 3; unit++)
        size /= 1024;
    return arena_printf(arena, "%.*f %s", size < 10, size, units[unit]);
}

const char *count_text(uint64_t n, struct arena *arena)
{
    if (n < 1000)
        return arena_printf(arena, "%llu", (unsigned long long)n);
    return arena_printf(arena, "%s,%03u", count_text(n / 1000, arena), (unsigned)(n % 1000));
}
