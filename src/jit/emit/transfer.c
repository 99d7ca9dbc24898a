/* Moves the bytes of a load or store whose addresses were tested; see load_store.h. */
#include "jit/emit/load_store.h"

value transfer_test_runs(struct emit *e, const struct transfer *t, unsigned lanes, unsigned step_bytes)
{
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(t->lanes));
    value step[WARP_LANES];
    int index[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        index[l] = (int)(l / lanes * lanes);
        step[l] = const_int(type, l % lanes * step_bytes);
    }
    value expected =
        build_add(e, emit_shuffle(e, t->lanes, NULL, index, WARP_LANES), LLVMConstVector(step, WARP_LANES));
    value equal = emit_lanes_to_mask(e, build_eq(e, t->lanes, expected));
    value both = build_and(e, equal, t->mask);
    return emit_all_run(e, both);
}

static value half_start(struct emit *e, const struct transfer *t, unsigned lane)
{
    return access_pointer(e, t->a, build_extract(e, t->lanes, const_i32(e, lane)));
}

/* <32 x ptr> to element k; indices in shared memory are small, so they may count as signed. */
static value lane_pointers(struct emit *e, const struct transfer *t, unsigned k)
{
    value at = t->lanes;
    LLVMTypeRef type = LLVMTypeOf(at);
    if (k)
        at = build_add(e, at, emit_splat(e, const_int(LLVMGetElementType(type), k * t->a->bytes)));
    if (t->a->mem->space == SPACE_SHARED)
        return LLVMBuildGEP2(e->m->b, e->m->i8, e->f->of.shared, &at, 1, "");
    return build_int_to_ptr(e, at, vector_of(e->m->ptr, WARP_LANES));
}

/* ---- loading ---- */

/* Loads a cluster. Vectors have 1, 2, 4 ... elements: other sizes are loaded as two overlapping
 * vectors. */
static value load_cluster(struct emit *e, const struct transfer *t, const struct cluster *c, unsigned number,
                          unsigned k, const uint8_t of[WARP_LANES])
{
    unsigned n = (unsigned)(c->to - c->from + 1), size = 1;
    while (2 * size <= n)
        size *= 2;
    value pointer = t->pointer[c->piece];
    value low = element_load_vector(e, t->a, emit_pointer_at(e, pointer, c->from * t->a->bytes), size);
    if (n == 1)
        return emit_splat(e, low);
    unsigned over = n - size; /* the offset of the second vector */
    value high =
        over ? element_load_vector(e, t->a, emit_pointer_at(e, pointer, (c->from + over) * t->a->bytes), size) : NULL;
    int index[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        unsigned at = (unsigned)(t->a->offset[l] / t->a->bytes + k - c->from);
        index[l] = of[l] != number ? -1 : (int)(at < size ? at : at + size - over);
    }
    return emit_shuffle(e, low, high, index, WARP_LANES);
}

/* Element k in all lanes, or NULL if the offsets are too irregular. */
static value load_affine_element(struct emit *e, const struct transfer *t, unsigned k)
{
    struct cluster c[MAX_CLUSTERS];
    uint8_t of[WARP_LANES];
    unsigned n = access_find_clusters(t->a, k, c, of);
    value v = n ? load_cluster(e, t, &c[0], 0, k, of) : NULL;
    for (unsigned i = 1; i < n; i++) {
        int index[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            index[l] = of[l] == i ? (int)(WARP_LANES + l) : (int)l;
        v = emit_shuffle(e, v, load_cluster(e, t, &c[i], i, k, of), index, WARP_LANES);
    }
    return v;
}

void transfer_load_uniform(struct emit *e, const struct transfer *t)
{
    value all = access_is_whole(t->a->mem) ? element_load_whole(e, t->a, t->pointer[0]) : NULL;
    if (all)
        all = build_bit_cast(e, all, vector_of(element_type(e, t->a), t->a->n));
    for (unsigned k = 0; k < t->a->n; k++)
        element_put_scalar(e, t, k,
                           all ? build_extract(e, all, const_i32(e, k))
                               : element_load_vector(e, t->a, emit_pointer_at(e, t->pointer[0], k * t->a->bytes), 1));
}

void transfer_load_affine(struct emit *e, const struct transfer *t)
{
    if (t->a->pieces == 1 && access_is_consecutive(t->a)) {
        value vectors[8];
        for (unsigned k = 0; k < t->a->n; k++)
            vectors[k] = element_load_vector(e, t->a, emit_pointer_at(e, t->pointer[0], k * WARP_LANES * t->a->bytes),
                                             WARP_LANES);
        vector_unzip(e, vectors, t->a->n);
        for (unsigned k = 0; k < t->a->n; k++)
            element_put_lanes(e, t, k, vectors[k]);
        return;
    }
    for (unsigned k = 0; k < t->a->n; k++)
        element_put_lanes(e, t, k, load_affine_element(e, t, k));
}

/* `n` lanes from lane `from` on, where those that run are among the `bytes` bytes behind
 * address 0. What would begin before them, or end behind them, is loaded from where they
 * begin or end, and its lanes are moved: a masked load of it takes hundreds of cycles where
 * the next page is not mapped. */
static value load_part_within(struct emit *e, const struct transfer *t, int64_t first, int64_t bytes, unsigned from,
                              unsigned n)
{
    int64_t each = t->a->bytes, at = first + from * each, last = bytes / each * each - n * each;
    int64_t over = at < 0 ? -at : at > last ? last - at : 0;
    value v = element_load_vector(e, t->a, emit_pointer_at(e, t->pointer[0], (uint64_t)(from * each + over)), n);
    int index[WARP_LANES];
    for (int l = 0; l < (int)n; l++) {
        int64_t of = l - over / each;
        index[l] = (int)(of < 0 ? 0 : of < n ? of : n - 1);
    }
    return over ? emit_shuffle(e, v, NULL, index, n) : v;
}

void transfer_load_within(struct emit *e, const struct transfer *t, int64_t first, uint32_t bytes)
{
    unsigned n = e->fn->target->costs->vector_bits / (8 * t->a->bytes);
    value parts[WARP_LANES];
    int index[WARP_LANES];
    for (n = n < WARP_LANES ? n : WARP_LANES; n > 1 && n * t->a->bytes > bytes;)
        n /= 2;
    for (unsigned k = 0; k < WARP_LANES / n; k++)
        parts[k] = load_part_within(e, t, first, bytes, k * n, n);
    for (; n < WARP_LANES; n *= 2)
        for (unsigned k = 0; k < WARP_LANES / n / 2; k++) {
            for (unsigned l = 0; l < 2 * n; l++)
                index[l] = (int)l;
            parts[k] = emit_shuffle(e, parts[2 * k], parts[2 * k + 1], index, 2 * n);
        }
    element_put_lanes(e, t, 0, parts[0]);
}

void transfer_load_consecutive_halves(struct emit *e, const struct transfer *t)
{
    unsigned n = HALF_LANES * t->a->n;
    value low = element_load_vector(e, t->a, half_start(e, t, 0), n);
    value high = element_load_vector(e, t->a, half_start(e, t, HALF_LANES), n);
    for (unsigned k = 0; k < t->a->n; k++) {
        int index[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            index[l] = (int)(l * t->a->n + k);
        element_put_lanes(e, t, k, emit_shuffle(e, low, high, index, WARP_LANES));
    }
}

void transfer_load_uniform_halves(struct emit *e, const struct transfer *t)
{
    value low = half_start(e, t, 0), high = half_start(e, t, HALF_LANES);
    for (unsigned k = 0; k < t->a->n; k++) {
        int index[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            index[l] = (int)(l / HALF_LANES * WARP_LANES);
        value x = emit_splat(e, element_load_vector(e, t->a, emit_pointer_at(e, low, k * t->a->bytes), 1));
        value y = emit_splat(e, element_load_vector(e, t->a, emit_pointer_at(e, high, k * t->a->bytes), 1));
        element_put_lanes(e, t, k, emit_shuffle(e, x, y, index, WARP_LANES));
    }
}

/* Gathers bytes and halves by the aligned words that contain them, which are on the same page. */
static void gather_narrow(struct emit *e, const struct transfer *t)
{
    LLVMTypeRef one = LLVMGetElementType(LLVMTypeOf(t->lanes)), type = vector_of(e->m->i32, WARP_LANES);
    struct transfer words = *t;
    words.lanes = build_and(e, t->lanes, emit_splat(e, LLVMConstInt(one, ~3ull, true)));
    value v = emit_masked_load(e, type, lane_pointers(e, &words, 0), 4, emit_mask_to_lanes(e, t->mask));
    value byte = build_int_cast(e, t->lanes, type, false);
    byte = build_and(e, byte, emit_splat(e, const_i32(e, 3)));
    value shift = build_shl(e, byte, emit_splat(e, const_i32(e, 3)));
    v = build_trunc(e, build_lshr(e, v, shift), vector_of(element_type(e, t->a), WARP_LANES));
    element_put_lanes(e, t, 0, v);
}

void transfer_load_gather(struct emit *e, const struct transfer *t)
{
    if (t->a->bytes < 4) {
        gather_narrow(e, t);
        return;
    }
    for (unsigned k = 0; k < t->a->n; k++) {
        LLVMTypeRef type = vector_of(element_type(e, t->a), WARP_LANES);
        value lanes = emit_mask_to_lanes(e, t->mask);
        element_put_lanes(e, t, k, emit_masked_load(e, type, lane_pointers(e, t, k), t->a->bytes, lanes));
    }
}

/* ---- storing ---- */

/* Do affine offsets show that no two lanes access one place? */
static bool are_apart(const struct access *a)
{
    bool apart = a->pieces == 1;
    for (unsigned l = 0; l < WARP_LANES && apart; l++) {
        apart &= a->offset[l] % a->all == 0;
        for (unsigned m = 0; m < l; m++)
            apart &= a->offset[l] != a->offset[m];
    }
    return apart;
}

/* The order of stores. If all lanes store one value, or are apart, the order is not observable. */
static unsigned order_of(struct emit *e, const struct access *a)
{
    bool one_value = true;
    for (unsigned k = 0; k < a->n; k++)
        one_value &= fn_ref_shape(e->fn, a->i->access->regs[k]) == SHAPE_UNIFORM;
    return one_value || are_apart(a) ? 0 : mem_access_store_order(a->mem);
}

struct transfer transfer_store_in_order(struct emit *e, const struct transfer *t)
{
    struct transfer s = *t;
    s.order = order_of(e, t->a);
    if (!s.order)
        return s;
    s.lanes = element_in_order(e, t->lanes, s.order);
    s.mask = emit_lanes_to_mask(e, element_in_order(e, emit_mask_to_lanes(e, t->mask), s.order));
    return s;
}

/* The elements of lanes from to from + lanes - 1, in their memory layout. */
static value interleave(struct emit *e, const struct transfer *t, unsigned from, unsigned lanes)
{
    int index[WARP_LANES * 8];
    value v = NULL;
    /* First concatenates all elements, then interleaves them. */
    for (unsigned k = 0; k < t->a->n; k++) {
        value one = element_stored_value(e, t, k);
        unsigned before = k * WARP_LANES;
        for (unsigned l = 0; l < before + WARP_LANES; l++)
            index[l] = (int)l;
        if (k && before > WARP_LANES) { /* a shuffle's operands have equal lengths */
            int wider[WARP_LANES * 8];
            for (unsigned l = 0; l < before; l++)
                wider[l] = l < WARP_LANES ? (int)l : -1;
            one = emit_shuffle(e, one, NULL, wider, before);
        }
        v = k ? emit_shuffle(e, v, one, index, before + WARP_LANES) : one;
    }
    for (unsigned l = 0; l < lanes; l++)
        for (unsigned k = 0; k < t->a->n; k++)
            index[l * t->a->n + k] = (int)(k * WARP_LANES + from + l);
    return emit_shuffle(e, v, NULL, index, lanes * t->a->n);
}

/* Of the running lanes, the one that stores last: the lowest of those that store together with the
 * highest. */
static value last_to_store(struct emit *e, const struct transfer *t)
{
    value highest = build_sub(e, const_i32(e, 31), emit_intrinsic(e, "llvm.ctlz", t->mask, const_i1(e, true)));
    value from = build_and(e, highest, const_i32(e, ~mem_access_store_order(t->a->mem)));
    return emit_first_lane(e, build_and(e, t->mask, build_shl(e, const_i32(e, UINT32_MAX), from)));
}

void transfer_store_uniform(struct emit *e, const struct transfer *t)
{
    value lane = last_to_store(e, t), all = LLVMGetPoison(vector_of(element_type(e, t->a), t->a->n));
    bool whole = access_is_whole(t->a->mem);
    for (unsigned k = 0; k < t->a->n; k++) {
        ir_ref r = t->a->i->access->regs[k];
        value v = fn_ref_shape(e->fn, r) == SHAPE_UNIFORM
                      ? build_int_cast(e, reg_read_scalar(e, r), element_type(e, t->a), false)
                      : build_extract(e, element_stored_value(e, t, k), lane);
        if (whole)
            all = build_insert(e, all, v, const_i32(e, k));
        else
            element_store_vector(e, t, v, emit_pointer_at(e, t->pointer[0], k * t->a->bytes));
    }
    if (whole)
        element_store_whole(e, t->a, all, t->pointer[0]);
}

/* The n-th piece of the warp to store: lanes of one piece are apart, lanes of two pieces may not
   be. */
static unsigned piece_to_store(struct emit *e, const struct access *a, unsigned n)
{
    unsigned lanes = WARP_LANES / a->pieces;
    return (n * lanes ^ order_of(e, a)) / lanes;
}

void transfer_store_consecutive(struct emit *e, const struct transfer *t)
{
    if (t->a->pieces == 1) {
        value vectors[8];
        for (unsigned k = 0; k < t->a->n; k++)
            vectors[k] = element_stored_value(e, t, k);
        vector_zip(e, vectors, t->a->n);
        for (unsigned k = 0; k < t->a->n; k++)
            element_store_vector(e, t, vectors[k], emit_pointer_at(e, t->pointer[0], k * WARP_LANES * t->a->bytes));
        return;
    }
    for (unsigned n = 0; n < t->a->pieces; n++) {
        unsigned p = piece_to_store(e, t->a, n);
        element_store_vector(e, t, interleave(e, t, p * (WARP_LANES / t->a->pieces), WARP_LANES / t->a->pieces),
                             t->pointer[p]);
    }
}

static value slice(struct emit *e, value v, unsigned from, unsigned n)
{
    int index[WARP_LANES];
    for (unsigned l = 0; l < n; l++)
        index[l] = (int)(from + l);
    return emit_shuffle(e, v, NULL, index, n);
}

void transfer_store_under_mask(struct emit *e, const struct transfer *t)
{
    value v = element_stored_value(e, t, 0), mask = emit_mask_to_lanes(e, t->mask);
    unsigned n = WARP_LANES / t->a->pieces;
    for (unsigned turn = 0; turn < t->a->pieces; turn++) {
        unsigned p = piece_to_store(e, t->a, turn);
        emit_masked_store(e, slice(e, v, p * n, n), t->pointer[p], t->a->bytes, slice(e, mask, p * n, n));
    }
}

/* Lanes that do not run store the current contents back: no other worker accesses this memory. */
static void store_blended(struct emit *e, const struct transfer *t)
{
    value v = element_stored_value(e, t, 0), mask = emit_mask_to_lanes(e, t->mask);
    unsigned n = WARP_LANES / t->a->pieces;
    for (unsigned turn = 0; turn < t->a->pieces; turn++) {
        unsigned p = piece_to_store(e, t->a, turn);
        value there = element_load_vector(e, t->a, t->pointer[p], n);
        there = build_select(e, slice(e, mask, p * n, n), slice(e, v, p * n, n), there);
        element_store_vector(e, t, there, t->pointer[p]);
    }
}

/* By blending or masks, or, if neither is possible, one lane after the other. */
static void store_some(struct emit *e, const struct transfer *t)
{
    if (t->a->mem->space == SPACE_SHARED && t->a->n == 1) {
        store_blended(e, t);
    } else if (access_is_masked(e->fn, t->a)) {
        transfer_store_under_mask(e, t);
    } else {
        struct transfer lanes = *t;
        lanes.lanes = build_add(e, emit_splat(e, t->first[0]), const_lanes(e, 64, t->a->offset));
        scalarised_transfer(e, &lanes);
    }
}

void transfer_store_masked(struct emit *e, const struct transfer *t)
{
    if (e->fn->target->has_mask_registers) {
        transfer_store_under_mask(e, t);
        return;
    }
    LLVMBasicBlockRef some = emit_if(e, emit_all_run(e, t->mask)), done = emit_new_block(e, "");
    transfer_store_consecutive(e, t);
    build_br(e, done);
    emit_at_end(e, some);
    store_some(e, t);
    emit_go_on(e, done);
}

void transfer_store_consecutive_halves(struct emit *e, const struct transfer *t)
{
    for (unsigned turn = 0; turn < WARP_LANES; turn += HALF_LANES) {
        unsigned lane = (turn ^ order_of(e, t->a)) & HALF_LANES;
        element_store_vector(e, t, interleave(e, t, lane, HALF_LANES), half_start(e, t, lane));
    }
}

void transfer_store_scatter(struct emit *e, const struct transfer *t)
{
    for (unsigned k = 0; k < t->a->n; k++) {
        value pointers = lane_pointers(e, t, k), v = element_stored_value(e, t, k);
        emit_masked_store(e, v, pointers, t->a->bytes, emit_mask_to_lanes(e, t->mask));
    }
}

/* ---- local memory: words of all lanes stand together (mem/local.h) ---- */

static value local_word_pointer(struct emit *e, const struct transfer *t, unsigned byte)
{
    value word = build_and(e, t->first[0], const_i64(e, ~3ull));
    value at = build_mul(e, word, const_i64(e, WARP_LANES));
    at = build_add(e, at, const_i64(e, byte * WARP_LANES));
    return build_gep(e, e->m->i8, e->warp.local, at);
}

static value load_words(struct emit *e, const struct transfer *t, unsigned byte)
{
    return build_load_aligned(e, vector_of(e->m->i32, WARP_LANES), local_word_pointer(e, t, byte), 64);
}

static void store_words(struct emit *e, const struct transfer *t, unsigned byte, value v)
{
    if (!e->here->is_full || t->a->i->guard || (t->a->frame && t->a->frame->n > 1))
        v = emit_blend(e, 32, t->mask, v, load_words(e, t, byte));
    build_store_aligned(e, v, local_word_pointer(e, t, byte), 64);
}

static value local_shift(struct emit *e, const struct transfer *t)
{
    value byte = build_and(e, build_trunc(e, t->first[0], e->m->i32), const_i32(e, 3));
    return emit_splat(e, build_shl(e, byte, const_i32(e, 3)));
}

/* Element k of each lane. */
static value load_local(struct emit *e, const struct transfer *t, unsigned k)
{
    LLVMTypeRef wide = vector_of(e->m->i64, WARP_LANES), type = vector_of(element_type(e, t->a), WARP_LANES);
    value v = load_words(e, t, k * t->a->bytes);
    if (t->a->bytes == 8) {
        value high = build_zext(e, load_words(e, t, k * 8 + 4), wide);
        high = build_shl(e, high, emit_splat(e, const_i64(e, 32)));
        v = build_or(e, build_zext(e, v, wide), high);
    } else if (t->a->bytes < 4) {
        v = build_trunc(e, build_lshr(e, v, local_shift(e, t)), type);
    }
    return v;
}

void transfer_load_local(struct emit *e, const struct transfer *t)
{
    for (unsigned k = 0; k < t->a->n; k++)
        element_put_lanes(e, t, k, load_local(e, t, k));
}

void transfer_store_local(struct emit *e, const struct transfer *t)
{
    LLVMTypeRef words = vector_of(e->m->i32, WARP_LANES);
    for (unsigned k = 0; k < t->a->n; k++) {
        value v = element_stored_value(e, t, k);
        if (t->a->bytes == 8) {
            value high = build_lshr(e, v, emit_splat(e, const_i64(e, 32)));
            store_words(e, t, k * 8 + 4, build_trunc(e, high, words));
            v = build_trunc(e, v, words);
        } else if (t->a->bytes < 4) {
            value shift = local_shift(e, t), ones = emit_splat(e, const_i32(e, (1u << 8 * t->a->bytes) - 1));
            value kept = build_and(e, load_words(e, t, 0), build_not(e, build_shl(e, ones, shift)));
            v = build_or(e, kept, build_shl(e, build_zext(e, v, words), shift));
        }
        store_words(e, t, k * t->a->bytes, v);
    }
}

/* The same access at position p of the frame. */
static struct transfer at_place(struct emit *e, const struct transfer *t, unsigned p)
{
    struct transfer at = *t;
    value frame = build_zext(e, e->warp.frame, e->m->i64);
    at.first[0] = build_add(e, frame, const_i64(e, t->a->frame->at[p]));
    return at;
}

/* The lanes whose address is position p: <32 x i1>. */
static value lanes_at_place(struct emit *e, const struct transfer *t, unsigned p)
{
    const struct frame_access *f = t->a->frame;
    value address =
        build_add(e, build_zext(e, e->warp.frame, e->m->i64), const_i64(e, (uint64_t)f->at[p] - (uint64_t)t->a->disp));
    if (f->window)
        address = build_add(e, address, reg_read_scalar(e, f->window));
    return build_eq(e, reg_read_lanes(e, t->a->i->a), emit_splat(e, address));
}

/* All lanes load all positions, and each lane selects the one that its address leads to. */
static void load_frame(struct emit *e, const struct transfer *t)
{
    const struct frame_access *f = t->a->frame;
    struct transfer at[MAX_FRAME_PLACES];
    value lanes[MAX_FRAME_PLACES] = {NULL};
    for (unsigned p = 0; p < f->n; p++) {
        at[p] = at_place(e, t, p);
        lanes[p] = p ? lanes_at_place(e, t, p) : NULL;
    }
    for (unsigned k = 0; k < t->a->n; k++) {
        value v = load_local(e, &at[0], k);
        for (unsigned p = 1; p < f->n; p++)
            v = build_select(e, lanes[p], load_local(e, &at[p], k), v);
        element_put_lanes(e, t, k, v);
    }
}

void transfer_frame(struct emit *e, const struct transfer *t)
{
    if (t->a->i->kind == IR_LD) {
        load_frame(e, t);
        return;
    }
    for (unsigned p = 0; p < t->a->frame->n; p++) {
        struct transfer at = at_place(e, t, p);
        if (t->a->frame->n > 1)
            at.mask = build_and(e, t->mask, emit_lanes_to_mask(e, lanes_at_place(e, t, p)));
        transfer_store_local(e, &at);
    }
}
