/* PTX of the host's object files and of libraries (ar) of them, as linkers of device code get them.
 * Private to cuda/, toolkit/ and cc/. */
#ifndef HEDDLE_CUDA_IMAGE_OBJECT_H
#define HEDDLE_CUDA_IMAGE_OBJECT_H

#include <stdbool.h>

#include "cuda/image/fatbin.h"

/* The PTX of an image, of an object file or of a library's members that is best for a device, or
 * all (IMAGE_EVERY_ARCH); then members without PTX are passed over. In the place of libcudadevrt.a
 * comes device_runtime_ptx. */
enum image_result object_read(const void *data, size_t bytes, unsigned arch, struct image *image);

/* The members of a library, in order, until `visit` returns false. False: a member is longer than
 * the library. */
typedef bool library_visit(void *to, const void *member, size_t bytes, bool is_device_runtime);
bool library_members(const void *library, size_t bytes, library_visit *visit, void *to);
bool is_library(const void *data, size_t bytes);

extern const char device_runtime_ptx[];
/* What kernels call of graphs: linked to texts that call any of it. */
extern const char device_graphs_ptx[];
bool device_graphs_wanted(const char *text, size_t bytes);

#endif
