/* Transfers between a rank and others, which plan.h makes of calls. */
#ifndef HEDDLE_LIBRARIES_NCCL_FLOWS_H
#define HEDDLE_LIBRARIES_NCCL_FLOWS_H

#include "libraries/nccl/plan.h"

struct flows;

/* Returns NULL if memory is exhausted. The operations stay the caller's
 * until the flows are freed. */
struct flows *flows_new(const struct comm *c, const struct operation *operations, size_t n);
void flows_free(struct flows *f);

enum progress { FLOWS_STUCK, FLOWS_MOVED, FLOWS_DONE, FLOWS_DIFFER };
/* Proceeds as far as the others allow. FLOWS_DIFFER: another rank does something else;
 * flows_difference() says what. */
enum progress flows_go_on(struct flows *f);
void flows_difference(const struct flows *f, char *text, size_t bytes);
/* The ranks that it waits for, a bit each. */
uint32_t flows_awaited(const struct flows *f);

#endif
