/* What an exploration tells of the schedules that repeat what it has found (interleave.h). */
#ifndef HEDDLE_EXPLORE_SCHEDULES_H
#define HEDDLE_EXPLORE_SCHEDULES_H

#include "explore/exploration.h"

/* What shows an outcome, by its number in the verdict; or NULL. */
const struct interleaving *schedule_of_outcome(const struct exploration *e, uint32_t outcome);
/* The file that has an outcome's schedule, or why there is none; the same of a finding's, by its
 * number in what is told. */
const char *schedule_outcome_text(const struct exploration *e, uint32_t outcome);
const char *schedule_finding_text(const struct exploration *e, const struct interleaving *i, unsigned finding);
/* How many outcomes no interleaving shows. */
uint32_t schedule_count_weak(const struct exploration *e);
/* By outcome: the file, or null. */
json_t *schedules_json(const struct exploration *e);

#endif
