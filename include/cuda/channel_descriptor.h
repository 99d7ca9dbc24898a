/* cudaCreateChannelDesc<float4>(): the channels of a type (CUDA Runtime
 * API, "C++ API Routines"). */
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

/* Halves have no type of their own here. */
#define HEDDLE_CHANNELS(name, n)                                                                                       \
    inline cudaChannelFormatDesc cudaCreateChannelDesc##name()                                                         \
    {                                                                                                                  \
        return {16, n > 1 ? 16 : 0, n > 2 ? 16 : 0, n > 3 ? 16 : 0, cudaChannelFormatKindFloat};                       \
    }
HEDDLE_CHANNELS(Half, 1)
HEDDLE_CHANNELS(Half1, 1)
HEDDLE_CHANNELS(Half2, 2)
HEDDLE_CHANNELS(Half4, 4)
#undef HEDDLE_CHANNELS

/* cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized8X4>() */
template <cudaChannelFormatKind kind> inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
    return {0, 0, 0, 0, cudaChannelFormatKindNone};
}
#define HEDDLE_CHANNELS(sign, bits)                                                                                    \
    HEDDLE_CHANNELS_OF(sign##Normalized##bits##X1, bits, 0, 0, 0)                                                      \
    HEDDLE_CHANNELS_OF(sign##Normalized##bits##X2, bits, bits, 0, 0)                                                   \
    HEDDLE_CHANNELS_OF(sign##Normalized##bits##X4, bits, bits, bits, bits)
#define HEDDLE_CHANNELS_OF(kind, x, y, z, w)                                                                           \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<cudaChannelFormatKind##kind>()                      \
    {                                                                                                                  \
        return {x, y, z, w, cudaChannelFormatKind##kind};                                                              \
    }
HEDDLE_CHANNELS(Signed, 8)
HEDDLE_CHANNELS(Unsigned, 8)
HEDDLE_CHANNELS(Signed, 16)
HEDDLE_CHANNELS(Unsigned, 16)
#undef HEDDLE_CHANNELS
HEDDLE_CHANNELS_OF(NV12, 8, 8, 8, 0)
HEDDLE_CHANNELS_OF(UnsignedNormalized1010102, 10, 10, 10, 2)
#undef HEDDLE_CHANNELS_OF
inline cudaChannelFormatDesc cudaCreateChannelDescNV12()
{
    return cudaCreateChannelDesc<cudaChannelFormatKindNV12>();
}

#endif

#endif
