/* Which lanes use what they have read? Compilers load from local and shared memory before a thread
 * knows whether it needs the value, and drop it later by a selection or a branch: such a load reads
 * nothing that counts.
 */
#ifndef HEDDLE_EXEC_USES_H
#define HEDDLE_EXEC_USES_H

#include "exec/warp.h"

/* Of lanes that are about to read by this operation, those that may use the value. Those that are
 * left out do not: it is followed along the way that they will go, as far as the registers tell
 * today which way that is; behind that it counts as used. */
uint32_t lanes_that_use(const struct warp *w, const struct op *read, uint32_t lanes);

/* The activation that an operation is in, of those that the warp has; NULL where there are several
 * of its function. */
const struct activation *activation_of(const struct warp *w, const struct op *o);

#endif
