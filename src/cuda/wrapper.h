/* The record by which a fat binary is passed: by code of nvcc and clang to the runtime, and by any
 * program to the driver. */
#ifndef HEDDLE_CUDA_WRAPPER_H
#define HEDDLE_CUDA_WRAPPER_H

#include <stdint.h>

enum { IMAGE_WRAPPER_MAGIC = 0x466243b1 };

struct image_wrapper {
    uint32_t magic, version;
    const void *container;
    const void *const *objects; /* version 2, nvcc -rdc=true: containers, NULL at the end */
};

#endif
