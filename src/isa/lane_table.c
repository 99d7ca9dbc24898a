/* The tables of lane functions: names, row widths, and the functions of each CPU level. */
#include "isa/lanes.h"
#include "isa/lane_ids.h"

#if defined __aarch64__
#include <sys/auxv.h>
#endif

#define WIDTH__    0
#define WIDTH_p    1
#define WIDTH_u8   16 /* a register of 8 bits is a row of 16 */
#define WIDTH_s8   16
#define WIDTH_u16  16
#define WIDTH_s16  16
#define WIDTH_u32  32
#define WIDTH_s32  32
#define WIDTH_f32  32
#define WIDTH_u64  64
#define WIDTH_s64  64
#define WIDTH_f64  64
#define WIDTH_b128 128
#define CARRY__    CARRY_NONE
#define CARRY_u4   CARRY_FOURTH
#define CARRY_ci   CARRY_IN
#define CARRY_co   CARRY_OUT
#define CARRY_cio  CARRY_INOUT

static const struct lane_info infos[LANE_COUNT] = {
    {.name = ""},
#define LANE(name, D, E, A, B, C, is, unit, expr)                                                                      \
    {#name, WIDTH_##D, WIDTH_##A, WIDTH_##B, WIDTH_##C, CARRY_##E, IS_##is, UNIT_##unit},
#include "isa/lanes.def"
#undef LANE
};

#if defined __x86_64__
#define LANE(name, D, E, A, B, C, is, unit, expr) lane_fn lanes_v2_##name, lanes_v3_##name, lanes_v4_##name;
#include "isa/lanes.def"
#undef LANE
static lane_fn *const table_v2[LANE_COUNT] = {
    NULL,
#define LANE(name, D, E, A, B, C, is, unit, expr) lanes_v2_##name,
#include "isa/lanes.def"
#undef LANE
};
static lane_fn *const table_v3[LANE_COUNT] = {
    NULL,
#define LANE(name, D, E, A, B, C, is, unit, expr) lanes_v3_##name,
#include "isa/lanes.def"
#undef LANE
};
static lane_fn *const table_v4[LANE_COUNT] = {
    NULL,
#define LANE(name, D, E, A, B, C, is, unit, expr) lanes_v4_##name,
#include "isa/lanes.def"
#undef LANE
};
static bool has_v2(void)
{
    return true;
}
static bool has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
static bool has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
/* Best first. */
static const struct level {
    const char *name;
    lane_fn *const *table;
    bool (*present)(void);
} levels[] = {
    {"x86-64-v4", table_v4, has_v4},
    {"x86-64-v3", table_v3, has_v3},
    {"x86-64-v2", table_v2, has_v2},
};
#else
#define LANE(name, D, E, A, B, C, is, unit, expr) lane_fn lanes_generic_##name;
#include "isa/lanes.def"
#undef LANE
static lane_fn *const table_generic[LANE_COUNT] = {
    NULL,
#define LANE(name, D, E, A, B, C, is, unit, expr) lanes_generic_##name,
#include "isa/lanes.def"
#undef LANE
};
static bool always(void)
{
    return true;
}
#if defined __aarch64__
/* Single instructions for atomics (FEAT_LSE), which lane functions have no use for, but compiled
 * code has. */
static bool has_atomics(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_ATOMICS) != 0;
}
#endif
static const struct level {
    const char *name;
    lane_fn *const *table;
    bool (*present)(void);
} levels[] = {
#if defined __aarch64__
    {"armv8-a+lse", table_generic, has_atomics},
    {"armv8-a", table_generic, always},
#else
    {"generic", table_generic, always},
#endif
};
#endif

const struct lane_info *lane_info(lane_id id)
{
    return &infos[id];
}

const char *lane_level(size_t i)
{
    for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++)
        if (levels[k].present() && i-- == 0)
            return levels[k].name;
    return NULL;
}

/* "x86-64-v3", or what differs in the names of the levels alone: "v3". */
static bool is_called(const char *name, const char *level)
{
    static const char common[] = "x86-64-";
    size_t n = strlen(common);
    return strcmp(level, name) == 0 || (strncmp(name, common, n) == 0 && strcmp(level, name + n) == 0);
}

lane_fn *const *lane_table(const char *level, const char **name)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if ((!level || is_called(levels[i].name, level)) && levels[i].present()) {
            if (name)
                *name = levels[i].name;
            return levels[i].table;
        }
    }
    return NULL;
}
