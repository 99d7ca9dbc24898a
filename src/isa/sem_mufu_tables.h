/* Coefficients of the approximate functions: C0, C1, C2 a segment; sem_mufu.h says how they are
 * used.
 *
 * Fitted to the answers of an H200: over each segment one triple of integers is left that gives its
 * bits.
 */

/* What results lie below a line, by segments: mufu_below() says how. C1 * 2^16 + C2 of 16 bits are
 * one number, and with C0 in the lower half a pair. */
struct mufu_table {
    const s32 *c0, *c12;
    const u64 *pairs;
    u32 segments;
    s32 bias;
    u32 shift;
};
#define MUFU_C12(c1, c2)      (c1) * 65536 + ((c2) & 0xffff),
#define MUFU_PAIR(c0, c1, c2) (u64)(u32)((c1) * 65536 + ((c2) & 0xffff)) << 32 | (u32)(c0),
static const s32 mufu_rcp_c0[128] = {
#define RCP(c0, c1, c2) c0,
#include "isa/mufu_segments.def"
};
static const s32 mufu_rcp_c12[128] = {
#define RCP(c0, c1, c2) MUFU_C12(c1, c2)
#include "isa/mufu_segments.def"
};
static const u64 mufu_rcp_pairs[128] = {
#define RCP(c0, c1, c2) MUFU_PAIR(c0, c1, c2)
#include "isa/mufu_segments.def"
};
static const struct mufu_table mufu_rcp_table = {mufu_rcp_c0, mufu_rcp_c12, mufu_rcp_pairs, 128, 0x3031, 14};
static const s32 mufu_rsqrt_c0[128] = {
#define RSQRT(c0, c1, c2) c0,
#include "isa/mufu_segments.def"
};
static const s32 mufu_rsqrt_c12[128] = {
#define RSQRT(c0, c1, c2) MUFU_C12(c1, c2)
#include "isa/mufu_segments.def"
};
static const u64 mufu_rsqrt_pairs[128] = {
#define RSQRT(c0, c1, c2) MUFU_PAIR(c0, c1, c2)
#include "isa/mufu_segments.def"
};
static const struct mufu_table mufu_rsqrt_table = {mufu_rsqrt_c0, mufu_rsqrt_c12, mufu_rsqrt_pairs, 128, 0, 14};
static const s32 mufu_sqrt_c0[128] = {
#define SQRT(c0, c1, c2) c0,
#include "isa/mufu_segments.def"
};
static const s32 mufu_sqrt_c12[128] = {
#define SQRT(c0, c1, c2) MUFU_C12(c1, c2)
#include "isa/mufu_segments.def"
};
static const u64 mufu_sqrt_pairs[128] = {
#define SQRT(c0, c1, c2) MUFU_PAIR(c0, c1, c2)
#include "isa/mufu_segments.def"
};
static const struct mufu_table mufu_sqrt_table = {mufu_sqrt_c0, mufu_sqrt_c12, mufu_sqrt_pairs, 128, 0, 15};
static const s32 mufu_ex2_c0[64] = {
#define EX2(c0, c1, c2) c0,
#include "isa/mufu_segments.def"
};
static const s32 mufu_ex2_c12[64] = {
#define EX2(c0, c1, c2) MUFU_C12(c1, c2)
#include "isa/mufu_segments.def"
};
static const u64 mufu_ex2_pairs[64] = {
#define EX2(c0, c1, c2) MUFU_PAIR(c0, c1, c2)
#include "isa/mufu_segments.def"
};
static const struct mufu_table mufu_ex2_table = {mufu_ex2_c0, mufu_ex2_c12, mufu_ex2_pairs, 64, 0x81d, 13};

/* Of logarithms and sines in units of 2^-38 and 2^-37; of C1 of a logarithm what lies over 2^15. */
static const s32 mufu_lg2_c0[64] = {
#define LG2(c0, c1, c2) (c0) * 32,
#include "isa/mufu_segments.def"
};
static const s32 mufu_lg2_c12[64] = {
#define LG2(c0, c1, c2) MUFU_C12((c1) - 32768, 2 * (c2))
#include "isa/mufu_segments.def"
};
static const u64 mufu_lg2_pairs[64] = {
#define LG2(c0, c1, c2) MUFU_PAIR((c0) * 32, (c1) - 32768, 2 * (c2))
#include "isa/mufu_segments.def"
};
static const struct mufu_table mufu_lg2_table = {mufu_lg2_c0, mufu_lg2_c12, mufu_lg2_pairs, 64, 0x3345, 7};
static const s32 mufu_sin_c0[64] = {
#define SIN(c0, c1, c2) (c0) * 16,
#include "isa/mufu_segments.def"
};
static const s32 mufu_sin_c12[64] = {
#define SIN(c0, c1, c2) MUFU_C12(c1, c2)
#include "isa/mufu_segments.def"
};
static const u64 mufu_sin_pairs[64] = {
#define SIN(c0, c1, c2) MUFU_PAIR((c0) * 16, c1, c2)
#include "isa/mufu_segments.def"
};
static const struct mufu_table mufu_sin_table = {mufu_sin_c0, mufu_sin_c12, mufu_sin_pairs, 64, 0, 7};

/* tanh(x) for |x| in [2^-8, 8): octave 2^(e - 8) starts at segment mufu_tanh_first[e] and has
 * mufu_tanh_segments[e] of them. */
static const u32 mufu_tanh_first[11] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
static const u32 mufu_tanh_segments[11] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 16, 8};
static const s32 mufu_tanh_table[3 * 51] = {
    65536,    65536,   -2,      131070,   131064,  -12,    262124,   262096,  -104,   524118,   261904,  -164,
    785858,   261576,  -220,    1047212,  522336,  -1272,  1568268,  519808,  -1776,  2086298,  516256,  -2236,
    2600310,  511776,  -2704,   3109372,  506368,  -3160,  3612576,  500048,  -3564,  4109040,  986176,  -16552,
    5078604,  952960,  -19296,  6012224,  914288,  -21488, 6904992,  871216,  -23152, 7753000,  1650272, -98592,
    9304656,  1451968, -100608, 10656104, 1250016, -96608, 11809672, 1056352, -88688, 12777544, 878752,  -78584,
    13577912, 721632,  -67824,  14231944, 586144,  -57152, 14761140, 472016,  -47384, 15185952, 377440,  -38736,
    15524804, 300160,  -31376,  15793720, 237600,  -25152, 16006268, 187456,  -20072, 16173728, 147496,  -15946,
    16305345, 115768,  -12590,  16408581, 90696,   -9898,  16489421, 70984,   -7784,  16552657, 55480,   -6094,
    16602069, 43340,   -4776,   16640655, 33828,   -3734,  16670765, 26396,   -2920,  16694254, 20584,   -2278,
    16712570, 16048,   -1778,   16726848, 12508,   -1386,  16737977, 9748,    -1082,  16746648, 7596,    -842,
    16753405, 5916,    -654,    16758669, 4608,    -508,   16762770, 3588,    -394,   16766000, 10544,   -3504,
    16773088, 3888,    -1296,   16775696, 1424,    -464,   16776656, 528,     -176,   16777012, 192,     -64,
    16777140, 80,      -32,     16777188, 32,      -16,    16777204, 16,      -8,
};
