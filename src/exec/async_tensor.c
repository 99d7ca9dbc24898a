/* Copies by tensor maps (PTX ISA 9.7.9.27), as asynchronous work; exec/tensor_map.h computes the
 * addresses. */
#include "exec/access_plan.h"
#include "exec/async_work.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/emit_events.h"

/* ---- doing it ---- */

/* The shared address of a byte of the copy, which starts at `at`: swizzled by its address. */
static uint8_t *swizzled(const struct async_work *x, const struct tensor_map *m, uint8_t *at, uint64_t byte)
{
    uint32_t address = (uint32_t)(x->source + byte);
    return at + byte + (int32_t)(tensor_swizzle(m, address) - address);
}

/* Where a line's bytes of the tensor are; false after a fault. */
static bool locate_line(const struct async_work *x, const struct tensor_line *line, uint32_t to, unsigned lane,
                        struct location *p)
{
    bool writes = x->op->mode != ASYNC_TENSOR_LOAD;
    uint32_t from = writes ? 0 : line->from; /* stores take whole 16 bytes */
    enum fault_kind kind = access_locate(x->warp, SPACE_GLOBAL, line->global + from, to - from, writes, p);
    p->writes = writes;
    return !kind || warp_fault_at(x->warp, kind, x->op, lane, p, to - from);
}

/* A swizzle moves chunks; a box has at most 256 elements in a dimension. */
enum { CHUNK = 16, LONGEST_LINE = 256 * 8 };

static void load_line(const struct async_work *x, const struct tensor_map *m, const struct tensor_line *line,
                      const struct location *p, uint8_t *shared)
{
    uint8_t bytes[LONGEST_LINE];
    tensor_fill(m, bytes, line->from);
    if (line->to > line->from) {
        memcpy(bytes + line->from, p->at, line->to - line->from);
        tensor_convert(m, bytes + line->from, line->to - line->from);
    }
    tensor_fill(m, bytes + line->to, line->bytes - line->to);
    for (uint32_t i = 0; i < line->bytes; i += CHUNK)
        memcpy(swizzled(x, m, shared, line->shared + i), bytes + i, line->bytes - i < CHUNK ? line->bytes - i : CHUNK);
}

/* TYPE_none: of which there is no reduction. */
static enum isa_type type_of_elements(const struct tensor_map *m, enum atom_op op)
{
    static const uint8_t types[TENSOR_TYPES] = {
        [TENSOR_U32] = TYPE_u32, [TENSOR_S32] = TYPE_s32,   [TENSOR_U64] = TYPE_u64,
        [TENSOR_S64] = TYPE_s64, [TENSOR_F16] = TYPE_f16,   [TENSOR_F32] = TYPE_f32,
        [TENSOR_F64] = TYPE_f64, [TENSOR_BF16] = TYPE_bf16, [TENSOR_TF32] = TYPE_f32};
    enum isa_type type = (enum isa_type)types[m->type];
    bool is_missing = type == TYPE_s64 && op != ATOM_min && op != ATOM_max; /* as on an H200 */
    return type && !is_missing && atom_cell_of(op, type, false) ? type : TYPE_none;
}

static void store_line(const struct async_work *x, const struct tensor_map *m, const struct tensor_line *line,
                       const struct location *p, uint8_t *shared)
{
    struct mem_access element = x->op->access->mem;
    uint32_t to = tensor_stored_to(line), each = tensor_type_bytes((enum tensor_type)m->type);
    element.type = (uint8_t)type_of_elements(m, (enum atom_op)element.atom);
    for (uint32_t i = line->from; i < to; i += each) {
        const uint8_t *from = swizzled(x, m, shared, line->shared + i);
        if (x->op->mode == ASYNC_TENSOR_REDUCE)
            atom_reduce(&element, p->at + i, false, from);
        else
            memcpy(p->at + i, from, each);
    }
}

bool async_finish_tensor(struct async_work *x, const struct async_part *p, unsigned lane)
{
    struct async_tensor *t = async_tensor(x);
    struct tensor_lines lines = tensor_lines_of(&t->map, &t->at);
    struct tensor_line line;
    bool loads = x->op->mode == ASYNC_TENSOR_LOAD, watched = access_is_watched(x->warp);
    if (loads && watched) {
        struct location to = {.space = SPACE_SHARED, .owner = x->writes, .address = x->source};
        async_tell_write(x, lane, &to, p->bytes, NULL);
    }
    while (tensor_next_line(&lines, &line)) {
        struct location at = {.at = NULL};
        bool is_inside = line.to > line.from; /* some of it */
        uint32_t to = loads ? line.to : tensor_stored_to(&line);
        if (is_inside && !locate_line(x, &line, to, lane, &at))
            return false;
        if (loads && is_inside && watched)
            async_tell_read(x, lane, &at, line.to - line.from);
        if (loads) {
            load_line(x, &t->map, &line, &at, p->to);
        } else if (is_inside) {
            if (watched)
                async_tell_write(x, lane, &at, to, NULL);
            store_line(x, &t->map, &line, &at, (uint8_t *)(uintptr_t)p->from);
        }
    }
    return true;
}

/* ---- issue ---- */

/* The map, which may be in any memory but shared and local, and where the copy begins; false after
 * a fault. */
static bool read_tensor(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane,
                        struct async_tensor *t)
{
    const struct op_access *c = o->access;
    uint64_t address = async_operand(base, o, ASYNC_SOURCE, 64, lane);
    uint8_t bytes[TENSOR_MAP_BYTES];
    unsigned n = 0;
    *t = (struct async_tensor){.at = {.coords = {0}}};
    for (; n < TENSOR_DIMS && c->has_reg[n]; n++)
        t->at.coords[n] = (int32_t)row_lane(row_at(base, c->regs[n]), 32, lane);
    for (unsigned k = 0; k < 3 && c->has_reg[ASYNC_OFFSETS + k]; k++)
        t->at.offsets[k] = (uint16_t)row_lane(row_at(base, c->regs[ASYNC_OFFSETS + k]), 16, lane);
    if (!access_read(w, o, lane, address, bytes, sizeof bytes))
        return false;
    const struct isa_inst *inst = o->origin->origin->inst;
    bool im2col = isa_has(inst, MOD_im2col) || isa_has(inst, MOD_im2col_no_offs);
    const char *wrong =
        address % 64 ? "the tensor map's address is not a multiple of 64" : tensor_map_read(&t->map, bytes);
    if (!wrong && (t->map.rank != n || t->map.im2col != im2col))
        wrong = t->map.rank != n ? "the instruction is for another number of dimensions"
                                 : "an im2col map needs an instruction with .im2col, and other maps one without it";
    if (wrong)
        return warp_fault_value(w, FAULT_tensor_map, o, lane, (uint64_t)(uintptr_t)wrong);
    const char *refusal = tensor_copy_refusal(&t->map, &t->at, o->mode != ASYNC_TENSOR_LOAD);
    if (!refusal && o->mode == ASYNC_TENSOR_REDUCE && !type_of_elements(&t->map, (enum atom_op)c->mem.atom))
        refusal = "its element type does not have this reduction";
    return !refusal || warp_fault_value(w, FAULT_tensor_copy, o, lane, (uint64_t)(uintptr_t)refusal);
}

/* The bytes of shared memory that the copy spans, with the gaps of a swizzle; for a box that is too
 * large, any number beyond the limit. A store reads only what is inside the tensor. Checks the
 * tensor's lines on the way; 0 after a fault. */
static uint32_t extent_of(struct warp *w, const struct op *o, unsigned lane, const struct async_tensor *t)
{
    struct tensor_lines lines = tensor_lines_of(&t->map, &t->at);
    const struct async_work x = {.warp = w, .op = o};
    struct tensor_line line;
    uint64_t walked = 0, bytes = CHUNK;
    uint32_t span = t->map.swizzle ? 16u << t->map.swizzle : 1;
    while (walked <= MEM_SHARED_WINDOW_BYTES && tensor_next_line(&lines, &line)) {
        struct location at;
        bool loads = o->mode == ASYNC_TENSOR_LOAD, is_inside = line.to > line.from;
        uint32_t to = loads ? line.to : tensor_stored_to(&line);
        walked = (line.shared + line.bytes + span - 1) / span * span;
        bytes = loads || is_inside ? walked : bytes;
        if (is_inside && !locate_line(&x, &line, to, lane, &at))
            return 0;
    }
    return (uint32_t)(walked > MEM_SHARED_WINDOW_BYTES ? walked : bytes);
}

/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor (9.7.9.27.1) */
bool async_issue_tensor(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane, uint64_t address)
{
    enum { ALIGN = 128 };
    bool loads = o->mode == ASYNC_TENSOR_LOAD;
    struct async_tensor t;
    struct location shared, object = {.at = NULL};
    uint32_t bytes = read_tensor(w, base, o, lane, &t) ? extent_of(w, o, lane, &t) : 0;
    if (!bytes || !async_locate(w, o, lane, SPACE_SHARED, address, bytes, ALIGN, loads, &shared))
        return !async_has_failed(w);
    if (!loads && shared.owner != w->block)
        return warp_fault_at(w, FAULT_address_space, o, lane, &shared, bytes);
    if (loads &&
        !async_locate_object(w, o, lane, SPACE_SHARED, async_operand(base, o, ASYNC_MBARRIER, 64, lane), &object))
        return !async_has_failed(w);
    if (loads && object.owner != shared.owner)
        return warp_fault_at(w, FAULT_other_block, o, lane, &object, 8);
    if (access_is_watched(w))
        access_tell_bulk(w, o, lane, shared.address, shared.address,
                         &(struct issue_event){.ranks = (uint32_t)async_operand(base, o, ASYNC_MASK, 16, lane),
                                               .signals = loads ? tell_block(object.owner) : NULL,
                                               .object = loads ? object.address : 0,
                                               .tensor = &t});
    struct async_bulk c = {.source = shared.address, .bytes = bytes, .tensor = &t};
    *(loads ? &c.to : &c.from) = shared;
    c.object = loads ? &object : NULL;
    return async_enqueue_bulk(w, base, o, lane, &c);
}
