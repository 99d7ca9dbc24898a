/* PTX of the host's object files and of libraries (ar) of them, as linkers of device code get them. Private to cuda/ and toolkit/. */
#ifndef HEDDLE_CUDA_OBJECT_H
#define HEDDLE_CUDA_OBJECT_H

#include "cuda/fatbin.h"

/* All PTX of an image, of an object file or of a library's members. In the place of libcudadevrt.a comes device_runtime_ptx. */
enum image_result object_read(const void *data, size_t bytes, unsigned arch, struct image *image);

extern const char device_runtime_ptx[];

#endif
