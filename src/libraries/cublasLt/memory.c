/* The memory that products and transformations use: lt.h, struct ranges. */
#include "libraries/cublasLt/lt.h"

#include <stdlib.h>

bool layout_is_planar(const struct layout *l)
{
    return l->plane_offset && element_is_complex(l->type);
}

cudaDataType layout_type(const struct layout *l)
{
    if (!layout_is_planar(l))
        return l->type;
    switch (l->type) {
    case CUDA_C_16F: return CUDA_R_16F;
    case CUDA_C_16BF: return CUDA_R_16BF;
    case CUDA_C_32F: return CUDA_R_32F;
    default: return CUDA_R_64F;
    }
}

/* The matrix of a planar one's real parts; its imaginary ones are the same, `plane_offset` on. */
static struct layout plane_of(const struct layout *l)
{
    struct layout plane = *l;
    plane.type = layout_type(l);
    return plane;
}

/* Tiles are 32 columns wide; heights are whole tiles. */
struct library_shape layout_shape(const struct layout *l)
{
    static const uint64_t tile_rows[] = {
        [CUBLASLT_ORDER_COL32] = 1, [CUBLASLT_ORDER_COL4_4R2_8C] = 8, [CUBLASLT_ORDER_COL32_2R_4R4] = 32};
    const size_t bytes = element_bytes(layout_type(l));
    const uint64_t rows = l->rows, columns = l->columns, ld = (uint64_t)l->ld;
    if (l->order == CUBLASLT_ORDER_COL)
        return (struct library_shape){bytes, rows, columns, ld};
    if (l->order == CUBLASLT_ORDER_ROW)
        return (struct library_shape){bytes, columns, rows, ld};
    const uint64_t height = tile_rows[l->order], strips = columns / 32 + (columns % 32 != 0);
    const uint64_t whole = (rows / height + (rows % height != 0)) * height;
    return (struct library_shape){bytes, whole > UINT64_MAX / 32 ? UINT64_MAX : whole * 32, strips, ld};
}

void ranges_add(struct ranges *r, const void *at, size_t width, size_t height, size_t pitch, unsigned use)
{
    if (width && height)
        r->no_memory |= !library_add_use(&r->at, &r->n, library_uses(at, width, height, pitch, use));
}

/* Tiles at the edges have places without elements. They count as written, but not as read. */
static void add_one(struct ranges *r, const struct layout *l, const void *at, unsigned use)
{
    const struct library_shape s = layout_shape(l);
    const bool whole = l->order <= CUBLASLT_ORDER_ROW || (s.width == l->rows * 32 && s.count * 32 == l->columns);
    ranges_add(r, at, s.width * s.element_bytes, s.count, s.step * s.element_bytes,
               whole ? use : use & ~(unsigned)HD_READS);
}

static bool is_addressed(const struct layout *l)
{
    return l->batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY;
}

/* If possible, all problems are one matrix. Otherwise there is a range for each column of all
 * problems or for each problem, whichever is fewer. */
void ranges_add_matrix(struct ranges *r, const struct layout *l, const void *at, unsigned use)
{
    const struct library_shape s = layout_shape(l);
    const uint64_t n = l->batch_stride ? (uint64_t)l->batch_count : 1, bytes = s.element_bytes;
    const int64_t stride = l->batch_stride * (int64_t)bytes;
    if (!at || !s.width || !s.count)
        return;
    if (layout_is_planar(l) && !is_addressed(l)) {
        const struct layout plane = plane_of(l);
        ranges_add_matrix(r, &plane, at, use);
        ranges_add_matrix(r, &plane, (const char *)at + l->plane_offset, use);
    } else if (is_addressed(l))
        ranges_add(r, at, (size_t)l->batch_count * sizeof(void *), 1, 0, HD_READS);
    else if (l->order <= CUBLASLT_ORDER_ROW && stride > 0 && (uint64_t)stride == s.count * s.step * bytes)
        ranges_add(r, at, s.width * bytes, s.count * n, s.step * bytes, use);
    else if (l->order <= CUBLASLT_ORDER_ROW && stride > 0 && s.count < n)
        for (uint64_t i = 0; i < s.count; i++)
            ranges_add(r, (const char *)at + i * s.step * bytes, s.width * bytes, n, (size_t)stride, use);
    else
        for (uint64_t i = 0; i < n; i++)
            add_one(r, l, (const char *)at + (int64_t)i * stride, use);
}

void ranges_add_addressed(struct ranges *r, const struct layout *l, const void *at, unsigned use)
{
    if (!at || !is_addressed(l) || !l->rows || !l->columns)
        return;
    void *const *addresses = library_view(at);
    for (int32_t i = 0; i < l->batch_count; i++) {
        add_one(r, l, addresses[i], use);
        if (layout_is_planar(l))
            add_one(r, l, (char *)addresses[i] + l->plane_offset, use);
    }
}

cublasStatus_t ranges_put(struct ranges *r, struct library_task *t, cudaStream_t stream)
{
    t->used = r->at;
    t->used_count = r->n;
    const CUresult put = r->no_memory ? CUDA_ERROR_OUT_OF_MEMORY : heddle_library_put((CUstream)stream, t, false);
    free(r->at);
    return put == CUDA_SUCCESS               ? CUBLAS_STATUS_SUCCESS
           : put == CUDA_ERROR_OUT_OF_MEMORY ? CUBLAS_STATUS_ALLOC_FAILED
                                             : CUBLAS_STATUS_EXECUTION_FAILED;
}
