/* Host memory that kernels reach because it was registered, by the program or for its __managed__
 * variables. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_REGISTERED_H
#define HEDDLE_CUDA_STATE_REGISTERED_H

#include "cuda/state/state.h"

struct registered {
    void *start;
    size_t bytes;
    unsigned flags;
    CUcontext context; /* its handle */
    struct device *device;
    bool managed; /* a variable at a host address: device memory, too */
};
bool registered_find(const void *address, struct registered *r);
CUresult registered_add(const struct registered *r);
CUresult registered_add_held(const struct registered *r); /* call with the lock held */
CUresult registered_remove(const void *start);
CUresult registered_remove_held(const void *start);
/* Unregisters what the program registered in a context that ends. */
void registered_leave_held(CUcontext handle);
/* hd_machine_options.host_ranges: writes ranges from ranges[at] on, at most up to n, and returns
 * the index behind them. Call with the lock held. */
size_t registered_ranges_held(hd_range *ranges, size_t n, size_t at);

#endif
