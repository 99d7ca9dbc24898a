/* Tensor maps (include/heddle.h). */
#include "exec/tensor_map.h"
#include "heddle.h"

static hd_result refuse(const char **error, const char *why)
{
    if (error)
        *error = why;
    return HD_ERROR_INVALID_VALUE;
}

/* What does not fit into the map's fields; NULL where all does. */
static const char *range_refusal(const hd_tensor_map *d)
{
    static const int CORNERS[TENSOR_DIMS + 1] = {[3] = 1 << 15, [4] = 1 << 7, [5] = 1 << 4};
    if (d->type >= TENSOR_TYPES)
        return "no such type of elements on this device";
    if (d->rank < (d->im2col ? 3 : 1) || d->rank > TENSOR_DIMS)
        return d->im2col ? "im2col takes 3 to 5 dimensions" : "a tensor has 1 to 5 dimensions";
    if (d->swizzle > 3)
        return "no such swizzle on this device";
    if (d->im2col && (d->channels > 256 || d->pixels > 1024))
        return "im2col takes 1 to 256 channels of 1 to 1024 pixels";
    for (unsigned i = 0; i < d->rank; i++)
        if (d->dims[i] < 1 || d->dims[i] > 1ull << 32 || d->steps[i] > 8 || (!d->im2col && d->box[i] > 256))
            return "a dimension has 1 to 2^32 elements, a step is 1 to 8, a box has 1 to 256 elements of each "
                   "dimension";
    for (unsigned i = 0; d->im2col && i < d->rank - 2; i++)
        if (d->lower[i] < -CORNERS[d->rank] || d->lower[i] >= CORNERS[d->rank] || d->upper[i] < -CORNERS[d->rank] ||
            d->upper[i] >= CORNERS[d->rank])
            return "a corner of the box of pixels is out of range";
    return NULL;
}

static struct tensor_map map_of(const hd_tensor_map *d)
{
    struct tensor_map m = {
        .address = (uint64_t)(uintptr_t)d->address, .type = (uint8_t)d->type, .rank = (uint8_t)d->rank};
    m.swizzle = (uint8_t)d->swizzle;
    m.fill_nan = d->fill_nan;
    m.im2col = d->im2col;
    for (unsigned i = 0; i < d->rank; i++) {
        m.last[i] = (uint32_t)(d->dims[i] - 1);
        m.steps[i] = (uint8_t)d->steps[i];
        m.box[i] = d->im2col ? 0 : (uint16_t)d->box[i];
        if (i + 1 < d->rank)
            m.strides[i] = d->strides_bytes[i];
    }
    for (unsigned i = 0; d->im2col && i < d->rank - 2; i++) {
        m.lower[i] = (int16_t)d->lower[i];
        m.upper[i] = (int16_t)d->upper[i];
    }
    m.channels = d->im2col ? (uint16_t)d->channels : 0;
    m.pixels = d->im2col ? (uint16_t)d->pixels : 0;
    return m;
}

hd_result hd_tensor_map_encode(const hd_tensor_map *map, void *bytes, const char **error)
{
    if (!map || !bytes)
        return refuse(error, "no map, or no place for it");
    const char *why = range_refusal(map);
    if (why)
        return refuse(error, why);
    struct tensor_map m = map_of(map);
    if ((why = tensor_map_refusal(&m)))
        return refuse(error, why);
    tensor_map_write(bytes, &m);
    return HD_SUCCESS;
}

hd_result hd_tensor_map_set_address(void *bytes, void *address, const char **error)
{
    struct tensor_map m;
    if (!bytes || !tensor_map_read(&m, bytes))
        return refuse(error, "this is no tensor map");
    m.address = (uint64_t)(uintptr_t)address;
    const char *why = tensor_map_refusal(&m);
    if (why)
        return refuse(error, why);
    tensor_map_write(bytes, &m);
    return HD_SUCCESS;
}
