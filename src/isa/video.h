/* The constant of a video instruction's lane function: its selectors and modifiers (PTX ISA
 * 9.7.18).
 *
 * ir/ makes it from the operands as written, sem_video.h reads it; it travels as the imm of
 * lane_fn.
 */
#ifndef HEDDLE_ISA_VIDEO_H
#define HEDDLE_ISA_VIDEO_H

#include <stdint.h>
#include <string.h>

enum video_flag {
    VIDEO_A_SIGNED = 1,
    VIDEO_B_SIGNED = 2,
    VIDEO_D_SIGNED = 4,
    VIDEO_SAT = 8,
    VIDEO_WRAP = 16,           /* vshl.wrap, vshr.wrap */
    VIDEO_PO = 32,             /* vmad.po */
    VIDEO_NEGATE_PRODUCT = 64, /* vmad with one of -a, -b */
    VIDEO_NEGATE_C = 128,      /* vmad with -c */
};

enum video_second { VIDEO_SECOND_NONE, VIDEO_SECOND_ADD, VIDEO_SECOND_MIN, VIDEO_SECOND_MAX };

struct video {
    /* scalar: first bit + 256 * number of bits; SIMD: a byte of {b, a} a nibble, as prmt's
     * selector. */
    uint16_t a, b;
    uint8_t bytes;  /* of the destination that get the result, a bit each; the others are c's */
    uint8_t flags;  /* enum video_flag */
    uint8_t second; /* enum video_second */
    uint8_t scale;  /* vmad: bits that the sum is shifted right */
};

static inline uint64_t video_to_imm(struct video v)
{
    uint64_t imm;
    memcpy(&imm, &v, sizeof imm);
    return imm;
}

static inline struct video video_of_imm(uint64_t imm)
{
    struct video v;
    memcpy(&v, &imm, sizeof v);
    return v;
}

#endif
