/* The rates, latencies and bandwidths of devices: rates.def. */
#ifndef HEDDLE_EXPLAIN_RATES_H
#define HEDDLE_EXPLAIN_RATES_H

#include <stdbool.h>

enum rate {
#define RATE(name, unit, meaning) RATE_of_##name,
#include "explain/rates.def"
#undef RATE
    RATE_COUNT
};

/* Rates that are not known are 0. */
struct device_rates {
#define RATE(name, unit, meaning) double name;
#include "explain/rates.def"
#undef RATE
};

/* The rates of a product as exec/models.def names it, and whether all are known. */
struct device_rates device_rates(const char *product, bool *all_known);

/* One rate with its source, for display. */
struct known_rate {
    const char *name, *unit, *meaning;
    double value;
    const char *from; /* NULL: not known */
};
struct known_rate device_rate(const char *product, enum rate r);

#endif
