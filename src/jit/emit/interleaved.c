/* Moves the words of an interleave group (access_groups.c) by whole vectors and shuffles; see
 * load_store.h. */
#include "jit/emit/load_store.h"

#include <string.h>

/* Do the elements of its values alternate, and is their number a power of 2? Then zip and unzip
 * suffice. */
static bool is_in_turns(const struct interleave_group *r)
{
    bool so = (r->n & (r->n - 1)) == 0 && r->elements == r->n * WARP_LANES;
    for (unsigned k = 0; k < r->n; k++)
        so &= r->at[k] == k;
    for (unsigned l = 0; l < WARP_LANES; l++)
        so &= r->lane_at[l] == l * r->n;
    return so;
}

/* The number of 32-element vectors that move the group; the last may overlap the previous one. */
static unsigned n_vectors(const struct interleave_group *r)
{
    return (r->elements + WARP_LANES - 1) / WARP_LANES;
}

static unsigned vector_start(const struct interleave_group *r, unsigned k)
{
    unsigned last = r->elements - WARP_LANES;
    return k * WARP_LANES < last ? k * WARP_LANES : last;
}

static value vector_pointer(struct emit *e, const struct transfer *t, const struct interleave_group *r, unsigned k)
{
    int64_t before = t->a->disp + t->a->least - r->from;
    return emit_pointer_at(e, t->pointer[0], (int64_t)vector_start(r, k) * t->a->bytes - before);
}

/* Keeps a loaded value for the group's other members, in an alloca, because shared code of a gang's
 * warps (gang_exit.c) may be between them. */
static void keep_value(struct emit *e, struct interleave_group *r, unsigned k, value v)
{
    e->f->interleaved[r->id].of[e->lanes.place][k] = emit_keep(e, v);
}

/* The kept value. If the group is loaded once for all warps of a gang, all use the first warp's
 * value. */
static value kept_value(struct emit *e, const struct interleave_group *r, unsigned k)
{
    value kept = e->f->interleaved[r->id].of[e->lanes.place][k] ? e->f->interleaved[r->id].of[e->lanes.place][k]
                                                                : e->f->interleaved[r->id].of[0][k];
    return emit_kept(e, kept);
}

static void load_values(struct emit *e, const struct transfer *t, struct interleave_group *r)
{
    value vectors[MAX_VALUES];
    unsigned n = n_vectors(r);
    for (unsigned k = 0; k < n; k++)
        vectors[k] = element_load_vector(e, t->a, vector_pointer(e, t, r, k), WARP_LANES);
    if (is_in_turns(r)) {
        vector_unzip(e, vectors, n);
        for (unsigned k = 0; k < n; k++)
            keep_value(e, r, k, vectors[k]);
        return;
    }
    for (unsigned k = 0; k < r->n; k++) {
        int index[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++) {
            unsigned at = r->at[k] + r->lane_at[l], number = at / WARP_LANES;
            index[l] = (int)(number * WARP_LANES + at - vector_start(r, number));
        }
        keep_value(e, r, k, vector_collect(e, vectors, n, index));
    }
}

/* For vector k: the source of each element, numbered through the values and their lanes; negative
 * in gaps. */
static void find_sources(const struct interleave_group *r, unsigned k, int index[WARP_LANES])
{
    memset(index, 0xff, WARP_LANES * sizeof *index);
    for (unsigned v = 0; v < r->n; v++)
        for (unsigned l = 0; l < WARP_LANES; l++) {
            unsigned at = r->at[v] + r->lane_at[l] - vector_start(r, k);
            if (at < WARP_LANES)
                index[at] = (int)(v * WARP_LANES + l);
        }
}

/* Is the whole vector a gap? */
static bool is_gap(const int index[WARP_LANES])
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (index[l] >= 0)
            return false;
    return true;
}

/* The elements of a vector to store, if all lanes run or only some; NULL: all. */
static value stored_elements(struct emit *e, const struct transfer *t, const int index[WARP_LANES], bool all_run)
{
    value none = LLVMConstNull(vector_of(e->m->i1, WARP_LANES)), constant[WARP_LANES];
    int lanes[WARP_LANES];
    bool all = all_run;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        lanes[l] = index[l] < 0 ? WARP_LANES : index[l] % WARP_LANES;
        constant[l] = LLVMConstInt(e->m->i1, index[l] >= 0, false);
        all &= index[l] >= 0;
    }
    if (all)
        return NULL;
    return all_run ? LLVMConstVector(constant, WARP_LANES)
                   : emit_shuffle(e, emit_mask_to_lanes(e, t->mask), none, lanes, WARP_LANES);
}

static void store_elements(struct emit *e, const struct transfer *t, value v, value pointer, value elements)
{
    if (elements && t->a->mem->space == SPACE_SHARED) {
        v = build_select(e, elements, v, element_load_vector(e, t->a, pointer, WARP_LANES));
        elements = NULL;
    }
    if (elements)
        emit_masked_store(e, v, pointer, t->a->bytes, elements);
    else
        element_store_vector(e, t, v, pointer);
}

static void store_vectors(struct emit *e, const struct transfer *t, struct interleave_group *r, bool all_run)
{
    value vectors[MAX_VALUES], *values = e->f->interleaved[r->id].of[e->lanes.place];
    memcpy(vectors, values, r->n * sizeof *vectors);
    if (is_in_turns(r))
        vector_zip(e, vectors, r->n);
    for (unsigned k = 0; k < n_vectors(r); k++) {
        int index[WARP_LANES];
        find_sources(r, k, index);
        if (is_gap(index))
            continue;
        value v = is_in_turns(r) ? vectors[k] : vector_collect(e, values, r->n, index);
        store_elements(e, t, v, vector_pointer(e, t, r, k), stored_elements(e, t, index, all_run));
    }
}

static void store_values(struct emit *e, const struct transfer *t, struct interleave_group *r)
{
    if (e->here->is_full || e->fn->target->has_mask_registers) {
        store_vectors(e, t, r, e->here->is_full);
        return;
    }
    LLVMBasicBlockRef some = emit_if(e, emit_all_run(e, t->mask)), done = emit_new_block(e, "");
    store_vectors(e, t, r, true);
    build_br(e, done);
    emit_at_end(e, some);
    store_vectors(e, t, r, false);
    emit_go_on(e, done);
}

void transfer_interleaved(struct emit *e, const struct transfer *t)
{
    struct interleave_group *r = e->here->check_groups[e->here->index].interleaved;
    unsigned number = e->here->check_groups[e->here->index].number;
    bool loads = t->a->i->kind == IR_LD;
    if (loads && e->here->index == r->first)
        load_values(e, t, r);
    for (unsigned k = 0; k < t->a->n; k++)
        if (loads)
            element_put_lanes(e, t, k, kept_value(e, r, number + k));
        else
            e->f->interleaved[r->id].of[e->lanes.place][number + k] = element_stored_value(e, t, k);
    if (!loads && e->here->index == r->last)
        store_values(e, t, r);
}
