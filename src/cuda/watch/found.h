/* What the files of watch.h share: what is found, and what is known of freed memory and of handles.
 * Private to this folder. */
#ifndef HEDDLE_CUDA_WATCH_FOUND_H
#define HEDDLE_CUDA_WATCH_FOUND_H

#include "cuda/watch/watch.h"

enum { WATCH_NOTES = 2, WATCH_TEXT_BYTES = 640 };

/* A further place that a finding speaks of. */
struct watch_note {
    const char *code, *text;
    const struct stack *stack;
};

/* What a finding has beside its text. */
struct watch_finding {
    bool at_end; /* one of many, which are reported together */
    hd_severity severity;
    const char *code, *help;
    const struct stack *stack; /* NULL: the calling thread's */
    struct watch_note notes[WATCH_NOTES];
    uint64_t bytes;
};

/* Keeps it, or counts it where this code has been found at this stack. */
void watch_found(const struct watch_finding *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The call of CUDA's that the program has made. */
const char *watch_call_of(const struct stack *s);
const struct watch_options *watch_options(void);

/* An allocation that has been freed. */
struct watch_freed {
    void *start;
    size_t bytes;
    CUmemorytype type;
    const struct stack *allocated, *freed;
};

/* The last freed one that held the address. */
bool watch_find_freed(const void *p, struct watch_freed *freed);

/* The function of CUDA's that gave memory of this type. */
const char *watch_giver(const struct stack *s, CUmemorytype type);

/* Calls visit for each stream and event of a context that ends which has not been destroyed, once. */
void watch_each_left(CUcontext c, void (*visit)(const char *what, const struct stack *created));

#endif
