/* Texture and surface references of C++ ("CUDA Runtime API" of CUDA 11, 6.30 and 6.31, and "CUDA
 * C++ Programming Guide" of CUDA 11, "Texture Reference API"), which CUDA 12 has taken back.
 *
 * `texture` and `surface` would clash with names of programs for CUDA 13. `heddle cc` therefore
 * defines __HEDDLE_REFERENCES__ for a source that does not compile without them.
 *
 * To clang such a variable is an object on the host, which is registered with the runtime
 * (__cudaRegisterTexture), and a .texref or .surfref on the device. Passed to a function there, it
 * is a handle like an object's.
 */
#ifndef HEDDLE_REFERENCES_H
#define HEDDLE_REFERENCES_H

#include "../channel_descriptor.h"
#include "../cuda_runtime_api.h"

struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int __cudaReserved[14];
};

struct surfaceReference {
    struct cudaChannelFormatDesc channelDesc;
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texref, const void *devPtr,
                            const struct cudaChannelFormatDesc *desc, size_t size);
cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texref, const void *devPtr,
                              const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch);
cudaError_t cudaBindTextureToArray(const struct textureReference *texref, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc);
cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *texref,
                                            cudaMipmappedArray_const_t mipmappedArray,
                                            const struct cudaChannelFormatDesc *desc);
cudaError_t cudaUnbindTexture(const struct textureReference *texref);
cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texref);
cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surfref, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc);
cudaError_t cudaGetTextureReference(const struct textureReference **texref, const void *symbol);
cudaError_t cudaGetSurfaceReference(const struct surfaceReference **surfref, const void *symbol);
#ifdef __cplusplus
}
#endif

#if defined(__CUDA__) && defined(__HEDDLE_REFERENCES__)

#include "surfaces.h"
#include "textures.h"

template <class T, int texType = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {
    texture(int norm = 0, cudaTextureFilterMode fMode = cudaFilterModePoint,
            cudaTextureAddressMode aMode = cudaAddressModeClamp)
        : texture(norm, fMode, aMode, cudaCreateChannelDesc<T>())
    {
    }
    texture(int norm, cudaTextureFilterMode fMode, cudaTextureAddressMode aMode, cudaChannelFormatDesc desc)
        : textureReference{norm, fMode, {aMode, aMode, aMode}, desc}
    {
    }
};

template <class T, int dim = 1> struct __attribute__((device_builtin_surface_type)) surface;
template <int dim> struct __attribute__((device_builtin_surface_type)) surface<void, dim> : surfaceReference {
    surface() : surfaceReference{} {}
};

/* ---- binding ---- */

template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, D, M> &tex, const void *devPtr,
                                   const cudaChannelFormatDesc &desc, size_t size = 0xffffffff)
{
    return ::cudaBindTexture(offset, static_cast<const textureReference *>(&tex), devPtr, &desc, size);
}
template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, D, M> &tex, const void *devPtr,
                                   size_t size = 0xffffffff)
{
    return cudaBindTexture(offset, tex, devPtr, tex.channelDesc, size);
}
template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, D, M> &tex, const void *devPtr,
                                     const cudaChannelFormatDesc &desc, size_t width, size_t height, size_t pitch)
{
    return ::cudaBindTexture2D(offset, static_cast<const textureReference *>(&tex), devPtr, &desc, width, height,
                               pitch);
}
template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, D, M> &tex, const void *devPtr, size_t width,
                                     size_t height, size_t pitch)
{
    return cudaBindTexture2D(offset, tex, devPtr, tex.channelDesc, width, height, pitch);
}
template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaBindTextureToArray(const texture<T, D, M> &tex, cudaArray_const_t array,
                                          const cudaChannelFormatDesc &desc)
{
    return ::cudaBindTextureToArray(static_cast<const textureReference *>(&tex), array, &desc);
}
template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaBindTextureToArray(const texture<T, D, M> &tex, cudaArray_const_t array)
{
    cudaChannelFormatDesc desc;
    const cudaError_t error = ::cudaGetChannelDesc(&desc, array);
    return error ? error : cudaBindTextureToArray(tex, array, desc);
}
template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaBindTextureToMipmappedArray(const texture<T, D, M> &tex, cudaMipmappedArray_const_t array,
                                                   const cudaChannelFormatDesc &desc)
{
    return ::cudaBindTextureToMipmappedArray(static_cast<const textureReference *>(&tex), array, &desc);
}
template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaBindTextureToMipmappedArray(const texture<T, D, M> &tex, cudaMipmappedArray_const_t array)
{
    cudaArray_t level;
    cudaChannelFormatDesc desc;
    cudaError_t error = ::cudaGetMipmappedArrayLevel(&level, array, 0);
    error = error ? error : ::cudaGetChannelDesc(&desc, level);
    return error ? error : cudaBindTextureToMipmappedArray(tex, array, desc);
}
template <class T, int D, cudaTextureReadMode M> inline cudaError_t cudaUnbindTexture(const texture<T, D, M> &tex)
{
    return ::cudaUnbindTexture(static_cast<const textureReference *>(&tex));
}
template <class T, int D, cudaTextureReadMode M>
inline cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const texture<T, D, M> &tex)
{
    return ::cudaGetTextureAlignmentOffset(offset, static_cast<const textureReference *>(&tex));
}
template <class T, int D>
inline cudaError_t cudaBindSurfaceToArray(const surface<T, D> &surf, cudaArray_const_t array,
                                          const cudaChannelFormatDesc &desc)
{
    return ::cudaBindSurfaceToArray(static_cast<const surfaceReference *>(&surf), array, &desc);
}
template <class T, int D> inline cudaError_t cudaBindSurfaceToArray(const surface<T, D> &surf, cudaArray_const_t array)
{
    cudaChannelFormatDesc desc;
    const cudaError_t error = ::cudaGetChannelDesc(&desc, array);
    return error ? error : cudaBindSurfaceToArray(surf, array, desc);
}

/* ---- what kernels read and write ---- */

/* What a texel is read as: itself, or, as fractions, so many floats. */
template <class T, cudaTextureReadMode> struct heddle_read {
    typedef T type;
};
template <class T> struct heddle_gathered;
#define HEDDLE_READ(T, as, four)                                                                                       \
    template <> struct heddle_read<T, cudaReadModeNormalizedFloat> {                                                   \
        typedef as type;                                                                                               \
    };                                                                                                                 \
    template <> struct heddle_gathered<T> {                                                                            \
        typedef four type;                                                                                             \
    };
#define HEDDLE_READS(T, name)                                                                                          \
    HEDDLE_READ(T, float, name##4)                                                                                     \
    HEDDLE_READ(name##1, float1, name##4)                                                                              \
    HEDDLE_READ(name##2, float2, name##4)                                                                              \
    HEDDLE_READ(name##4, float4, name##4)
HEDDLE_READ(char, float, char4)
HEDDLE_READS(signed char, char)
HEDDLE_READS(unsigned char, uchar)
HEDDLE_READS(short, short)
HEDDLE_READS(unsigned short, ushort)
HEDDLE_READS(int, int)
HEDDLE_READS(unsigned, uint)
HEDDLE_READS(float, float)
#undef HEDDLE_READS
#undef HEDDLE_READ

template <class T, int D, cudaTextureReadMode M> HEDDLE_INLINE cudaTextureObject_t heddle_object(texture<T, D, M> tex)
{
    cudaTextureObject_t t;
    asm("mov.b64 %0, %1;" : "=l"(t) : "l"(tex));
    return t;
}
template <class T, int D> HEDDLE_INLINE cudaSurfaceObject_t heddle_object(surface<T, D> surf)
{
    cudaSurfaceObject_t s;
    asm("mov.b64 %0, %1;" : "=l"(s) : "l"(surf));
    return s;
}

#define HEDDLE_P(...) __VA_ARGS__
#define HEDDLE_TEXREF(name, texType, parameters, arguments)                                                            \
    template <class T, cudaTextureReadMode M>                                                                          \
    HEDDLE_INLINE typename heddle_read<T, M>::type name(texture<T, texType, M> tex, HEDDLE_P parameters)               \
    {                                                                                                                  \
        return name<typename heddle_read<T, M>::type>(heddle_object(tex), HEDDLE_P arguments);                         \
    }
/* The three ways to say which level of a mipmap is read. */
#define HEDDLE_TEXREFS(name, texType, parameters, arguments, gradient)                                                 \
    HEDDLE_TEXREF(name, texType, parameters, arguments)                                                                \
    HEDDLE_TEXREF(name##Lod, texType, (HEDDLE_P parameters, float level), (HEDDLE_P arguments, level))                 \
    HEDDLE_TEXREF(name##Grad, texType, (HEDDLE_P parameters, gradient dx, gradient dy), (HEDDLE_P arguments, dx, dy))
HEDDLE_TEXREF(tex1Dfetch, cudaTextureType1D, (int x), (x))
HEDDLE_TEXREFS(tex1D, cudaTextureType1D, (float x), (x), float)
HEDDLE_TEXREFS(tex2D, cudaTextureType2D, (float x, float y), (x, y), float2)
HEDDLE_TEXREFS(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z), float4)
HEDDLE_TEXREFS(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer), float)
HEDDLE_TEXREFS(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer), float2)
HEDDLE_TEXREFS(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), (x, y, z), float4)
HEDDLE_TEXREFS(texCubemapLayered, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer),
               (x, y, z, layer), float4)
#undef HEDDLE_TEXREFS
#undef HEDDLE_TEXREF

template <class T, cudaTextureReadMode M>
HEDDLE_INLINE typename heddle_read<typename heddle_gathered<T>::type, M>::type
tex2Dgather(texture<T, cudaTextureType2D, M> tex, float x, float y, int comp = 0)
{
    typedef typename heddle_read<typename heddle_gathered<T>::type, M>::type four;
    return tex2Dgather<four>(heddle_object(tex), x, y, comp);
}

#define HEDDLE_SURFREF(name, surfType, parameters, arguments)                                                          \
    template <class T>                                                                                                 \
    HEDDLE_INLINE T name##read(surface<void, surfType> surf, HEDDLE_P parameters,                                      \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                    \
    {                                                                                                                  \
        return name##read<T>(heddle_object(surf), HEDDLE_P arguments, mode);                                           \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_INLINE void name##read(T *to, surface<void, surfType> surf, HEDDLE_P parameters,                            \
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                 \
    {                                                                                                                  \
        *to = name##read<T>(heddle_object(surf), HEDDLE_P arguments, mode);                                            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_INLINE void name##write(T value, surface<void, surfType> surf, HEDDLE_P parameters,                         \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                \
    {                                                                                                                  \
        name##write(value, heddle_object(surf), HEDDLE_P arguments, mode);                                             \
    }
HEDDLE_SURFREF(surf1D, cudaSurfaceType1D, (int x), (x))
HEDDLE_SURFREF(surf2D, cudaSurfaceType2D, (int x, int y), (x, y))
HEDDLE_SURFREF(surf3D, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
HEDDLE_SURFREF(surf1DLayered, cudaSurfaceType1DLayered, (int x, int layer), (x, layer))
HEDDLE_SURFREF(surf2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), (x, y, layer))
HEDDLE_SURFREF(surfCubemap, cudaSurfaceTypeCubemap, (int x, int y, int face), (x, y, face))
HEDDLE_SURFREF(surfCubemapLayered, cudaSurfaceTypeCubemapLayered, (int x, int y, int layerFace), (x, y, layerFace))
#undef HEDDLE_SURFREF
#undef HEDDLE_P

#endif

#endif
