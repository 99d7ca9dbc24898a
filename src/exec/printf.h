/* Formatting for the kernels' printf. */
#ifndef HEDDLE_EXEC_PRINTF_H
#define HEDDLE_EXEC_PRINTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What calls of printf have made, at most `limit` bytes of it. A call whose text does not fit whole
 * is lost whole. */
struct printed {
    char *at;
    size_t n, capacity, limit;
    uint64_t calls, lost_calls, lost_bytes;
    bool no_memory; /* the reason why some were lost, beside the limit */
};

/* Reads from the kernel's memory; false after a fault. */
typedef bool printf_read(void *data, uint64_t address, void *to, uint32_t bytes);

/* Appends what printf(format, ...) prints, with the arguments laid out at `args` as nvcc does:
 * each at its natural alignment, 4 or 8 bytes. How many there are stands nowhere: a conversion
 * too many prints what lies behind them in the kernel's memory. Returns the number of
 * arguments, as CUDA's printf does; -1 where the format is NULL. False in *ok after a fault,
 * which prints nothing. Work and memory are bounded by the limit and the kernel's strings,
 * whatever widths and precisions say. */
int printf_format(struct printed *out, uint64_t format, uint64_t args, printf_read *read, void *data, bool *ok);

#endif
