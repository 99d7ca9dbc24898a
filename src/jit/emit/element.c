/* Moves one element of each lane, or all of a lane's elements, between memory and registers; see
   load_store.h. */
#include "jit/emit/load_store.h"

LLVMTypeRef element_type(struct emit *e, const struct access *a)
{
    return type_of_width(e, 8 * a->bytes);
}

value access_pointer(struct emit *e, const struct access *a, value address)
{
    address = build_int_cast(e, address, e->m->i64, false);
    return a->mem->space == SPACE_SHARED ? build_gep(e, e->m->i8, e->f->of.shared, address)
                                         : build_int_to_ptr(e, address, e->m->ptr);
}

static bool goes_one_by_one(const struct emit *e, const struct access *a)
{
    return !e->fn->target->has_whole_elements && access_is_seen(a->mem);
}

static value load_one(struct emit *e, const struct access *a, value pointer)
{
    value v = build_load_aligned(e, element_type(e, a), pointer, a->bytes);
    if (access_is_seen(a->mem))
        LLVMSetOrdering(v, LLVMAtomicOrderingMonotonic);
    return v;
}

static void store_one(struct emit *e, const struct access *a, value v, value pointer)
{
    value store = build_store_aligned(e, v, pointer, a->bytes);
    if (access_is_seen(a->mem))
        LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
}

static value load_one_by_one(struct emit *e, const struct access *a, value pointer, unsigned n)
{
    value v = LLVMGetPoison(vector_of(element_type(e, a), n));
    for (unsigned k = 0; k < n; k++) {
        value one = load_one(e, a, emit_pointer_at(e, pointer, k * a->bytes));
        v = build_insert(e, v, one, const_i32(e, k));
    }
    return v;
}

static void store_one_by_one(struct emit *e, const struct access *a, value v, value pointer, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        value one = build_extract(e, v, const_i32(e, k));
        store_one(e, a, one, emit_pointer_at(e, pointer, k * a->bytes));
    }
}

LLVMTypeRef element_whole_type(struct emit *e, const struct access *a)
{
    return LLVMIntTypeInContext(e->m->context, 8 * a->all);
}

value element_load_whole(struct emit *e, const struct access *a, value pointer)
{
    value v = build_load_aligned(e, element_whole_type(e, a), pointer, a->all);
    LLVMSetOrdering(v, LLVMAtomicOrderingMonotonic);
    return v;
}

void element_store_whole(struct emit *e, const struct access *a, value v, value pointer)
{
    value store = build_store_aligned(e, build_bit_cast(e, v, element_whole_type(e, a)), pointer, a->all);
    LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
}

value element_load_vector(struct emit *e, const struct access *a, value pointer, unsigned n)
{
    if (n == 1)
        return load_one(e, a, pointer);
    if (goes_one_by_one(e, a))
        return load_one_by_one(e, a, pointer, n);
    return build_load_aligned(e, vector_of(element_type(e, a), n), pointer, a->bytes);
}

/* Extends an element, or a vector of elements, to the width of a register. */
static value extend(struct emit *e, const struct access *a, value v, unsigned width)
{
    LLVMTypeRef type = type_of_width(e, width);
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind)
        type = vector_of(type, WARP_LANES);
    return build_int_cast(e, v, type, a->mem->sign);
}

void element_put_lanes(struct emit *e, const struct transfer *t, unsigned k, value v)
{
    ir_ref r = t->a->i->access->regs[k];
    reg_write_lanes(e, r, extend(e, t->a, v, fn_ref_width(e->fn, r)), t->a->i->guard ? t->mask : NULL);
}

void element_put_scalar(struct emit *e, const struct transfer *t, unsigned k, value v)
{
    ir_ref r = t->a->i->access->regs[k];
    v = extend(e, t->a, v, fn_ref_width(e->fn, r));
    if (fn_ref_shape(e->fn, r) == SHAPE_DIVERGENT)
        reg_write_lanes(e, r, emit_splat(e, v), t->a->i->guard ? t->mask : NULL);
    else
        reg_write_scalar(e, r, v); /* not reached if the guard does not hold */
}

value element_in_order(struct emit *e, value lanes, unsigned order)
{
    int index[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        index[l] = (int)(l ^ order);
    return emit_shuffle(e, lanes, NULL, index, WARP_LANES);
}

value element_stored_value(struct emit *e, const struct transfer *t, unsigned k)
{
    value v = reg_read_lanes(e, t->a->i->access->regs[k]);
    return element_in_order(e, build_int_cast(e, v, vector_of(element_type(e, t->a), WARP_LANES), false), t->order);
}

static void mark_nontemporal(struct emit *e, value store)
{
    unsigned kind = LLVMGetMDKindIDInContext(e->m->context, "nontemporal", 11);
    LLVMMetadataRef one = LLVMValueAsMetadata(const_i32(e, 1));
    LLVMSetMetadata(store, kind, LLVMMetadataAsValue(e->m->context, LLVMMDNodeInContext2(e->m->context, &one, 1)));
    LLVMSetAlignment(store, LINE_BYTES);
}

void element_store_vector(struct emit *e, const struct transfer *t, value v, value pointer)
{
    bool is_one = LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVectorTypeKind;
    unsigned n = is_one ? 1 : LLVMGetVectorSize(LLVMTypeOf(v));
    if (is_one)
        store_one(e, t->a, v, pointer);
    else if (goes_one_by_one(e, t->a))
        store_one_by_one(e, t->a, v, pointer, n);
    else {
        value store = build_store_aligned(e, v, pointer, t->a->bytes);
        if (t->nontemporal)
            mark_nontemporal(e, store);
    }
}
