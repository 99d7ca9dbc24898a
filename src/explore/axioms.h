/* Explains an execution as a graph: its edges, with one coherence order and one Fence-SC order that
 * the axioms allow, and for each edge what would forbid it: the axiom that is broken when
 * instructions are strengthened (forbid.h) and everything else stays. */
#ifndef HEDDLE_EXPLORE_AXIOMS_H
#define HEDDLE_EXPLORE_AXIOMS_H

#include "explore/forbid.h"

enum edge_kind {
    EDGE_PO, /* program order: the next event of a thread */
    EDGE_RF, /* reads from; `from` NO_EVENT: the initial value */
    /* Coherence order, without edges that follow from others, and without initial values. */
    EDGE_CO,
    /* from-read: to the next writes in coherence order behind the one that was read. */
    EDGE_FR,
    EDGE_SYNC,    /* synchronizes with (PTX ISA 9.0, 8.9.4): release and acquire patterns */
    EDGE_BARRIER, /* a meeting: each event with the next of it */
    EDGE_FENCE,   /* Fence-SC order (8.9.3) */
    /* Causality order (8.9.5) within a location, without edges that follow from others. */
    EDGE_CAUSE,
    EDGE_RACE, /* the data race that was found (8.7.1) */
    EDGE_KINDS
};

/* The axioms that an execution can break. */
enum axiom {
    AXIOM_NONE,
    AXIOM_COHERENCE,
    AXIOM_ATOMICITY,
    AXIOM_SEQUENTIAL,
    AXIOM_CAUSALITY,
    AXIOM_RACE,
    AXIOM_SEVERAL
};

enum { MAX_REASONS = 2 };
struct why_not {
    struct changes changes;
    enum axiom axiom;
};

struct why_edge {
    uint16_t from, to; /* events of the execution */
    uint8_t kind;
    bool strong;  /* RF, CO, FR, RACE: the two are morally strong */
    bool ordered; /* RF, CO, FR: causality orders them in any case */
    /* CO: only as the value of `to` is there at the end; a coherence order need not order the
       two */
    bool at_end;
    /* RF: what precedes the write in its thread, or some of it, precedes what follows the read */
    bool synchronizes;
    uint8_t n_not; /* what would have forbidden it, the least first */
    struct why_not not[MAX_REASONS];
};

struct why {
    VEC(struct why_edge) edges;
    forbidding_list all; /* that forbid the execution, or that what was found shows in it */
    /* ALLOWED: it is there with all accesses strong, ordered and behind a fence.sc, too */
    enum judgement at_top;
};

/* Can an axiom, or what makes a race, be broken at it? What else there
 * is follows from the others. */
static inline bool edge_can_break(const struct why_edge *e)
{
    return e->kind == EDGE_RF || e->kind == EDGE_CO || e->kind == EDGE_FR || e->kind == EDGE_RACE;
}

/* Within memory_try(); false where the orders are too many to find one. */
bool why(struct arena *arena, const struct execution *e, struct why *w);
/* "Causality, PTX ISA 8.10.6" */
const char *axiom_text(enum axiom a);
const char *edge_name(enum edge_kind k);

#endif
