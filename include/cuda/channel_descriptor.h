/* cudaCreateChannelDesc<float4>(): the channels of a type (CUDA Runtime API, "C++ API Routines"). */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#include "cuda_runtime_api.h"

#ifdef __cplusplus

template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
    return {0, 0, 0, 0, cudaChannelFormatKindNone};
}

#define HEDDLE_CHANNELS(T, n, bits, kind)                                                                              \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>()                                                \
    {                                                                                                                  \
        return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, cudaChannelFormatKind##kind};              \
    }
#define HEDDLE_CHANNELS_OF(T, name, kind)                                                                              \
    HEDDLE_CHANNELS(T, 1, (int)(8 * sizeof(T)), kind)                                                                  \
    HEDDLE_CHANNELS(name##1, 1, (int)(8 * sizeof(T)), kind)                                                            \
    HEDDLE_CHANNELS(name##2, 2, (int)(8 * sizeof(T)), kind)                                                            \
    HEDDLE_CHANNELS(name##4, 4, (int)(8 * sizeof(T)), kind)
HEDDLE_CHANNELS(char, 1, 8, Signed)
HEDDLE_CHANNELS_OF(signed char, char, Signed)
HEDDLE_CHANNELS_OF(unsigned char, uchar, Unsigned)
HEDDLE_CHANNELS_OF(short, short, Signed)
HEDDLE_CHANNELS_OF(unsigned short, ushort, Unsigned)
HEDDLE_CHANNELS_OF(int, int, Signed)
HEDDLE_CHANNELS_OF(unsigned, uint, Unsigned)
HEDDLE_CHANNELS_OF(float, float, Float)
#undef HEDDLE_CHANNELS_OF
#undef HEDDLE_CHANNELS

#endif

#endif
