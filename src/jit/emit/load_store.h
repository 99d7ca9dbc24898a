/* Emitting one load or store: load_store.c and bounds_check.c find and test its addresses,
 * transfer.c and its neighbours move the bytes. */
#ifndef HEDDLE_JIT_LOAD_STORE_H
#define HEDDLE_JIT_LOAD_STORE_H

#include "jit/analysis/access.h"
#include "jit/emit/emit.h"

/* An access while its code is emitted: its facts and its LLVM values. */
struct transfer {
    const struct access *a;
    struct tested_bytes tested;
    value mask;
    value first[MAX_PIECES];   /* by piece: the lowest lane's address, i64 */
    value pointer[MAX_PIECES]; /* the host's pointer for `first` */
    /* All lanes' addresses if they are divergent: <32 x i64>, or <32 x i32> for shared memory. */
    value lanes;
    /* Element l of `lanes` and `mask` belongs to lane l ^ order: transfer_store_in_order(). */
    unsigned order;
    bool nontemporal; /* whole cache lines, past the caches: nontemporal.c */
    value cache;
};

/* ---- bounds_check.c ---- */

/* Skips the instruction if no lane's guard holds: code continues in a new block for the other
 * case. Returns the block after the instruction, to which the caller must branch; NULL without a
 * guard. */
LLVMBasicBlockRef access_skip_if_none(struct emit *e, const struct ir_insn *i, value mask);
/* Computes t->first, for uniform or affine addresses. */
void access_find_first(struct emit *e, struct transfer *t);
/* Is the whole piece in bounds and aligned? An i1. */
value access_test_piece(struct emit *e, struct transfer *t, unsigned piece);
/* Branches to `inside` if the bytes of all lanes are in bounds and aligned. */
void access_branch_on_first(struct emit *e, struct transfer *t, LLVMBasicBlockRef inside, LLVMBasicBlockRef outside);
/* The same for divergent addresses: computes t->lanes; code continues where they are in bounds. */
void access_branch_on_lanes(struct emit *e, struct transfer *t, LLVMBasicBlockRef outside);
/* Computes t->pointer from t->first. */
void access_set_pointers(struct emit *e, struct transfer *t);
/* For global memory: are an element's bytes at an address in bounds? An i1. *place is the number
 * of its place, *places the number of places. */
value access_test_place(struct emit *e, struct transfer *t, value address, value *place, value *places);
/* The displacement to add to the address's register. */
value access_displacement(struct emit *e, const struct access *a, LLVMTypeRef type);
/* Before and after a call of the engine: spill the access's operands, reload its results. */
void access_spill_operands(struct emit *e, const struct ir_insn *i);
void access_take_results(struct emit *e, const struct ir_insn *i, value mask);
/* Emits the mode's call of the engine for lanes that fail the test; the call itself. */
void access_by_engine(struct emit *e, const struct transfer *t);
void access_call_engine(struct emit *e, const struct transfer *t);
/* Ends an access: goes to `done`, where code continues, from here and from the engine's path at
 * `slow` (or NULL). */
void access_end(struct emit *e, const struct transfer *t, LLVMBasicBlockRef slow, LLVMBasicBlockRef done);
/* in bounds if less than n */
value access_find_place(struct emit *e, const struct access *a, value address, value lo);

/* ---- inline_cache.c ---- */

/* Finds a->cache, for a test of a->span; loads the cache's contents. */
void access_find_cache(struct emit *e, struct transfer *t);
void access_load_cache(struct emit *e, struct transfer *t, value *lo, value *n);
value access_load_cache_shift(struct emit *e,
                              /* of the addresses that access_branch_on_lanes() has tested */
                              const struct transfer *t);
/* A cache of the instruction's own that no access uses: as a worker keeps it from block to block,
 * prefetch.c notes there where blocks access memory. */
value inline_cache_for_claims(struct emit *e, const struct ir_insn *i);
/* Two users of caches get the caches' spans only at the end of the function: the call of the
 * engine that fills a cache, and the table of the accesses of a loop's iteration, by instruction
 * of the function. */
void inline_cache_note_call(struct emit *e, const struct ir_insn *i, value call);
value inline_cache_table(struct emit *e, const uint32_t *insns, uint32_t n, uint32_t first);

/* ---- indexed_gather.c ---- */

/* The largest index whose bytes are in bounds, if those of index 0 are (access_test_place); an
 * i32 that is not negative. */
value transfer_index_largest(struct emit *e, const struct access *a, const struct index *x, value place, value places);
/* Loads `table[index]`. False if the address is not a base plus an index of each lane, or the
 * CPU cannot gather. */
bool transfer_load_indexed(struct emit *e, struct transfer *t);

/* ---- interleaved.c, vector.c ---- */

/* Loads or stores a member of an interleave group. All its bytes are known to be in bounds. */
void transfer_interleaved(struct emit *e, const struct transfer *t);
/* Transposes n vectors of 32 lanes, each with one element of every lane, to n vectors in which a
 * lane's elements are adjacent; and back. n is a power of 2. */
void vector_zip(struct emit *e, value *v, unsigned n);
void vector_unzip(struct emit *e, value *v, unsigned n);
/* A vector of elements of several others: index[l] counts through all of them; negative: any
 * element. */
value vector_collect(struct emit *e, const value *from, unsigned n, const int index[WARP_LANES]);

/* ---- streaming_store.c ---- */

/* A candidate store: tests at run time whether it is non-temporal, and stores accordingly. */
void transfer_store_nontemporal(struct emit *e, const struct transfer *t,
                                void (*plainly)(struct emit *e, const struct transfer *t));

/* ---- scalarised.c ---- */

/* The rows of e->f->scratch: lanes' addresses (t->lanes), operands, results. */
enum scratch_row { ROW_ADDRESS, ROW_S, ROW_T, ROW_RESULT };
void scratch_set(struct emit *e, enum scratch_row row, value lanes);
value scratch_results(struct emit *e, LLVMTypeRef type);
/* A pointer to a lane's element in a row; the host's pointer for the address in a lane's
 * ROW_ADDRESS. */
value scratch_element(struct emit *e, enum scratch_row row, LLVMTypeRef type, value lane);
value scratch_lane_pointer(struct emit *e, const struct transfer *t, value lane);
/* The address of a known lane, by a load that LLVM does not turn into an extraction: extracting
 * all lanes from vectors takes 1.5 times as long. */
value scratch_address(struct emit *e, LLVMTypeRef type, unsigned lane);
/* A loop over the lanes of a mask that is not 0: code between begin and end runs for each
 * t.lane, an i64. Then it goes to `done`. */
struct lane_loop {
    LLVMBasicBlockRef before, loop;
    value left, lane;
};
struct lane_loop lane_loop_begin(struct emit *e);
void lane_loop_end(struct emit *e, const struct lane_loop *t, value mask, LLVMBasicBlockRef done);
/* For CPUs with slow gathers (targets.def): independent loads of all lanes.
 * scalarised_load_lane: of one lane, into v, by element. scalarised_gather: of all lanes at
 * tested addresses; a lane that does not run reads the warp's record. */
void scalarised_load_lane(struct emit *e, const struct transfer *t, unsigned lane, value pointer, value v[8]);
void scalarised_gather(struct emit *e, const struct transfer *t);
/* Moves the elements of all lanes at tested addresses, lane by lane. */
void scalarised_transfer(struct emit *e, const struct transfer *t);

/* ---- copy.c ---- */

/* Is the current instruction the load or the store of a copy whose bytes keep their layout in
 * memory? Then e->copied has the data in between. The load fills it from consecutive lanes, from
 * any lanes, or from registers where the engine has loaded. */
bool copy_is_whole(const struct emit *e);
void copy_load_consecutive(struct emit *e, const struct transfer *t);
void copy_load_lanes(struct emit *e, const struct transfer *t);
void copy_take_registers(struct emit *e, const struct transfer *t);
void copy_store(struct emit *e, const struct transfer *t);

/* ---- transfer.c, prefetch.c, element.c: all bytes are known to be in bounds ---- */

/* Prefetches. In a loop: what a later iteration will load, if addresses continue as from the
 * previous iteration to this one. Elsewhere: what the next warps will load or store. */
void emit_prefetch(struct emit *e, const struct transfer *t);
/* Prefetches the line at an address into a cache (the locality of llvm.prefetch), if memory is
 * mapped there. Data of later iterations goes to the second cache: on Zen 4 a load that misses
 * waits for prefetches into the first one, and a sum over memory took 1.6 times as long
 * (bench/peers, `reduce`). On other CPUs it makes no difference. */
enum { SECOND_CACHE = 2, FIRST_CACHE = 3 };
void emit_prefetch_line(struct emit *e, value address, bool writes, unsigned cache);
/* All lanes at one address: t->pointer[0]. */
void transfer_load_uniform(struct emit *e, const struct transfer *t);
void transfer_store_uniform(struct emit *e, const struct transfer *t);
/* Lanes at affine addresses. */
void transfer_load_affine(struct emit *e, const struct transfer *t);
/* Lanes at consecutive addresses, lane 0 at `first` bytes from the start of memory of which the
 * lanes that run are in the first `bytes`. */
void transfer_load_within(struct emit *e, const struct transfer *t, int64_t first, uint32_t bytes);
void transfer_store_consecutive(struct emit *e, const struct transfer *t);
/* Stores of the lanes of the mask: if the bytes of all lanes are in bounds; if only those of the
 * mask are. */
void transfer_store_masked(struct emit *e, const struct transfer *t);
void transfer_store_under_mask(struct emit *e, const struct transfer *t);
/* Are lanes `step_bytes` apart in each group of `lanes` lanes? An i1. And the transfers of
 * halves at consecutive addresses, and at one address (step 0). */
value transfer_test_runs(struct emit *e, const struct transfer *t, unsigned lanes, unsigned step_bytes);
void transfer_load_uniform_halves(struct emit *e, const struct transfer *t);
void transfer_load_consecutive_halves(struct emit *e, const struct transfer *t);
void transfer_store_consecutive_halves(struct emit *e, const struct transfer *t);
/* The same access with its lanes in the order in which they store; unchanged if the order makes
 * no difference. */
struct transfer transfer_store_in_order(struct emit *e, const struct transfer *t);
/* Each lane at its own address. */
void transfer_load_gather(struct emit *e, const struct transfer *t);
void transfer_store_scatter(struct emit *e, const struct transfer *t);
/* All lanes at one address of local memory: t->first[0]. */
void transfer_load_local(struct emit *e, const struct transfer *t);
void transfer_store_local(struct emit *e, const struct transfer *t);
/* An access to one of the places of a->frame. */
void transfer_frame(struct emit *e, const struct transfer *t);
/* Element k of the lanes' values to store, in the lanes' order. */
value element_stored_value(struct emit *e, const struct transfer *t, unsigned k);
void element_store_vector(struct emit *e, const struct transfer *t, value v, value pointer);
value element_load_vector(struct emit *e, const struct access *a, value pointer, unsigned n);
/* The type of one integer that contains all elements of a lane. */
LLVMTypeRef element_whole_type(struct emit *e, const struct access *a);
value element_load_whole(struct emit *e, const struct access *a, value pointer);
void element_store_whole(struct emit *e, const struct access *a, value v, value pointer);
/* Puts lanes in the order l ^ order back into lane order. */
value element_in_order(struct emit *e, value lanes, unsigned order);
LLVMTypeRef element_type(struct emit *e, const struct access *a);
/* The host's pointer for an address. */
value access_pointer(struct emit *e, const struct access *a, value address);
void element_put_lanes(struct emit *e, const struct transfer *t, unsigned k, value v);
void element_put_scalar(struct emit *e, const struct transfer *t, unsigned k, value v);

#endif
