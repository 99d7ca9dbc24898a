/* What programs have advised of managed memory, and where they have prefetched it to, by address.
 * Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_ADVICE_H
#define HEDDLE_CUDA_STATE_ADVICE_H

#include "cuda/state/state.h"

/* Places that are no device's, as cuMemRangeGetAttribute numbers them; a prefetch, beside the
 * values of CUmem_advise. */
enum { ADVICE_NOWHERE = -2, ADVICE_AT_HOST = -1, ADVICE_PREFETCH = 0 };

/* What has been said of memory. Places have the numbers that cuMemRangeGetAttribute tells. */
struct advised {
    bool read_mostly, by_host;
    uint32_t by_devices; /* by bit */
    CUmemLocation preferred, prefetched;
};

/* Takes what is said (CUmem_advise, or a prefetch) of all from start to end. False: the host has no
 * memory left for a note of it. */
bool advice_take(const char *start, const char *end, int what, CUmemLocation l);
/* What is so of all of it. */
struct advised advice_of(const char *start, const char *end);
/* What has been advised of managed memory that is freed is forgotten. */
void advice_forget(const void *start, size_t bytes);

#endif
