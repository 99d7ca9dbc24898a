/* See devices.h. */
#include "cuda/state/devices.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/state/graph_memory.h"
#include "cuda/state/limits.h"
#include "cuda/state/mapping.h"

static struct {
    int n;
    struct device at[MAX_DEVICES];
} devices;

static int count_devices(void)
{
    const char *visible = secure_getenv("CUDA_VISIBLE_DEVICES");
    int n = limits_given()->devices, seen = 0;
    /* Counts the named devices that exist, up to the first that does not. */
    for (const char *p = visible; p && seen < n; p = strchr(p, ',')) {
        char *end;
        p += *p == ',';
        long i = strtol(p, &end, 10);
        if (end == p || i < 0 || i >= n)
            break;
        devices.at[seen++].number = (int)i;
    }
    return visible ? seen : n;
}

void devices_start(void)
{
    for (int i = 0; i < MAX_DEVICES; i++)
        devices.at[i].ordinal = devices.at[i].number = i;
    devices.n = count_devices();
}

int device_count(void)
{
    return devices.n;
}

struct device *device_at(int ordinal)
{
    return &devices.at[ordinal];
}

static struct {
    pthread_mutex_t lock;
    hd_machine *machines[MAX_DEVICES];
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

void devices_hold(void)
{
    pthread_mutex_lock(&held.lock);
    for (int i = 0; i < devices.n; i++) {
        held.machines[i] = __atomic_load_n(&devices.at[i].machine, __ATOMIC_ACQUIRE);
        hd_machine_hold(held.machines[i]);
    }
}

void devices_release(void)
{
    for (int i = 0; i < devices.n; i++)
        hd_machine_release(held.machines[i]);
    pthread_mutex_unlock(&held.lock);
}

struct device *device_of(const void *address, hd_memory_info *info)
{
    hd_memory_info ignored;
    bool given;
    struct device *d = graph_memory_find(address, info ? info : &ignored, &given);
    if (d)
        return given ? d : NULL;
    for (int i = 0; i < devices.n; i++)
        if (devices.at[i].machine && hd_find(devices.at[i].machine, address, info ? info : &ignored))
            return &devices.at[i];
    return mapping_device(address, info ? info : &ignored);
}

void *device_view(const void *address)
{
    const struct device *d = device_of(address, NULL);
    return d ? hd_own_view(d->machine, address) : (void *)address;
}

bool is_of_machines(const void *address)
{
    for (int i = 0; i < devices.n; i++) {
        const struct device *d = &devices.at[i];
        size_t offset = (size_t)((const char *)address - (const char *)d->addresses.start);
        if (__atomic_load_n(&d->machine, __ATOMIC_ACQUIRE) && offset < d->addresses.bytes)
            return true;
    }
    return false;
}
