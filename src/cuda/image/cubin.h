/* Machine code (cubins): what ptxas says there of the kernels. Of their code itself only accesses
 * to local memory are counted. */
#ifndef HEDDLE_CUDA_IMAGE_CUBIN_H
#define HEDDLE_CUDA_IMAGE_CUBIN_H

#include <stddef.h>

struct cubin_kernel {
    unsigned registers, frame_bytes;    /* of a thread: EIATTR_REGCOUNT, EIATTR_FRAME_SIZE of .nv.info */
    unsigned local_loads, local_stores; /* LDL and STL of its code, by words of 32 bits */
};

/* Calls `each` with every kernel and what a thread of it takes, as far as the ELF file says so.
 * Nothing of a file that has yet to be linked, or is broken. `bytes` is aligned to 8. */
void cubin_kernels(const void *bytes, size_t n,
                   void (*each)(void *data, const char *name, const struct cubin_kernel *k), void *data);

/* What a launch of a kernel brings: bytes of parameters (EIATTR_CBANK_PARAM_SIZE), threads of a
 * block at most (EIATTR_MAX_THREADS; 0 where the machine code does not say). */
struct cubin_limits {
    unsigned parameter_bytes, threads;
};

/* Calls `each` with every kernel and its limits, as cubin_kernels() does. */
void cubin_limits(const void *bytes, size_t n, void (*each)(void *data, const char *name, const struct cubin_limits *l),
                  void *data);

#endif
