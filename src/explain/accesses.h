/* Adds one instruction of a warp to the counters of its site (counters.def): applies the hardware's
 * rules (rules.h) to the lanes' addresses. Touched global memory goes into the footprint; loads go
 * through a model of L1 (NULL: there is none). */
#ifndef HEDDLE_EXPLAIN_ACCESSES_H
#define HEDDLE_EXPLAIN_ACCESSES_H

#include "exec/events.h"
#include "explain/footprint.h"
#include "explain/l1.h"
#include "explain/sites.h"
#include "explain/tables.h"

void count_access(struct footprint *f, struct l1 *l1, const struct access_site *s, struct site_tally *t,
                  const struct access_event *e);
/* Counts asynchronous work when it is issued; returns the bytes that a bulk copy moves. */
uint64_t count_issue(struct footprint *f, struct l1 *l1, const struct access_site *s, struct site_tally *t,
                     const struct issue_event *e);

#endif
