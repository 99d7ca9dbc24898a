/* What is known of one load or store before it is emitted: access_shape.c, access_groups.c,
 * base_index.c, frame_places.c. */
#ifndef HEDDLE_JIT_ANALYSIS_ACCESS_H
#define HEDDLE_JIT_ANALYSIS_ACCESS_H

#include "ir/affine.h"
#include "jit/analysis/function.h"

enum { HALF_LANES = 16, LINE_BYTES = 64 };

/* How far apart bytes may be that one test is for: those of an access's lanes, and of a check
 * group's members. What is tested, from the first byte on, is then less than 2^31 bytes more than
 * an address, in 32 bits as in 64. */
enum { LANES_SPAN = 1 << 20, CHECK_GROUP_SPAN = 1 << 30 };

/* An access to one of few places in the activation's frame, known whatever the launch:
 * frame_places.c. Nothing is tested. */
enum { MAX_FRAME_PLACES = 4 };
struct frame_access {
    struct mem_access mem; /* of .local, though the address may be generic */
    ir_ref window;         /* a constant: what generic addresses have added; or REF_NONE */
    unsigned n;
    uint32_t at[MAX_FRAME_PLACES]; /* from the frame's start */
};

struct access {
    const struct ir_insn *i;
    const struct mem_access *mem;
    const struct frame_access *frame; /* or NULL; then mem is frame->mem */
    int64_t disp;                     /* of the address, without a symbol's */
    unsigned bytes, n, all, log2;     /* of an element, elements, all of a lane, log2 of that */
    uint16_t shape;
    /* Of addresses that are not divergent: the pieces of the warp, each with an address of its own;
     * offsets of lanes from the lane that comes first, how far the last is from it (INT64_MAX: they
     * are farther apart than that, offsets have wrapped), and the first's offset from lane 0. */
    unsigned pieces;
    int64_t offset[WARP_LANES], span, least;
    bool lanes_scattered; /* affine, and neither half is consecutive or at one place: lanes are served one by one */
};

/* The bytes that one test is for: from `before` bytes before the access's first lane to the bytes
 * of the lane that is `span` behind where they begin. */
struct tested_bytes {
    int64_t before, span;
};

/* Strong, and seen by others: nobody else is at shared and local memory, as a block stays on one
 * worker. And is all that a lane has one access, then? */
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
/* The same, to stay as long as the function. access_as_served: affine addresses that whole vectors
 * do not serve are taken for divergent ones. is_copied: its bytes stay as they stand in memory
 * (jit/emit/copy.c). */
const struct access *access_new(const struct function *fn, const struct ir_insn *i);
const struct access *access_as_served(struct cursor here, const struct ir_insn *i, bool is_copied);
/* Is it of a kind that has a fast way? */
bool access_is_simple(const struct function *fn, const struct ir_insn *i);
/* Are the offsets multiples of what a lane has, and not far apart? */
bool access_is_aligned(const struct access *a);
/* Can the CPU store the elements of some lanes under a mask? Are such stores all that the access
 * takes? */
bool access_can_mask(const struct function *fn, const struct access *a);
bool access_is_masked(const struct function *fn, const struct access *a);
/* Are these affine addresses served by whole vectors? Others are served as divergent addresses are. */
bool access_affine_is_simple(struct cursor here, const struct access *a);
/* Tests for halves of the warp, or loads of lanes one by one, are most of the code of an access at
 * divergent addresses. A function with very many such accesses would take seconds to compile, and
 * does without them. */
bool fn_has_many_accesses(const struct function *fn);
/* Are all lanes' addresses inside the block's shared memory and aligned, whatever the launch? Then
 * nothing is tested. */
bool access_is_inside(const struct function *fn, const struct access *a);
/* Are the lanes consecutive, within each piece of the warp? */
bool access_is_consecutive(const struct access *a);
/* Stretches of memory that together hold what all lanes read, none longer than 32 elements. */
enum { MAX_CLUSTERS = 2 * MAX_PIECES };
struct cluster {
    int64_t from, to; /* elements */
    unsigned piece;
};
/* Finds the clusters of element k, and for each lane its cluster. Returns how many there are; 0:
 * too many. */
unsigned access_find_clusters(const struct access *a, unsigned k, struct cluster c[MAX_CLUSTERS],
                              uint8_t of[WARP_LANES]);

/* ---- access_groups.c ---- */

/* Finds each block's check groups and interleave groups: fn->check_groups. */
void access_groups_find(struct function *fn);
/* The check groups of any block of up to n instructions where each access is tested by itself. */
struct check_group *access_groups_alone(struct arena *arena, uint32_t n);
/* Instruction k of the block as an access that is tested by its first lane, and the bytes of that
 * test; NULL where it is none. */
const struct access *access_begin_tested(struct cursor here, uint32_t k, struct tested_bytes *bytes);
/* What the test of an access is for: its own bytes, or those of the whole check group that it is
 * the first of. */
struct tested_bytes access_tested_bytes(const struct access *a, const struct check_group *g);
/* Instruction k of the block is a load or a store: does access_is_inside() hold for it and its
 * interleave group? */
bool access_needs_no_test(struct cursor here, uint32_t k);
/* How many bytes from a->first on the access covers without a gap (its whole interleave group, if
 * that begins there); 0: lanes are apart. */
unsigned access_bytes_without_gap(struct cursor here, const struct access *a);

/* ---- base_index.c ---- */

struct index {
    ir_ref base, lanes; /* uniform, 64 bits; divergent, 32 */
    unsigned scale;     /* bytes from one index to the next */
    unsigned unit;      /* that the CPU's addresses have */
};
/* Is the address of the cursor's instruction a uniform base plus an index in each lane? */
bool base_index_find(struct cursor here, const struct access *a, struct index *x);

/* ---- frame_places.c ---- */

/* Finds the accesses to known places of the frame: fn->in_frame. */
void frame_places_find(struct function *fn);

/* ---- loop_tests.c ---- */

/* A loop whose accesses are tested before it begins: loop_version.c. */
struct tested_loop {
    struct ir_loop loop;
    enum lane_is is; /* it goes on while the counter is so to the bound */
    const struct ir_affine *counter, *bound;
};
/* Can the loop that the cursor's block is be that? is_first: for a warp by itself, or the first of
 * a gang, which does what is done once. */
bool loop_tests_find(struct cursor here, bool is_first, struct tested_loop *t);
/* Is instruction k an access that is tested, and its address. */
bool loop_tests_access(struct cursor here, uint32_t k, bool is_first);
const struct ir_affine *loop_tests_address(struct cursor here, struct tested_loop *t, uint32_t k);

/* ---- nontemporal.c ---- */

/* May the store be non-temporal, if the tests at run time allow it? */
bool access_is_nontemporal(struct cursor here, const struct access *a);

#endif
