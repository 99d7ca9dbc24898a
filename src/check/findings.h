/* What the parts of the checker share: regions of memory with their state, and the list of findings. Private to check/. */
#ifndef HEDDLE_CHECK_FINDINGS_H
#define HEDDLE_CHECK_FINDINGS_H

#include "check/check.h"
#include "check/races.h"
#include "check/strands.h"

/* One kind of error at one instruction. */
struct finding {
    struct finding *next;
    const char *code;
    enum diag_severity severity;
    const struct op *op; /* where it shows; by its place in the text findings are sorted */
    const struct kernel *kernel;
    const void *key; /* tells findings of one code and instruction apart, or NULL */
    const char *text;
    const char *help;
    uint64_t count;
    const struct op *writer; /* uninitialised reads: who wrote there later */
    const char *written;     /* and what is known at the first sight */
};

/* A piece of memory and which of its bytes have been written: global, of a block (shared) or of a warp (local). */
struct region {
    struct region *next;
    uint64_t start, size;       /* addresses in its state space */
    const void *owner;          /* block or warp; NULL for global memory */
    const char *name;           /* or NULL */
    uint64_t *defined;          /* a bit a byte */
    const struct op *writer;    /* the last to write into it */
    const struct op *allocator; /* device malloc */
    bool heap;
};

struct uninitialised { /* an address that was read too early, until somebody writes it */
    uint64_t address;
    const void *owner;
    struct finding *finding;
};

enum { MAX_EARLY = 256, MAX_BARRIERS = 256 };

struct barrier_use {
    const struct block *block;
    uint32_t id, threads;
    const struct op *op;
};

struct checker {
    struct arena arena; /* of findings; lives as long as the checker */
    struct machine *machine;
    struct strands *strands; /* or NULL */
    hd_checker_options options;
    const struct kernel *kernel;
    struct hooks hooks;
    struct races *races;            /* or NULL */
    struct finding *findings, lost; /* lost: stands in where memory is exhausted */
    uint32_t n_findings;
    struct region *global, *shared, *local;
    struct uninitialised early[MAX_EARLY];
    uint32_t n_early;
    struct barrier_use barriers[MAX_BARRIERS]; /* that threads stand at; more than these are not followed */
    uint32_t n_barriers;
};

/* The finding of this kind at this instruction; *fresh is set where it is new, and needs its text. */
struct finding *finding_add(struct checker *c, const char *code, const struct op *op, const void *key, bool *fresh);
/* "thread (1,0,0) of block (0,0,0)" */
const char *thread_name(struct checker *c, const struct warp *w, unsigned lane);
/* "lanes 0-3, 7" */
const char *lanes_name(struct checker *c, uint32_t lanes);
/* "at file.cu:12", "at PTX line 7" */
const char *place_name(struct arena *arena, const struct op *op);

/* memory.c */
void check_access(void *data, const struct access_event *e);
bool check_fault(void *data, const struct fault_event *e);
void check_heap(void *data, const struct heap_event *e);
void check_schedule(void *data, const struct schedule_event *e);
void check_leaks(struct checker *c);

/* sync.c */
void check_sync(void *data, const struct sync_event *e);

#endif
