/* See rates.h. */
#include "explain/rates.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *unit, *meaning;
} rows[] = {
#define RATE(name, unit, meaning) {#name, unit, meaning},
#include "explain/rates.def"
#undef RATE
};

static const struct {
    const char *product;
    enum rate rate;
    double value;
    const char *from;
} measured[] = {
#define MEASURED(product, name, value, from) {#product, RATE_of_##name, value, from},
#include "explain/rates.def"
#undef MEASURED
};

struct rate_row device_rate(const char *product, enum rate r)
{
    struct rate_row row = {rows[r].name, rows[r].unit, rows[r].meaning, 0, NULL};
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++)
        if (measured[i].rate == r && strcmp(measured[i].product, product) == 0) {
            row.value = measured[i].value;
            row.from = measured[i].from;
        }
    return row;
}

struct device_rates device_rates(const char *product, bool *all_known)
{
    struct device_rates rates;
    *all_known = true;
#define RATE(name, unit, meaning)                                                                                      \
    rates.name = device_rate(product, RATE_of_##name).value;                                                           \
    *all_known &= device_rate(product, RATE_of_##name).from != NULL;
#include "explain/rates.def"
#undef RATE
    return rates;
}
