/* Shared by the files of watch.h: findings, and records of freed memory and of handles. Private to
 * this folder. */
#ifndef HEDDLE_CUDA_WATCH_WATCH_STATE_H
#define HEDDLE_CUDA_WATCH_WATCH_STATE_H

#include "cuda/watch/watch.h"

enum { WATCH_NOTES = 2, WATCH_TEXT_BYTES = 640 };

/* A further place in a finding. */
struct watch_note {
    const char *code, *text;
    const struct stack *stack;
};

/* A finding without its text. */
struct watch_finding {
    bool at_end; /* of many alike, which are reported together at the end */
    hd_severity severity;
    const char *code, *help;
    const struct stack *stack; /* NULL: the calling thread's */
    struct watch_note notes[WATCH_NOTES];
    uint64_t bytes;
};

/* Keeps the finding, or counts it if its code was found at this stack before. */
void watch_found(const struct watch_finding *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The CUDA call that the program made. */
const char *watch_call_of(const struct stack *s);
const struct watch_options *watch_options(void);

/* A freed allocation. */
struct watch_freed {
    void *start;
    size_t bytes;
    CUmemorytype type;
    const struct stack *allocated, *freed;
};

/* The last freed allocation that held the address. */
bool watch_find_freed(const void *p, struct watch_freed *freed);

/* The CUDA function that allocated memory of this type. */
const char *watch_giver(const struct stack *s, CUmemorytype type);

/* Calls visit once for each stream and event of an ending context that was not destroyed. */
void watch_each_left(CUcontext c, void (*visit)(const char *what, const struct stack *created));

#endif
