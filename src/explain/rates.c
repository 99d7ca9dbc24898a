/* See rates.h. */
#include "explain/rates.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *unit, *meaning;
} rates[] = {
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

struct known_rate device_rate(const char *product, enum rate r)
{
    struct known_rate known = {rates[r].name, rates[r].unit, rates[r].meaning, 0, NULL};
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++)
        if (measured[i].rate == r && strcmp(measured[i].product, product) == 0) {
            known.value = measured[i].value;
            known.from = measured[i].from;
        }
    return known;
}

struct device_rates device_rates(const char *product, bool *all_known)
{
    struct device_rates of_product;
    *all_known = true;
#define RATE(name, unit, meaning)                                                                                      \
    struct known_rate name = device_rate(product, RATE_of_##name);                                                     \
    of_product.name = name.value;                                                                                      \
    *all_known &= name.from != NULL;
#include "explain/rates.def"
#undef RATE
    return of_product;
}
