/* One load or store on its way to LLVM: what load_store.c, which finds and tests addresses, and transfer.c, which moves the
 * bytes, share.
 */
#ifndef HEDDLE_JIT_LOAD_STORE_H
#define HEDDLE_JIT_LOAD_STORE_H

#include "jit/analysis/access.h"
#include "jit/emit/emit.h"

/* ---- bounds_check.c ---- */

/* Where no lane's guard holds, nothing is to be done: goes on in a new block where some does; returns the block after
 * it, to be gone to, or NULL without a guard. */
LLVMBasicBlockRef access_skip_if_none(struct emit *e, const struct ir_insn *i, value mask);
/* a->first, of addresses that are not divergent. */
void access_find_first(struct emit *e, struct access *a);
/* Is all of a piece inside, and aligned? An i1. */
value access_test_piece(struct emit *e, struct access *a, unsigned piece, enum ptx_space space);
/* Goes to `inside` where the bytes of all lanes are inside, and aligned. */
void access_branch_on_first(struct emit *e, struct access *a, enum ptx_space space, LLVMBasicBlockRef inside,
                            LLVMBasicBlockRef outside);
/* The same for divergent addresses, which go to a->lanes; goes on where they are inside. */
void access_branch_on_lanes(struct emit *e, struct access *a, enum ptx_space space, LLVMBasicBlockRef outside);
/* a->pointer, of a->first. */
void access_set_pointers(struct emit *e, struct access *a, enum ptx_space space);
/* Of global memory: are an element's bytes at an address inside? The number of its place there, and how many there are. */
value access_test_place(struct emit *e, struct access *a, value address, value *place, value *places);
/* What is added to the address's register. */
value access_displacement(struct emit *e, const struct access *a, LLVMTypeRef type);
/* Operands of the engine to their rows, and its results back. */
void access_spill_operands(struct emit *e, const struct ir_insn *i);
void access_take_results(struct emit *e, const struct ir_insn *i, value mask);
/* What the test does not pass; the call itself. */
void access_by_engine(struct emit *e, const struct access *a);
void access_call_engine(struct emit *e, const struct access *a);
value access_find_place(struct emit *e, const struct access *a, value address, value lo); /* inside if less than n */

/* ---- inline_cache.c ---- */

/* Where this access was last: a->cache, for a test of a->span; and what stands there. */
void access_find_cache(struct emit *e, struct access *a);
void access_load_cache(struct emit *e, struct access *a, value *lo, value *n);
value access_load_cache_shift(struct emit *e, const struct access *a); /* of what access_branch_on_lanes() has tested */
/* The engine's call for an access that notes where it was, and the table of those of a loop's iteration, by instruction of the
 * function: both have their spans when the function has ended. */
void inline_cache_note_call(struct emit *e, const struct ir_insn *i, value call);
value inline_cache_table(struct emit *e, const uint32_t *insns, uint32_t n, uint32_t first);

/* ---- indexed_gather.c ---- */

/* The largest index whose bytes are inside, where those of index 0 are (access_test_place); an i32 that is not negative. */
value transfer_index_largest(struct emit *e, const struct access *a, const struct index *x, value place, value places);
/* False where the address is not a base and an index in each lane, or the CPU cannot gather. */
bool transfer_load_indexed(struct emit *e, struct access *a);

/* ---- interleaved.c, vector.c ---- */

/* Of a member of an interleave group, with all bytes known to be there. */
void transfer_interleaved(struct emit *e, const struct access *a);
/* n vectors of 32 lanes, of which each has an element of every lane, to n in which a lane's stand together, and back; n: a
 * power of 2. */
void vector_zip(struct emit *e, value *v, unsigned n);
void vector_unzip(struct emit *e, value *v, unsigned n);
/* Elements of several vectors: index[l] counts through all of them; negative: any. */
value vector_collect(struct emit *e, const value *from, unsigned n, const int index[WARP_LANES]);

/* ---- streaming_store.c ---- */

/* Of such a one: stores so, or plainly. */
void transfer_store_nontemporal(struct emit *e, const struct access *a,
                                void (*plainly)(struct emit *e, const struct access *a));

/* ---- scalarised.c ---- */

/* Rows of e->scratch: addresses of lanes, a->lanes; operands; results. */
enum scratch_row { ROW_ADDRESS, ROW_S, ROW_T, ROW_RESULT };
void scratch_set(struct emit *e, enum scratch_row row, value lanes);
value scratch_get(struct emit *e, enum scratch_row row, LLVMTypeRef type);
/* Where a lane's element of a row stands; on the host, where a lane's address in ROW_ADDRESS is. */
value scratch_element(struct emit *e, enum scratch_row row, LLVMTypeRef type, value lane);
value scratch_lane_pointer(struct emit *e, const struct access *a, value lane);
/* The element of a known lane, by a load that LLVM leaves as it is: out of vectors those of all lanes take half as long again. */
value scratch_number(struct emit *e, enum scratch_row row, LLVMTypeRef type, unsigned lane);
/* A loop over the lanes of a mask that is not 0: code between begin and end is for t.lane, an i64. Goes to `done`. */
struct lane_loop {
    LLVMBasicBlockRef before, loop;
    value left, lane;
};
struct lane_loop lane_loop_begin(struct emit *e);
void lane_loop_end(struct emit *e, const struct lane_loop *t, value mask, LLVMBasicBlockRef done);
/* Where gathers wait (targets.def): loads of all lanes beside each other. Of one lane, in their order, to v, by element; of all at
 * tested addresses, where a lane that does not run reads the warp's record. */
void scalarised_load_lane(struct emit *e, const struct access *a, unsigned lane, value pointer, value v[8]);
void scalarised_gather(struct emit *e, const struct access *a);
/* All lanes at addresses of their own, tested. */
void scalarised_transfer(struct emit *e, const struct access *a);

/* ---- transfer.c: with all bytes known to be there ---- */

/* Asks for what will be wanted soon: in a loop what a later iteration will load, if it goes on as from the iteration before to this
 * one; elsewhere what the next warps will load or store. */
void emit_prefetch(struct emit *e, const struct access *a);
/* The line of the host's memory there, if there is one, is to come into a cache (the locality of llvm.prefetch). What others want
 * soon comes into the second: on Zen 4 a load that misses waits for what has been asked for into the first, and a sum over
 * memory took 1.6 times as long (bench/peers, `reduce`); elsewhere that makes no difference. */
enum { SECOND_CACHE = 2, FIRST_CACHE = 3 };
void emit_prefetch_line(struct emit *e, value address, bool writes, unsigned cache);
/* All lanes at one address, at a->pointer[0]. */
void transfer_load_uniform(struct emit *e, const struct access *a);
void transfer_store_uniform(struct emit *e, const struct access *a);
/* Lanes at affine addresses. */
void transfer_load_affine(struct emit *e, const struct access *a);
void transfer_load_masked(struct emit *e, const struct access *a); /* consecutive, those of the mask alone */
void transfer_store_consecutive(struct emit *e, const struct access *a);
void transfer_store_masked(struct emit *e, const struct access *a);
/* The lanes of each half of the warp one behind the other: whether that is so, as an i1, for lanes `step_bytes` apart; and the
 * transfers, of consecutive lanes and of one address (step 0). */
value transfer_test_halves(struct emit *e, const struct access *a, unsigned step_bytes);
void transfer_load_uniform_halves(struct emit *e, const struct access *a, enum ptx_space space);
void transfer_load_consecutive_halves(struct emit *e, const struct access *a, enum ptx_space space);
void transfer_store_consecutive_halves(struct emit *e, const struct access *a, enum ptx_space space);
/* The same access with its lanes in the order in which they store; as it is, where that cannot be seen. */
struct access transfer_store_in_order(struct emit *e, const struct access *a);
/* Every lane for itself. */
void transfer_load_gather(struct emit *e, const struct access *a, enum ptx_space space);
void transfer_store_scatter(struct emit *e, const struct access *a, enum ptx_space space);
/* All lanes at one address of local memory, a->first[0]. */
void transfer_load_local(struct emit *e, const struct access *a);
void transfer_store_local(struct emit *e, const struct access *a);
value emit_pointer_at(struct emit *e, value pointer, int64_t offset);
/* A vector of 32, of two; a negative index: any. */
value emit_shuffle_lanes(struct emit *e, value x, value y, const int *index);
/* Element k of what the lanes store, in their order. */
value element_stored_value(struct emit *e, const struct access *a, unsigned k);
void element_store_vector(struct emit *e, const struct access *a, value v, value pointer);
value element_load_vector(struct emit *e, const struct access *a, value pointer, unsigned n);
/* All that a lane has at once, as one number. */
LLVMTypeRef element_whole_type(struct emit *e, const struct access *a);
value element_load_whole(struct emit *e, const struct access *a, value pointer);
void element_store_whole(struct emit *e, const struct access *a, value v, value pointer);
/* Lanes whose order is another's, l ^ order, in their own. */
value element_in_order(struct emit *e, value lanes, unsigned order);
LLVMTypeRef element_type(struct emit *e, const struct access *a);
void element_put_lanes(struct emit *e, const struct access *a, unsigned k, value v);
void element_put_scalar(struct emit *e, const struct access *a, unsigned k, value v);

#endif
