/* See tensor_map.h. What the driver and the hardware refuse comes first, then the lines of a copy, then the bytes of a line. */
#include "exec/tensor_map.h"

#include <string.h>

static const uint64_t TENSOR_MAP_MARK = 0x50414d524f534e54; /* "TNSORMAP" */
_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "a tensor map fits into the driver's");

unsigned tensor_type_bytes(enum tensor_type type)
{
    static const uint8_t BYTES[TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return BYTES[type];
}

static uint32_t line_bytes(const struct tensor_map *m)
{
    return (m->im2col ? m->channels : m->box[0]) * tensor_type_bytes((enum tensor_type)m->type);
}

/* ---- the 128 bytes ---- */

static const char *dims_refusal(const struct tensor_map *m)
{
    for (unsigned d = 0; d < m->rank; d++)
        if (m->steps[d] < 1 || m->steps[d] > 8)
            return "a step of elements (elementStrides) is not from 1 to 8";
    for (unsigned d = 0; d + 1 < m->rank; d++)
        if (m->strides[d] % 16 || m->strides[d] >> 40)
            return "a stride (globalStrides) is no multiple of 16 bytes below 2^40";
    return NULL;
}

static const char *box_refusal(const struct tensor_map *m)
{
    if (m->im2col && (m->channels < 1 || m->channels > 256 || m->pixels < 1 || m->pixels > 1024))
        return "im2col takes 1 to 256 channels of 1 to 1024 pixels";
    for (unsigned d = 0; d < m->rank && !m->im2col; d++)
        if (m->box[d] < 1 || m->box[d] > 256)
            return "the box (boxDim) has 1 to 256 elements of each dimension";
    if (line_bytes(m) % 16)
        return "the box's innermost dimension is no multiple of 16 bytes";
    if (m->swizzle && line_bytes(m) > 16u << m->swizzle)
        return "the box's innermost dimension is longer than the swizzle's span";
    return NULL;
}

const char *tensor_map_refusal(const struct tensor_map *m)
{
    if (m->type >= TENSOR_TYPES)
        return "no such type of elements";
    if (m->rank < (m->im2col ? 3 : 1) || m->rank > TENSOR_DIMS)
        return m->im2col ? "im2col takes 3 to 5 dimensions" : "a tensor has 1 to 5 dimensions";
    if (m->swizzle > 3)
        return "no such swizzle on this device";
    if (m->address % 16)
        return "the tensor's address is no multiple of 16";
    if (m->fill_nan && m->type < TENSOR_F16)
        return "elements that are integers cannot be filled with NaN";
    const char *refusal = dims_refusal(m);
    return refusal ? refusal : box_refusal(m);
}

bool tensor_map_read(struct tensor_map *m, const void *bytes)
{
    memcpy(m, bytes, sizeof *m);
    return m->mark == TENSOR_MAP_MARK && m->fill_nan <= 1 && m->im2col <= 1 && !tensor_map_refusal(m);
}

void tensor_map_write(void *bytes, const struct tensor_map *m)
{
    struct tensor_map marked = *m;
    marked.mark = TENSOR_MAP_MARK;
    memset(bytes, 0, TENSOR_MAP_BYTES);
    memcpy(bytes, &marked, sizeof marked);
}

/* ---- a copy ---- */

/* How many elements of a dimension a tiled copy takes; dimension 0's step is ignored (Driver API, cuTensorMapEncodeTiled). */
static uint32_t taken_of(const struct tensor_map *m, unsigned d)
{
    return d == 0 ? m->box[0] : (m->box[d] + m->steps[d] - 1u) / m->steps[d];
}

static uint64_t count_lines(const struct tensor_map *m)
{
    uint64_t lines = m->im2col ? m->pixels : 1;
    for (unsigned d = 1; d < m->rank && !m->im2col; d++)
        lines *= taken_of(m, d);
    return lines;
}

uint64_t tensor_copy_bytes(const struct tensor_map *m)
{
    return count_lines(m) * line_bytes(m);
}

const char *tensor_copy_refusal(const struct tensor_map *m, const struct tensor_at *at, bool writes_global)
{
    if (at->coords[0] * (int64_t)tensor_type_bytes((enum tensor_type)m->type) % 16)
        return "the innermost coordinate is no multiple of 16 bytes";
    for (unsigned d = 0; d < m->rank && writes_global; d++)
        if (at->coords[d] < 0)
            return "a coordinate of a copy to global memory is negative";
    for (unsigned d = 1; d + 1 < m->rank && m->im2col; d++)
        if (at->coords[d] < m->lower[d - 1] || at->coords[d] > (int64_t)m->last[d] + m->upper[d - 1])
            return "a coordinate is outside of the box of pixels of im2col";
    return NULL;
}

struct tensor_lines tensor_lines_of(const struct tensor_map *m, const struct tensor_at *at)
{
    struct tensor_lines lines = {.map = m, .at = at, .left = count_lines(m)};
    for (unsigned d = 0; d < m->rank; d++)
        lines.coords[d] = at->coords[d];
    return lines;
}

static bool is_within(const struct tensor_map *m, unsigned d, int64_t coord)
{
    return coord >= 0 && coord <= m->last[d];
}

/* Tiled: the box's next line, the lower dimensions first. */
static void go_on_in_box(struct tensor_lines *l)
{
    const struct tensor_map *m = l->map;
    for (unsigned d = 1; d < m->rank; d++) {
        l->coords[d] += m->steps[d];
        if (++l->taken[d] < taken_of(m, d))
            return;
        l->taken[d] = 0;
        l->coords[d] = l->at->coords[d];
    }
}

/* im2col: the next pixel of the bounding box, which ends `upper` behind the tensor and begins anew at `lower`; then the next image. */
static void go_on_to_pixel(struct tensor_lines *l)
{
    const struct tensor_map *m = l->map;
    for (unsigned d = 1; d < m->rank; d++) {
        l->coords[d] += m->steps[d];
        if (d + 1u == m->rank || l->coords[d] <= (int64_t)m->last[d] + m->upper[d - 1])
            return;
        l->coords[d] = m->lower[d - 1];
    }
}

bool tensor_next_line(struct tensor_lines *l, struct tensor_line *line)
{
    const struct tensor_map *m = l->map;
    uint32_t size = tensor_type_bytes((enum tensor_type)m->type), bytes = line_bytes(m);
    if (l->left == 0)
        return false;
    int64_t first = l->coords[0], end = (int64_t)m->last[0] + 1 - first, count = bytes / size;
    int64_t from = first < 0 ? -first : 0, to = end < count ? end : count;
    bool within = from < to;
    uint64_t global = m->address + (uint64_t)first * size;
    for (unsigned d = 1; d < m->rank; d++) {
        int64_t coord = l->coords[d] + (m->im2col && d + 1 < m->rank ? l->at->offsets[d - 1] : 0);
        within &= is_within(m, d, coord);
        global += (uint64_t)coord * m->strides[d - 1];
    }
    *line = (struct tensor_line){.global = global, .shared = l->shared, .bytes = bytes};
    if (within)
        line->from = (uint32_t)from * size, line->to = (uint32_t)to * size;
    uint32_t span = m->swizzle ? 16u << m->swizzle : 0;
    l->shared += bytes > span ? bytes : span;
    if (--l->left)
        (m->im2col ? go_on_to_pixel : go_on_in_box)(l);
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
