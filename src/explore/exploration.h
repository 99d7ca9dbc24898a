/* The results of an exploration as JSON and as text. */
#ifndef HEDDLE_EXPLORE_EXPLORATION_H
#define HEDDLE_EXPLORE_EXPLORATION_H

#include <jansson.h>

#include "base/text.h"
#include "explore/questions.h"

struct exploration {
    struct arena *arena;
    struct explore_result *result;
    const char *const *names; /* of the observed places: "2[0]" */
    /* Widths of those with a signed type, else 0; NULL: none is signed. */
    const uint8_t *signed_bits;
    const struct claim *claims;
    unsigned n_claims;
    uint32_t chosen;      /* --outcome: the number of the chosen outcome, from 1; 0: none */
    bool examples, stats; /* --examples, --stats */
    bool numbered;        /* outcomes are printed with their numbers, for --outcome */
    /* --schedules: writes the schedule of an interleaving, once, to a file of this name. Returns
     * its path, or NULL if it could not be written. NULL: no schedules are wanted. */
    const char *(*schedule)(void *data, const struct interleaving *i, const char *name);
    void *data;
    double seconds;
};

/* Only exploration_json_text() may print it: words above 2^63 - 1, too large for json_int_t, are
 * marked strings. */
json_t *exploration_json(const struct exploration *e);
/* The JSON's text, with words as numbers; from malloc, NULL if memory is exhausted. */
char *exploration_json_text(const json_t *json, size_t flags);
/* The outcomes; then the findings and what was explored. */
void exploration_outcomes_text(const struct exploration *e, struct text *t);
void exploration_findings_text(const struct exploration *e, struct text *t);
/* The number of findings: races, traps, deadlocks, livelocks, conditions that do not hold. */
unsigned exploration_findings(const struct exploration *e);
/* Returns 0; 1 with findings; 3 if the exploration was not exhaustive. */
int exploration_status(const struct exploration *e);
/* What cannot be explored, with its place; NULL if everything can. */
const char *exploration_refusal(const struct exploration *e);

/* "kernel.cu:12 (PTX 34)" if the PTX has lines of CUDA, else "kernel.ptx:34"; then the line of the
 * PTX. */
const char *exploration_place_text(struct arena *arena, const struct ir_insn *insn);
const char *exploration_insn_text(struct arena *arena, const struct ir_insn *insn);
/* "block 2", or "block 2, thread 3" if blocks have several threads. */
const char *exploration_thread_text(const struct exploration *e, uint32_t block, uint32_t thread);
/* The value of the k-th observed place, by its type. */
const char *exploration_value_text(const struct exploration *e, uint32_t k, uint64_t value);

#endif
