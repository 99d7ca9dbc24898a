/* See schedules.h. */
#include "explore/schedules.h"

/* The file's path; NULL if there is none. */
static const char *path_of(const struct exploration *e, const struct interleaving *i, const char *name)
{
    return i && i->how == INTERLEAVED ? e->schedule(e->data, i, name) : NULL;
}

static const char *path_or_reason(const struct exploration *e, const struct interleaving *i, const char *name)
{
    const char *path = path_of(e, i, name);
    if (path || !i)
        return path ? path : "no interleaving was looked for";
    switch (i->how) {
    case INTERLEAVED_NEVER: return e->result->complete ? "no interleaving" : "no interleaving so far";
    case INTERLEAVED_UNKNOWN: return "no interleaving was found";
    case INTERLEAVED_IN_BLOCKS: return "no schedule: lanes of a warp diverge within a basic block";
    default: return "no schedule: the engine has not followed the interleaving";
    }
}

static const char *outcome_name(const struct exploration *e, uint32_t outcome)
{
    return arena_printf(e->arena, "outcome-%u", outcome + 1);
}

const struct interleaving *schedule_of_outcome(const struct exploration *e, uint32_t outcome)
{
    return interleaving_of(e->result->interleavings, NOTICE_OUTCOME, e->result->verdict.outcomes.at[outcome], NULL,
                           NULL);
}

const char *schedule_outcome_text(const struct exploration *e, uint32_t outcome)
{
    return path_or_reason(e, schedule_of_outcome(e, outcome), outcome_name(e, outcome));
}

const char *schedule_finding_text(const struct exploration *e, const struct interleaving *i, unsigned finding)
{
    return path_or_reason(e, i, arena_printf(e->arena, "finding-%u", finding + 1));
}

uint32_t schedule_count_weak(const struct exploration *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->result->verdict.outcomes.n; i++) {
        const struct interleaving *shown = schedule_of_outcome(e, i);
        n += shown && shown->how == INTERLEAVED_NEVER;
    }
    return n;
}

json_t *schedules_json(const struct exploration *e)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < e->result->verdict.outcomes.n; i++) {
        const char *path = path_of(e, schedule_of_outcome(e, i), outcome_name(e, i));
        json_array_append_new(all, path ? json_string(path) : json_null());
    }
    return all;
}
