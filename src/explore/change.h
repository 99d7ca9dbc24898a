/* The order that instructions give, and changes that only strengthen it: orders, scopes, fences.
 *
 * A site is a PTX instruction that accesses memory shared by threads, a fence, or an arrival at a
 * cluster barrier. Its strength is its order and scope (PTX ISA 9.0, 8.4 and 8.5) with the fences
 * beside it; strengths form a lattice. A program (program.h) may have other strengths than its
 * text: its threads then run as if the text had them. */
#ifndef HEDDLE_EXPLORE_CHANGE_H
#define HEDDLE_EXPLORE_CHANGE_H

#include "base/text.h"
#include "ir/ir.h"

/* Sets of threads (PTX ISA 9.0, 8.5), from the smallest. */
enum scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };

struct strength {
    uint8_t order, scope; /* enum ir_order, enum scope */
    /* fences inserted before and behind it: ORDER_WEAK (none), ORDER_ACQ_REL or ORDER_SC */
    uint8_t before, after;
    uint8_t fence_scope; /* of both fences */
};

struct change {
    const struct ir_insn *site;
    struct strength to;
};

struct changes {
    uint32_t n;
    struct change *at;
};

/* Is it a site? */
bool site_is(const struct ir_insn *insn);
/* Are they the same instruction of the text? The IR may have it several times. */
bool site_same(const struct ir_insn *a, const struct ir_insn *b);
/* The strength that the text gives. */
struct strength strength_of(const struct ir_insn *insn);
/* The strength with the changes (NULL: none). */
struct strength strength_with(const struct changes *c, const struct ir_insn *insn);
bool strength_equal(struct strength a, struct strength b);
/* The join: the least strength that is at least both. */
struct strength strength_join(struct strength a, struct strength b);
/* Copies the changes, with room for one more. */
struct changes changes_copy(struct arena *arena, const struct changes *c);
/* Joins the strength into the site's change, or adds a change if there is room. */
void changes_put(struct changes *c, const struct ir_insn *site, struct strength to);
/* The same for a copy. */
struct changes changes_with(struct arena *arena, const struct changes *c, const struct ir_insn *site,
                            struct strength to);
bool changes_equal(const struct changes *a, const struct changes *b);

/* The most strengthenings of one site that a repair tries. `scope` includes all threads. */
enum { MAX_STEPS_OF_SITE = 12 };
unsigned change_steps(const struct ir_insn *site, enum scope scope, struct strength steps[MAX_STEPS_OF_SITE]);
/* The strongest strength of the site. */
struct strength change_top(const struct ir_insn *site, enum scope scope);
/* Weaker strengths: `now` without one part of what was added to the text. */
unsigned change_parts(const struct ir_insn *site, struct strength now, struct strength parts[MAX_STEPS_OF_SITE]);
/* The cost of writing the change into the source: little for a release on an atomic, much for a
 * fence.sc. */
unsigned change_cost(const struct ir_insn *site, struct strength to);

/* Does the change alter the instruction itself, and not only add fences? */
bool change_moves_order(const struct change *c);
/* In PTX's words: "st.relaxed.gpu -> st.release.gpu", "insert fence.acq_rel.gpu before". */
const char *change_text(struct arena *arena, const struct change *c);
/* In the words of CUDA C++: "memory_order_release", "__threadfence() before it". */
const char *change_cuda_text(struct arena *arena, const struct change *c);
/* The instruction's opcode with the change: "st.release.gpu.global.u32". */
const char *change_opcode(struct arena *arena, const struct change *c);
/* "fence.acq_rel.gpu" */
const char *fence_opcode(struct arena *arena, enum ir_order order, enum scope scope);

#endif
