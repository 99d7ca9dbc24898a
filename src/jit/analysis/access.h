/* The facts about one load or store before code for it is emitted: access_shape.c,
 * access_groups.c, base_index.c, frame_places.c. */
#ifndef HEDDLE_JIT_ANALYSIS_ACCESS_H
#define HEDDLE_JIT_ANALYSIS_ACCESS_H

#include "ir/affine.h"
#include "jit/analysis/function.h"

enum { HALF_LANES = 16, LINE_BYTES = 64 };

/* The maximum distance of bytes that one test covers: of an access's lanes, and of a check
 * group's members. So from the first byte on, a test covers less than 2^31 bytes beyond an
 * address, in 32-bit and in 64-bit arithmetic. */
enum { LANES_SPAN = 1 << 20, CHECK_GROUP_SPAN = 1 << 30 };

/* An access to one of a few places in the activation's frame, which are known before the launch:
 * frame_places.c. Such an access needs no test. */
enum { MAX_FRAME_PLACES = 4 };
struct frame_access {
    struct mem_access mem; /* in .local, although the address may be generic */
    ir_ref window;         /* a constant: what is added to make an address generic; or REF_NONE */
    unsigned n;
    uint32_t at[MAX_FRAME_PLACES]; /* offsets from the frame's start */
};

struct access {
    const struct ir_insn *i;
    const struct mem_access *mem;
    const struct frame_access *frame; /* or NULL; then mem is frame->mem */
    int64_t disp;                     /* displacement of the address, without a symbol's */
    /* Bytes of an element; elements of a lane; bytes of a lane; log2 of that. */
    unsigned bytes, n, all, log2;
    uint16_t shape;
    /* For uniform and affine addresses. The pieces of the warp, each with its own address. For
     * each piece: the lanes' offsets from the lane with the lowest address, that of the highest
     * lane (INT64_MAX: too far, or offsets have wrapped), and the lowest lane's offset from lane
     * 0. */
    unsigned pieces;
    int64_t offset[WARP_LANES], span, least;
    /* affine, but neither half is consecutive or at one address: lanes are served one by one */
    bool lanes_scattered;
};

/* The bytes that one test covers: from `before` bytes before the lowest lane's address to the
 * end of the lane that is `span` bytes higher. */
struct tested_bytes {
    int64_t before, span;
};

/* Is it strong, and visible to other workers? Shared and local memory are not, as a block stays
 * on one worker. And is all data of a lane then one access? */
static inline bool access_is_seen(const struct mem_access *m)
{
    return mem_access_is_strong(m) && mem_access_may_be_global(m);
}
static inline bool access_is_whole(const struct mem_access *m)
{
    return mem_access_is_whole(m) && access_is_seen(m);
}

/* ---- access_shape.c ---- */

struct access access_begin(const struct function *fn, const struct ir_insn *i);
/* The same, allocated for as long as the function. access_as_served: affine addresses that whole
 * vectors cannot serve become divergent ones. is_copied: the bytes keep their layout in memory
 * (jit/emit/copy.c). */
const struct access *access_new(const struct function *fn, const struct ir_insn *i);
const struct access *access_as_served(struct cursor here, const struct ir_insn *i, bool is_copied);
/* Does the compiler have a fast path for it? */
bool access_is_simple(const struct function *fn, const struct ir_insn *i);
/* Are the lanes' offsets multiples of a lane's bytes, and not too far apart? */
bool access_is_aligned(const struct access *a);
/* Can the CPU store the elements of some lanes under a mask? Is the access nothing but such
 * stores? */
bool access_can_mask(const struct function *fn, const struct access *a);
bool access_is_masked(const struct function *fn, const struct access *a);
/* Can whole vectors serve these affine addresses? Others are served like divergent addresses. */
bool access_affine_is_simple(struct cursor here, const struct access *a);
/* Does the function have so many accesses at divergent addresses that their tests for halves of
 * a warp, and their loads lane by lane, would take seconds to compile? Then it does without
 * these. */
bool fn_has_many_accesses(const struct function *fn);
/* Are all lanes' addresses inside the block's shared memory and aligned, in every launch? Then
 * no test is needed. */
bool access_is_inside(const struct function *fn, const struct access *a);
/* Are the lanes consecutive within each piece of the warp? */
bool access_is_consecutive(const struct access *a);
/* Ranges of memory of at most 32 elements that together contain what all lanes read. */
enum { MAX_CLUSTERS = 2 * MAX_PIECES };
struct cluster {
    int64_t from, to; /* in elements */
    unsigned piece;
};
/* Finds the clusters of element k, and the cluster of each lane. Returns their number; 0: too
 * many. */
unsigned access_find_clusters(const struct access *a, unsigned k, struct cluster c[MAX_CLUSTERS],
                              uint8_t of[WARP_LANES]);

/* ---- access_groups.c ---- */

/* Finds each block's check groups and interleave groups: fn->check_groups. */
void access_groups_find(struct function *fn);
/* Check groups for any block of up to n instructions, where each access is tested separately. */
struct check_group *access_groups_alone(struct arena *arena, uint32_t n);
/* Instruction k of the block, if it is an access whose first lane is tested, and the bytes of
 * that test; else NULL. */
const struct access *access_begin_tested(struct cursor here, uint32_t k, struct tested_bytes *bytes);
/* The bytes that an access tests: its own, or those of the whole check group if it is the
 * group's first. */
struct tested_bytes access_tested_bytes(const struct access *a, const struct check_group *g);
/* For a load or store, instruction k of the block: does access_is_inside() hold for it and its
 * interleave group? */
bool access_needs_no_test(struct cursor here, uint32_t k);
/* How many bytes from a->first on the access covers without a gap (or its whole interleave
 * group, if that begins there); 0: there are gaps between lanes. */
unsigned access_bytes_without_gap(struct cursor here, const struct access *a);

/* ---- base_index.c ---- */

struct index {
    ir_ref base, lanes; /* a uniform base of 64 bits; divergent indices of 32 bits */
    unsigned scale;     /* the factor of an index, in bytes */
    unsigned unit;      /* the part of `scale` that a CPU's address can multiply by */
};
/* Is the address of the cursor's instruction a uniform base plus an index of each lane? */
bool base_index_find(struct cursor here, const struct access *a, struct index *x);

/* ---- frame_places.c ---- */

/* Finds the accesses to known places of the frame: fn->in_frame. */
void frame_places_find(struct function *fn);

/* ---- loop_tests.c ---- */

/* A loop whose accesses are all tested before it begins: loop_version.c. */
struct tested_loop {
    struct ir_loop loop;
    enum lane_is is; /* the comparison of counter and bound under which it goes on */
    const struct ir_affine *counter, *bound;
};
/* Can all accesses of the loop, which is the cursor's block, be tested before it? is_first: for
 * a single warp, or for the first warp of a gang, which runs what is done once. */
bool loop_tests_find(struct cursor here, bool is_first, struct tested_loop *t);
/* Is instruction k an access that needs a test? Its address. */
bool loop_tests_access(struct cursor here, uint32_t k, bool is_first);
const struct ir_affine *loop_tests_address(struct cursor here, struct tested_loop *t, uint32_t k);

/* ---- nontemporal.c ---- */

/* May the store be non-temporal, provided that the tests at run time succeed? */
bool access_is_nontemporal(struct cursor here, const struct access *a);

#endif
