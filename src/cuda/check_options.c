/* See check_options.h. */
#include "cuda/check_options.h"

#include <jansson.h>
#include <string.h>

static json_t *filters_json(const struct check_filters *f)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < f->n; i++)
        json_array_append_new(list, json_pack("[i, s]", (int)f->at[i].key, f->at[i].value));
    return list;
}

char *check_options_text(const struct check_options *o)
{
    json_t *json =
        json_pack("{s:s, s:i, s:i, s:i, s:s*, s:o, s:o, s:I, s:I, s:b, s:b, s:i, s:I}", "folder", o->folder, "process",
                  o->process, "tools", (int)o->tools, "on_error", (int)o->on_error, "policy", o->policy, "only",
                  filters_json(&o->only), "except", filters_json(&o->except), "skip", (json_int_t)o->skip, "count",
                  (json_int_t)o->count, "leak_check", o->leak_check, "unused_memory", o->unused_memory, "api_errors",
                  (int)o->api_errors, "shadow_bytes", (json_int_t)o->shadow_bytes);
    bool whole = json && json_array_size(json_object_get(json, "only")) == o->only.n &&
                 json_array_size(json_object_get(json, "except")) == o->except.n;
    char *text = whole ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

static bool read_filters(json_t *list, struct check_filters *f)
{
    f->n = (unsigned)json_array_size(list);
    if (f->n > MAX_FILTERS)
        return false;
    for (unsigned i = 0; i < f->n; i++) {
        int key;
        if (json_unpack(json_array_get(list, i), "[i, s]", &key, &f->at[i].value) || key < 0 || key > FILTER_REGEX)
            return false;
        f->at[i].key = (enum check_filter_key)key;
    }
    return true;
}

bool check_options_read(const char *text, struct check_options *o)
{
    json_t *json = json_loads(text, 0, NULL), *only, *except;
    int tools, on_error, leak_check, unused_memory, api_errors;
    json_int_t skip, count, shadow_bytes;
    *o = (struct check_options){0};
    if (!json ||
        json_unpack(json, "{s:s, s:i, s:i, s:i, s?s, s:o, s:o, s:I, s:I, s:b, s:b, s:i, s:I}", "folder", &o->folder,
                    "process", &o->process, "tools", &tools, "on_error", &on_error, "policy", &o->policy, "only", &only,
                    "except", &except, "skip", &skip, "count", &count, "leak_check", &leak_check, "unused_memory",
                    &unused_memory, "api_errors", &api_errors, "shadow_bytes", &shadow_bytes))
        return false;
    o->tools = (unsigned)tools;
    o->on_error = (enum hd_on_error)on_error;
    o->skip = (uint64_t)skip;
    o->count = (uint64_t)count;
    o->shadow_bytes = (uint64_t)shadow_bytes;
    o->leak_check = leak_check;
    o->unused_memory = unused_memory;
    o->api_errors = (enum check_api_errors)api_errors;
    return read_filters(only, &o->only) && read_filters(except, &o->except);
}
