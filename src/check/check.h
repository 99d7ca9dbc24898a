/* The checker: watches launches for bad accesses, uninitialised reads, misused barriers and masks, and leaks.
 *
 * A client of exec/hooks.h. Bad accesses are left out and the launch goes on, so that one run finds several errors. Each
 * finding stands once, with a count, and with the first thread that it was seen in. The launches must run under a
 * schedule (exec/schedule.h): the checker is not made for several threads, and its findings come in a stable order.
 */
#ifndef HEDDLE_CHECK_CHECK_H
#define HEDDLE_CHECK_CHECK_H

#include "exec/machine.h"

struct checker;
struct strands;

/* NULL where memory is exhausted. Where that happens during a launch, findings are lost, and nothing else. */
struct checker *checker_new(struct machine *m, const hd_checker_options *o);
void checker_free(struct checker *c);

/* Adds what watches a launch to its hooks. */
void checker_add_hooks(struct checker *c, struct hook_list *hooks);
/* Around each launch. */
void checker_begin(struct checker *c, const struct kernel *k);
void checker_end(struct checker *c);

/* The order of the machine's tasks; NULL where no tool asks for it. */
struct strands *checker_strands(struct checker *c);
/* A task that is no launch reads or writes memory: a copy, a fill. Before it does so. */
void checker_range(struct checker *c, uint32_t task, const void *p, uint64_t bytes, bool write);

/* Memory whose contents are undefined until a kernel or the host (the second function) writes it. */
bool checker_mark_undefined(struct checker *c, const void *p, uint64_t bytes, const char *name);
void checker_mark_defined(struct checker *c, const void *p, uint64_t bytes);

/* What is undefined is no longer known: all memory counts as written. */
void checker_forget_undefined(struct checker *c);

/* Nothing more will be launched: what has not been freed becomes a finding. */
void checker_finish(struct checker *c);
/* How many findings there are. */
size_t checker_count(const struct checker *c);
/* The findings of all launches so far, in the order of the source. Texts are copied. */
void checker_report(struct checker *c, struct diags *diags);

#endif
