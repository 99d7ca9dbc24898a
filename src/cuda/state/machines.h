/* The devices' machines, which are created on first use. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_MACHINES_H
#define HEDDLE_CUDA_STATE_MACHINES_H

#include "cuda/state/state.h"

/* The device with its machine; errors: CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_DEVICE. */
CUresult device_get(CUdevice ordinal, struct device **device);

#endif
