/* One load or store on its way to LLVM: what load_store.c, which finds and tests addresses, and transfer.c, which moves the
 * bytes, share.
 */
#ifndef HEDDLE_JIT_ACCESS_H
#define HEDDLE_JIT_ACCESS_H

#include "jit/emit/emit.h"

enum { ROW_LANES = 16, LINE_BYTES = 64 };

/* How far apart bytes may be that one test is for: those of an access's lanes, and of a group's members. What is tested, from
 * the first byte on, is then less than 2^31 bytes more than an address, in 32 bits as in 64. */
enum { LANES_SPAN = 1 << 20, GROUP_SPAN = 1 << 30 };

struct access {
    const struct ir_insn *i;
    const struct op *o;
    const struct op_access *x;
    unsigned bytes, n, all, log2; /* of an element, elements, all of a lane, log2 of that */
    uint16_t shape;
    value mask;
    unsigned parts;           /* of the warp, each with an address of its own */
    value first[MAX_PARTS];   /* address of the lane that comes first: i64 */
    value pointer[MAX_PARTS]; /* on the host, of `first` */
    value lanes;              /* addresses of all where they vary: <32 x i64>, or <32 x i32> for shared memory */
    int64_t offset[WARP_LANES], span,
        least;        /* of lanes from the first; least: of the first from lane 0. A span of INT64_MAX:
                                                they are farther apart than that, offsets have wrapped */
    int64_t before;   /* from where the tested bytes begin to `first` */
    bool is_wild;     /* a pattern without rows: lanes are served one by one */
    unsigned order;   /* the l-th of `lanes` and `mask` is lane l ^ order: store_in_order() */
    bool nontemporal; /* whole lines, past the caches: nontemporal.c */
    value site;
};

/* Strong, and seen by others: nobody else is at shared and local memory, as a block stays on one worker. And is all that a lane
 * has one access, then? */
static inline bool access_is_seen(const struct op_access *x)
{
    return op_access_is_strong(x) && (x->space == SPACE_GLOBAL || x->space == SPACE_GENERIC);
}
static inline bool access_is_whole(const struct op_access *x)
{
    return op_access_is_whole(x) && access_is_seen(x);
}

/* Instruction k of the present block, and its operation. */
static inline const struct ir_insn *insn_at(const struct emit *e, uint32_t k)
{
    return &e->ir->insns.at[e->ir->blocks.at[e->ir->order[e->at]].first + k];
}
static inline const struct op *op_at(const struct emit *e, uint32_t k)
{
    return &e->code->ops[e->code->blocks[e->at].first + k];
}

enum { NO_WRITER = UINT32_MAX };
/* The last instruction of the present block before k that writes r, or NO_WRITER. */
uint32_t find_writer(const struct emit *e, ir_ref r, uint32_t k);
/* Is it a plain one, of all lanes: r = lane(...)? */
bool is_plain_writer(const struct emit *e, uint32_t k, ir_ref r);

/* ---- load_store.c ---- */

struct access access_begin(struct emit *e, const struct ir_insn *i, const struct op *o);
/* Where no lane's guard holds, nothing is to be done: goes on in a new block where some does; returns the block after
 * it, to be gone to, or NULL without a guard. */
LLVMBasicBlockRef access_skip_if_none(struct emit *e, const struct ir_insn *i, value mask);
/* Is it of a kind that has a fast way? */
bool access_is_simple(const struct emit *e, const struct ir_insn *i, const struct op_access *x);
/* Offsets of the lanes' bytes from the least address, and how far that is from lane 0's; and whether they are multiples of
 * what a lane has, and not far apart. */
void access_find_offsets(struct emit *e, struct access *a);
bool access_is_aligned(const struct access *a);
/* Has the CPU stores of some lanes' elements? */
bool access_can_mask(const struct emit *e, const struct access *a);
/* Is a pattern served as one, by itself? Others are as addresses that vary. */
bool access_pattern_is_simple(const struct emit *e, const struct access *a);
/* Tests for rows and halves make most of the code of an access at addresses that vary, and so do loads of lanes one by one; a
 * function with very many takes seconds to compile, and does without them. */
bool has_many_accesses(const struct emit *e);
/* a->first, of addresses that do not vary. */
void access_find_first(struct emit *e, struct access *a);
/* Instruction k of the block, with all that a test needs but a->first: false where it is no access, or is not tested
 * by its first lane. */
bool access_begin_tested(struct emit *e, uint32_t k, struct access *a);
/* Is all of a part inside, and aligned? An i1. */
value access_test_part(struct emit *e, struct access *a, unsigned part, enum ptx_space space);
/* Goes to `inside` where the bytes of all lanes are inside, and aligned. */
void access_branch_on_first(struct emit *e, struct access *a, enum ptx_space space, LLVMBasicBlockRef inside,
                            LLVMBasicBlockRef outside);
/* The same for addresses that vary, which go to a->lanes; goes on where they are inside. */
void access_branch_on_lanes(struct emit *e, struct access *a, enum ptx_space space, LLVMBasicBlockRef outside);
/* Do all lanes' addresses, whatever the launch, lie inside the block's shared memory, and aligned? Then nothing is tested. */
bool access_is_inside(const struct emit *e, const struct access *a);
/* a->pointer, of a->first. */
void access_set_pointers(struct emit *e, struct access *a, enum ptx_space space);
/* Of global memory: are an element's bytes at an address inside? The number of its place there, and how many there are. */
value access_test_place(struct emit *e, struct access *a, value address, value *place, value *places);
/* Is an operand a constant? And its lower 32 bits, where they are wanted. */
bool access_number(const struct emit *e, ir_ref r, int64_t *v);
bool access_constant(const struct emit *e, ir_ref r, uint32_t *v);
/* What is added to the address's register. */
value access_displacement(struct emit *e, const struct access *a, LLVMTypeRef type);
/* Are lanes of each half one behind the other, or at one place? */
bool access_has_rows(const struct access *a);
/* The test of a group's first is for all of it. */
void access_test_for_group(struct access *a, const struct group *g);
/* Operands of the engine to their rows, and its results back. */
void access_spill_operands(struct emit *e, const struct ir_insn *i);
void access_take_results(struct emit *e, const struct ir_insn *i, value mask);
/* What the test does not pass; the call itself. */
void access_by_engine(struct emit *e, const struct access *a);
void access_call_engine(struct emit *e, const struct access *a);
value access_find_place(struct emit *e, const struct access *a, value address, value lo); /* inside if less than n */

/* ---- inline_cache.c ---- */

/* Where this access was last: a->site, for a test of a->span; and what stands there. */
void access_find_site(struct emit *e, struct access *a);
void access_load_site(struct emit *e, struct access *a, value *lo, value *n);
value access_load_shift(struct emit *e, const struct access *a); /* of what access_branch_on_lanes() has tested */
/* The engine's call for an access that notes where it was, and the table of those of a loop's round, by instruction of the function:
 * both have their spans when the function has ended. */
void site_note_call(struct emit *e, const struct ir_insn *i, value call);
value site_table(struct emit *e, const uint32_t *insns, uint32_t n, uint32_t first);

/* ---- base_index.c ---- */

struct index {
    ir_ref base, lanes; /* uniform, 64 bits; varying, 32 */
    row_ref base_row, lanes_row;
    unsigned scale; /* bytes from one index to the next */
    unsigned unit;  /* that the CPU's addresses have */
};
/* Is the address of the present instruction a base and an index in each lane? */
bool find_index(struct emit *e, const struct access *a, struct index *x);
/* The largest index whose bytes are inside, where those of index 0 are (access_test_place); an i32 that is not negative. */
value index_largest(struct emit *e, const struct access *a, const struct index *x, value place, value places);
/* False where the address is not a base and an index in each lane, or the CPU cannot gather. */
bool load_indexed(struct emit *e, struct access *a);

/* ---- lane_serial_loops.c ---- */

/* What is read is the register as it was at the start of the round, and so much more; that has a step more in each round. */
struct walk {
    ir_ref root;
    int64_t added, step;
};
/* Of q as instruction k of the present block, a loop, reads it: false where it is not such. */
bool find_walk(const struct emit *e, ir_ref q, uint32_t k, struct walk *w);

/* ---- loop_version.c ---- */

/* Is a counter the rest of a division by a small power of 2, as in the loop that compilers put beside one of four rounds at
 * a time? */
bool counts_a_rest(const struct emit *e, ir_ref counter);

/* ---- access_groups.c ---- */

/* Is access_is_inside() so of instruction k of the present block, a load or a store, and of all that are moved with it? */
bool access_needs_no_test(struct emit *e, uint32_t k);
/* Of a run's member, with all bytes known to be there. */
void transfer_run(struct emit *e, const struct access *a);
/* How many bytes lie without a gap from a->first on, of a member's whole run where that begins there; 0: lanes are apart. */
unsigned bytes_in_row(const struct emit *e, const struct access *a);
/* n vectors of 32 lanes, of which each has an element of every lane, to n in which a lane's stand together, and back; n: a
 * power of 2. */
void zip(struct emit *e, value *v, unsigned n);
void unzip(struct emit *e, value *v, unsigned n);

/* ---- nontemporal.c ---- */

/* May it store past the caches, if what it finds at run time allows it? */
bool access_is_nontemporal(const struct emit *e, const struct access *a);
/* Of such a one: stores so, or plainly. */
void store_nontemporal(struct emit *e, const struct access *a, void (*plainly)(struct emit *e, const struct access *a));
void mark_nontemporal(struct emit *e, value store);

/* ---- scalarised.c ---- */

/* Rows of e->scratch: addresses of lanes, a->lanes; operands; results. */
enum scratch_row { ROW_ADDRESS, ROW_S, ROW_T, ROW_RESULT };
void row_set(struct emit *e, enum scratch_row row, value lanes);
value row_get(struct emit *e, enum scratch_row row, LLVMTypeRef type);
/* Where a lane's element of a row stands; on the host, where a lane's address in ROW_ADDRESS is. */
value row_element(struct emit *e, enum scratch_row row, LLVMTypeRef type, value lane);
value row_pointer_of(struct emit *e, const struct access *a, value lane);
/* The element of a known lane, by a load that LLVM leaves as it is: out of vectors those of all lanes take half as long again. */
value row_number(struct emit *e, enum scratch_row row, LLVMTypeRef type, unsigned lane);
/* A loop over the lanes of a mask that is not 0: code between begin and end is for t.lane, an i64. Goes to `done`. */
struct turns {
    LLVMBasicBlockRef before, loop;
    value left, lane;
};
struct turns turns_begin(struct emit *e);
void turns_end(struct emit *e, const struct turns *t, value mask, LLVMBasicBlockRef done);
/* Where gathers wait (targets.def): loads of all lanes beside each other. Of one lane, in their order, to v, by element; of all at
 * tested addresses, where a lane that does not run reads the warp's record. */
void load_lane(struct emit *e, const struct access *a, unsigned lane, value pointer, value v[8]);
void gather_by_loads(struct emit *e, const struct access *a);
/* All lanes at addresses of their own, tested. */
void transfer_in_turns(struct emit *e, const struct access *a);

/* ---- transfer.c: with all bytes known to be there ---- */

/* Asks for what will be wanted soon: in a loop what a later round will load, if it goes on as from the round before to this
 * one; elsewhere what the next warps will load or store. */
void prefetch(struct emit *e, const struct access *a);
/* Does some branch go back to the present block, or to one before it? */
bool is_in_loop(const struct emit *e);
/* The line of the host's memory there, if there is one, is to come into a cache (the locality of llvm.prefetch). What others want
 * soon comes into the second: on Zen 4 a load that misses waits for what has been asked for into the first, and a sum over
 * memory took 1.6 times as long (bench/peers, `reduce`); elsewhere that makes no difference. */
enum { SECOND_CACHE = 2, FIRST_CACHE = 3 };
void ask_for(struct emit *e, value address, bool writes, unsigned cache);
/* Lanes one behind the other, within each part. */
bool is_consecutive(const struct access *a);
enum { MAX_CLUSTERS = 2 * MAX_PARTS };
/* Pieces of memory that hold what all lanes read, each not larger than a row of 32 elements. */
struct cluster {
    int64_t from, to; /* elements */
    unsigned part;
};
/* Those of element k, and of which each lane is; 0 where there are too many. */
unsigned access_find_clusters(const struct access *a, unsigned k, struct cluster c[MAX_CLUSTERS],
                              uint8_t of[WARP_LANES]);
/* Can the elements of all lanes be had with few loads? */
bool has_clusters(const struct access *a);
/* All lanes at one address, at a->pointer[0]. */
void load_uniform(struct emit *e, const struct access *a);
void store_uniform(struct emit *e, const struct access *a);
/* Lanes in a pattern. */
void load_by_pattern(struct emit *e, const struct access *a);
void load_masked(struct emit *e, const struct access *a); /* consecutive, those of the mask alone */
void store_consecutive(struct emit *e, const struct access *a);
void store_masked(struct emit *e, const struct access *a);
/* Each half of the warp's lanes in a row of its own: whether that is so, as an i1, for lanes `step_bytes` apart; and the
 * transfers, of rows and of halves at one address (step 0). */
value test_rows(struct emit *e, const struct access *a, unsigned step_bytes);
void load_halves(struct emit *e, const struct access *a, enum ptx_space space);
void load_rows(struct emit *e, const struct access *a, enum ptx_space space);
void store_rows(struct emit *e, const struct access *a, enum ptx_space space);
/* The same access with its lanes in the order in which they store; as it is, where that cannot be seen. */
struct access store_in_order(struct emit *e, const struct access *a);
/* Every lane for itself. */
void load_gather(struct emit *e, const struct access *a, enum ptx_space space);
void store_scatter(struct emit *e, const struct access *a, enum ptx_space space);
/* All lanes at one address of local memory, a->first[0]. */
void load_local(struct emit *e, const struct access *a);
void store_local(struct emit *e, const struct access *a);
value pointer_at(struct emit *e, value pointer, int64_t offset);
/* A vector of 32, of two; a negative index: any. */
value shuffle_lanes(struct emit *e, value x, value y, const int *index);
/* Element k of what the lanes store, in their order. */
value stored_value(struct emit *e, const struct access *a, unsigned k);
void store_vector(struct emit *e, const struct access *a, value v, value pointer);
value load_vector(struct emit *e, const struct access *a, value pointer, unsigned n);
/* All that a lane has at once, as one number. */
LLVMTypeRef whole_type(struct emit *e, const struct access *a);
value load_whole(struct emit *e, const struct access *a, value pointer);
void store_whole(struct emit *e, const struct access *a, value v, value pointer);
/* Lanes whose order is another's, l ^ order, in their own. */
value element_in_order(struct emit *e, value lanes, unsigned order);
LLVMTypeRef element_type(struct emit *e, const struct access *a);
void put_lanes(struct emit *e, const struct access *a, unsigned k, value v);
void put_scalar(struct emit *e, const struct access *a, unsigned k, value v);

#endif
