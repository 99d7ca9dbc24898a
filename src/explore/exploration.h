/* What an exploration has found, as JSON and as text. */
#ifndef HEDDLE_EXPLORE_EXPLORATION_H
#define HEDDLE_EXPLORE_EXPLORATION_H

#include <jansson.h>

#include "base/text.h"
#include "explore/questions.h"

struct exploration {
    struct arena *arena;
    struct explore_result *result;
    const char *const *names;   /* of what is observed: "2[0]" */
    const uint8_t *signed_bits; /* of those that have a signed type, else 0; NULL: none has one */
    const struct claim *claims;
    unsigned n_claims;
    bool examples, stats; /* --examples, --stats */
    double seconds;
};

json_t *exploration_json(const struct exploration *e);
/* The outcomes; the findings and what was explored. */
void exploration_outcomes_text(const struct exploration *e, struct text *t);
void exploration_findings_text(const struct exploration *e, struct text *t);
/* Findings: races, traps, a deadlock, a livelock, a condition that does not hold. */
unsigned exploration_findings(const struct exploration *e);
/* 0, 1 with findings, 3 where the exploration was not exhausted. */
int exploration_status(const struct exploration *e);
/* What is not explored, with its place; NULL: all is. */
const char *exploration_refusal(const struct exploration *e);

#endif
