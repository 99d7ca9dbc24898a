/* Conversions of halves and bfloats to floats, and back, rounding to nearest even. */
#ifndef HEDDLE_CUFFT_HALF_H
#define HEDDLE_CUFFT_HALF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void floats_of_halves(void *to, const void *from, size_t numbers)
{
    for (size_t i = 0; i < numbers; i++)
        ((float *)to)[i] = (float)((const _Float16 *)from)[i];
}

static inline void halves_of_floats(void *to, const void *from, size_t numbers)
{
    for (size_t i = 0; i < numbers; i++)
        ((_Float16 *)to)[i] = (_Float16)((const float *)from)[i];
}

static inline void floats_of_bfloats(void *to, const void *from, size_t numbers)
{
    for (size_t i = 0; i < numbers; i++) {
        uint32_t bits = (uint32_t)((const uint16_t *)from)[i] << 16;
        memcpy((float *)to + i, &bits, sizeof bits);
    }
}

static inline void bfloats_of_floats(void *to, const void *from, size_t numbers)
{
    for (size_t i = 0; i < numbers; i++) {
        uint32_t bits;
        memcpy(&bits, (const float *)from + i, sizeof bits);
        uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
        ((uint16_t *)to)[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded >> 16);
    }
}

#endif
