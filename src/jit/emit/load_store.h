/* One load or store on its way to LLVM: load_store.c and bounds_check.c find and test addresses,
 * transfer.c and its like move the bytes.
 */
#ifndef HEDDLE_JIT_LOAD_STORE_H
#define HEDDLE_JIT_LOAD_STORE_H

#include "jit/analysis/access.h"
#include "jit/emit/emit.h"

/* An access as it is emitted: what is known of it, and its values. */
struct transfer {
    const struct access *a;
    struct tested_bytes tested;
    value mask;
    value first[MAX_PIECES];   /* address of the lane that comes first: i64 */
    value pointer[MAX_PIECES]; /* on the host, of `first` */
    value lanes;      /* addresses of all where they are divergent: <32 x i64>, or <32 x i32> for shared memory */
    unsigned order;   /* the l-th of `lanes` and `mask` is lane l ^ order: transfer_store_in_order() */
    bool nontemporal; /* whole lines, past the caches: nontemporal.c */
    value cache;
};

/* ---- bounds_check.c ---- */

/* Skips the instruction if no lane's guard holds: code goes on in a new block for the other case.
 * Returns the block behind the instruction, which the caller has to branch to; NULL without a
 * guard. */
LLVMBasicBlockRef access_skip_if_none(struct emit *e, const struct ir_insn *i, value mask);
/* Computes t->first, of addresses that are not divergent. */
void access_find_first(struct emit *e, struct transfer *t);
/* Is the whole piece inside, and aligned? An i1. */
value access_test_piece(struct emit *e, struct transfer *t, unsigned piece);
/* Branches to `inside` if the bytes of all lanes are inside and aligned. */
void access_branch_on_first(struct emit *e, struct transfer *t, LLVMBasicBlockRef inside, LLVMBasicBlockRef outside);
/* The same for divergent addresses: computes t->lanes, and code goes on where they are inside. */
void access_branch_on_lanes(struct emit *e, struct transfer *t, LLVMBasicBlockRef outside);
/* Computes t->pointer from t->first. */
void access_set_pointers(struct emit *e, struct transfer *t);
/* Of global memory: are an element's bytes at an address inside? An i1; *place is the number of its
 * place, *places how many there are. */
value access_test_place(struct emit *e, struct transfer *t, value address, value *place, value *places);
/* The displacement that is added to the address's register. */
value access_displacement(struct emit *e, const struct access *a, LLVMTypeRef type);
/* Before and after a call of the engine: spill its operands, reload its results. */
void access_spill_operands(struct emit *e, const struct ir_insn *i);
void access_take_results(struct emit *e, const struct ir_insn *i, value mask);
/* Emits the engine's way for what the test does not pass, as the mode has it; the call itself. */
void access_by_engine(struct emit *e, const struct transfer *t);
void access_call_engine(struct emit *e, const struct transfer *t);
/* Ends an access: goes to `done`, where code goes on, from here, and by the engine's way from
 * `slow`, if there is that. */
void access_end(struct emit *e, const struct transfer *t, LLVMBasicBlockRef slow, LLVMBasicBlockRef done);
value access_find_place(struct emit *e, const struct access *a, value address, value lo); /* inside if less than n */

/* ---- inline_cache.c ---- */

/* Finds a->cache, for a test of a->span; loads what it holds. */
void access_find_cache(struct emit *e, struct transfer *t);
void access_load_cache(struct emit *e, struct transfer *t, value *lo, value *n);
value access_load_cache_shift(struct emit *e,
                              const struct transfer *t); /* of what access_branch_on_lanes() has tested */
/* Two users of caches get their spans only when the function has ended: the engine's call that
 * fills a cache, and the table of the accesses of a loop's iteration, by instruction of the
 * function. */
void inline_cache_note_call(struct emit *e, const struct ir_insn *i, value call);
value inline_cache_table(struct emit *e, const uint32_t *insns, uint32_t n, uint32_t first);

/* ---- indexed_gather.c ---- */

/* The largest index whose bytes are inside, if those of index 0 are (access_test_place); an i32
 * that is not negative. */
value transfer_index_largest(struct emit *e, const struct access *a, const struct index *x, value place, value places);
/* Loads `table[index]`. False where the address is not a base plus an index in each lane, or the
 * CPU cannot gather. */
bool transfer_load_indexed(struct emit *e, struct transfer *t);

/* ---- interleaved.c, vector.c ---- */

/* Loads or stores a member of an interleave group, all of whose bytes are known to be there. */
void transfer_interleaved(struct emit *e, const struct transfer *t);
/* Transposes n vectors of 32 lanes, each of which has one element of every lane, to n in which a
 * lane's elements stand together; and back. n is a power of 2. */
void vector_zip(struct emit *e, value *v, unsigned n);
void vector_unzip(struct emit *e, value *v, unsigned n);
/* A vector of elements of several others: index[l] counts through all of them; negative: any
 * element will do. */
value vector_collect(struct emit *e, const value *from, unsigned n, const int index[WARP_LANES]);

/* ---- streaming_store.c ---- */

/* A store that qualifies: tests at run time whether it is non-temporal, and stores so, or plainly. */
void transfer_store_nontemporal(struct emit *e, const struct transfer *t,
                                void (*plainly)(struct emit *e, const struct transfer *t));

/* ---- scalarised.c ---- */

/* The rows of e->f->scratch: addresses of lanes (t->lanes), operands, results. */
enum scratch_row { ROW_ADDRESS, ROW_S, ROW_T, ROW_RESULT };
void scratch_set(struct emit *e, enum scratch_row row, value lanes);
value scratch_results(struct emit *e, LLVMTypeRef type);
/* A pointer to a lane's element in a row; the host's pointer for a lane's address in ROW_ADDRESS. */
value scratch_element(struct emit *e, enum scratch_row row, LLVMTypeRef type, value lane);
value scratch_lane_pointer(struct emit *e, const struct transfer *t, value lane);
/* The address of a known lane, by a load that LLVM leaves as it is: extracting all lanes from
 * vectors takes half as long again. */
value scratch_address(struct emit *e, LLVMTypeRef type, unsigned lane);
/* A loop over the lanes of a mask that is not 0: code between begin and end runs for each t.lane,
 * an i64. Then goes to `done`. */
struct lane_loop {
    LLVMBasicBlockRef before, loop;
    value left, lane;
};
struct lane_loop lane_loop_begin(struct emit *e);
void lane_loop_end(struct emit *e, const struct lane_loop *t, value mask, LLVMBasicBlockRef done);
/* For CPUs whose gathers wait (targets.def): independent loads of all lanes. scalarised_load_lane:
 * of one lane, to v, by element; scalarised_gather: of all lanes at tested addresses, where a lane
 * that does not run reads the warp's record. */
void scalarised_load_lane(struct emit *e, const struct transfer *t, unsigned lane, value pointer, value v[8]);
void scalarised_gather(struct emit *e, const struct transfer *t);
/* Moves the elements of all lanes at tested addresses, one lane after the other. */
void scalarised_transfer(struct emit *e, const struct transfer *t);

/* ---- copy.c ---- */

/* Is the present instruction the load, or the store, of a copy whose bytes stay as they stand in
 * memory? Then e->copied has them in between: by the load, of lanes that are consecutive or
 * anywhere, or by registers, where the engine has loaded. */
bool copy_is_whole(const struct emit *e);
void copy_load_consecutive(struct emit *e, const struct transfer *t);
void copy_load_lanes(struct emit *e, const struct transfer *t);
void copy_take_registers(struct emit *e, const struct transfer *t);
void copy_store(struct emit *e, const struct transfer *t);

/* ---- transfer.c, prefetch.c, element.c: with all bytes known to be there ---- */

/* Prefetches: in a loop what a later iteration will load, if addresses go on as from the iteration
 * before to this one; elsewhere what the next warps will load or store. */
void emit_prefetch(struct emit *e, const struct transfer *t);
/* Prefetches the line at an address, if there is memory, into a cache (the locality of
 * llvm.prefetch). For others that is the second: on Zen 4 a load that misses waits for prefetches
 * into the first, and a sum over memory took 1.6 times as long (bench/peers, `reduce`); elsewhere
 * that makes no difference. */
enum { SECOND_CACHE = 2, FIRST_CACHE = 3 };
void emit_prefetch_line(struct emit *e, value address, bool writes, unsigned cache);
/* All lanes at one address, at t->pointer[0]. */
void transfer_load_uniform(struct emit *e, const struct transfer *t);
void transfer_store_uniform(struct emit *e, const struct transfer *t);
/* Lanes at affine addresses. */
void transfer_load_affine(struct emit *e, const struct transfer *t);
void transfer_load_masked(struct emit *e, const struct transfer *t); /* consecutive, those of the mask alone */
void transfer_store_consecutive(struct emit *e, const struct transfer *t);
/* Stores of the lanes of the mask. Where the bytes of all lanes are there; where those of the mask
 * are, and others may not be. */
void transfer_store_masked(struct emit *e, const struct transfer *t);
void transfer_store_under_mask(struct emit *e, const struct transfer *t);
/* Are each so many lanes `step_bytes` apart? An i1. And the transfers of halves at consecutive
 * places, and at one address (step 0). */
value transfer_test_runs(struct emit *e, const struct transfer *t, unsigned lanes, unsigned step_bytes);
void transfer_load_uniform_halves(struct emit *e, const struct transfer *t);
void transfer_load_consecutive_halves(struct emit *e, const struct transfer *t);
void transfer_store_consecutive_halves(struct emit *e, const struct transfer *t);
/* The same access with its lanes in the order in which they store; unchanged where the order makes
 * no difference. */
struct transfer transfer_store_in_order(struct emit *e, const struct transfer *t);
/* Each lane at an address of its own. */
void transfer_load_gather(struct emit *e, const struct transfer *t);
void transfer_store_scatter(struct emit *e, const struct transfer *t);
/* All lanes at one address of local memory, t->first[0]. */
void transfer_load_local(struct emit *e, const struct transfer *t);
void transfer_store_local(struct emit *e, const struct transfer *t);
/* An access to one of the places of a->frame. */
void transfer_frame(struct emit *e, const struct transfer *t);
/* Element k of the values that the lanes store, in the lanes' order. */
value element_stored_value(struct emit *e, const struct transfer *t, unsigned k);
void element_store_vector(struct emit *e, const struct transfer *t, value v, value pointer);
value element_load_vector(struct emit *e, const struct access *a, value pointer, unsigned n);
/* All elements of a lane as one number. */
LLVMTypeRef element_whole_type(struct emit *e, const struct access *a);
value element_load_whole(struct emit *e, const struct access *a, value pointer);
void element_store_whole(struct emit *e, const struct access *a, value v, value pointer);
/* Lanes that stand in the order l ^ order, back in their own. */
value element_in_order(struct emit *e, value lanes, unsigned order);
LLVMTypeRef element_type(struct emit *e, const struct access *a);
/* The host's pointer for an address. */
value access_pointer(struct emit *e, const struct access *a, value address);
void element_put_lanes(struct emit *e, const struct transfer *t, unsigned k, value v);
void element_put_scalar(struct emit *e, const struct transfer *t, unsigned k, value v);

#endif
