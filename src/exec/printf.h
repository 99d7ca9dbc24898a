/* Formatting for the kernels' printf. */
#ifndef HEDDLE_EXEC_PRINTF_H
#define HEDDLE_EXEC_PRINTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that grows; NULL bytes when memory ran out. */
struct text {
    char *bytes;
    size_t n, capacity;
};

/* Reads from the kernel's memory; false after a fault. */
typedef bool printf_read(void *data, uint64_t address, void *to, uint32_t bytes);

/* Appends what printf(format, ...) prints, with the arguments laid out at `args` as nvcc does: each at its
 * natural alignment, 4 or 8 bytes. Returns the number of arguments, as CUDA's printf does; -1 where the
 * format is NULL. False in *ok after a fault. */
int printf_format(struct text *out, uint64_t format, uint64_t args, printf_read *read, void *data, bool *ok);

#endif
