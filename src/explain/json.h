/* The counted figures as JSON, whose fields docs/EXPLAIN.md describes. */
#ifndef HEDDLE_EXPLAIN_JSON_H
#define HEDDLE_EXPLAIN_JSON_H

#include <jansson.h>

#include "exec/device.h"
#include "explain/count.h"
#include "explain/model.h"

/* The device's limits and rates (rates.def), each with its source; NULL as below. */
json_t *device_limits_json(const struct device_model *d);
json_t *device_rates_json(const struct device_model *d);
/* The names of bounds and of classes of instructions: {"bounds": {name: words}, "classes": {name:
 * [words, meaning]}}. NULL as below. */
json_t *names_json(void);
/* A launch, without figures by line. Returns NULL if memory is exhausted. */
json_t *counters_json(const struct kernel_counters *c, const struct device_model *d, const struct estimate *e,
                      struct arena *arena);
/* A kernel: the lines and instructions of all its launches. */
json_t *counters_kernel_json(const struct kernel_counters *c, const struct kernel_launches *launches,
                             struct arena *arena);

#endif
