/* Checks copies and fills, and turns them into work. */
#include "cuda/state/arrays.h"
#include "cuda/state/devices.h"
#include "cuda/state/graph_memory.h"
#include "cuda/state/mapping.h"
#include "cuda/state/work.h"
#include "cuda/watch/watch.h"

#define AT(p) ((void *)(uintptr_t)(p))

/* What a call requires of memory on one of its sides. */
struct want {
    enum watch_side side;
    bool writes;
};

/* The bytes must be in one allocation or variable, or in host memory. *kind: which memory it is.
 * Nodes can use memory that their graph will allocate. */
static CUresult check(struct work *w, const void *p, size_t bytes, struct want want, unsigned char *kind)
{
    hd_memory_info info;
    bool given = true;
    bool of_graph = graph_memory_find(p, &info, &given);
    *kind = of_graph ? MEMORY_DEVICE : memory_kind_of(p, &info);
    w->later = w->later || !given;
    /* Programming Guide, "Dynamic Global Memory Allocation": it cannot be
     * used in copies by the host */
    if (!of_graph && want.side != SIDE_FILL && memory_is_of_kernels(&info)) {
        log_line(LOG_ERROR, "%p was allocated in a kernel: only kernels can copy such memory", p);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (info.start) {
        size_t left = (size_t)((char *)info.start + info.bytes - (const char *)p);
        if (bytes <= left && mapping_allows(p, bytes, want.writes))
            return CUDA_SUCCESS;
        if (bytes > left)
            log_line(LOG_ERROR, "%zu bytes at %p: the allocation of %zu bytes ends %zu bytes after that address", bytes,
                     p, info.bytes, left);
        else
            log_line(LOG_ERROR, "%zu bytes at %p: cuMemSetAccess does not allow to %s all of them", bytes, p,
                     want.writes ? "write" : "read");
    } else if (*kind != MEMORY_PAGEABLE || !bytes) {
        return CUDA_SUCCESS;
    } else if (want.side >= SIDE_DEVICE || is_of_machines(p)) {
        log_line(LOG_ERROR, "%p is not device memory", p);
    } else if (!mapping_allows(p, bytes, want.writes)) {
        log_line(LOG_ERROR, "%p is a reserved address where nothing is mapped", p);
    } else if (p) {
        return CUDA_SUCCESS;
    }
    watch_bad_side(p, bytes, want.writes, want.side);
    return CUDA_ERROR_INVALID_VALUE;
}

/* Notes that both sides exist. */
static void note_sides(struct work *w, enum watch_side to, enum watch_side from)
{
    w->copy.host = memory_is_host(w->to_kind) || memory_is_host(w->from_kind);
    watch_sides(&(struct watch_copy){w->copy.to, to, w->to_kind},
                &(struct watch_copy){w->copy.from, from, w->from_kind});
}

static unsigned char type_of(enum watch_side side)
{
    return side == SIDE_HOST ? CU_MEMORYTYPE_HOST : side == SIDE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
}

static enum watch_side side_of(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY ? SIDE_DEVICE
           : type == CU_MEMORYTYPE_HOST                                ? SIDE_HOST
                                                                       : SIDE_ANY;
}

/* One side of a box copy, as the program describes it. */
struct box_side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array; /* its handle */
    size_t x, y, z, level, pitch, height;
};

/* The side's bytes in the array. */
static CUresult find_in_array(struct box_side *s, const hd_copy *c, const void **at)
{
    hd_array_level l;
    CUarray a = array_of(s->array);
    NEED(a && s->level == 0 && hd_array_get_level(a->array, 0, &l));
    size_t row = l.width * l.texel_bytes;
    if (s->x > row || c->width > row - s->x || s->y > l.height || c->height > l.height - s->y || s->z > l.depth ||
        c->depth > l.depth - s->z) {
        log_line(LOG_ERROR, "a copy of %zu bytes, %zu rows, %zu slices is not within the array of %zu, %zu, %zu",
                 c->width, c->height, c->depth, row, l.height, l.depth);
        return CUDA_ERROR_INVALID_VALUE;
    }
    s->pitch = l.pitch_bytes;
    s->height = l.height;
    *at = (const char *)l.start + s->z * l.slice_bytes + s->y * l.pitch_bytes + s->x;
    return CUDA_SUCCESS;
}

/* The address of the side's first byte. */
static CUresult find_side(struct box_side *s, struct work *w, bool writes, const void **at, unsigned char *kind)
{
    const hd_copy *c = &w->copy;
    *kind = MEMORY_DEVICE;
    if (s->type == CU_MEMORYTYPE_ARRAY)
        return find_in_array(s, c, at);
    NEED(s->type == CU_MEMORYTYPE_HOST || s->type == CU_MEMORYTYPE_DEVICE || s->type == CU_MEMORYTYPE_UNIFIED);
    /* A pitch or height of 0 means the box's own. Another one must have room for the box, even
     * for a single row or slice. */
    NEED(!s->pitch || s->pitch >= s->x + c->width);
    NEED(!s->height || s->height >= s->y + c->height);
    s->array = NULL;
    s->pitch = s->pitch ? s->pitch : s->x + c->width;
    s->height = s->height ? s->height : s->y + c->height;
    const char *base = s->type == CU_MEMORYTYPE_HOST ? s->host : AT(s->device);
    size_t slice = s->pitch * s->height;
    *at = base + s->z * slice + s->y * s->pitch + s->x;
    size_t last = (c->depth - 1) * slice + (c->height - 1) * s->pitch + c->width;
    return check(w, *at, last, (struct want){side_of(s->type), writes}, kind);
}

/* In a stream, such memory is not allocated. */
CUresult work_check_given(const struct work *w)
{
    hd_memory_info info;
    bool given = true;
    const void *p = w->kind == WORK_FILL ? w->fill.to : w->copy.to;
    if (!w->later)
        return CUDA_SUCCESS;
    if (w->kind == WORK_COPY && (!graph_memory_find(p, &info, &given) || given))
        p = w->copy.from;
    log_line(LOG_ERROR, "%p is graph memory that is not allocated now", p);
    watch_bad_side(p, w->kind == WORK_FILL ? w->fill.width * w->fill.element_bytes : w->copy.width, p != w->copy.from,
                   SIDE_ANY);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult work_of_copy(const CUDA_MEMCPY3D *m, struct work *w)
{
    NEED(m);
    *w = (struct work){
        .kind = WORK_COPY, .from_type = (unsigned char)m->srcMemoryType, .to_type = (unsigned char)m->dstMemoryType};
    if (!m->WidthInBytes || !m->Height || !m->Depth)
        return CUDA_SUCCESS;
    struct box_side from = {m->srcMemoryType, m->srcHost, m->srcDevice, m->srcArray, m->srcXInBytes,
                            m->srcY,          m->srcZ,    m->srcLOD,    m->srcPitch, m->srcHeight};
    struct box_side to = {m->dstMemoryType, m->dstHost, m->dstDevice, m->dstArray, m->dstXInBytes,
                          m->dstY,          m->dstZ,    m->dstLOD,    m->dstPitch, m->dstHeight};
    hd_copy *c = &w->copy;
    *c = (hd_copy){.width = m->WidthInBytes, .height = m->Height, .depth = m->Depth};
    const void *at;
    TRY(find_side(&from, w, false, &c->from, &w->from_kind));
    TRY(find_side(&to, w, true, &at, &w->to_kind));
    c->to = AT(at);
    c->to_pitch = to.pitch;
    c->to_slice = to.pitch * to.height;
    c->from_pitch = from.pitch;
    c->from_slice = from.pitch * from.height;
    w->from_array = from.array;
    w->to_array = to.array;
    w->box = m;
    note_sides(w, side_of(to.type), side_of(from.type));
    return CUDA_SUCCESS;
}

CUresult fill_check(struct work *w)
{
    const hd_fill *f = &w->fill;
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)f->to;
    NEED(to % f->element_bytes == 0 && (f->height <= 1 || f->pitch % f->element_bytes == 0));
    if (f->width == 0 || f->height == 0)
        return CUDA_SUCCESS;
    NEED(f->height == 1 || f->pitch >= f->width * f->element_bytes);
    return check(w, f->to, (f->height - 1) * f->pitch + f->width * f->element_bytes, (struct want){SIDE_FILL, true},
                 &w->to_kind);
}

CUresult work_of_bytes(void *to, enum watch_side to_side, const void *from, enum watch_side from_side, size_t bytes,
                       struct work *w)
{
    *w = (struct work){.kind = WORK_COPY,
                       .from_type = type_of(from_side),
                       .to_type = type_of(to_side),
                       .copy = {.to = to, .from = from, .width = bytes, .height = 1, .depth = 1}};
    TRY(check(w, to, bytes, (struct want){to_side, true}, &w->to_kind));
    TRY(check(w, from, bytes, (struct want){from_side, false}, &w->from_kind));
    note_sides(w, to_side, from_side);
    return CUDA_SUCCESS;
}

CUDA_MEMCPY3D work_box(const struct work *w)
{
    const hd_copy *c = &w->copy;
    const bool from_host = w->from_type == CU_MEMORYTYPE_HOST, to_host = w->to_type == CU_MEMORYTYPE_HOST;
    if (w->box)
        return *w->box;
    return (CUDA_MEMCPY3D){.srcMemoryType = w->from_type,
                           .srcHost = from_host ? c->from : NULL,
                           .srcDevice = from_host ? 0 : (CUdeviceptr)(uintptr_t)c->from,
                           .dstMemoryType = w->to_type,
                           .dstHost = to_host ? c->to : NULL,
                           .dstDevice = to_host ? 0 : (CUdeviceptr)(uintptr_t)c->to,
                           .WidthInBytes = c->width,
                           .Height = c->height,
                           .Depth = c->depth};
}
