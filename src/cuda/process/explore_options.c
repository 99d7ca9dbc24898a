/* See explore_options.h. */
#include "cuda/process/explore_options.h"

/* The list as JSON; incomplete if memory is exhausted, NULL if a text is not UTF-8. */
static json_t *list_json(const struct opt_list *list)
{
    json_t *json = json_array();
    for (unsigned i = 0; i < list->n; i++)
        if (json_array_append_new(json, json_string(list->at[i]))) {
            json_decref(json);
            return NULL;
        }
    return json;
}

static bool list_read(const json_t *json, struct opt_list *list)
{
    list->n = (unsigned)json_array_size(json);
    if (!json_is_array(json) || list->n > OPT_LIST_MAX)
        return false;
    for (unsigned i = 0; i < list->n; i++)
        if (!(list->at[i] = json_string_value(json_array_get(json, i))))
            return false;
    return true;
}

char *explore_asked_text(const struct explore_asked *a)
{
    json_t *json =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:i, s:i, s:i, s:b, s:b, s:b, s:b, s:I, s:i, s:s*, s:s*}",
                  "folder", a->folder, "launches", launch_filter_json(&a->launches), "observe", list_json(&a->observe),
                  "require", list_json(&a->require), "forbid", list_json(&a->forbid), "unroll", (json_int_t)a->unroll,
                  "limit", (json_int_t)a->step_limit, "workers", (json_int_t)a->workers, "rank", (int)a->rank, "ranks",
                  (int)a->ranks, "ranks_here", (int)a->ranks_here, "symmetric", a->symmetric, "examples", a->examples,
                  "stats", a->stats, "repair", a->repair, "outcome", (json_int_t)a->outcome, "picture", a->picture,
                  "schedules", a->schedules, "schedules_called", a->schedules_called);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

bool explore_asked_read(const char *text, struct explore_asked *a)
{
    json_t *json = json_loads(text, 0, NULL), *launches, *observe, *require, *forbid;
    json_int_t unroll, step_limit, workers, outcome;
    int rank, ranks, ranks_here, symmetric, examples, stats, repair, picture;
    *a = (struct explore_asked){0};
    if (!json ||
        json_unpack(
            json, "{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:i, s:i, s:i, s:b, s:b, s:b, s:b, s:I, s:i, s?s, s?s}",
            "folder", &a->folder, "launches", &launches, "observe", &observe, "require", &require, "forbid", &forbid,
            "unroll", &unroll, "limit", &step_limit, "workers", &workers, "rank", &rank, "ranks", &ranks, "ranks_here",
            &ranks_here, "symmetric", &symmetric, "examples", &examples, "stats", &stats, "repair", &repair, "outcome",
            &outcome, "picture", &picture, "schedules", &a->schedules, "schedules_called", &a->schedules_called))
        return false;
    a->unroll = (uint64_t)unroll;
    a->step_limit = (uint64_t)step_limit;
    a->workers = (uint64_t)workers;
    a->rank = (unsigned)rank;
    a->ranks = (unsigned)ranks;
    a->ranks_here = (unsigned)ranks_here;
    a->symmetric = symmetric;
    a->examples = examples;
    a->stats = stats;
    a->repair = repair;
    a->outcome = (uint64_t)outcome;
    a->picture = picture;
    return launch_filter_read(launches, &a->launches) && list_read(observe, &a->observe) &&
           list_read(require, &a->require) && list_read(forbid, &a->forbid);
}
