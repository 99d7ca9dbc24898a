/* Reads and writes of surfaces ("CUDA C++ Programming Guide", "Surface Functions"): one instruction
 * each, as nvcc has it (PTX ISA 9.7.11, suld.b and sust.b). What lies in the surface is moved as it
 * is: a type is cells of 8 to 64 bits, one, two or four of them.
 */
#ifndef HEDDLE_SURFACES_H
#define HEDDLE_SURFACES_H

#include "../texture_types.h"
#include "../vector_types.h"
#include "define.h"

/* Cells in registers: those of 8 bits have 16 there. */
template <int bits, int n> struct heddle_cells {
    unsigned short at[n];
};
template <int n> struct heddle_cells<32, n> {
    unsigned at[n];
};
template <int n> struct heddle_cells<64, n> {
    unsigned long long at[n];
};

/* The cells of a T. Only types that surfaces have are complete. */
template <class T> struct heddle_surfel;

#define HEDDLE_SURFEL(T, bits, n)                                                                                      \
    template <> struct heddle_surfel<T> {                                                                              \
        typedef void type;                                                                                             \
        typedef heddle_cells<bits, n> cells;                                                                           \
    };
#define HEDDLE_SURFELS_2(T, name, bits)                                                                                \
    HEDDLE_SURFEL(T, bits, 1)                                                                                          \
    HEDDLE_SURFEL(name##1, bits, 1)                                                                                    \
    HEDDLE_SURFEL(name##2, bits, 2)
#define HEDDLE_SURFELS(T, name, bits)                                                                                  \
    HEDDLE_SURFELS_2(T, name, bits)                                                                                    \
    HEDDLE_SURFEL(name##4, bits, 4)
HEDDLE_SURFEL(char, 8, 1)
HEDDLE_SURFELS(signed char, char, 8)
HEDDLE_SURFELS(unsigned char, uchar, 8)
HEDDLE_SURFELS(short, short, 16)
HEDDLE_SURFELS(unsigned short, ushort, 16)
HEDDLE_SURFELS(int, int, 32)
HEDDLE_SURFELS(unsigned, uint, 32)
HEDDLE_SURFELS(float, float, 32)
HEDDLE_SURFELS_2(long long, longlong, 64)
HEDDLE_SURFELS_2(unsigned long long, ulonglong, 64)
#undef HEDDLE_SURFELS
#undef HEDDLE_SURFELS_2
#undef HEDDLE_SURFEL

/* A T as cells, and back. */
template <class T, int bits, int n> HEDDLE_INLINE void heddle_to_cells(heddle_cells<bits, n> &cells, const T &value)
{
    if (bits != 8) {
        __builtin_memcpy(&cells, &value, sizeof value);
        return;
    }
    for (int i = 0; i < n; i++)
        cells.at[i] = ((const unsigned char *)&value)[i];
}
template <class T, int bits, int n> HEDDLE_INLINE T heddle_of_cells(const heddle_cells<bits, n> &cells)
{
    T value;
    if (bits != 8)
        __builtin_memcpy(&value, &cells, sizeof value);
    else
        for (int i = 0; i < n; i++)
            ((unsigned char *)&value)[i] = (unsigned char)cells.at[i];
    return value;
}

/* ---- the instructions ---- */

#define HEDDLE_P(...) __VA_ARGS__

/* The registers of one, two and four cells: in the text, and as operands. */
#define HEDDLE_LIST_1     "%0"
#define HEDDLE_LIST_2     "%0, %1"
#define HEDDLE_LIST_4     "%0, %1, %2, %3"
#define HEDDLE_CELLS_1(c) c(v.at[0])
#define HEDDLE_CELLS_2(c) c(v.at[0]), c(v.at[1])
#define HEDDLE_CELLS_4(c) c(v.at[0]), c(v.at[1]), c(v.at[2]), c(v.at[3])

/* `c`: the constraint of a cell's register; `x`: the coordinates as operands. */
#define HEDDLE_SULD(geometry, kind, n, c, mode, coordinates, x)                                                        \
    asm volatile("suld.b." geometry kind "." mode " {" HEDDLE_LIST_##n "}, [%[s], {" coordinates "}];"                 \
                 : HEDDLE_CELLS_##n("=" c)                                                                             \
                 : [s] "l"(s), HEDDLE_P x                                                                              \
                 : "memory")
#define HEDDLE_SUST(geometry, kind, n, c, mode, coordinates, x)                                                        \
    asm volatile("sust.b." geometry kind "." mode " [%[s], {" coordinates "}], {" HEDDLE_LIST_##n "};"                 \
                 :                                                                                                     \
                 : HEDDLE_CELLS_##n(c), [s] "l"(s), HEDDLE_P x                                                         \
                 : "memory")
/* Programs name the mode: a constant, once this is inlined. */
#define HEDDLE_BY_MODE(instruction, geometry, kind, n, c, coordinates, x)                                              \
    if (mode == cudaBoundaryModeZero)                                                                                  \
        instruction(geometry, kind, n, c, "zero", coordinates, x);                                                     \
    else if (mode == cudaBoundaryModeClamp)                                                                            \
        instruction(geometry, kind, n, c, "clamp", coordinates, x);                                                    \
    else                                                                                                               \
        instruction(geometry, kind, n, c, "trap", coordinates, x);
/* clang-format off */
#define HEDDLE_SURFACE(name, geometry, kind, bits, n, c, coordinates, parameters, x)                                   \
    HEDDLE_INLINE void heddle_suld_##name(heddle_cells<bits, n> &v, cudaSurfaceObject_t s, HEDDLE_P parameters,        \
                                          cudaSurfaceBoundaryMode mode)                                                \
    {                                                                                                                  \
        HEDDLE_BY_MODE(HEDDLE_SULD, geometry, kind, n, c, coordinates, x)                                              \
    }                                                                                                                  \
    HEDDLE_INLINE void heddle_sust_##name(const heddle_cells<bits, n> &v, cudaSurfaceObject_t s, HEDDLE_P parameters,  \
                                          cudaSurfaceBoundaryMode mode)                                                \
    {                                                                                                                  \
        HEDDLE_BY_MODE(HEDDLE_SUST, geometry, kind, n, c, coordinates, x)                                              \
    }
/* clang-format on */
#define HEDDLE_SURFACE_OF(name, geometry, coordinates, parameters, x)                                                  \
    HEDDLE_SURFACE(name, geometry, ".b8", 8, 1, "h", coordinates, parameters, x)                                       \
    HEDDLE_SURFACE(name, geometry, ".v2.b8", 8, 2, "h", coordinates, parameters, x)                                    \
    HEDDLE_SURFACE(name, geometry, ".v4.b8", 8, 4, "h", coordinates, parameters, x)                                    \
    HEDDLE_SURFACE(name, geometry, ".b16", 16, 1, "h", coordinates, parameters, x)                                     \
    HEDDLE_SURFACE(name, geometry, ".v2.b16", 16, 2, "h", coordinates, parameters, x)                                  \
    HEDDLE_SURFACE(name, geometry, ".v4.b16", 16, 4, "h", coordinates, parameters, x)                                  \
    HEDDLE_SURFACE(name, geometry, ".b32", 32, 1, "r", coordinates, parameters, x)                                     \
    HEDDLE_SURFACE(name, geometry, ".v2.b32", 32, 2, "r", coordinates, parameters, x)                                  \
    HEDDLE_SURFACE(name, geometry, ".v4.b32", 32, 4, "r", coordinates, parameters, x)                                  \
    HEDDLE_SURFACE(name, geometry, ".b64", 64, 1, "l", coordinates, parameters, x)                                     \
    HEDDLE_SURFACE(name, geometry, ".v2.b64", 64, 2, "l", coordinates, parameters, x)

/* clang-format off */
HEDDLE_SURFACE_OF(1d, "1d", "%[x]", (int x), ([x] "r"(x)))
HEDDLE_SURFACE_OF(2d, "2d", "%[x], %[y]", (int x, int y), ([x] "r"(x), [y] "r"(y)))
HEDDLE_SURFACE_OF(3d, "3d", "%[x], %[y], %[z], %[z]", (int x, int y, int z), ([x] "r"(x), [y] "r"(y), [z] "r"(z)))
HEDDLE_SURFACE_OF(a1d, "a1d", "%[layer], %[x]", (int x, int layer), ([x] "r"(x), [layer] "r"(layer)))
HEDDLE_SURFACE_OF(a2d, "a2d", "%[layer], %[x], %[y], %[y]", (int x, int y, int layer), ([x] "r"(x), [y] "r"(y), [layer] "r"(layer)))
/* clang-format on */

/* ---- what programs call ---- */

#define HEDDLE_SURFACE_CALLS(name, geometry, parameters, arguments)                                                    \
    template <class T, class = typename heddle_surfel<T>::type>                                                        \
    HEDDLE_INLINE T name##read(cudaSurfaceObject_t s, HEDDLE_P parameters,                                             \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                    \
    {                                                                                                                  \
        typename heddle_surfel<T>::cells v;                                                                            \
        heddle_suld_##geometry(v, s, HEDDLE_P arguments, mode);                                                        \
        return heddle_of_cells<T>(v);                                                                                  \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_INLINE typename heddle_surfel<T>::type name##read(T *to, cudaSurfaceObject_t s, HEDDLE_P parameters,        \
                                                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)      \
    {                                                                                                                  \
        *to = name##read<T>(s, HEDDLE_P arguments, mode);                                                              \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_INLINE typename heddle_surfel<T>::type name##write(T value, cudaSurfaceObject_t s, HEDDLE_P parameters,     \
                                                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)     \
    {                                                                                                                  \
        typename heddle_surfel<T>::cells v;                                                                            \
        heddle_to_cells(v, value);                                                                                     \
        heddle_sust_##geometry(v, s, HEDDLE_P arguments, mode);                                                        \
    }
/* Faces of cubemaps are layers (PTX has no surfaces of cubemaps). */
HEDDLE_SURFACE_CALLS(surf1D, 1d, (int x), (x))
HEDDLE_SURFACE_CALLS(surf2D, 2d, (int x, int y), (x, y))
HEDDLE_SURFACE_CALLS(surf3D, 3d, (int x, int y, int z), (x, y, z))
HEDDLE_SURFACE_CALLS(surf1DLayered, a1d, (int x, int layer), (x, layer))
HEDDLE_SURFACE_CALLS(surf2DLayered, a2d, (int x, int y, int layer), (x, y, layer))
HEDDLE_SURFACE_CALLS(surfCubemap, a2d, (int x, int y, int face), (x, y, face))
HEDDLE_SURFACE_CALLS(surfCubemapLayered, a2d, (int x, int y, int layerFace), (x, y, layerFace))

#undef HEDDLE_SURFACE_CALLS
#undef HEDDLE_SURFACE_OF
#undef HEDDLE_SURFACE
#undef HEDDLE_BY_MODE
#undef HEDDLE_SUST
#undef HEDDLE_SULD
#undef HEDDLE_CELLS_4
#undef HEDDLE_CELLS_2
#undef HEDDLE_CELLS_1
#undef HEDDLE_LIST_4
#undef HEDDLE_LIST_2
#undef HEDDLE_LIST_1
#undef HEDDLE_P

#endif
