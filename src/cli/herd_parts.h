/* A litmus test in herd's format: herd.c reads it, herd_kernel.c writes its kernel. */
#ifndef HEDDLE_CLI_HERD_PARTS_H
#define HEDDLE_CLI_HERD_PARTS_H

#include "base/text.h"
#include "cli/herd.h"

struct word {
    struct str text;
    uint32_t line;
};

struct instruction {
    struct word *words;
    uint32_t n;
};

struct litmus_thread {
    uint32_t cta, gpu;
    uint32_t block, index; /* in the launch */
    VEC(struct instruction) code;
    VEC(struct str) registers;
    VEC(struct herd_variable) initial; /* initial values of registers */
};

struct herd {
    struct arena *arena;
    const char *path;
    struct herd_test *test;
    VEC(struct word) words;
    uint32_t at;
    uint32_t condition; /* the first word of the condition, or of the list of locations */
    VEC(struct litmus_thread) threads;
    VEC(uint32_t) columns; /* the thread of each column */
    uint32_t warp;         /* threads of the launch for each thread of the test */
    bool gpus;             /* the test has several GPUs */
    bool any_id;           /* some barrier has an id beside its instance */
    struct text out;
    uint32_t labels;
    const char *error;
};

/* Keeps the first error, with its line and the wrong text, unless that is empty. Returns false. */
bool herd_fail(struct herd *h, uint32_t line, const char *what, struct str which);
/* Is the text a number? Its value modulo 2^32. */
bool herd_number(struct str s, uint32_t *value);
/* The offset of a variable in the memory buffer; adds the variable if it is new. */
uint32_t herd_offset(struct herd *h, struct str name);
/* Places the threads in a launch, and writes the kernel. */
bool herd_write_kernel(struct herd *h);

#endif
