/* The process's devices, all of them alike, and whose memory an address is. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_DEVICES_H
#define HEDDLE_CUDA_STATE_DEVICES_H

#include "cuda/state/state.h"

/* Once, before all else. */
void devices_start(void);
int device_count(void);
/* One of these, whose machine need not be there yet (machines.h). */
struct device *device_at(int ordinal);
/* All devices stand still (hd_machine_hold): what is mapped can be taken away, or its access
 * changed. Not with the state's lock held. */
void devices_hold(void);
void devices_release(void);
/* A machine's memory (also a module's variable): the device it is on, or NULL. */
struct device *device_of(const void *address, hd_memory_info *info);
/* Is an address one of a machine's, which is never the host's own, allocated or not? */
bool is_of_machines(const void *address);

#endif
