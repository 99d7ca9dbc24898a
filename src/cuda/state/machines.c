/* See machines.h. */
#include "cuda/state/machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/image/auto_device.h"
#include "cuda/process/printed.h"
#include "cuda/process/tails.h"
#include "cuda/state/devices.h"
#include "cuda/state/limits.h"
#include "cuda/state/mapping.h"
#include "cuda/state/registered.h"
#include "cuda/watch/check.h"
#include "cuda/watch/debug.h"
#include "cuda/watch/explain.h"
#include "cuda/watch/watch.h"

static void show_note(void *data, const char *text)
{
    (void)data;
    fprintf(stderr, "heddle: %s\n", text);
}

/* Memory that kernels reach in addition to their own device's: registered and mapped memory, and
 * other devices'. */
static size_t host_ranges(void *data, hd_range *ranges, size_t n)
{
    size_t at = 0;
    (void)data;
    state_lock();
    at = registered_ranges_held(ranges, n, at);
    at = mapping_ranges_held(ranges, n, at);
    for (int i = 0; i < device_count(); i++) {
        hd_machine_info info;
        if (!device_at(i)->machine)
            continue;
        hd_machine_get_info(device_at(i)->machine, &info);
        if (at < n)
            ranges[at] = info.addresses;
        at++;
    }
    state_unlock();
    return at;
}

/* Are the bytes still accessible? cuMemSetAccess may have withdrawn the access that was there when
   the copy or fill was submitted. */
static bool host_allows(void *data, const void *start, size_t bytes, bool writes)
{
    (void)data;
    bool allowed = mapping_allows(start, bytes, writes);
    if (!allowed)
        log_line(LOG_ERROR, "a copy or fill %s %zu bytes at %p, which cuMemSetAccess no longer allows",
                 writes ? "writes" : "reads", bytes, start);
    return allowed;
}

static CUresult make_machine(struct device *d)
{
    const struct limits *given = limits_given();
    hd_machine_options o = {.print = print_keep,
                            .note = show_note,
                            .host_memory = host_is_pageable(),
                            .host_ranges = host_ranges,
                            .host_allows = host_allows,
                            .guarded = watch_is_on(),
                            .open_tails = tails_are_open(),
                            .used_tail = tails_used,
                            .origin = watch_is_on() ? watch_origin : NULL,
                            .memory_bytes = given->memory_bytes,
                            .stack_bytes = given->stack_bytes,
                            .step_limit = given->steps,
                            .engine = check_options() ? HD_ENGINE_INTERP : HD_ENGINE_AUTO,
                            .policy = check_options() ? check_options()->policy : NULL,
                            .device = secure_getenv("HEDDLE_DEVICE")};
    const char *error = NULL;
    hd_machine *machine = NULL;
    bool chooses = o.device && strcmp(o.device, "auto") == 0;
    hd_result r = (chooses ? auto_machine : hd_machine_create)(&o, &machine, &error);
    if (!r && ((r = check_machine(machine, device_count() == 1)) || (r = explain_machine(machine))))
        hd_machine_destroy(machine);
    if (!r)
        debug_machine(machine);
    if (!r) {
        hd_machine_info info;
        hd_machine_get_info(machine, &info);
        d->addresses = info.addresses;
        __atomic_store_n(&d->machine, machine, __ATOMIC_RELEASE);
    } else if (!d->refused) {
        d->refused = true;
        say("device %d cannot be created: %s", d->ordinal, error ? error : hd_result_string(r));
    }
    return from_hd(r);
}

CUresult device_get(CUdevice ordinal, struct device **device)
{
    CUresult r = state_ready();
    if (r)
        return r;
    if (ordinal < 0 || ordinal >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    struct device *d = device_at(ordinal);
    if (!__atomic_load_n(&d->machine, __ATOMIC_ACQUIRE)) {
        state_lock();
        r = d->machine ? CUDA_SUCCESS : make_machine(d);
        state_unlock();
    }
    *device = d;
    return r;
}
