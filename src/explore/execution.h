/* One execution by itself: what its threads did, who met whom, which write each read reads from,
 * and what was found in it. It outlives the search, and can be asked whether it were allowed if
 * instructions had other orders, scopes or fences (change.h): values do not hang on these, so that
 * the same events read the same, and only the axioms (model.h) are evaluated again. */
#ifndef HEDDLE_EXPLORE_EXECUTION_H
#define HEDDLE_EXPLORE_EXECUTION_H

#include "explore/search.h"

/* Something that an execution shows. */
enum notice_kind { NOTICE_OUTCOME, NOTICE_RACE, NOTICE_STOP, NOTICE_DEADLOCK, NOTICE_LIVELOCK };
struct notice {
    enum notice_kind kind;
    const uint64_t *values;      /* NOTICE_OUTCOME: of what is observed */
    const struct ir_insn *a, *b; /* who races; a: who stops, or waits for ever */
    const char *fault;           /* NOTICE_STOP: NULL: a trap */
    uint16_t event_a, event_b;   /* NOTICE_RACE: in the graph, later in the execution */
};

/* What a search looks for: it ends where it sees it. */
struct wanted {
    bool (*is)(void *data, const struct notice *s);
    void *data;
};

struct execution_event {
    struct run_event run; /* as the text has its order; location: of the execution */
    uint16_t thread;
    uint16_t from;    /* the event that it reads from; NO_EVENT: it reads what was there at first, or does not read */
    uint16_t meeting; /* NO_EVENT: none */
    bool arrives, departs; /* it precedes the meeting; it follows it */
    bool for_ever;         /* of the round of a loop that never ends */
};

struct execution_thread {
    uint32_t block, number; /* in its block */
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
/* Its sites, each once; in the arena. */
uint32_t execution_sites(struct arena *arena, const struct execution *e, const struct ir_insn ***sites);

/* The graph, with changes (NULL: none), before any axiom is asked for: `at`: by event, its event in
 * the graph. Within memory_try(), as all below. */
void execution_graph(const struct execution *e, const struct changes *c, struct graph *g, uint16_t *at);
/* Do the axioms allow it, with what was found in it? Not known: there are too many Fence-SC orders
 * to try, or events. */
enum judgement { FORBIDDEN, ALLOWED, NOT_KNOWN };
enum judgement execution_judge(const struct execution *e, const struct changes *c);
/* Does what was found show in a graph whose fences are ordered? */
bool execution_shows(const struct execution *e, const struct graph *g, const uint16_t *at);
/* Calls `visit` for each Fence-SC order that the axioms allow, until it says that it has enough;
 * false where there are too many. */
bool execution_fence_orders(const struct execution *e, struct graph *g, bool (*visit)(struct graph *g, void *data),
                            void *data);

#endif
