/* The process's devices, which are all alike, and the device that an address belongs to. Private to
 * cuda/. */
#ifndef HEDDLE_CUDA_STATE_DEVICES_H
#define HEDDLE_CUDA_STATE_DEVICES_H

#include "cuda/state/state.h"

/* Call it once, before everything else. */
void devices_start(void);
int device_count(void);
/* One of the devices; its machine may not exist yet (machines.h). */
struct device *device_at(int ordinal);
/* Stops all devices (hd_machine_hold), so that memory can be unmapped or its access changed. The
 * caller does not hold the state's lock. */
void devices_hold(void);
void devices_release(void);
/* The device whose machine's memory contains the address (also a module's variable), or NULL. */
struct device *device_of(const void *address, hd_memory_info *info);
/* Where Heddle itself accesses the memory at an address of a program: hd_own_view() of its device;
 * the address itself if it belongs to none. */
void *device_view(const void *address);
/* Is the address in a machine's range, allocated or not? The host's own memory never is. */
bool is_of_machines(const void *address);

#endif
