/* Reports the schedules that repeat what an exploration found (interleave.h). */
#ifndef HEDDLE_EXPLORE_SCHEDULES_H
#define HEDDLE_EXPLORE_SCHEDULES_H

#include "explore/exploration.h"

/* The interleaving that shows an outcome, by its number in the verdict; or NULL. */
const struct interleaving *schedule_of_outcome(const struct exploration *e, uint32_t outcome);
/* The file with an outcome's schedule, or why there is none; then the same for a finding, by its
 * number in the report. */
const char *schedule_outcome_text(const struct exploration *e, uint32_t outcome);
const char *schedule_finding_text(const struct exploration *e, const struct interleaving *i, unsigned finding);
/* The number of outcomes that no interleaving shows. */
uint32_t schedule_count_weak(const struct exploration *e);
/* By outcome: the file, or null. */
json_t *schedules_json(const struct exploration *e);

#endif
