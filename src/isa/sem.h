/* The meaning of PTX's pure instructions, one inline function each, for one lane.
 *
 * What C says by an operator stands in lanes_*.def directly; what takes more stands here. Rules: no
 * traps (every function is total: the inactive lanes' garbage goes through it too), no
 * floating-point environment, no branches where a selection will do (the compiler vectorises what
 * it can).
 */
#ifndef HEDDLE_ISA_SEM_H
#define HEDDLE_ISA_SEM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* PTX's own names of types, for this folder. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef struct {
    u64 lo, hi;
} b128;

/* The bits of a floating-point number, and back. */
static inline u32 f32_bits(f32 x)
{
    u32 u;
    memcpy(&u, &x, 4);
    return u;
}

static inline f32 f32_of(u32 u)
{
    f32 x;
    memcpy(&x, &u, 4);
    return x;
}

static inline u64 f64_bits(f64 x)
{
    u64 u;
    memcpy(&u, &x, 8);
    return u;
}

static inline f64 f64_of(u64 u)
{
    f64 x;
    memcpy(&x, &u, 8);
    return x;
}

#include "isa/sem_int.h"
#include "isa/sem_float.h"
#include "isa/sem_double.h"
#include "isa/sem_half.h"
#include "isa/sem_cvt.h"
#include "isa/sem_sm100.h"
#include "isa/sem_mufu.h"
#include "isa/sem_video.h"
#include "isa/sem_mbarrier.h"

#endif
