/* What a program's calls of libraries (hd_stream_work) do, summed up by function, and how long a
 * device would take for them at least.
 *
 * Nothing is counted while a call runs: it says itself what it computes and moves, as the
 * mathematics have it. A device takes no less than one launch and, at the rates that are known of
 * it (rates.def), the operations on their unit or the bytes, whichever take longer; bytes of a call
 * that L2 holds are taken to be there. What the vendor's library does beyond that is not known.
 */
#ifndef HEDDLE_EXPLAIN_CALLS_H
#define HEDDLE_EXPLAIN_CALLS_H

#include <jansson.h>

#include "heddle.h"

struct device_model;
struct call_log;

/* NULL where memory is exhausted. */
struct call_log *call_log_new(const struct device_model *d);
void call_log_free(struct call_log *l); /* NULL is allowed */

/* Any thread. Returns the nanoseconds that it takes at least; 0 where the device's rates are not
 * known. */
double call_log_add(struct call_log *l, const hd_work *w);

/* An array, an object for each function and unit of the device; docs/EXPLAIN.md says what it has.
 * NULL where memory is exhausted. */
json_t *call_log_json(struct call_log *l);

#endif
