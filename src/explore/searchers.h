/* A search with one bound for loops, and this process's threads that search parts of its tree. */
#ifndef HEDDLE_EXPLORE_SEARCHERS_H
#define HEDDLE_EXPLORE_SEARCHERS_H

#include <pthread.h>

#include "explore/explore.h"

/* A thread that searches parts of the tree, with everything it needs;
 * threads share nothing else. */
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
    double begun;        /* processor time of its first thread at the start of the exploration */
    bool updates_stay;   /* as in struct runner */
    bool swaps_left_out; /* as in struct program */
    struct interleavings *interleavings;
    struct tree tree;
    uint32_t n_searchers;
    struct searcher *searchers[MAX_SEARCHERS];
    struct split *split; /* over ranks: split.h */
};

extern const struct refusal explore_out_of_memory;

/* Once something was found, the search goes on only for some seconds. */
void search_ends_when_found(struct search *s);
/* Searches the whole tree; if one thread takes long, with all threads and over all ranks. Returns
 * false if memory is exhausted. */
bool search_parts(struct search *s);
/* Starts as many threads in all as the options ask for, searches the tree's parts, and waits for
   them. */
void search_start(struct search *s);
void search_await(struct search *s);
/* Searches the parts of a tree of its own, whatever interrupts the main search, to examine
 * executions again. Returns NULL if memory is exhausted. */
struct searcher *search_again(const struct search *s, struct tree *tree);
void searcher_free(struct searcher *w);
void search_free(struct search *s);

#endif
