/* What instructions order, and changes of it that only strengthen: orders, scopes, fences.
 *
 * A site is an instruction of the PTX that accesses memory that threads share, or a fence, or an
 * arrival at a cluster's barrier. Its strength is its order and scope (PTX ISA 9.0, 8.4 and 8.5)
 * and the fences that stand at it; strengths are a lattice. A program (program.h) may have other
 * strengths than its text: threads then run as if the text had them. */
#ifndef HEDDLE_EXPLORE_CHANGE_H
#define HEDDLE_EXPLORE_CHANGE_H

#include "base/text.h"
#include "ir/ir.h"

/* Sets of threads (PTX ISA 9.0, 8.5), from the smallest. */
enum scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };

struct strength {
    uint8_t order, scope;  /* enum ir_order, enum scope */
    uint8_t before, after; /* fences that are put before and behind it: ORDER_WEAK (none), ORDER_ACQ_REL or ORDER_SC */
    uint8_t fence_scope;   /* of both */
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
/* One instruction of the text may stand in the IR more than once. */
bool site_same(const struct ir_insn *a, const struct ir_insn *b);
/* As the text has it. */
struct strength strength_of(const struct ir_insn *insn);
/* As it is with the changes (NULL: none). */
struct strength strength_with(const struct changes *c, const struct ir_insn *insn);
bool strength_equal(struct strength a, struct strength b);
/* The least that is at least both. */
struct strength strength_join(struct strength a, struct strength b);
/* Has room for one change more. */
struct changes changes_copy(struct arena *arena, const struct changes *c);
/* One change more, where there is room; its strength is joined. */
void changes_put(struct changes *c, const struct ir_insn *site, struct strength to);
/* The same, of a copy. */
struct changes changes_with(struct arena *arena, const struct changes *c, const struct ir_insn *site,
                            struct strength to);
bool changes_equal(const struct changes *a, const struct changes *b);

/* Strengthenings of a site that a repair tries: `scope` reaches all threads. */
enum { MAX_STEPS_OF_SITE = 12 };
unsigned change_steps(const struct ir_insn *site, enum scope scope, struct strength steps[MAX_STEPS_OF_SITE]);
/* The strongest of all. */
struct strength change_top(const struct ir_insn *site, enum scope scope);
/* The strengths that are less than `now` by one part of what was added to the text. */
unsigned change_parts(const struct ir_insn *site, struct strength now, struct strength parts[MAX_STEPS_OF_SITE]);
/* How much it asks of whoever writes it: a release where an atomic already is, little; a fence.sc,
 * much. */
unsigned change_cost(const struct ir_insn *site, struct strength to);

/* Is the instruction itself another one, and not only what stands beside it? */
bool change_moves_order(const struct change *c);
/* In PTX's words: "st.relaxed.gpu -> st.release.gpu", "insert fence.acq_rel.gpu before". */
const char *change_text(struct arena *arena, const struct change *c);
/* In those of CUDA C++: "memory_order_release", "__threadfence() before it". */
const char *change_cuda_text(struct arena *arena, const struct change *c);
/* The opcode of the instruction, changed: "st.release.gpu.global.u32". */
const char *change_opcode(struct arena *arena, const struct change *c);
/* "fence.acq_rel.gpu" */
const char *fence_opcode(struct arena *arena, enum ir_order order, enum scope scope);

#endif
