/* Advice about managed memory, and where it was prefetched to, by address. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_ADVICE_H
#define HEDDLE_CUDA_STATE_ADVICE_H

#include "cuda/state/state.h"

/* Places that are not devices, numbered as by cuMemRangeGetAttribute; and the value for a prefetch,
 * beside those of CUmem_advise. */
enum { ADVICE_NOWHERE = -2, ADVICE_AT_HOST = -1, ADVICE_PREFETCH = 0 };

/* The advice for a range. Places are numbered as by cuMemRangeGetAttribute. */
struct advised {
    bool read_mostly, by_host;
    uint32_t by_devices; /* by bit */
    CUmemLocation preferred, prefetched;
};

/* Records advice (CUmem_advise, or a prefetch) for the range from start to end. False: memory is
 * exhausted. */
bool advice_take(const char *start, const char *end, int what, CUmemLocation l);
/* The advice that holds for the whole range. */
struct advised advice_of(const char *start, const char *end);
/* Forgets the advice for managed memory that is freed. */
void advice_forget(const void *start, size_t bytes);

#endif
