/* The problems on which Heddle and its peers are compared: sizes, inputs, launches, and what the
 * results must be. Each peer is a program of its own that links main.c, problem.c and its backend;
 * `compare` runs them in turn.
 */
#ifndef HEDDLE_BENCH_PROBLEM_H
#define HEDDLE_BENCH_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_BUFFERS = 5 };

struct problem;

/* What bounds a problem on an ideal machine. */
enum bound { BOUND_MEMORY, BOUND_COMPUTE, BOUND_BARRIER, BOUND_ATOMIC };

/* A kernel takes the buffers in order, then n. */
struct problem {
    const char *name; /* also the kernel's, and the OpenMP function's */
    enum bound bound;
    double flops, bytes; /* of the algorithm: each input read once, each output written once */
    uint32_t n;
    unsigned grid[3], block[3];
    size_t size[MAX_BUFFERS]; /* bytes; 0 ends them */
    void (*fill)(struct problem *p);
    bool (*check)(const struct problem *p);
    /* Called after each launch where one is not enough: true asks for another. May read and write
     * buffers that are at most 4096 bytes. */
    bool (*step)(struct problem *p);
    /* ---- at run time ---- */
    void *at[MAX_BUFFERS];      /* on the host */
    void *initial[MAX_BUFFERS]; /* copies of what fill() left */
};

extern struct problem problems[];
extern const unsigned n_problems;

/* ---- a backend ---- */

/* Before the first problem; the arguments that main.c does not know. False with a message on
 * stderr. */
bool backend_open(int argc, char **argv);
/* Memory for a buffer, 64-byte aligned. */
void *backend_alloc(size_t bytes);
/* NULL, or why this backend cannot run the problem. */
const char *backend_refuses(const struct problem *p);
/* Runs all of it once; the time in seconds, without copies of buffers. Negative after an error
 * (told on stderr). */
double backend_run(struct problem *p);

#endif
