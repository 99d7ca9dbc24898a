/* What an exploration has found, as JSON and as text: for heddle explore and heddle litmus. */
#ifndef HEDDLE_CLI_EXPLORATION_H
#define HEDDLE_CLI_EXPLORATION_H

#include "api/explore.h"
#include "cli/cli.h"
#include "cli/condition.h"

/* A condition on outcomes that the user asks for. */
struct claim {
    const char *text;
    bool forbidden; /* --forbid: of no outcome; else --require: of every one */
    const struct condition *condition;
};

struct exploration {
    struct session *s;
    struct explore_result *result;
    const char *const *names;   /* of what is observed: "2[0]" */
    const uint8_t *signed_bits; /* of those that have a signed type, else 0; NULL: none has one */
    const struct claim *claims;
    unsigned n_claims;
    double seconds;
};

/* From here on the first Ctrl-C or SIGTERM ends the search, and what is known is told; the second one ends the program. */
const atomic_bool *exploration_interrupted(void);
/* The threads that a machine runs kernels on: as many search. */
uint32_t workers_of(hd_machine *machine);
json_t *exploration_json(const struct exploration *e);
void exploration_print(const struct exploration *e);
/* The findings and what was explored, without the outcomes. */
void exploration_print_findings(const struct exploration *e);
/* Findings: races, traps, a deadlock, a livelock, a condition that does not hold. */
unsigned exploration_findings(const struct exploration *e);
/* 0, 1 with findings, 3 where the exploration was not exhausted. */
int exploration_status(const struct exploration *e);
/* Says what is not explored; returns 2, as nothing was found and nothing shown to be right. */
int exploration_refused(const struct exploration *e);

#endif
