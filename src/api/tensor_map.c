/* Tensor maps (include/heddle.h). */
#include "api/sized.h"
#include "exec/tensor_map.h"
#include "heddle.h"

static hd_result refuse(const char **error, const char *why)
{
    if (error)
        *error = why;
    return HD_ERROR_INVALID_VALUE;
}

static uint32_t at_most(uint32_t v, uint32_t most)
{
    return v < most ? v : most;
}

/* The error for values that do not fit in the map's fields; NULL if all fit. Values far outside the
 * limits are refused elsewhere (at_most). */
static const char *range_refusal(const hd_tensor_map *d)
{
    static const int CORNERS[TENSOR_DIMS + 1] = {[3] = 1 << 15, [4] = 1 << 7, [5] = 1 << 4};
    if (d->rank > TENSOR_DIMS)
        return "a tensor has 1 to 5 dimensions";
    for (unsigned i = 0; i < d->rank; i++)
        if (d->dims[i] < 1 || d->dims[i] > 1ull << 32 || d->steps[i] > 8 || (!d->im2col && d->box[i] > 256))
            return "a dimension has 1 to 2^32 elements, a step is 1 to 8, a box has 1 to 256 elements of each "
                   "dimension";
    for (unsigned i = 0; d->im2col && i + 2 < d->rank; i++)
        if (d->lower[i] < -CORNERS[d->rank] || d->lower[i] >= CORNERS[d->rank] || d->upper[i] < -CORNERS[d->rank] ||
            d->upper[i] >= CORNERS[d->rank])
            return "a corner of the box of pixels is out of range";
    return NULL;
}

static struct tensor_map map_of(const hd_tensor_map *d)
{
    struct tensor_map m = {.address = (uint64_t)(uintptr_t)d->address, .rank = (uint8_t)d->rank};
    m.type = (uint8_t)at_most(d->type, UINT8_MAX);
    m.interleave = (uint8_t)at_most(d->interleave, UINT8_MAX);
    m.swizzle = (uint8_t)at_most(d->swizzle, UINT8_MAX);
    m.fill_nan = d->fill_nan;
    m.im2col = d->im2col;
    for (unsigned i = 0; i < d->rank; i++) {
        m.last[i] = (uint32_t)(d->dims[i] - 1);
        m.steps[i] = (uint8_t)d->steps[i];
        m.box[i] = d->im2col ? 0 : (uint16_t)d->box[i];
        if (i + 1 < d->rank)
            m.strides[i] = d->strides_bytes[i];
    }
    for (unsigned i = 0; d->im2col && i + 2 < d->rank; i++) {
        m.lower[i] = (int16_t)d->lower[i];
        m.upper[i] = (int16_t)d->upper[i];
    }
    m.channels = d->im2col ? (uint16_t)at_most(d->channels, UINT16_MAX) : 0;
    m.pixels = d->im2col ? (uint16_t)at_most(d->pixels, UINT16_MAX) : 0;
    return m;
}

hd_result hd_tensor_map_encode_sized(const hd_tensor_map *map, size_t map_bytes, void *bytes, const char **error)
{
    hd_tensor_map own;
    if (!map || !bytes)
        return refuse(error, "the map, or the pointer for it, is NULL");
    if (SIZED_READ(hd_tensor_map, &own, map, map_bytes))
        return refuse(error, "the map is of a version that this library does not know");
    const char *why = range_refusal(&own);
    if (why)
        return refuse(error, why);
    struct tensor_map m = map_of(&own);
    if ((why = tensor_map_refusal(&m)))
        return refuse(error, why);
    tensor_map_write(bytes, &m);
    return HD_SUCCESS;
}

hd_result hd_tensor_map_set_address(void *bytes, void *address, const char **error)
{
    struct tensor_map m;
    const char *why = bytes ? tensor_map_read(&m, bytes) : "this is not a tensor map";
    if (why)
        return refuse(error, why);
    m.address = (uint64_t)(uintptr_t)address;
    why = tensor_map_refusal(&m);
    if (why)
        return refuse(error, why);
    tensor_map_write(bytes, &m);
    return HD_SUCCESS;
}
