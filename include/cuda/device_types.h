/* Directions of rounding, as conversions to small floats take them (CUDA Math API, "FP6
 * Intrinsics"). */
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#endif
