/* See explain_options.h. */
#include "cuda/process/explain_options.h"

char *explain_options_text(const struct explain_options *o)
{
    json_t *json =
        json_pack("{s:s, s:i, s:s*, s:I, s:o}", "folder", o->folder, "process", o->process, "device", o->device,
                  "sample_after", (json_int_t)o->sample_after, "launches", launch_filter_json(&o->launches));
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

bool explain_options_read(const char *text, struct explain_options *o)
{
    json_t *json = json_loads(text, 0, NULL), *launches;
    json_int_t sample_after;
    *o = (struct explain_options){0};
    bool ok = json &&
              !json_unpack(json, "{s:s, s:i, s?s, s:I, s:o}", "folder", &o->folder, "process", &o->process, "device",
                           &o->device, "sample_after", &sample_after, "launches", &launches) &&
              launch_filter_read(launches, &o->launches);
    if (ok)
        o->sample_after = (uint64_t)sample_after;
    return ok;
}
