/* Whether a program looks at what a function has returned: read from its code, from the return address on. Private to cuda/. */
#ifndef HEDDLE_CUDA_PROCESS_DROPPED_H
#define HEDDLE_CUDA_PROCESS_DROPPED_H

#include <stddef.h>
#include <stdint.h>

enum result_use {
    RESULT_READ,     /* or it cannot be told */
    RESULT_DROPPED,  /* the register is overwritten first, on all ways that lead on */
    RESULT_RETURNED, /* it is still there when the caller returns: look at that one's caller */
};

/* What happens to the 32-bit integer that has just been returned. `code` is what runs next; no instruction at or after `end` is
 * looked at (NULL: all memory there may be read). Of CPUs other than x86-64 it is not known: RESULT_READ. */
enum result_use result_use(const uint8_t *code, const uint8_t *end);

#endif
