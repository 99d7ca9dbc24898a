/* What was counted as JSON (docs/EXPLAIN.md says what the fields are). */
#ifndef HEDDLE_EXPLAIN_JSON_H
#define HEDDLE_EXPLAIN_JSON_H

#include <jansson.h>

#include "exec/device.h"
#include "explain/count.h"
#include "explain/model.h"

/* What a device has room for, and what it takes for what (rates.def), each with where it is known
 * from; NULL as below. */
json_t *device_limits_json(const struct device_model *d);
json_t *device_rates_json(const struct device_model *d);
/* What bounds and classes of instructions are called: {"bounds": {name: words}, "classes": {name:
 * [words, meaning]}}. NULL as below. */
json_t *names_json(void);
/* A launch, without what stands by line. NULL where memory is exhausted. */
json_t *counters_json(const struct kernel_counters *c, const struct device_model *d, const struct estimate *e,
                      struct arena *arena);
/* A kernel: lines and instructions of all its launches. */
json_t *counters_kernel_json(const struct kernel_counters *c, const struct kernel_launches *launches,
                             struct arena *arena);

#endif
