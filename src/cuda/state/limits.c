/* Limits from the environment: HEDDLE_MEMORY, HEDDLE_STACK, HEDDLE_STEP_LIMIT, HEDDLE_TIMEOUT and
 * HEDDLE_DEVICES, in the form of the options of `heddle run` that set them. */
#include "cuda/state/limits.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "base/opts.h"
#include "cuda/state/state.h"

static bool refuse(const char *name, const char *text, const char *wanted)
{
    say("%s=%s: the value must be %s", name, text, wanted);
    return false;
}

static const char *given(const char *name)
{
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

static bool read_size(const char *name, uint64_t most, uint64_t *value)
{
    const char *text = given(name);
    if (!text || (opts_size(str_of(text), value) && *value && *value <= most))
        return true;
    return refuse(name, text,
                  most < UINT64_MAX ? "a size of at most 1G, such as 4096, 64K or 2M"
                                    : "a size, such as 4096, 64K or 2G");
}

static bool read_number(const char *name, uint64_t *value)
{
    const char *text = given(name);
    if (!text || (opts_number(str_of(text), value) && *value))
        return true;
    return refuse(name, text, "a number of at least 1, such as 12 or 1e9");
}

_Static_assert(MAX_DEVICES == 16, "as read_devices() says");

static bool read_devices(int *devices)
{
    const char *text = given("HEDDLE_DEVICES");
    uint64_t n = 1;
    if (text && (text[strspn(text, "0123456789")] || !opts_size(str_of(text), &n) || n > MAX_DEVICES))
        return refuse("HEDDLE_DEVICES", text, "a number from 0 to 16");
    *devices = (int)n;
    return true;
}

static bool read_clock(double *deadline)
{
    const char *text = given("HEDDLE_TIMEOUT"), *from = given("HEDDLE_TIMEOUT_FROM");
    double seconds = 0;
    if (!text)
        return true;
    if (!opts_seconds(str_of(text), &seconds))
        return refuse("HEDDLE_TIMEOUT", text, "a time of at least 0.001 seconds, such as 10, 0.5, 90s or 5m");
    *deadline = (from ? strtod(from, NULL) : seconds_now()) + seconds;
    return true;
}

static struct limits limits;

bool limits_start(void)
{
    struct limits *l = &limits;
    *l = (struct limits){0};
    return read_size("HEDDLE_MEMORY", UINT64_MAX, &l->memory_bytes) &&
           read_size("HEDDLE_STACK", UINT32_MAX / 2, &l->stack_bytes) && read_number("HEDDLE_STEP_LIMIT", &l->steps) &&
           read_devices(&l->devices) && read_clock(&l->deadline);
}

int limits_devices(void)
{
    int n;
    return read_devices(&n) ? n : 0;
}

const struct limits *limits_given(void)
{
    return &limits;
}

double limits_time_left(const struct limits *l)
{
    double left = l->deadline - seconds_now();
    return l->deadline <= 0 ? 0 : left > 0 ? left : DBL_MIN;
}

bool host_is_pageable(void)
{
    const char *text = secure_getenv("HEDDLE_PAGEABLE");
    return text && *text && strcmp(text, "0") != 0;
}
