/* Output that all commands share: errors, reports, JSON. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_name.h"
#include "base/message.h"
#include "base/printable.h"
#include "cli/cli.h"

static void complain(struct session *s, const char *format, va_list args)
{
    progress_end(&s->progress);
    message_print(&s->arena, "", format, args);
}

int usage_error(struct session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(s, format, args);
    va_end(args);
    return 2;
}

int cli_failure(struct session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(s, format, args);
    va_end(args);
    return failure_status(s);
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
        return cli_failure(s, "%s", hd_result_string(result));
    report_print(s, report);
    return failure_status(s);
}

static bool names_file(const char *key)
{
    static const char end[] = "file";
    size_t n = strlen(key);
    return n >= sizeof end - 1 && strcmp(key + n - (sizeof end - 1), end) == 0;
}

json_t *json_show_files(json_t *value, struct arena *arena)
{
    const char *key;
    size_t i;
    json_t *member;
    json_object_foreach(value, key, member) if (json_is_string(member) && names_file(key))
        json_string_set(member, file_as_shown(json_string_value(member), arena));
    else json_show_files(member, arena);
    json_array_foreach(value, i, member) json_show_files(member, arena);
    return value;
}

json_t *report_entries(struct session *s, hd_report *report)
{
    json_t *entries = report ? json_loads(hd_report_json(report), 0, NULL) : json_array();
    if (json_array_size(entries) != hd_report_count(report))
        json_lose();
    hd_report_free(report);
    return json_show_files(entries, &s->arena);
}

/* If memory is exhausted, a JSON value lacks a part. This flag notes it, so that callers need not
 * check each of jansson's functions. */
static atomic_bool json_is_short;

static void *json_malloc(size_t n)
{
    void *p = malloc(n);
    if (!p)
        json_is_short = true;
    return p;
}

void json_watch_memory(void)
{
    json_set_alloc_funcs(json_malloc, free);
}

void json_lose(void)
{
    json_is_short = true;
}

json_t *json_text(const char *text, size_t n)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
    char *valid = malloc(3 * n + 1), *to = valid;
    for (size_t i = 0; valid && i < n;) {
        uint32_t code;
        unsigned length = utf8_decode(text + i, n - i, &code);
        to = mempcpy(to, length ? text + i : replacement, length ? length : 3);
        i += length ? length : 1;
    }
    json_t *string = valid ? json_stringn_nocheck(valid, (size_t)(to - valid)) : NULL;
    if (!string)
        json_lose();
    free(valid);
    return string;
}

int print_json(struct session *s, json_t *value)
{
    char *text = json_is_short ? NULL : json_dumps(value, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII);
    json_decref(value);
    if (!text || json_is_short) {
        free(text);
        return cli_failure(s, "out of memory: the results cannot be written as JSON");
    }
    puts(text);
    free(text);
    return 0;
}
