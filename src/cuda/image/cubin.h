/* What ptxas records about kernels in machine code (cubins). Of the instructions themselves, only
 * accesses to local memory are counted. */
#ifndef HEDDLE_CUDA_IMAGE_CUBIN_H
#define HEDDLE_CUDA_IMAGE_CUBIN_H

#include <stddef.h>

struct cubin_kernel {
    /* Of a thread: EIATTR_REGCOUNT, EIATTR_FRAME_SIZE of .nv.info. */
    unsigned registers, frame_bytes;
    unsigned local_loads, local_stores; /* LDL and STL of its code, by words of 32 bits */
};

/* Calls `each` with every kernel and the resources of its threads, as far as the ELF file names
 * them. Does nothing for a file that is broken or not linked yet. `bytes` is aligned to 8. */
void cubin_kernels(const void *bytes, size_t n,
                   void (*each)(void *data, const char *name, const struct cubin_kernel *k), void *data);

/* Limits of a kernel's launches: the bytes of its parameters (EIATTR_CBANK_PARAM_SIZE), and the
 * most threads in a block (EIATTR_MAX_THREADS; 0: not recorded). */
struct cubin_limits {
    unsigned parameter_bytes, threads;
};

/* Calls `each` with every kernel and its limits, as cubin_kernels() does. */
void cubin_limits(const void *bytes, size_t n, void (*each)(void *data, const char *name, const struct cubin_limits *l),
                  void *data);

#endif
