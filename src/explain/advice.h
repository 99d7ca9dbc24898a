/* What would make a kernel faster: one sentence each, and only where the counted figures, or the
 * model of time with one thing changed, prove it. */
#ifndef HEDDLE_EXPLAIN_ADVICE_H
#define HEDDLE_EXPLAIN_ADVICE_H

#include "base/vec.h"
#include "exec/device.h"
#include "explain/counters.h"
#include "explain/rates.h"

struct advice {
    const char *code; /* stable: uncoalesced, bank-conflicts, ... */
    const char *text;
    struct place place; /* of the instruction that it is about; no source: of the launch */
    double cycles;      /* of a multiprocessor, about, that are spent in vain there; of a launch 0 */
};

typedef VEC(struct advice) advice_list;

/* Of instructions, those first that cost most: from the sums of a kernel's launches, which have
 * them. */
void advise_lines(const struct kernel_counters *sums, advice_list *list, struct arena *arena);
/* Of the launch as a whole. What needs the model is left out where there is no time. */
struct estimate;
void advise_launch(const struct kernel_counters *c, const struct device_model *d, const struct estimate *e,
                   advice_list *list, struct arena *arena);

#endif
