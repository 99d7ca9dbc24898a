/* Host memory that has been registered, by the program or for its __managed__ variables: kernels
 * reach it. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_REGISTERED_H
#define HEDDLE_CUDA_STATE_REGISTERED_H

#include "cuda/state/state.h"

struct registered {
    void *start;
    size_t bytes;
    unsigned flags;
    CUcontext context; /* its handle */
    struct device *device;
    bool managed; /* a variable at the host's address: the device's memory, too */
};
bool registered_find(const void *address, struct registered *r);
CUresult registered_add(const struct registered *r);
CUresult registered_add_held(const struct registered *r); /* with the lock held */
CUresult registered_remove(const void *start);
CUresult registered_remove_held(const void *start);
/* What the program has registered in a context that ends. */
void registered_leave_held(CUcontext handle);
/* hd_machine_options.host_ranges: writes them to ranges[at] and on, as far as there are n, and
 * returns the place behind them. With the lock held. */
size_t registered_ranges_held(hd_range *ranges, size_t n, size_t at);

#endif
