/* A single execution: what its threads did, which of them met, which write each read reads from,
 * and what was found in it. It outlives the search. One can ask whether it would be allowed if
 * instructions had other orders, scopes or fences (change.h): values do not depend on these, so the
 * same events read the same values, and only the axioms (model.h) are evaluated again. */
#ifndef HEDDLE_EXPLORE_EXECUTION_H
#define HEDDLE_EXPLORE_EXECUTION_H

#include "explore/search.h"

/* What an execution shows. */
enum notice_kind { NOTICE_OUTCOME, NOTICE_RACE, NOTICE_STOP, NOTICE_DEADLOCK, NOTICE_LIVELOCK };
struct notice {
    enum notice_kind kind;
    const uint64_t *values; /* NOTICE_OUTCOME: of the observed places */
    /* NOTICE_RACE: both accesses; else a: where a thread stops, or waits for ever */
    const struct ir_insn *a, *b;
    const char *fault;         /* NOTICE_STOP: NULL: a trap */
    uint16_t event_a, event_b; /* NOTICE_RACE: events of the graph, later of the execution */
};

/* What a search looks for: it ends at the first execution that shows it. */
struct wanted {
    bool (*is)(void *data, const struct notice *s);
    void *data;
};

struct execution_event {
    struct run_event run; /* with the order of the text; location: the execution's number */
    uint16_t thread;
    /* The event that it reads from; NO_EVENT: the initial value, or it does not read. */
    uint16_t from;
    uint16_t meeting;      /* NO_EVENT: none */
    bool arrives, departs; /* it precedes the meeting; it follows the meeting */
    bool for_ever;         /* in the iteration that a loop repeats for ever */
};

struct execution_thread {
    uint32_t block, number; /* within its block */
    uint16_t first, n;      /* its events */
    const struct ir_insn *stopped;
    uint8_t end; /* enum run_end */
};

struct execution {
    struct notice notice;
    struct threads threads;
    const struct execution_thread *thread; /* by number */
    uint16_t n_events, n_locations, n_meetings;
    struct execution_event *events; /* by thread, in program order */
    struct location *locations;
    uint32_t n_observed;
    uint16_t *observed; /* locations */
};

struct execution *execution_of(struct arena *arena, const struct explorer *x, const struct state *s,
                               const struct graph *g, const struct notice *notice);
struct execution *execution_copy(struct arena *arena, const struct execution *from);

/* The smallest scope that includes all its threads. */
enum scope execution_scope(const struct execution *e);
/* The sites that it executes, each once; in the arena. */
uint32_t execution_sites(struct arena *arena, const struct execution *e, const struct ir_insn ***sites);

/* Builds the graph with changes (NULL: none), before any axiom is checked. `at`: the graph's event
 * for each event. Call this and the following functions within memory_try(). */
void execution_graph(const struct execution *e, const struct changes *c, struct graph *g, uint16_t *at);
/* Do the axioms allow the execution, with what was found in it? NOT_KNOWN if it has too many
 * events, or too many possible Fence-SC orders. */
enum judgement { FORBIDDEN, ALLOWED, NOT_KNOWN };
enum judgement execution_judge(const struct execution *e, const struct changes *c);
/* Does the graph, with its fences ordered, show what was found? */
bool execution_shows(const struct execution *e, const struct graph *g, const uint16_t *at);
/* Calls `visit` for each Fence-SC order that the axioms allow, until it returns that it has enough;
 * false if there are too many orders. */
bool execution_fence_orders(const struct execution *e, struct graph *g, bool (*visit)(struct graph *g, void *data),
                            void *data);

#endif
