/* Reads of textures ("CUDA C++ Programming Guide", "Texture Functions"): one instruction each, as
 * nvcc has it (PTX ISA 9.7.10, tex and tld4).
 *
 * The instruction has four results, of 32-bit floats or numbers; what the type asked for does not
 * have is dropped.
 */
#ifndef HEDDLE_TEXTURES_H
#define HEDDLE_TEXTURES_H

#include "../texture_types.h"
#include "../vector_types.h"
#include "define.h"

/* What an instruction gives for a T: four elements, of which T is made. Only types that textures
 * have are complete. */
template <class T> struct heddle_texel;

#define HEDDLE_TEXEL(T, element_type, ...)                                                                             \
    template <> struct heddle_texel<T> {                                                                               \
        typedef element_type element;                                                                                  \
        typedef void type;                                                                                             \
        HEDDLE_INLINE T of(const element *v)                                                                           \
        {                                                                                                              \
            return __VA_ARGS__;                                                                                        \
        }                                                                                                              \
    };
#define HEDDLE_TEXELS(T, name, element_type)                                                                           \
    HEDDLE_TEXEL(T, element_type, (T)v[0])                                                                             \
    HEDDLE_TEXEL(name##1, element_type, name##1 {(T)v[0]})                                                             \
    HEDDLE_TEXEL(name##2, element_type, name##2 {(T)v[0], (T)v[1]})                                                    \
    HEDDLE_TEXEL(name##4, element_type, name##4 {(T)v[0], (T)v[1], (T)v[2], (T)v[3]})
HEDDLE_TEXEL(char, int, (char)v[0])
HEDDLE_TEXELS(signed char, char, int)
HEDDLE_TEXELS(unsigned char, uchar, unsigned)
HEDDLE_TEXELS(short, short, int)
HEDDLE_TEXELS(unsigned short, ushort, unsigned)
HEDDLE_TEXELS(int, int, int)
HEDDLE_TEXELS(unsigned, uint, unsigned)
HEDDLE_TEXELS(float, float, float)
#undef HEDDLE_TEXELS
#undef HEDDLE_TEXEL

#define HEDDLE_P(...) __VA_ARGS__

/* An instruction for each type of element: `operation` up to it, `coordinates` after it. */
#define HEDDLE_TEX_AS(name, element, c, operation, types, coordinates, parameters, ...)                                \
    HEDDLE_INLINE void heddle_##name(element *v, cudaTextureObject_t t, HEDDLE_P parameters)                           \
    {                                                                                                                  \
        asm(operation types " {%0, %1, %2, %3}, [%[t], " coordinates ";"                                               \
            : "=" c(v[0]), "=" c(v[1]), "=" c(v[2]), "=" c(v[3])                                                       \
            : [t] "l"(t), __VA_ARGS__);                                                                                \
    }
/* With whether the texels are resident. */
#define HEDDLE_TEX_SPARSE_AS(name, element, c, operation, types, coordinates, parameters, ...)                         \
    HEDDLE_INLINE void heddle_##name(element *v, bool *resident, cudaTextureObject_t t, HEDDLE_P parameters)           \
    {                                                                                                                  \
        unsigned is;                                                                                                   \
        asm("{ .reg .pred p; " operation types " {%0, %1, %2, %3}|p, [%[t], " coordinates "; selp.u32 %4, 1, 0, p; }"  \
            : "=" c(v[0]), "=" c(v[1]), "=" c(v[2]), "=" c(v[3]), "=r"(is)                                             \
            : [t] "l"(t), __VA_ARGS__);                                                                                \
        *resident = is != 0;                                                                                           \
    }
/* What programs call: by value, and into what a pointer is to. */
#define HEDDLE_TEX_CALLS(name, parameters, arguments)                                                                  \
    template <class T, class = typename heddle_texel<T>::type>                                                         \
    HEDDLE_INLINE T name(cudaTextureObject_t t, HEDDLE_P parameters)                                                   \
    {                                                                                                                  \
        typename heddle_texel<T>::element v[4];                                                                        \
        heddle_##name(v, t, HEDDLE_P arguments);                                                                       \
        return heddle_texel<T>::of(v);                                                                                 \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_INLINE typename heddle_texel<T>::type name(T *to, cudaTextureObject_t t, HEDDLE_P parameters)               \
    {                                                                                                                  \
        *to = name<T>(t, HEDDLE_P arguments);                                                                          \
    }
#define HEDDLE_TEX_SPARSE_CALLS(name, parameters, arguments)                                                           \
    template <class T, class = typename heddle_texel<T>::type>                                                         \
    HEDDLE_INLINE T name(cudaTextureObject_t t, HEDDLE_P parameters, bool *isResident)                                 \
    {                                                                                                                  \
        typename heddle_texel<T>::element v[4];                                                                        \
        heddle_##name(v, isResident, t, HEDDLE_P arguments);                                                           \
        return heddle_texel<T>::of(v);                                                                                 \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_INLINE typename heddle_texel<T>::type name(T *to, cudaTextureObject_t t, HEDDLE_P parameters,               \
                                                      bool *isResident)                                                \
    {                                                                                                                  \
        *to = name<T>(t, HEDDLE_P arguments, isResident);                                                              \
    }
#define HEDDLE_TEX_ALL(as, name, operation, type, coordinates, parameters, ...)                                        \
    as(name, float, "f", operation, ".v4.f32." type, coordinates, parameters, __VA_ARGS__)                             \
        as(name, int, "r", operation, ".v4.s32." type, coordinates, parameters, __VA_ARGS__)                           \
            as(name, unsigned, "r", operation, ".v4.u32." type, coordinates, parameters, __VA_ARGS__)
#define HEDDLE_TEX(name, operation, type, coordinates, parameters, arguments, ...)                                     \
    HEDDLE_TEX_ALL(HEDDLE_TEX_AS, name, operation, type, coordinates, parameters, __VA_ARGS__)                         \
    HEDDLE_TEX_CALLS(name, parameters, arguments)
#define HEDDLE_TEX_SPARSE(name, operation, coordinates, parameters, arguments, ...)                                    \
    HEDDLE_TEX(name, operation, "f32", coordinates, parameters, arguments, __VA_ARGS__)                                \
    HEDDLE_TEX_ALL(HEDDLE_TEX_SPARSE_AS, name, operation, "f32", coordinates, parameters, __VA_ARGS__)                 \
    HEDDLE_TEX_SPARSE_CALLS(name, parameters, arguments)

/* clang-format off */
HEDDLE_TEX(tex1Dfetch, "tex.1d", "s32", "{%[x]}]", (int x), (x), [x] "r"(x))
HEDDLE_TEX(tex1D, "tex.1d", "f32", "{%[x]}]", (float x), (x), [x] "f"(x))
HEDDLE_TEX_SPARSE(tex2D, "tex.2d", "{%[x], %[y]}]", (float x, float y), (x, y), [x] "f"(x), [y] "f"(y))
HEDDLE_TEX_SPARSE(tex3D, "tex.3d", "{%[x], %[y], %[z], %[z]}]", (float x, float y, float z), (x, y, z), [x] "f"(x), [y] "f"(y), [z] "f"(z))
HEDDLE_TEX(tex1DLayered, "tex.a1d", "f32", "{%[layer], %[x]}]", (float x, int layer), (x, layer), [x] "f"(x), [layer] "r"(layer))
HEDDLE_TEX_SPARSE(tex2DLayered, "tex.a2d", "{%[layer], %[x], %[y], %[y]}]", (float x, float y, int layer), (x, y, layer), [x] "f"(x), [y] "f"(y), [layer] "r"(layer))
HEDDLE_TEX(texCubemap, "tex.cube", "f32", "{%[x], %[y], %[z], %[z]}]", (float x, float y, float z), (x, y, z), [x] "f"(x), [y] "f"(y), [z] "f"(z))
HEDDLE_TEX(texCubemapLayered, "tex.acube", "f32", "{%[layer], %[x], %[y], %[z]}]", (float x, float y, float z, int layer), (x, y, z, layer), [x] "f"(x), [y] "f"(y), [z] "f"(z), [layer] "r"(layer))

HEDDLE_TEX(tex1DLod, "tex.level.1d", "f32", "{%[x]}], %[level]", (float x, float level), (x, level), [x] "f"(x), [level] "f"(level))
HEDDLE_TEX_SPARSE(tex2DLod, "tex.level.2d", "{%[x], %[y]}], %[level]", (float x, float y, float level), (x, y, level), [x] "f"(x), [y] "f"(y), [level] "f"(level))
HEDDLE_TEX_SPARSE(tex3DLod, "tex.level.3d", "{%[x], %[y], %[z], %[z]}], %[level]", (float x, float y, float z, float level), (x, y, z, level), [x] "f"(x), [y] "f"(y), [z] "f"(z), [level] "f"(level))
HEDDLE_TEX(tex1DLayeredLod, "tex.level.a1d", "f32", "{%[layer], %[x]}], %[level]", (float x, int layer, float level), (x, layer, level), [x] "f"(x), [layer] "r"(layer), [level] "f"(level))
HEDDLE_TEX_SPARSE(tex2DLayeredLod, "tex.level.a2d", "{%[layer], %[x], %[y], %[y]}], %[level]", (float x, float y, int layer, float level), (x, y, layer, level), [x] "f"(x), [y] "f"(y), [layer] "r"(layer), [level] "f"(level))
HEDDLE_TEX(texCubemapLod, "tex.level.cube", "f32", "{%[x], %[y], %[z], %[z]}], %[level]", (float x, float y, float z, float level), (x, y, z, level), [x] "f"(x), [y] "f"(y), [z] "f"(z), [level] "f"(level))
HEDDLE_TEX(texCubemapLayeredLod, "tex.level.acube", "f32", "{%[layer], %[x], %[y], %[z]}], %[level]", (float x, float y, float z, int layer, float level), (x, y, z, layer, level), [x] "f"(x), [y] "f"(y), [z] "f"(z), [layer] "r"(layer), [level] "f"(level))

HEDDLE_TEX(tex1DGrad, "tex.grad.1d", "f32", "{%[x]}], {%[dx]}, {%[dy]}", (float x, float dx, float dy), (x, dx, dy), [x] "f"(x), [dx] "f"(dx), [dy] "f"(dy))
HEDDLE_TEX_SPARSE(tex2DGrad, "tex.grad.2d", "{%[x], %[y]}], {%[dxx], %[dxy]}, {%[dyx], %[dyy]}", (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), [x] "f"(x), [y] "f"(y), [dxx] "f"(dx.x), [dxy] "f"(dx.y), [dyx] "f"(dy.x), [dyy] "f"(dy.y))
HEDDLE_TEX_SPARSE(tex3DGrad, "tex.grad.3d", "{%[x], %[y], %[z], %[z]}], {%[dxx], %[dxy], %[dxz], %[dxz]}, {%[dyx], %[dyy], %[dyz], %[dyz]}", (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), [x] "f"(x), [y] "f"(y), [z] "f"(z), [dxx] "f"(dx.x), [dxy] "f"(dx.y), [dxz] "f"(dx.z), [dyx] "f"(dy.x), [dyy] "f"(dy.y), [dyz] "f"(dy.z))
HEDDLE_TEX(tex1DLayeredGrad, "tex.grad.a1d", "f32", "{%[layer], %[x]}], {%[dx]}, {%[dy]}", (float x, int layer, float dx, float dy), (x, layer, dx, dy), [x] "f"(x), [layer] "r"(layer), [dx] "f"(dx), [dy] "f"(dy))
HEDDLE_TEX_SPARSE(tex2DLayeredGrad, "tex.grad.a2d", "{%[layer], %[x], %[y], %[y]}], {%[dxx], %[dxy]}, {%[dyx], %[dyy]}", (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, dx, dy), [x] "f"(x), [y] "f"(y), [layer] "r"(layer), [dxx] "f"(dx.x), [dxy] "f"(dx.y), [dyx] "f"(dy.x), [dyy] "f"(dy.y))
HEDDLE_TEX(texCubemapGrad, "tex.grad.cube", "f32", "{%[x], %[y], %[z], %[z]}], {%[dxx], %[dxy], %[dxz], %[dxz]}, {%[dyx], %[dyy], %[dyz], %[dyz]}", (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), [x] "f"(x), [y] "f"(y), [z] "f"(z), [dxx] "f"(dx.x), [dxy] "f"(dx.y), [dxz] "f"(dx.z), [dyx] "f"(dy.x), [dyy] "f"(dy.y), [dyz] "f"(dy.z))
HEDDLE_TEX(texCubemapLayeredGrad, "tex.grad.acube", "f32", "{%[layer], %[x], %[y], %[z]}], {%[dxx], %[dxy], %[dxz], %[dxz]}, {%[dyx], %[dyy], %[dyz], %[dyz]}", (float x, float y, float z, int layer, float4 dx, float4 dy), (x, y, z, layer, dx, dy), [x] "f"(x), [y] "f"(y), [z] "f"(z), [layer] "r"(layer), [dxx] "f"(dx.x), [dxy] "f"(dx.y), [dxz] "f"(dx.z), [dyx] "f"(dy.x), [dyy] "f"(dy.y), [dyz] "f"(dy.z))

/* One component of the four texels that a linear filter would blend. */
HEDDLE_TEX_ALL(HEDDLE_TEX_AS, gather_r, "tld4.r.2d", "f32", "{%[x], %[y]}]", (float x, float y), [x] "f"(x), [y] "f"(y))
HEDDLE_TEX_ALL(HEDDLE_TEX_AS, gather_g, "tld4.g.2d", "f32", "{%[x], %[y]}]", (float x, float y), [x] "f"(x), [y] "f"(y))
HEDDLE_TEX_ALL(HEDDLE_TEX_AS, gather_b, "tld4.b.2d", "f32", "{%[x], %[y]}]", (float x, float y), [x] "f"(x), [y] "f"(y))
HEDDLE_TEX_ALL(HEDDLE_TEX_AS, gather_a, "tld4.a.2d", "f32", "{%[x], %[y]}]", (float x, float y), [x] "f"(x), [y] "f"(y))
HEDDLE_TEX_ALL(HEDDLE_TEX_SPARSE_AS, gather_r, "tld4.r.2d", "f32", "{%[x], %[y]}]", (float x, float y), [x] "f"(x), [y] "f"(y))
HEDDLE_TEX_ALL(HEDDLE_TEX_SPARSE_AS, gather_g, "tld4.g.2d", "f32", "{%[x], %[y]}]", (float x, float y), [x] "f"(x), [y] "f"(y))
HEDDLE_TEX_ALL(HEDDLE_TEX_SPARSE_AS, gather_b, "tld4.b.2d", "f32", "{%[x], %[y]}]", (float x, float y), [x] "f"(x), [y] "f"(y))
HEDDLE_TEX_ALL(HEDDLE_TEX_SPARSE_AS, gather_a, "tld4.a.2d", "f32", "{%[x], %[y]}]", (float x, float y), [x] "f"(x), [y] "f"(y))
/* clang-format on */

template <class T, class = typename heddle_texel<T>::type>
HEDDLE_INLINE T tex2Dgather(cudaTextureObject_t t, float x, float y, int comp = 0)
{
    typename heddle_texel<T>::element v[4];
    switch (comp) {
    case 1: heddle_gather_g(v, t, x, y); break;
    case 2: heddle_gather_b(v, t, x, y); break;
    case 3: heddle_gather_a(v, t, x, y); break;
    default: heddle_gather_r(v, t, x, y); break;
    }
    return heddle_texel<T>::of(v);
}
template <class T>
HEDDLE_INLINE typename heddle_texel<T>::type tex2Dgather(T *to, cudaTextureObject_t t, float x, float y, int comp = 0)
{
    *to = tex2Dgather<T>(t, x, y, comp);
}
template <class T, class = typename heddle_texel<T>::type>
HEDDLE_INLINE T tex2Dgather(cudaTextureObject_t t, float x, float y, bool *isResident, int comp = 0)
{
    typename heddle_texel<T>::element v[4];
    switch (comp) {
    case 1: heddle_gather_g(v, isResident, t, x, y); break;
    case 2: heddle_gather_b(v, isResident, t, x, y); break;
    case 3: heddle_gather_a(v, isResident, t, x, y); break;
    default: heddle_gather_r(v, isResident, t, x, y); break;
    }
    return heddle_texel<T>::of(v);
}
template <class T>
HEDDLE_INLINE typename heddle_texel<T>::type tex2Dgather(T *to, cudaTextureObject_t t, float x, float y,
                                                         bool *isResident, int comp = 0)
{
    *to = tex2Dgather<T>(t, x, y, isResident, comp);
}

#undef HEDDLE_TEX_SPARSE
#undef HEDDLE_TEX
#undef HEDDLE_TEX_ALL
#undef HEDDLE_TEX_SPARSE_CALLS
#undef HEDDLE_TEX_CALLS
#undef HEDDLE_TEX_SPARSE_AS
#undef HEDDLE_TEX_AS
#undef HEDDLE_P

#endif
