/* Counts while a launch runs, in plain arrays by block of code and by site (sites.h). Each worker
 * has its own; they are added up at the end. Private to this folder.
 */
#ifndef HEDDLE_EXPLAIN_TABLES_H
#define HEDDLE_EXPLAIN_TABLES_H

#include "base/diag.h"
#include "explain/cost.h"
#include "explain/counters.h"
#include "explain/rates.h"
#include "explain/sites.h"

/* Counts of a block of code, and of the branch or barrier at its end. */
struct block_tally {
    uint64_t executed, threads; /* warps; their active lanes */
    struct control_counters control;
};

struct site_tally {
    struct access_counters by[SITE_SPACES];
};

struct tables {
    struct block_tally *blocks;
    struct site_tally *sites;
};

/* Returns false if memory is exhausted. */
bool tables_make(struct tables *t, const struct sites *s);
void tables_clear(struct tables *t, const struct sites *s);
void tables_free(struct tables *t);
void tables_add(struct tables *to, const struct tables *from, const struct sites *s);
void control_counters_add(struct control_counters *to, const struct control_counters *from);
/* Adds the counts, not the instruction's identity and place. */
void insn_counters_add(struct insn_counters *to, const struct insn_counters *from);
void access_counters_add(struct access_counters *to, const struct access_counters *from);

/* An instruction of PTX of the kernel. */
struct insn {
    const struct ptx_insn *ptx;
    struct place place;
    uint32_t block; /* the block of code that holds its first operation */
    bool ends;      /* it is the branch or barrier at the end of that block */
};

struct launch_shape;

/* A kernel that was launched at least once: facts about it, and the sums of all its launches. */
struct counted_kernel {
    struct counted_kernel *next;
    uint32_t number;
    const struct kernel *kernel;
    const struct device_rates *rates;
    struct arena arena;
    const char *name, *mangled;
    struct sites *sites;
    const struct block_cost **cost; /* by block */
    const struct cost_table *costs;
    struct insn *insns; /* in the order of the text */
    uint32_t n_insns;
    uint32_t *insns_of_block; /* their number, by block */
    uint32_t *insn_of_site;
    struct tables sums; /* of all launches, including those that others stand for: */
    struct kernel_launches launches;
    struct launch_shape *shapes; /* sample.h */
};

/* Returns NULL if memory is exhausted. */
struct counted_kernel *counted_kernel_new(const struct kernel *k, const struct device_rates *rates);
void counted_kernel_free(struct counted_kernel *k);

/* Fills the parts of the record that come from the tables; insns and lines, if `by_line`, are in
 * the arena. */
void tables_collect(const struct counted_kernel *k, const struct tables *t, struct kernel_counters *c, bool by_line,
                    struct arena *arena);

#endif
