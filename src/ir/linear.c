/* What pure instructions are to the analyses of values: see shape.h. */
#include "ir/shape.h"

enum linear ir_linear(enum lane_id lane)
{
    switch (lane) {
    case LANE_mov_b16:
    case LANE_mov_b32:
    case LANE_mov_b64: return LINEAR_COPY;
    case LANE_resize_b32_b64:
    case LANE_cvt_u32_u64:
    case LANE_cvt_s32_s64: return LINEAR_CUT;
    case LANE_resize_b64_s32:
    case LANE_resize_b32_s16:
    case LANE_resize_b64_s16:
    case LANE_cvt_s32_s16:
    case LANE_cvt_s64_s16:
    case LANE_cvt_s64_s32: return LINEAR_SIGN_EXTEND;
    case LANE_resize_b64_u32:
    case LANE_resize_b32_u16:
    case LANE_resize_b64_u16:
    case LANE_cvt_u32_u16:
    case LANE_cvt_u64_u16:
    case LANE_cvt_u64_u32: return LINEAR_ZERO_EXTEND;
    case LANE_add_b32:
    case LANE_add_b64: return LINEAR_ADD;
    case LANE_sub_b32:
    case LANE_sub_b64: return LINEAR_SUB;
    case LANE_mul_b32:
    case LANE_mul_b64: return LINEAR_MUL;
    case LANE_mad_b32:
    case LANE_mad_b64: return LINEAR_MUL_ADD;
    case LANE_shl_b32:
    case LANE_shl_b64: return LINEAR_SHL;
    case LANE_mulwide_s16:
    case LANE_mulwide_s32: return LINEAR_MUL_WIDE;
    case LANE_mulwide_u16:
    case LANE_mulwide_u32: return LINEAR_MUL_WIDE_UNSIGNED;
    case LANE_madwide_s32: return LINEAR_MUL_ADD_WIDE;
    case LANE_madwide_u32: return LINEAR_MUL_ADD_WIDE_UNSIGNED;
    case LANE_and_b32:
    case LANE_and_b64: return LINEAR_AND;
    case LANE_or_b32:
    case LANE_or_b64: return LINEAR_OR;
    case LANE_xor_b32:
    case LANE_xor_b64: return LINEAR_XOR;
    case LANE_not_b32:
    case LANE_not_b64: return LINEAR_NOT;
    case LANE_shr_b32:
    case LANE_shr_b64: return LINEAR_SHR_UNSIGNED;
    case LANE_shr_s32:
    case LANE_shr_s64: return LINEAR_SHR_SIGNED;
    default: return LINEAR_NONE;
    }
}
