/* Where Heddle's own files are, installed or where they were built; in the arena, NULL: nowhere. */
#ifndef HEDDLE_FILES_PLACES_H
#define HEDDLE_FILES_PLACES_H

#include "base/arena.h"

/* libcuda.so.1, libcudart.so.N, ... */
const char *place_of_libraries(struct arena *arena);
/* cuda_runtime.h, ... */
const char *place_of_headers(struct arena *arena);
/* The folder whose `include` they are, for CUDA_PATH. */
const char *place_of_cuda(struct arena *arena);
/* This one, which links do not hide. */
const char *place_of_program(struct arena *arena);
/* Programs by the names of the CUDA toolkit's: ptxas, and heddle-tools, which has the others. */
const char *place_of_tools(struct arena *arena);
/* libnvrtc.so.N, for where there is none of NVIDIA's. */
const char *place_of_nvrtc(struct arena *arena);

#endif
