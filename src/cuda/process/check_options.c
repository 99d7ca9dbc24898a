/* See check_options.h. */
#include "cuda/process/check_options.h"

#include <jansson.h>
#include <string.h>

char *check_options_text(const struct check_options *o)
{
    json_t *json =
        json_pack("{s:s*, s:i, s:i, s:i, s:s*, s:s*, s:o, s:b, s:b, s:i, s:I, s:s*, s:I}", "folder", o->folder,
                  "process", o->process, "tools", (int)o->tools, "on_error", (int)o->on_error, "policy", o->policy,
                  "events", o->events, "launches", launch_filter_json(&o->launches), "leak_check", o->leak_check,
                  "unused_memory", o->unused_memory, "api_errors", (int)o->api_errors, "shadow_bytes",
                  (json_int_t)o->shadow_bytes, "replayed", o->replayed, "number", (json_int_t)o->replayed_number);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

bool check_options_read(const char *text, struct check_options *o)
{
    json_t *json = json_loads(text, 0, NULL), *launches;
    int tools, on_error, leak_check, unused_memory, api_errors;
    json_int_t shadow_bytes, number = 0;
    *o = (struct check_options){0};
    if (!json || json_unpack(json, "{s?s, s:i, s:i, s:i, s?s, s?s, s:o, s:b, s:b, s:i, s:I, s?s, s?I}", "folder",
                             &o->folder, "process", &o->process, "tools", &tools, "on_error", &on_error, "policy",
                             &o->policy, "events", &o->events, "launches", &launches, "leak_check", &leak_check,
                             "unused_memory", &unused_memory, "api_errors", &api_errors, "shadow_bytes", &shadow_bytes,
                             "replayed", &o->replayed, "number", &number))
        return false;
    o->tools = (unsigned)tools;
    o->on_error = (enum hd_on_error)on_error;
    o->shadow_bytes = (uint64_t)shadow_bytes;
    o->replayed_number = (uint64_t)number;
    o->leak_check = leak_check;
    o->unused_memory = unused_memory;
    o->api_errors = (enum check_api_errors)api_errors;
    return launch_filter_read(launches, &o->launches);
}
