/* Machine code (cubins): what ptxas says there of the kernels. Their code is not looked at. */
#ifndef HEDDLE_CUDA_CUBIN_H
#define HEDDLE_CUDA_CUBIN_H

#include <stddef.h>

/* Calls `each` with every kernel and the registers that a thread of it takes, as far as the ELF file says so: EIATTR_REGCOUNT in its
 * section .nv.info. Nothing of a file that has yet to be linked, or is broken. `bytes` is aligned to 8. */
void cubin_registers(const void *bytes, size_t n, void (*each)(void *data, const char *kernel, unsigned registers),
                     void *data);

#endif
