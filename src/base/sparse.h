/* Large memory that is mostly zero. The system gives zeros without memory behind them until they
 * are written: what is copied page by page, without those of zeros, costs what is not zero.
 */
#ifndef HEDDLE_BASE_SPARSE_H
#define HEDDLE_BASE_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { SPARSE_PAGE_BYTES = 4096 };

static inline bool bytes_are_zero(const void *bytes, size_t n)
{
    const char *p = bytes;
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Copies n bytes to memory that is zero. */
static inline void copy_sparse(void *to, const void *from, size_t n)
{
    const char *p = from;
    for (size_t at = 0, part; at < n; at += part) {
        part = n - at < SPARSE_PAGE_BYTES ? n - at : SPARSE_PAGE_BYTES;
        if (!bytes_are_zero(p + at, part))
            memcpy((char *)to + at, p + at, part);
    }
}

#endif
