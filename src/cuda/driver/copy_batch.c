/* Batches of copies ("CUDA Driver API", 6.13). Each copy goes into the stream by itself, in order,
 * which is one of the orders that CUDA allows. All are checked first. The errors, and the copy that
 * they name, are an H200's (tests/forbidden/batches.txt). A capture refuses batches and stays
 * valid.
 *
 * Hints about places, and about overlap with kernels, are checked and have no effect here. If an
 * attribute says that the source is accessed only during the call, the copy is waited for, except
 * from pageable memory, which is read at once in any case.
 *
 * The first versions of both functions have an additional parameter, which receives the index of
 * the wrong copy. */
#include "cuda/state/arrays.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/work.h"
#include "cuda/watch/watch.h"

#include <stdint.h>
#include <stdlib.h>

/* Checks the stream; otherwise sets *bad to "no copy". */
static CUresult ready(CUstream s, size_t *bad)
{
    TRY(state_ready());
    TRY(context_failure());
    NEED(s);
    *bad = SIZE_MAX;
    NEED(s != CU_STREAM_LEGACY);
    return CUDA_SUCCESS;
}

static CUresult check_hint(const CUmemLocation *hint)
{
    NEED(hint->type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
    NEED(hint->type != CU_MEM_LOCATION_TYPE_DEVICE || (unsigned)hint->id < (unsigned)device_count());
    return CUDA_SUCCESS;
}

static CUresult check_attributes(CUmemcpySrcAccessOrder order, unsigned flags)
{
    NEED(order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
    NEED(!(flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE));
    return CUDA_SUCCESS;
}

/* A checked copy of a batch. */
struct part {
    struct work work; /* refers to the box */
    CUDA_MEMCPY3D box;
    CUmemcpySrcAccessOrder order;
};

static CUresult put_all(const struct part *parts, size_t n, CUstream s)
{
    for (size_t i = 0; i < n; i++) {
        const struct work *w = &parts[i].work;
        bool waits = parts[i].order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL && w->from_kind != MEMORY_PAGEABLE;
        if (!work_is_nothing(w))
            TRY(work_put(s, w, waits));
    }
    return CUDA_SUCCESS;
}

/* Reads copy i of a batch; *bad is its index if errors report it. */
typedef CUresult read_fn(const void *batch, size_t i, struct part *part, size_t *bad);

static CUresult put_batch(size_t n, read_fn *read, const void *batch, size_t *bad, CUstream s)
{
    CUstreamCaptureStatus status;
    struct part *parts = n <= SIZE_MAX / sizeof *parts ? malloc(n * sizeof *parts) : NULL;
    CUresult r = parts ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; !r && i < n; i++)
        r = read(batch, i, &parts[i], bad);
    if (!r)
        *bad = SIZE_MAX;
    if (!r)
        r = cuStreamIsCapturing(s, &status);
    if (!r)
        r = status ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : put_all(parts, n, s);
    free(parts);
    return r;
}

/* ---- of bytes ---- */

struct batch {
    const CUdeviceptr *to, *from;
    const size_t *sizes;
    const CUmemcpyAttributes *attributes;
    const size_t *first; /* for each attribute, the first copy that it applies to */
    size_t n, n_attributes;
};

static CUresult check_batch(const struct batch *b)
{
    NEED(b->n && b->to && b->from && b->sizes && b->attributes && b->first);
    NEED(b->n_attributes && b->n_attributes <= b->n && b->first[0] == 0);
    for (size_t i = 0; i < b->n_attributes; i++) {
        NEED(b->first[i] < b->n && (i == 0 || b->first[i] > b->first[i - 1]));
        TRY(check_attributes(b->attributes[i].srcAccessOrder, b->attributes[i].flags));
        TRY(check_hint(&b->attributes[i].srcLocHint));
        TRY(check_hint(&b->attributes[i].dstLocHint));
    }
    return CUDA_SUCCESS;
}

static CUresult read_bytes(const void *batch, size_t i, struct part *part, size_t *bad)
{
    const struct batch *b = batch;
    *bad = i;
    NEED(b->sizes[i]);
    size_t attribute = b->n_attributes - 1;
    while (b->first[attribute] > i)
        attribute--;
    part->order = b->attributes[attribute].srcAccessOrder;
    part->box = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .srcDevice = b->from[i],
                                .dstDevice = b->to[i],
                                .WidthInBytes = b->sizes[i],
                                .Height = 1,
                                .Depth = 1};
    return work_of_copy(&part->box, &part->work);
}

static CUresult copy_batch(const struct batch *b, size_t *bad, CUstream s)
{
    size_t unused;
    bad = bad ? bad : &unused;
    TRY(ready(s, bad));
    TRY(check_batch(b));
    return put_batch(b->n, read_bytes, b, bad, s);
}

/* ---- of boxes ---- */

static CUresult check_operand(const CUmemcpy3DOperand *o, const CUextent3D *extent)
{
    NEED(o->type == CU_MEMCPY_OPERAND_TYPE_POINTER || o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY);
    if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return CUDA_SUCCESS;
    NEED(!o->op.ptr.rowLength || o->op.ptr.rowLength >= extent->width);
    NEED(!o->op.ptr.layerHeight || o->op.ptr.layerHeight >= extent->height);
    return CUDA_SUCCESS;
}

/* Widths, offsets and lengths of rows are in bytes, or in texels if an array takes part. Two arrays
 * must have equal texels. */
static CUresult texel_bytes(const CUDA_MEMCPY3D_BATCH_OP *op, size_t *bytes)
{
    *bytes = 0;
    for (int i = 0; i < 2; i++) {
        hd_array_level l;
        const CUmemcpy3DOperand *o = i ? &op->dst : &op->src;
        if (o->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
            continue;
        CUarray a = array_of(o->op.array.array);
        NEED(a && hd_array_get_level(a->array, 0, &l));
        NEED(!*bytes || *bytes == l.texel_bytes);
        *bytes = l.texel_bytes;
    }
    *bytes = *bytes ? *bytes : 1;
    return CUDA_SUCCESS;
}

/* One side of a copy, as in CUDA_MEMCPY3D. */
struct side {
    CUmemorytype type;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};

static struct side side_of(const CUmemcpy3DOperand *o, size_t bytes)
{
    if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return (struct side){.type = CU_MEMORYTYPE_ARRAY,
                             .array = o->op.array.array,
                             .x = o->op.array.offset.x * bytes,
                             .y = o->op.array.offset.y,
                             .z = o->op.array.offset.z};
    return (struct side){.type = CU_MEMORYTYPE_UNIFIED,
                         .device = o->op.ptr.ptr,
                         .pitch = o->op.ptr.rowLength * bytes,
                         .height = o->op.ptr.layerHeight};
}

/* The index is not reported for a box that is outside memory. */
static CUresult read_box(const void *batch, size_t i, struct part *part, size_t *bad)
{
    size_t bytes;
    const CUDA_MEMCPY3D_BATCH_OP *op = (const CUDA_MEMCPY3D_BATCH_OP *)batch + i;
    *bad = i;
    NEED(op->extent.width && op->extent.height && op->extent.depth);
    TRY(check_attributes(op->srcAccessOrder, op->flags));
    TRY(check_operand(&op->src, &op->extent));
    TRY(check_operand(&op->dst, &op->extent));
    TRY(texel_bytes(op, &bytes));
    *bad = SIZE_MAX;
    part->order = op->srcAccessOrder;
    const struct side from = side_of(&op->src, bytes), to = side_of(&op->dst, bytes);
    part->box = (CUDA_MEMCPY3D){.srcXInBytes = from.x,
                                .srcY = from.y,
                                .srcZ = from.z,
                                .srcMemoryType = from.type,
                                .srcDevice = from.device,
                                .srcArray = from.array,
                                .srcPitch = from.pitch,
                                .srcHeight = from.height,
                                .dstXInBytes = to.x,
                                .dstY = to.y,
                                .dstZ = to.z,
                                .dstMemoryType = to.type,
                                .dstDevice = to.device,
                                .dstArray = to.array,
                                .dstPitch = to.pitch,
                                .dstHeight = to.height,
                                .WidthInBytes = op->extent.width * bytes,
                                .Height = op->extent.height,
                                .Depth = op->extent.depth};
    return work_of_copy(&part->box, &part->work);
}

static CUresult copy_boxes(size_t n, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t *bad, unsigned long long flags,
                           CUstream s)
{
    size_t unused;
    bad = bad ? bad : &unused;
    TRY(ready(s, bad));
    NEED(n && ops && !flags);
    return put_batch(n, read_box, ops, bad, s);
}

/* ---- entry points ---- */

#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)
#define BATCH(name, stream)                                                                                            \
    CU_API CUresult name(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t n, CUmemcpyAttributes *attributes,  \
                         size_t *first, size_t n_attributes, size_t *bad, CUstream s)                                  \
    {                                                                                                                  \
        return copy_batch(&(struct batch){to, from, sizes, attributes, first, n, n_attributes}, bad, stream);          \
    }
#define BATCH_V2(name, stream)                                                                                         \
    CU_API CUresult name(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t n, CUmemcpyAttributes *attributes,  \
                         size_t *first, size_t n_attributes, CUstream s)                                               \
    {                                                                                                                  \
        return copy_batch(&(struct batch){to, from, sizes, attributes, first, n, n_attributes}, NULL, stream);         \
    }
#define BOXES(name, stream)                                                                                            \
    CU_API CUresult name(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *bad, unsigned long long flags, CUstream s)     \
    {                                                                                                                  \
        return copy_boxes(n, ops, bad, flags, stream);                                                                 \
    }
#define BOXES_V2(name, stream)                                                                                         \
    CU_API CUresult name(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags, CUstream s)                  \
    {                                                                                                                  \
        return copy_boxes(n, ops, NULL, flags, stream);                                                                \
    }
BATCH(cuMemcpyBatchAsync, s)
BATCH(cuMemcpyBatchAsync_ptsz, OR_OWN(s))
BATCH_V2(cuMemcpyBatchAsync_v2, s)
BATCH_V2(cuMemcpyBatchAsync_v2_ptsz, OR_OWN(s))
BOXES(cuMemcpy3DBatchAsync, s)
BOXES(cuMemcpy3DBatchAsync_ptsz, OR_OWN(s))
BOXES_V2(cuMemcpy3DBatchAsync_v2, s)
BOXES_V2(cuMemcpy3DBatchAsync_v2_ptsz, OR_OWN(s))
