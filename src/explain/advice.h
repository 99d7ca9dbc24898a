/* What would make a kernel faster, one sentence each. Advice is given only if the counted figures
 * prove it, or the model of time with one thing changed. */
#ifndef HEDDLE_EXPLAIN_ADVICE_H
#define HEDDLE_EXPLAIN_ADVICE_H

#include "base/vec.h"
#include "exec/device.h"
#include "explain/counters.h"
#include "explain/rates.h"

struct advice {
    const char *code; /* stable: uncoalesced, bank-conflicts, ... */
    const char *text;
    struct place place; /* the instruction's; without a source: the advice is about the launch */
    /* Approximate cycles of a multiprocessor that are wasted there; 0 for a launch. */
    double cycles;
};

typedef VEC(struct advice) advice_list;

/* Advice about instructions, the most expensive first, from the sums of a kernel's launches. */
void advise_lines(const struct kernel_counters *sums, advice_list *list, struct arena *arena);
/* Advice about the launch as a whole. What needs the model is left out if there is no time. */
struct estimate;
void advise_launch(const struct kernel_counters *c, const struct device_model *d, const struct estimate *e,
                   advice_list *list, struct arena *arena);

#endif
