/* A search with one bound for loops, and the threads of this process that search parts of its tree. */
#ifndef HEDDLE_EXPLORE_SEARCHERS_H
#define HEDDLE_EXPLORE_SEARCHERS_H

#include <pthread.h>

#include "explore/explore.h"

/* A thread that searches parts of the tree, with all that this takes: it shares nothing else with
 * others. */
struct searcher {
    const struct search *search;
    struct arena arena;
    struct program program;
    struct explorer explorer;
    struct verdict verdict;
    pthread_t thread;
    bool has_thread;
};

enum { MAX_SEARCHERS = 64 };
struct search {
    const struct explore_launch *launch;
    const struct explore_options *options;
    uint64_t unroll;
    uint64_t step_limit;
    struct patience cut;
    double begun;        /* the processor time that its first thread had when the exploration began */
    bool updates_stay;   /* as of struct runner */
    bool swaps_left_out; /* as of struct program */
    struct interleavings *interleavings;
    struct tree tree;
    uint32_t n_searchers;
    struct searcher *searchers[MAX_SEARCHERS];
    struct split *split; /* over ranks: split.h */
};

extern const struct refusal explore_out_of_memory;

/* Once something has been found, it goes on for some seconds only. */
void search_ends_when_found(struct search *s);
/* Searches the whole tree; with all threads, and over all ranks, where one thread takes long.
 * False: there is no memory. */
bool search_parts(struct search *s);
/* Starts threads, as many as are asked for in all, on what the tree is given; waits for them. */
void search_start(struct search *s);
void search_await(struct search *s);
/* Searches the parts of a tree of its own, whatever interrupts others: executions are looked at
 * once more. NULL: there is no memory. */
struct searcher *search_again(const struct search *s, struct tree *tree);
void searcher_free(struct searcher *w);
void search_free(struct search *s);

#endif
