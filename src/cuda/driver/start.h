/* The start of CUDA in a process. Private to cuda/. */
#ifndef HEDDLE_CUDA_DRIVER_START_H
#define HEDDLE_CUDA_DRIVER_START_H

#include "cuda/state/state.h"

/* CUDA_SUCCESS once cuInit has been called. */
CUresult cuda_start(void);

#endif
