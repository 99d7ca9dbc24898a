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
    uint32_t chosen;      /* --outcome: which of the outcomes, from 1 on, is looked at; 0: none was chosen */
    bool examples, stats; /* --examples, --stats */
    bool numbered;        /* the outcomes are shown with their numbers, for --outcome */
    /* --schedules: writes the schedule of an interleaving, once, to a file of this name: its path,
     * or NULL where it cannot be. NULL: nobody wants any. */
    const char *(*schedule)(void *data, const struct interleaving *i, const char *name);
    void *data;
    double seconds;
};

/* What comes of it is written by exploration_json_text() alone: words beyond 2^63 - 1, which no
 * json_int_t holds, are marked strings in it. */
json_t *exploration_json(const struct exploration *e);
/* Its text, with words as numbers; from malloc, NULL where memory is exhausted. */
char *exploration_json_text(const json_t *json, size_t flags);
/* The outcomes; the findings and what was explored. */
void exploration_outcomes_text(const struct exploration *e, struct text *t);
void exploration_findings_text(const struct exploration *e, struct text *t);
/* Findings: races, traps, a deadlock, a livelock, a condition that does not hold. */
unsigned exploration_findings(const struct exploration *e);
/* 0, 1 with findings, 3 where the exploration was not exhausted. */
int exploration_status(const struct exploration *e);
/* What is not explored, with its place; NULL: all is. */
const char *exploration_refusal(const struct exploration *e);

/* "kernel.cu:12 (PTX 34)" where the text has lines of CUDA, else "kernel.ptx:34"; the line of the
 * PTX. */
const char *exploration_place_text(struct arena *arena, const struct ir_insn *insn);
const char *exploration_insn_text(struct arena *arena, const struct ir_insn *insn);
/* "block 2", or "block 2, thread 3" where blocks have several. */
const char *exploration_thread_text(const struct exploration *e, uint32_t block, uint32_t thread);
/* A value of what is observed, as its type has it: the k-th. */
const char *exploration_value_text(const struct exploration *e, uint32_t k, uint64_t value);

#endif
