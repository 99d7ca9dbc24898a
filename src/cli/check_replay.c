/* heddle check --replay-events: passes the recorded events to the checkers again, and shows their
 * findings as those of a process. */
#include "cli/check_replay.h"

#include <stdlib.h>

#include "record/replay.h"
#include "report/report.h"

static json_t *findings_of(struct replay *r, struct arena *arena, bool *whole)
{
    json_t *all = json_array();
    bool good = true;
    for (unsigned i = 0; good; i++) {
        struct diags d = {.arena = arena};
        if (!replay_report(r, i, &d, &good))
            break;
        json_t *list = json_loads(report_json(&d, arena).p, 0, NULL);
        good = list && json_array_extend(all, list) == 0;
        json_decref(list);
    }
    json_t *others = *replay_findings(r) ? json_loads(replay_findings(r), 0, NULL) : NULL;
    if (others)
        json_array_extend(all, others);
    json_decref(others);
    *whole = good;
    return all;
}

static json_t *kernels_of(const struct replay *r)
{
    json_t *all = json_array();
    const char *name;
    for (unsigned i = 0; (name = replay_kernel(r, i)); i++)
        json_array_append_new(all, json_string(name));
    return all;
}

const char *check_replay(const char *path, struct check_results *results, const char **program, struct arena *arena)
{
    const char *error;
    bool whole;
    struct replay *r = replay_run(path, arena, &error);
    if (!r)
        return error;
    *program = replay_program(r) ? arena_strdup(arena, replay_program(r)) : "";
    json_t *findings = findings_of(r, arena, &whole), *kernels = kernels_of(r);
    json_t *said =
        json_pack("{s:s?, s:i, s:b, s:I, s:i, s:o, s:{}}", "program", replay_program(r), "process", 0, "ended", 1,
                  "launches", (json_int_t)replay_launches(r), "unchecked", 0, "kernels", kernels, "running");
    check_results_add(results, said, findings);
    results->lost |= !whole;
    json_decref(said);
    json_decref(findings);
    replay_free(r);
    return NULL;
}
