/* Moving the bytes of a load or store whose addresses have been tested; see access.h. */
#include "jit/access.h"

enum { MAX_CLUSTERS = 2 * MAX_PARTS };

static LLVMTypeRef element_type(struct emit *e, const struct access *a)
{
    return type_of_width(e, 8 * a->bytes);
}

/* Do all 32 lanes run, and is each lane's place so many bytes behind the lane before it in its half? */
value test_rows(struct emit *e, const struct access *a, unsigned step_bytes)
{
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(a->lanes));
    value index[WARP_LANES], step[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        index[l] = const_int(e, e->i32, l / ROW_LANES * ROW_LANES);
        step[l] = const_int(e, type, l % ROW_LANES * step_bytes);
    }
    value starts = LLVMBuildShuffleVector(e->b, a->lanes, LLVMGetPoison(LLVMTypeOf(a->lanes)),
                                          LLVMConstVector(index, WARP_LANES), "");
    value expected = LLVMBuildAdd(e->b, starts, LLVMConstVector(step, WARP_LANES), "");
    value equal = lanes_to_mask(e, LLVMBuildICmp(e->b, LLVMIntEQ, a->lanes, expected, ""));
    value both = LLVMBuildAnd(e->b, equal, a->mask, "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, both, const_int(e, e->i32, UINT32_MAX), "");
}

static value row_start(struct emit *e, const struct access *a, unsigned lane, enum ptx_space space)
{
    value at = LLVMBuildExtractElement(e->b, a->lanes, const_int(e, e->i32, lane), "");
    at = LLVMBuildIntCast2(e->b, at, e->i64, false, "");
    return space == SPACE_SHARED ? LLVMBuildInBoundsGEP2(e->b, e->i8, e->shared, &at, 1, "")
                                 : LLVMBuildIntToPtr(e->b, at, e->ptr, "");
}

/* <32 x ptr> of element k; indices into shared memory are small, so they may count as signed. */
static value lane_pointers(struct emit *e, const struct access *a, unsigned k, enum ptx_space space)
{
    value at = a->lanes;
    LLVMTypeRef type = LLVMTypeOf(at);
    if (k)
        at = LLVMBuildAdd(e->b, at, splat(e, const_int(e, LLVMGetElementType(type), k * a->bytes), WARP_LANES), "");
    if (space == SPACE_SHARED)
        return LLVMBuildGEP2(e->b, e->i8, e->shared, &at, 1, "");
    return LLVMBuildIntToPtr(e->b, at, vector_of(e->ptr, WARP_LANES), "");
}

value pointer_at(struct emit *e, value pointer, int64_t offset)
{
    value at = const_int(e, e->i64, (uint64_t)offset);
    return LLVMBuildInBoundsGEP2(e->b, e->i8, pointer, &at, 1, "");
}

/* ---- ahead of loading ---- */

bool is_in_loop(const struct emit *e)
{
    for (uint32_t b = e->at; b < e->code->n_blocks; b++) {
        const struct code_block *block = &e->code->blocks[b];
        const struct op *last = &e->code->ops[block->first + block->n - 1];
        if ((last->kind == OP_BRA && last->target <= e->at) || last->next <= e->at)
            return true;
    }
    return false;
}

/* A block with few loads runs through memory; one with many mostly has its data near, and asking costs it time. */
static bool loads_little(const struct emit *e)
{
    enum { FEW = 2 };
    const struct code_block *block = &e->code->blocks[e->at];
    unsigned n = 0;
    for (uint32_t k = 0; k < block->n; k++) {
        const struct op *o = &e->code->ops[block->first + k];
        n += o->kind == OP_LD && (o->access->space == SPACE_GLOBAL || o->access->space == SPACE_GENERIC);
    }
    return n <= FEW;
}

void ask_for(struct emit *e, value address, bool writes, unsigned cache)
{
    value args[4] = {LLVMBuildIntToPtr(e->b, address, e->ptr, ""), const_int(e, e->i32, writes),
                     const_int(e, e->i32, cache), const_int(e, e->i32, 1)};
    intrinsic(e, "llvm.prefetch", &e->ptr, 1, args, 4);
}

/* How far ahead: by as many warps as memory takes to bring something. Where it is known how far it is to what the next block of
 * the grid wants, as many blocks as that makes, and one at least; else warps stand one behind the other. */
static uint64_t bytes_ahead(const struct emit *e, const struct access *a)
{
    enum { WARPS_AHEAD = 16, WARP_BYTES = 128 };
    const uint32_t *block = e->shapes->block;
    uint32_t warps = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES;
    int64_t step = ir_ref_kind(a->i->a) == REF_REG ? e->shapes->steps[ir_ref_index(a->i->a)] : UNKNOWN_STEP;
    if (step == UNKNOWN_STEP || step == 0)
        return WARPS_AHEAD * WARP_BYTES;
    return (uint64_t)step * (warps < WARPS_AHEAD ? WARPS_AHEAD / warps : 1);
}

static uint32_t last_warp(const struct emit *e)
{
    const uint32_t *block = e->shapes->block;
    return (block[0] * block[1] * block[2] - 1) / WARP_LANES;
}

/* What lies behind the block is another worker's, from whom asking would take it: so the last warp asks for its own. */
static value bytes_within_block(struct emit *e, const struct access *a)
{
    value index = load_field(e, e->i32, e->w, offsetof(struct warp, index), "");
    value is_last = LLVMBuildICmp(e->b, LLVMIntEQ, index, const_int(e, e->i32, last_warp(e)), "");
    return LLVMBuildSelect(e->b, is_last, const_int(e, e->i64, 0), const_int(e, e->i64, bytes_in_row(e, a)), "");
}

/* The warps behind this one, of this block and of the next, mostly want what lies behind. Where blocks draw what they work on,
 * those of this block do; in a gang they are there already. */
static void prefetch_for_next_warps(struct emit *e, const struct access *a)
{
    enum { LINE_BYTES = 64 };
    bool is_drawn = ir_ref_kind(a->i->a) == REF_REG && e->shapes->drawn[ir_ref_index(a->i->a)];
    if (is_drawn && (last_warp(e) == 0 || (e->gang && e->plan.is_block)))
        return;
    value ahead = is_drawn ? bytes_within_block(e, a) : const_int(e, e->i64, bytes_ahead(e, a));
    value there = LLVMBuildAdd(e->b, a->first[0], ahead, "");
    for (unsigned at = 0; at < bytes_in_row(e, a); at += LINE_BYTES)
        ask_for(e, LLVMBuildAdd(e->b, there, const_int(e, e->i64, at), ""), a->i->kind == IR_ST, SECOND_CACHE);
}

/* The CPU looks ahead by itself where the next round is near; not where it is on another page, as in a loop in which all
 * blocks of the grid go on by the size of the grid. */
static void prefetch_for_next_rounds(struct emit *e, const struct access *a)
{
    enum { ROUNDS_AHEAD = 8 };
    for (unsigned p = 0; p < a->parts; p++) {
        value before = emit_alloca(e, e->i64), now = a->first[p];
        LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
        LLVMPositionBuilderBefore(e->b, LLVMGetNextInstruction(before));
        LLVMBuildStore(e->b, const_int(e, e->i64, 0), before);
        LLVMPositionBuilderAtEnd(e->b, here);
        value step = LLVMBuildSub(e->b, now, LLVMBuildLoad2(e->b, e->i64, before, ""), "");
        LLVMBuildStore(e->b, now, before);
        value ahead = LLVMBuildMul(e->b, step, const_int(e, e->i64, ROUNDS_AHEAD), "");
        ask_for(e, LLVMBuildAdd(e->b, now, ahead, ""), false, SECOND_CACHE);
    }
}

void prefetch(struct emit *e, const struct access *a)
{
    if (a->shape == SHAPE_UNIFORM)
        return;
    if (!is_in_loop(e) && a->parts == 1)
        prefetch_for_next_warps(e, a);
    else if (a->i->kind == IR_LD && is_in_loop(e) && loads_little(e))
        prefetch_for_next_rounds(e, a);
}

/* ---- strong accesses ---- */

static bool goes_one_by_one(const struct emit *e, const struct access *a)
{
    return !e->has_whole_elements && access_is_seen(a->x);
}

static value load_one(struct emit *e, const struct access *a, value pointer)
{
    value v = LLVMBuildLoad2(e->b, element_type(e, a), pointer, "");
    LLVMSetAlignment(v, a->bytes);
    if (access_is_seen(a->x))
        LLVMSetOrdering(v, LLVMAtomicOrderingMonotonic);
    return v;
}

static void store_one(struct emit *e, const struct access *a, value v, value pointer)
{
    value store = LLVMBuildStore(e->b, v, pointer);
    LLVMSetAlignment(store, a->bytes);
    if (access_is_seen(a->x))
        LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
}

static value load_one_by_one(struct emit *e, const struct access *a, value pointer, unsigned n)
{
    value v = LLVMGetPoison(vector_of(element_type(e, a), n));
    for (unsigned k = 0; k < n; k++) {
        value one = load_one(e, a, pointer_at(e, pointer, k * a->bytes));
        v = LLVMBuildInsertElement(e->b, v, one, const_int(e, e->i32, k), "");
    }
    return v;
}

static void store_one_by_one(struct emit *e, const struct access *a, value v, value pointer, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        value one = LLVMBuildExtractElement(e->b, v, const_int(e, e->i32, k), "");
        store_one(e, a, one, pointer_at(e, pointer, k * a->bytes));
    }
}

LLVMTypeRef whole_type(struct emit *e, const struct access *a)
{
    return LLVMIntTypeInContext(e->context, 8 * a->all);
}

value load_whole(struct emit *e, const struct access *a, value pointer)
{
    value v = LLVMBuildLoad2(e->b, whole_type(e, a), pointer, "");
    LLVMSetAlignment(v, a->all);
    LLVMSetOrdering(v, LLVMAtomicOrderingMonotonic);
    return v;
}

void store_whole(struct emit *e, const struct access *a, value v, value pointer)
{
    value store = LLVMBuildStore(e->b, LLVMBuildBitCast(e->b, v, whole_type(e, a), ""), pointer);
    LLVMSetAlignment(store, a->all);
    LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
}

/* ---- loading ---- */

value load_vector(struct emit *e, const struct access *a, value pointer, unsigned n)
{
    if (n == 1)
        return load_one(e, a, pointer);
    if (goes_one_by_one(e, a))
        return load_one_by_one(e, a, pointer, n);
    value v = LLVMBuildLoad2(e->b, vector_of(element_type(e, a), n), pointer, "");
    LLVMSetAlignment(v, a->bytes);
    return v;
}

value shuffle_lanes(struct emit *e, value x, value y, const int *index)
{
    value lanes[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        lanes[l] = index[l] < 0 ? LLVMGetPoison(e->i32) : const_int(e, e->i32, (unsigned)index[l]);
    return LLVMBuildShuffleVector(e->b, x, y, LLVMConstVector(lanes, WARP_LANES), "");
}

bool is_consecutive(const struct access *a)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (a->offset[l] != (int64_t)(l % (WARP_LANES / a->parts)) * a->all)
            return false;
    return true;
}

/* Pieces of memory that hold what all lanes read, each not larger than a row of 32 elements. */
struct cluster {
    int64_t from, to; /* elements */
    unsigned part;
};

static unsigned find_clusters(const struct access *a, unsigned k, struct cluster c[MAX_CLUSTERS],
                              uint8_t of[WARP_LANES])
{
    unsigned n = 0, part_lanes = WARP_LANES / a->parts;
    uint32_t left = UINT32_MAX;
    while (left) {
        int64_t least = INT64_MAX;
        unsigned part = (unsigned)__builtin_ctz(left) / part_lanes, end = (part + 1) * part_lanes;
        for (unsigned l = part * part_lanes; l < end; l++)
            if (left >> l & 1 && a->offset[l] < least)
                least = a->offset[l];
        int64_t from = least / a->bytes + k, to = from;
        if (n == MAX_CLUSTERS)
            return 0;
        for (unsigned l = part * part_lanes; l < end; l++) {
            int64_t at = a->offset[l] / a->bytes + k;
            if (left >> l & 1 && at < from + WARP_LANES) {
                left &= ~(1u << l);
                of[l] = (uint8_t)n;
                to = at > to ? at : to;
            }
        }
        c[n++] = (struct cluster){from, to, part};
    }
    return n;
}

bool has_clusters(const struct access *a)
{
    struct cluster c[MAX_CLUSTERS];
    uint8_t of[WARP_LANES];
    return find_clusters(a, a->n - 1, c, of) > 0;
}

/* Vectors have 1, 2, 4 ... elements: what lies between is loaded as two that overlap. */
static value load_cluster(struct emit *e, const struct access *a, const struct cluster *c, unsigned number, unsigned k,
                          const uint8_t of[WARP_LANES])
{
    unsigned n = (unsigned)(c->to - c->from + 1), size = 1;
    while (2 * size <= n)
        size *= 2;
    value pointer = a->pointer[c->part];
    value low = load_vector(e, a, pointer_at(e, pointer, c->from * a->bytes), size);
    if (n == 1)
        return splat(e, low, WARP_LANES);
    unsigned over = n - size; /* by how much the second begins later */
    value high = over ? load_vector(e, a, pointer_at(e, pointer, (c->from + over) * a->bytes), size)
                      : LLVMGetPoison(LLVMTypeOf(low));
    int index[WARP_LANES];
    bool identity = n == WARP_LANES;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        unsigned at = (unsigned)(a->offset[l] / a->bytes + k - c->from);
        index[l] = of[l] != number ? -1 : (int)(at < size ? at : at + size - over);
        identity &= index[l] == (int)l;
    }
    return identity ? low : shuffle_lanes(e, low, high, index);
}

/* Element k in all lanes, or NULL where the pattern is too wild. */
static value load_pattern(struct emit *e, const struct access *a, unsigned k)
{
    struct cluster c[MAX_CLUSTERS];
    uint8_t of[WARP_LANES];
    unsigned n = find_clusters(a, k, c, of);
    value v = n ? load_cluster(e, a, &c[0], 0, k, of) : NULL;
    for (unsigned i = 1; i < n; i++) {
        int index[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            index[l] = of[l] == i ? (int)(WARP_LANES + l) : (int)l;
        v = shuffle_lanes(e, v, load_cluster(e, a, &c[i], i, k, of), index);
    }
    return v;
}

/* An element, or a vector of them, as it stands in a register. */
static value extend(struct emit *e, const struct access *a, value v, unsigned width)
{
    LLVMTypeRef type = type_of_width(e, width);
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind)
        type = vector_of(type, WARP_LANES);
    return LLVMBuildIntCast2(e->b, v, type, a->x->sign, "");
}

void put_lanes(struct emit *e, const struct access *a, unsigned k, value v)
{
    ir_ref r = a->i->access->regs[k];
    write_lanes(e, r, extend(e, a, v, ref_width(e, r)), a->i->guard ? a->mask : NULL);
}

void put_scalar(struct emit *e, const struct access *a, unsigned k, value v)
{
    ir_ref r = a->i->access->regs[k];
    v = extend(e, a, v, ref_width(e, r));
    if (ref_shape(e, r) == SHAPE_VARYING)
        write_lanes(e, r, splat(e, v, WARP_LANES), a->i->guard ? a->mask : NULL);
    else
        write_scalar(e, r, v); /* where a guard does not hold, this is not reached */
}

void load_uniform(struct emit *e, const struct access *a)
{
    value all = access_is_whole(a->x) ? load_whole(e, a, a->pointer[0]) : NULL;
    if (all)
        all = LLVMBuildBitCast(e->b, all, vector_of(element_type(e, a), a->n), "");
    for (unsigned k = 0; k < a->n; k++)
        put_scalar(e, a, k,
                   all ? LLVMBuildExtractElement(e->b, all, const_int(e, e->i32, k), "")
                       : load_vector(e, a, pointer_at(e, a->pointer[0], k * a->bytes), 1));
}

void load_by_pattern(struct emit *e, const struct access *a)
{
    if (a->parts == 1 && is_consecutive(a)) {
        value vectors[8];
        for (unsigned k = 0; k < a->n; k++)
            vectors[k] = load_vector(e, a, pointer_at(e, a->pointer[0], k * WARP_LANES * a->bytes), WARP_LANES);
        unzip(e, vectors, a->n);
        for (unsigned k = 0; k < a->n; k++)
            put_lanes(e, a, k, vectors[k]);
        return;
    }
    for (unsigned k = 0; k < a->n; k++)
        put_lanes(e, a, k, load_pattern(e, a, k));
}

void load_masked(struct emit *e, const struct access *a)
{
    LLVMTypeRef types[2] = {vector_of(element_type(e, a), WARP_LANES), e->ptr};
    value args[4] = {a->pointer[0], const_int(e, e->i32, a->bytes), mask_to_lanes(e, a->mask), LLVMConstNull(types[0])};
    put_lanes(e, a, 0, intrinsic(e, "llvm.masked.load", types, 2, args, 4));
}

void load_rows(struct emit *e, const struct access *a, enum ptx_space space)
{
    unsigned n = ROW_LANES * a->n;
    value low = load_vector(e, a, row_start(e, a, 0, space), n);
    value high = load_vector(e, a, row_start(e, a, ROW_LANES, space), n);
    for (unsigned k = 0; k < a->n; k++) {
        int index[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            index[l] = (int)(l * a->n + k);
        put_lanes(e, a, k, shuffle_lanes(e, low, high, index));
    }
}

/* Each half of the lanes at one address. */
void load_halves(struct emit *e, const struct access *a, enum ptx_space space)
{
    value low = row_start(e, a, 0, space), high = row_start(e, a, ROW_LANES, space);
    for (unsigned k = 0; k < a->n; k++) {
        int index[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            index[l] = (int)(l / ROW_LANES * WARP_LANES);
        value x = splat(e, load_vector(e, a, pointer_at(e, low, k * a->bytes), 1), WARP_LANES);
        value y = splat(e, load_vector(e, a, pointer_at(e, high, k * a->bytes), 1), WARP_LANES);
        put_lanes(e, a, k, shuffle_lanes(e, x, y, index));
    }
}

/* Bytes and halves come in the aligned words that hold them, which lie on no other page. */
static void gather_narrow(struct emit *e, const struct access *a, enum ptx_space space)
{
    LLVMTypeRef one = LLVMGetElementType(LLVMTypeOf(a->lanes)), type = vector_of(e->i32, WARP_LANES);
    struct access words = *a;
    words.lanes = LLVMBuildAnd(e->b, a->lanes, splat(e, LLVMConstInt(one, ~3ull, true), WARP_LANES), "");
    value pointers = lane_pointers(e, &words, 0, space);
    value args[4] = {pointers, const_int(e, e->i32, 4), mask_to_lanes(e, a->mask), LLVMConstNull(type)};
    LLVMTypeRef types[2] = {type, LLVMTypeOf(pointers)};
    value v = intrinsic(e, "llvm.masked.gather", types, 2, args, 4);
    value byte = LLVMBuildIntCast2(e->b, a->lanes, type, false, "");
    byte = LLVMBuildAnd(e->b, byte, splat(e, const_int(e, e->i32, 3), WARP_LANES), "");
    value shift = LLVMBuildShl(e->b, byte, splat(e, const_int(e, e->i32, 3), WARP_LANES), "");
    v = LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, v, shift, ""), vector_of(element_type(e, a), WARP_LANES), "");
    put_lanes(e, a, 0, v);
}

void load_gather(struct emit *e, const struct access *a, enum ptx_space space)
{
    if (a->bytes < 4) {
        gather_narrow(e, a, space);
        return;
    }
    for (unsigned k = 0; k < a->n; k++) {
        LLVMTypeRef type = vector_of(element_type(e, a), WARP_LANES);
        value pointers = lane_pointers(e, a, k, space);
        value args[4] = {pointers, const_int(e, e->i32, a->bytes), mask_to_lanes(e, a->mask), LLVMConstNull(type)};
        LLVMTypeRef types[2] = {type, LLVMTypeOf(pointers)};
        put_lanes(e, a, k, intrinsic(e, "llvm.masked.gather", types, 2, args, 4));
    }
}

/* ---- storing ---- */

static value in_order(struct emit *e, value lanes, unsigned order)
{
    int index[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        index[l] = (int)(l ^ order);
    return order ? shuffle_lanes(e, lanes, LLVMGetPoison(LLVMTypeOf(lanes)), index) : lanes;
}

value stored_value(struct emit *e, const struct access *a, unsigned k)
{
    value v = read_lanes(e, a->i->access->regs[k], a->x->regs[k]);
    return in_order(e, LLVMBuildIntCast2(e->b, v, vector_of(element_type(e, a), WARP_LANES), false, ""), a->order);
}

/* Has no place two lanes, as far as the pattern of addresses says? */
static bool are_apart(const struct access *a)
{
    bool apart = a->parts == 1 && access_is_aligned(a);
    for (unsigned l = 0; l < WARP_LANES; l++)
        for (unsigned m = 0; m < l; m++)
            apart &= a->offset[l] != a->offset[m];
    return apart;
}

/* Nobody sees an order where all lanes store one value, or are apart. */
static unsigned order_of(struct emit *e, const struct access *a)
{
    bool one_value = true;
    for (unsigned k = 0; k < a->n; k++)
        one_value &= ref_shape(e, a->i->access->regs[k]) == SHAPE_UNIFORM;
    return one_value || are_apart(a) ? 0 : op_store_order(a->x);
}

struct access store_in_order(struct emit *e, const struct access *a)
{
    struct access s = *a;
    s.order = order_of(e, a);
    if (!s.order)
        return s;
    s.lanes = in_order(e, a->lanes, s.order);
    s.mask = lanes_to_mask(e, in_order(e, mask_to_lanes(e, a->mask), s.order));
    return s;
}

/* The elements of the lanes from..from + lanes - 1, as they stand in memory. */
static value interleave(struct emit *e, const struct access *a, unsigned from, unsigned lanes)
{
    value index[WARP_LANES * 8], v = NULL;
    /* all elements one after the other, then in turns */
    for (unsigned k = 0; k < a->n; k++) {
        value one = stored_value(e, a, k);
        unsigned before = k * WARP_LANES;
        for (unsigned l = 0; l < before + WARP_LANES; l++)
            index[l] = const_int(e, e->i32, l);
        if (k && before > WARP_LANES) { /* operands of a shuffle are of one length */
            value wider[WARP_LANES * 8];
            for (unsigned l = 0; l < before; l++)
                wider[l] = l < WARP_LANES ? const_int(e, e->i32, l) : LLVMGetPoison(e->i32);
            one = LLVMBuildShuffleVector(e->b, one, LLVMGetPoison(LLVMTypeOf(one)), LLVMConstVector(wider, before), "");
        }
        v = k ? LLVMBuildShuffleVector(e->b, v, one, LLVMConstVector(index, before + WARP_LANES), "") : one;
    }
    for (unsigned l = 0; l < lanes; l++)
        for (unsigned k = 0; k < a->n; k++)
            index[l * a->n + k] = const_int(e, e->i32, k * WARP_LANES + from + l);
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(index, lanes * a->n), "");
}

void store_vector(struct emit *e, const struct access *a, value v, value pointer)
{
    bool is_one = LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVectorTypeKind;
    unsigned n = is_one ? 1 : LLVMGetVectorSize(LLVMTypeOf(v));
    if (is_one)
        store_one(e, a, v, pointer);
    else if (goes_one_by_one(e, a))
        store_one_by_one(e, a, v, pointer, n);
    else {
        value store = LLVMBuildStore(e->b, v, pointer);
        LLVMSetAlignment(store, a->bytes);
        if (a->nontemporal)
            mark_nontemporal(e, store);
    }
}

/* Of the lanes that run, the one that stores last: the lowest of those that go together with the highest. */
static value last_to_store(struct emit *e, const struct access *a)
{
    value args[2] = {a->mask, LLVMConstInt(e->i1, 1, false)};
    value highest = LLVMBuildSub(e->b, const_int(e, e->i32, 31), intrinsic(e, "llvm.ctlz", &e->i32, 1, args, 2), "");
    value from = LLVMBuildAnd(e->b, highest, const_int(e, e->i32, ~op_store_order(a->x)), "");
    args[0] = LLVMBuildAnd(e->b, a->mask, LLVMBuildShl(e->b, const_int(e, e->i32, UINT32_MAX), from, ""), "");
    return intrinsic(e, "llvm.cttz", &e->i32, 1, args, 2);
}

void store_uniform(struct emit *e, const struct access *a)
{
    value lane = last_to_store(e, a), all = LLVMGetPoison(vector_of(element_type(e, a), a->n));
    bool whole = access_is_whole(a->x);
    for (unsigned k = 0; k < a->n; k++) {
        ir_ref r = a->i->access->regs[k];
        value v = ref_shape(e, r) == SHAPE_UNIFORM
                      ? LLVMBuildIntCast2(e->b, read_scalar(e, r, a->x->regs[k]), element_type(e, a), false, "")
                      : LLVMBuildExtractElement(e->b, stored_value(e, a, k), lane, "");
        if (whole)
            all = LLVMBuildInsertElement(e->b, all, v, const_int(e, e->i32, k), "");
        else
            store_vector(e, a, v, pointer_at(e, a->pointer[0], k * a->bytes));
    }
    if (whole)
        store_whole(e, a, all, a->pointer[0]);
}

/* The n-th to go of a warp's parts: lanes of one are apart, those of two may not be. */
static unsigned part_to_store(struct emit *e, const struct access *a, unsigned n)
{
    unsigned lanes = WARP_LANES / a->parts;
    return (n * lanes ^ order_of(e, a)) / lanes;
}

void store_consecutive(struct emit *e, const struct access *a)
{
    if (a->parts == 1) {
        value vectors[8];
        for (unsigned k = 0; k < a->n; k++)
            vectors[k] = stored_value(e, a, k);
        zip(e, vectors, a->n);
        for (unsigned k = 0; k < a->n; k++)
            store_vector(e, a, vectors[k], pointer_at(e, a->pointer[0], k * WARP_LANES * a->bytes));
        return;
    }
    for (unsigned n = 0; n < a->parts; n++) {
        unsigned p = part_to_store(e, a, n);
        store_vector(e, a, interleave(e, a, p * (WARP_LANES / a->parts), WARP_LANES / a->parts), a->pointer[p]);
    }
}

static value slice(struct emit *e, value v, unsigned from, unsigned n)
{
    value index[WARP_LANES];
    for (unsigned l = 0; l < n; l++)
        index[l] = const_int(e, e->i32, from + l);
    return n == WARP_LANES
               ? v
               : LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(index, n), "");
}

void store_masked(struct emit *e, const struct access *a)
{
    value v = stored_value(e, a, 0), mask = mask_to_lanes(e, a->mask);
    unsigned n = WARP_LANES / a->parts;
    for (unsigned turn = 0; turn < a->parts; turn++) {
        unsigned p = part_to_store(e, a, turn);
        value lanes = slice(e, v, p * n, n);
        LLVMTypeRef types[2] = {LLVMTypeOf(lanes), e->ptr};
        value args[4] = {lanes, a->pointer[p], const_int(e, e->i32, a->bytes), slice(e, mask, p * n, n)};
        intrinsic(e, "llvm.masked.store", types, 2, args, 4);
    }
}

void store_rows(struct emit *e, const struct access *a, enum ptx_space space)
{
    for (unsigned turn = 0; turn < WARP_LANES; turn += ROW_LANES) {
        unsigned lane = (turn ^ order_of(e, a)) & ROW_LANES;
        store_vector(e, a, interleave(e, a, lane, ROW_LANES), row_start(e, a, lane, space));
    }
}

void store_scatter(struct emit *e, const struct access *a, enum ptx_space space)
{
    for (unsigned k = 0; k < a->n; k++) {
        value pointers = lane_pointers(e, a, k, space), v = stored_value(e, a, k);
        value args[4] = {v, pointers, const_int(e, e->i32, a->bytes), mask_to_lanes(e, a->mask)};
        LLVMTypeRef types[2] = {LLVMTypeOf(v), LLVMTypeOf(pointers)};
        intrinsic(e, "llvm.masked.scatter", types, 2, args, 4);
    }
}

/* ---- local memory: words of all lanes stand together (mem/local.h) ---- */

static value local_word_pointer(struct emit *e, const struct access *a, unsigned byte)
{
    value word = LLVMBuildAnd(e->b, a->first[0], const_int(e, e->i64, ~3ull), "");
    value at = LLVMBuildMul(e->b, word, const_int(e, e->i64, WARP_LANES), "");
    at = LLVMBuildAdd(e->b, at, const_int(e, e->i64, byte * WARP_LANES), "");
    return LLVMBuildInBoundsGEP2(e->b, e->i8, e->local, &at, 1, "");
}

static value load_words(struct emit *e, const struct access *a, unsigned byte)
{
    value v = LLVMBuildLoad2(e->b, vector_of(e->i32, WARP_LANES), local_word_pointer(e, a, byte), "");
    LLVMSetAlignment(v, 64);
    return v;
}

static void store_words(struct emit *e, const struct access *a, unsigned byte, value v)
{
    if (!emit_is_full(e) || a->i->guard)
        v = blend(e, 32, a->mask, v, load_words(e, a, byte));
    LLVMSetAlignment(LLVMBuildStore(e->b, v, local_word_pointer(e, a, byte)), 64);
}

static value local_shift(struct emit *e, const struct access *a)
{
    value byte = LLVMBuildAnd(e->b, LLVMBuildTrunc(e->b, a->first[0], e->i32, ""), const_int(e, e->i32, 3), "");
    return splat(e, LLVMBuildShl(e->b, byte, const_int(e, e->i32, 3), ""), WARP_LANES);
}

void load_local(struct emit *e, const struct access *a)
{
    LLVMTypeRef wide = vector_of(e->i64, WARP_LANES), type = vector_of(element_type(e, a), WARP_LANES);
    for (unsigned k = 0; k < a->n; k++) {
        value v = load_words(e, a, k * a->bytes);
        if (a->bytes == 8) {
            value high = LLVMBuildZExt(e->b, load_words(e, a, k * 8 + 4), wide, "");
            high = LLVMBuildShl(e->b, high, splat(e, const_int(e, e->i64, 32), WARP_LANES), "");
            v = LLVMBuildOr(e->b, LLVMBuildZExt(e->b, v, wide, ""), high, "");
        } else if (a->bytes < 4) {
            v = LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, v, local_shift(e, a), ""), type, "");
        }
        put_lanes(e, a, k, v);
    }
}

void store_local(struct emit *e, const struct access *a)
{
    LLVMTypeRef words = vector_of(e->i32, WARP_LANES);
    for (unsigned k = 0; k < a->n; k++) {
        value v = stored_value(e, a, k);
        if (a->bytes == 8) {
            value high = LLVMBuildLShr(e->b, v, splat(e, const_int(e, e->i64, 32), WARP_LANES), "");
            store_words(e, a, k * 8 + 4, LLVMBuildTrunc(e->b, high, words, ""));
            v = LLVMBuildTrunc(e->b, v, words, "");
        } else if (a->bytes < 4) {
            value shift = local_shift(e, a),
                  ones = splat(e, const_int(e, e->i32, (1u << 8 * a->bytes) - 1), WARP_LANES);
            value kept = LLVMBuildAnd(e->b, load_words(e, a, 0),
                                      LLVMBuildNot(e->b, LLVMBuildShl(e->b, ones, shift, ""), ""), "");
            v = LLVMBuildOr(e->b, kept, LLVMBuildShl(e->b, LLVMBuildZExt(e->b, v, words, ""), shift, ""), "");
        }
        store_words(e, a, k * a->bytes, v);
    }
}
