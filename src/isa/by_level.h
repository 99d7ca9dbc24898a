/* Tables of functions of a source that is compiled once per CPU level, by the level's name
 * (lane_level()). */
#ifndef HEDDLE_ISA_BY_LEVEL_H
#define HEDDLE_ISA_BY_LEVEL_H

#include <stddef.h>
#include <string.h>

/* Defines PREFIX_for_level(): prefix_v4, prefix_v3, prefix_v2, which is of every other level, too;
 * elsewhere prefix_generic. */
#if defined __x86_64__
#define DEFINE_BY_LEVEL(type, prefix)                                                                                  \
    extern const type prefix##_v2, prefix##_v3, prefix##_v4;                                                           \
    const type *prefix##_for_level(const char *level)                                                                  \
    {                                                                                                                  \
        return level && strcmp(level, "x86-64-v4") == 0   ? &prefix##_v4                                               \
               : level && strcmp(level, "x86-64-v3") == 0 ? &prefix##_v3                                               \
                                                          : &prefix##_v2;                                              \
    }
#else
#define DEFINE_BY_LEVEL(type, prefix)                                                                                  \
    extern const type prefix##_generic;                                                                                \
    const type *prefix##_for_level(const char *level)                                                                  \
    {                                                                                                                  \
        (void)level;                                                                                                   \
        return &prefix##_generic;                                                                                      \
    }
#endif

#endif
