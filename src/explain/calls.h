/* A program's calls of libraries (hd_stream_work), summed up by function, and the least time that a
 * device would take for them.
 *
 * Nothing is counted while a call runs: each call states the operations and bytes of its
 * mathematics. A device needs at least one launch, and the time of the operations or of the bytes
 * at its rates (rates.def), whichever is longer. Bytes that fit in L2 are assumed to be there. What
 * the vendor's library does beyond that is not known.
 */
#ifndef HEDDLE_EXPLAIN_CALLS_H
#define HEDDLE_EXPLAIN_CALLS_H

#include <jansson.h>

#include "heddle.h"

struct device_model;
struct call_log;

/* Returns NULL if memory is exhausted. */
struct call_log *call_log_new(const struct device_model *d);
void call_log_free(struct call_log *l); /* NULL is allowed */

/* Any thread may call it. Returns the least time in nanoseconds; 0 if the device's rates are not
 * known. */
double call_log_add(struct call_log *l, const hd_work *w);

/* An array with an object for each function and unit, as docs/EXPLAIN.md describes it. Returns NULL
 * if memory is exhausted. */
json_t *call_log_json(struct call_log *l);

#endif
