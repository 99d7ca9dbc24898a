/* See tensor_map.h. First the checks of the driver and the hardware, then the lines of a copy, then
 * the bytes of a line. */
#include "exec/tensor_map.h"

#include <string.h>

_Static_assert(sizeof(struct tensor_map_bytes) <= TENSOR_MAP_BYTES, "a tensor map fits into the driver's");

unsigned tensor_type_bytes(enum tensor_type type)
{
    static const uint8_t BYTES[TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return BYTES[type];
}

/* Of dimension 0 that an innermost box or a pixel has. */
static uint32_t inner_bytes(const struct tensor_map *m)
{
    return (m->im2col ? m->channels : m->box[0]) * tensor_type_bytes((enum tensor_type)m->type);
}

static uint32_t slice_bytes(const struct tensor_map *m)
{
    return 16u * m->interleave;
}

static uint32_t line_bytes(const struct tensor_map *m)
{
    return m->interleave ? slice_bytes(m) : inner_bytes(m);
}

/* The dimensions of a pixel's place: those between channels and images, or before the slices of
 * channels. */
static unsigned first_of_pixel(const struct tensor_map *m)
{
    return m->interleave ? 0 : 1;
}

static unsigned dims_of_pixel(const struct tensor_map *m)
{
    return m->rank - 2u;
}

/* ---- the 128 bytes ---- */

static uint32_t alignment(const struct tensor_map *m)
{
    return m->interleave == 2 ? 32 : 16;
}

static const char *dims_refusal(const struct tensor_map *m)
{
    for (unsigned d = 0; d < m->rank; d++)
        if (m->steps[d] < 1 || m->steps[d] > 8)
            return "a step of elements (elementStrides) is not from 1 to 8";
    for (unsigned d = 0; d + 1 < m->rank; d++)
        if (m->strides[d] % alignment(m) || m->strides[d] >> 40)
            return m->interleave == 2 ? "a stride (globalStrides) is not a multiple of 32 bytes below 2^40"
                                      : "a stride (globalStrides) is not a multiple of 16 bytes below 2^40";
    for (unsigned k = 0; m->im2col && k < dims_of_pixel(m); k++)
        if ((int64_t)m->last[first_of_pixel(m) + k] + m->upper[k] < m->lower[k])
            return "the box of pixels (pixelBoxLowerCorner, pixelBoxUpperCorner) is empty";
    return NULL;
}

static const char *box_refusal(const struct tensor_map *m)
{
    if (m->im2col && (m->channels < 1 || m->channels > 256 || m->pixels < 1 || m->pixels > 1024))
        return "im2col takes 1 to 256 channels of 1 to 1024 pixels";
    for (unsigned d = 0; d < m->rank && !m->im2col; d++)
        if (m->box[d] < 1 || m->box[d] > 256)
            return "the box (boxDim) has 1 to 256 elements of each dimension";
    if (inner_bytes(m) % 16)
        return "the box's innermost dimension is not a multiple of 16 bytes";
    if (m->swizzle && !m->interleave && line_bytes(m) > 16u << m->swizzle)
        return "the box's innermost dimension is longer than the swizzle's span";
    return NULL;
}

const char *tensor_map_refusal(const struct tensor_map *m)
{
    if (m->type >= TENSOR_TYPES)
        return "an unknown type of elements";
    if (m->rank < (m->im2col ? 3 : 1) || m->rank > TENSOR_DIMS)
        return m->im2col ? "im2col takes 3 to 5 dimensions" : "a tensor has 1 to 5 dimensions";
    if (m->interleave > 2)
        return "an unknown interleaved layout";
    if (m->interleave && m->rank < 3)
        return "a tensor of an interleaved layout has 3 to 5 dimensions";
    if (m->swizzle > 3)
        return "a swizzle that this device does not have";
    if (m->address % alignment(m))
        return m->interleave == 2 ? "the tensor's address is not a multiple of 32"
                                  : "the tensor's address is not a multiple of 16";
    if (m->fill_nan > 1)
        return "an unknown fill mode (oobFill)";
    if (m->fill_nan && m->type < TENSOR_F16)
        return "elements that are integers cannot be filled with NaN";
    const char *refusal = dims_refusal(m);
    return refusal ? refusal : box_refusal(m);
}

/* Types of elements by tensormap.replace's numbers, which are not the driver's. */
static const uint8_t type_of_number[TENSOR_TYPES] = {
    TENSOR_U8,  TENSOR_U16,     TENSOR_U32, TENSOR_S32,  TENSOR_U64,  TENSOR_S64,     TENSOR_F16,
    TENSOR_F32, TENSOR_F32_FTZ, TENSOR_F64, TENSOR_BF16, TENSOR_TF32, TENSOR_TF32_FTZ};

/* A map that was of tf32 and is of another type than f32 now says both. */
static void read_type(struct tensor_map *m, const struct tensor_map_bytes *from)
{
    m->type = from->elemtype < ELEMTYPE_TF32 ? type_of_number[from->elemtype] : TENSOR_TYPES;
    bool is_f32 = m->type == TENSOR_F32 || m->type == TENSOR_F32_FTZ;
    if (from->tf32 && is_f32)
        m->type = type_of_number[from->elemtype + ELEMTYPE_BEHIND_F32];
    m->tf32_stays = from->tf32 && !is_f32;
}

static void write_type(struct tensor_map_bytes *to, const struct tensor_map *m)
{
    unsigned number = 0;
    while (type_of_number[number] != m->type)
        number++;
    struct tensor_map_type type = tensor_map_type_of(number);
    to->elemtype = type.elemtype;
    to->tf32 = type.tf32;
}

const char *tensor_map_read(struct tensor_map *m, const void *bytes)
{
    struct tensor_map_bytes from;
    memcpy(&from, bytes, sizeof from);
    if (from.mark != TENSOR_MAP_MARK || from.im2col > 1 || from.tf32 > 1)
        return "these bytes were not written by cuTensorMapEncode";
    *m = (struct tensor_map){.address = from.global_address,
                             .rank = (uint8_t)(from.rank + 1),
                             .interleave = from.interleave_layout,
                             .swizzle = from.swizzle_mode,
                             .fill_nan = from.fill_mode,
                             .im2col = from.im2col,
                             .channels = from.channels,
                             .pixels = from.pixels};
    read_type(m, &from);
    memcpy(m->strides, from.global_stride, sizeof m->strides);
    memcpy(m->last, from.global_dim, sizeof m->last);
    memcpy(m->lower, from.lower, sizeof m->lower);
    memcpy(m->upper, from.upper, sizeof m->upper);
    for (unsigned d = 0; d < TENSOR_DIMS; d++) {
        m->box[d] = (uint16_t)(from.box_dim[d] + 1);
        m->steps[d] = (uint16_t)(from.element_stride[d] + 1);
    }
    return tensor_map_refusal(m);
}

void tensor_map_write(void *bytes, const struct tensor_map *m)
{
    struct tensor_map_bytes to = {.mark = TENSOR_MAP_MARK,
                                  .global_address = m->address,
                                  .rank = (uint8_t)(m->rank - 1),
                                  .interleave_layout = m->interleave,
                                  .swizzle_mode = m->swizzle,
                                  .fill_mode = m->fill_nan,
                                  .im2col = m->im2col,
                                  .channels = m->channels,
                                  .pixels = m->pixels};
    write_type(&to, m);
    memcpy(to.global_stride, m->strides, sizeof to.global_stride);
    memcpy(to.global_dim, m->last, sizeof to.global_dim);
    memcpy(to.lower, m->lower, sizeof to.lower);
    memcpy(to.upper, m->upper, sizeof to.upper);
    for (unsigned d = 0; d < TENSOR_DIMS; d++) {
        to.box_dim[d] = (uint8_t)(m->box[d] ? m->box[d] - 1 : 0);
        to.element_stride[d] = (uint8_t)(m->steps[d] ? m->steps[d] - 1 : 0);
    }
    memset(bytes, 0, TENSOR_MAP_BYTES);
    memcpy(bytes, &to, sizeof to);
}

/* ---- a copy ---- */

/* How many elements of a dimension that lines go over a tiled copy takes (Driver API,
 * cuTensorMapEncodeTiled). */
static uint32_t taken_of(const struct tensor_map *m, unsigned d)
{
    bool is_slice = m->interleave && d + 2u == m->rank;
    return is_slice ? 1 : (m->box[d] + m->steps[d] - 1u) / m->steps[d];
}

static unsigned first_loop(const struct tensor_map *m)
{
    return m->interleave ? 0 : 1;
}

static uint64_t count_lines(const struct tensor_map *m)
{
    uint64_t lines = m->im2col ? m->pixels : 1;
    for (unsigned d = first_loop(m); d < m->rank && !m->im2col; d++)
        lines *= taken_of(m, d);
    return lines;
}

uint64_t tensor_copy_bytes(const struct tensor_map *m)
{
    return count_lines(m) * line_bytes(m);
}

const char *tensor_copy_refusal(const struct tensor_map *m, const struct tensor_at *at, bool writes_global)
{
    if (m->tf32_stays && !writes_global)
        return "it was made for f32 elements rounded to tf32, but tensormap.replace has changed their type";
    if (!m->interleave && at->coords[0] * (int64_t)tensor_type_bytes((enum tensor_type)m->type) % 16)
        return "the innermost coordinate is not a multiple of 16 bytes";
    for (unsigned d = 0; d < m->rank && writes_global; d++)
        if (at->coords[d] < 0)
            return "a coordinate of a copy to global memory is negative";
    for (unsigned k = 0; m->im2col && k < dims_of_pixel(m); k++) {
        unsigned d = first_of_pixel(m) + k;
        if (at->coords[d] < m->lower[k] || at->coords[d] > (int64_t)m->last[d] + m->upper[k])
            return "a coordinate is outside the box of pixels of im2col";
    }
    return NULL;
}

struct tensor_lines tensor_lines_of(const struct tensor_map *m, const struct tensor_at *at)
{
    struct tensor_lines lines = {
        .map = m, .left = count_lines(m), .first = m->interleave ? 0 : at->coords[0], .n = m->rank - first_loop(m)};
    for (unsigned n = 0; n < lines.n; n++) {
        unsigned d = n + first_loop(m);
        bool is_image = d + 1u == m->rank, is_slice = m->interleave && d + 2u == m->rank;
        struct tensor_loop *l = &lines.loops[n];
        *l = (struct tensor_loop){.coord = at->coords[d], .begin = at->coords[d], .last = m->last[d]};
        l->stride = d ? m->strides[d - 1] : slice_bytes(m);
        l->step = m->steps[d];
        l->take = m->im2col ? 0 : taken_of(m, d);
        l->end = INT64_MAX;
        l->is_fixed = m->im2col && is_slice;
        if (m->im2col && !is_image && !is_slice) {
            unsigned k = d - first_of_pixel(m);
            l->begin = m->lower[k];
            l->end = (int64_t)m->last[d] + m->upper[k];
            l->offset = at->offsets[k];
        }
    }
    return lines;
}

/* Tiled: the box's next line, the lower dimensions first. */
static void go_on_in_box(struct tensor_lines *lines)
{
    for (struct tensor_loop *l = lines->loops; l < &lines->loops[lines->n]; l++) {
        l->coord += l->step;
        if (++l->taken < l->take)
            return;
        l->taken = 0;
        l->coord = l->begin;
    }
}

/* im2col: the next pixel of the bounding box, which ends `upper` behind the tensor and begins anew
 * at `lower`; then the next image. */
static void go_on_to_pixel(struct tensor_lines *lines)
{
    for (struct tensor_loop *l = lines->loops; l < &lines->loops[lines->n]; l++) {
        if (l->is_fixed)
            continue;
        l->coord += l->step;
        if (l->coord <= l->end)
            return;
        l->coord = l->begin;
    }
}

bool tensor_next_line(struct tensor_lines *lines, struct tensor_line *line)
{
    const struct tensor_map *m = lines->map;
    uint32_t size = tensor_type_bytes((enum tensor_type)m->type), bytes = line_bytes(m);
    if (lines->left == 0)
        return false;
    int64_t first = lines->first, count = bytes / size, end = m->interleave ? count : (int64_t)m->last[0] + 1 - first;
    int64_t from = first < 0 ? -first : 0, to = end < count ? end : count;
    bool within = from < to;
    uint64_t global = m->address + (uint64_t)first * size;
    for (const struct tensor_loop *l = lines->loops; l < &lines->loops[lines->n]; l++) {
        int64_t coord = l->coord + l->offset;
        within &= coord >= 0 && coord <= l->last;
        global += (uint64_t)coord * l->stride;
    }
    *line = (struct tensor_line){.global = global, .shared = lines->shared, .bytes = bytes};
    if (within)
        line->from = (uint32_t)from * size, line->to = (uint32_t)to * size;
    uint32_t span = m->swizzle && !m->interleave ? 16u << m->swizzle : 0;
    lines->shared += bytes > span ? bytes : span;
    if (--lines->left)
        (m->im2col ? go_on_to_pixel : go_on_in_box)(lines);
    return true;
}

/* ---- a line's bytes ---- */

uint32_t tensor_swizzle(const struct tensor_map *m, uint32_t address)
{
    return address ^ (address >> 7 & ((1u << m->swizzle) - 1)) << 4;
}

uint32_t tensor_stored_to(const struct tensor_line *line)
{
    uint32_t whole = (line->to + 15) & ~15u;
    return whole < line->bytes ? whole : line->bytes;
}

void tensor_fill(const struct tensor_map *m, void *elements, uint32_t bytes)
{
    const uint8_t nan[2] = {0xf7, 0x7f}; /* of every type (recorded) */
    for (uint32_t i = 0; i < bytes; i++)
        ((uint8_t *)elements)[i] = m->fill_nan ? nan[i & 1] : 0;
}

/* To nearest, ties to even; a NaN is 0x7fffe000 (recorded). */
static uint32_t tf32_of(uint32_t f32)
{
    bool is_nan = (f32 & 0x7fffffff) > 0x7f800000;
    return is_nan ? 0x7fffe000 : (f32 + 0xfff + (f32 >> 13 & 1)) & 0xffffe000;
}

void tensor_convert(const struct tensor_map *m, void *elements, uint32_t bytes)
{
    if (m->type != TENSOR_TF32 && m->type != TENSOR_TF32_FTZ)
        return;
    for (uint32_t i = 0; i + 4 <= bytes; i += 4) {
        uint32_t v;
        memcpy(&v, (uint8_t *)elements + i, 4);
        v = tf32_of(v);
        memcpy((uint8_t *)elements + i, &v, 4);
    }
}
