/* Tensor maps ("CUDA Driver API", 6.32). */
#include "cuda/state/state.h"

#include <string.h>

static CUresult encode(CUtensorMap *to, hd_tensor_map *m, const cuuint64_t *dims, const cuuint64_t *strides,
                       const cuuint32_t *steps, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const char *error = "";
    NEED((unsigned)promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    NEED((unsigned)fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    NEED(to && (uintptr_t)to % 64 == 0 && dims && steps && (strides || m->rank == 1));
    m->fill_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    memcpy(m->dims, dims, m->rank * sizeof *dims);
    memcpy(m->steps, steps, m->rank * sizeof *steps);
    if (m->rank > 1)
        memcpy(m->strides_bytes, strides, (m->rank - 1) * sizeof *strides);
    if (hd_tensor_map_encode(m, to, &error)) {
        log_line(LOG_ERROR, "tensor map: %s", error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CU_API CUresult cuTensorMapEncodeTiled(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                       const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                       const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                       CUtensorMapFloatOOBfill fill)
{
    hd_tensor_map m = {.type = (unsigned)type, .rank = rank, .address = address};
    m.interleave = (unsigned)interleave;
    m.swizzle = (unsigned)swizzle;
    NEED(box && rank >= 1 && rank <= 5);
    memcpy(m.box, box, rank * sizeof *box);
    return encode(to, &m, dims, strides, steps, promotion, fill);
}

CU_API CUresult cuTensorMapEncodeIm2col(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                        const cuuint64_t *dims, const cuuint64_t *strides, const int *lower,
                                        const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                        const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill)
{
    hd_tensor_map m = {.type = (unsigned)type, .rank = rank, .address = address, .im2col = true};
    m.interleave = (unsigned)interleave;
    m.swizzle = (unsigned)swizzle;
    NEED(lower && upper && rank >= 3 && rank <= 5);
    memcpy(m.lower, lower, (rank - 2) * sizeof *lower);
    memcpy(m.upper, upper, (rank - 2) * sizeof *upper);
    m.channels = channels;
    m.pixels = pixels;
    return encode(to, &m, dims, strides, steps, promotion, fill);
}

CU_API CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    const char *error = "";
    NEED(map && (uintptr_t)map % 64 == 0);
    if (hd_tensor_map_set_address(map, address, &error)) {
        log_line(LOG_ERROR, "tensor map: %s", error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
