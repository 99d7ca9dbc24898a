/* Reads PTX from host object files and libraries (ar) of them, which linkers of device code are
 * given. Private to cuda/, toolkit/ and cc/. */
#ifndef HEDDLE_CUDA_IMAGE_OBJECT_H
#define HEDDLE_CUDA_IMAGE_OBJECT_H

#include <stdbool.h>

#include "cuda/image/fatbin.h"

/* Reads the PTX that fits a device best, or all (IMAGE_EVERY_ARCH), from an image, an object file
 * or a library's members. With IMAGE_EVERY_ARCH, members without PTX are skipped.
 * device_runtime_ptx replaces libcudadevrt.a. */
enum image_result object_read(const void *data, size_t bytes, unsigned arch, struct image *image);

/* Calls `visit` for the members of a library, in order, until it returns false. Returns false if a
 * member is longer than the library. */
typedef bool library_visit(void *to, const void *member, size_t bytes, bool is_device_runtime);
bool library_members(const void *library, size_t bytes, library_visit *visit, void *to);
bool is_library(const void *data, size_t bytes);

extern const char device_runtime_ptx[];
/* Functions for graphs that kernels call; linked to texts that call one of them. */
extern const char device_graphs_ptx[];
bool device_graphs_wanted(const char *text, size_t bytes);

#endif
