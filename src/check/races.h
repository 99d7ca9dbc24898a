/* Data races, by the memory consistency model of the PTX ISA (chapter 8) and nothing else: two accesses overlap, at least one of them
 * writes, causality orders neither before the other, and they are not morally strong (8.7.1). All bytes of global and shared memory
 * are watched, in all launches of a machine; order.h says what is ordered, history.h what is remembered.
 *
 * A finding is a pair of places in the program and a reason; it is told once, with the threads of its first sight.
 */
#ifndef HEDDLE_CHECK_RACES_H
#define HEDDLE_CHECK_RACES_H

#include "base/diag.h"
#include "exec/machine.h"

struct races;

struct races *races_new(struct machine *m); /* NULL where memory is exhausted */
void races_free(struct races *r);
const struct hooks *races_hooks(struct races *r);
/* A launch begins, of which the other launches and the host's operations know as `task`; and has ended. */
void races_begin(struct races *r, const struct kernel *k, uint32_t task);
void races_end(struct races *r);
/* Memory is freed or given another meaning: what has been done to it is forgotten. */
void races_forget(struct races *r, const void *p, uint64_t bytes);
uint32_t races_count(const struct races *r); /* findings */
void races_report(struct races *r, struct diags *diags);

#endif
