/* What can go wrong while a kernel runs, and the record of it. */
#ifndef HEDDLE_EXEC_FAULT_H
#define HEDDLE_EXEC_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "heddle.h"
#include "ptx/module.h"

enum fault_kind {
#define FAULT(name, result, code) FAULT_##name,
#include "exec/faults.def"
#undef FAULT
    FAULT_COUNT
};

struct ir_insn;

/* The first fault of a launch. Text is made later, by fault_report(). */
struct fault {
    enum fault_kind kind;
    bool of_launch;           /* of no thread: by launch_fail() */
    const struct ir_insn *at; /* or NULL */
    uint64_t address;         /* of the access, or what the kind needs */
    uint32_t bytes;           /* of the access */
    uint32_t thread[3], block[3];
    uint64_t window; /* limit of the space accessed */
    enum ptx_space space;
    bool is_write, is_atomic;
    char detail[512]; /* assertion text and the like */
};

struct machine;
struct kernel;
struct mem_block;
struct warp;
struct op;
struct launch;
struct location;

/* Records a fault of a lane; the first of the launch stands. Always returns false. */
bool warp_fault(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane);
bool warp_fault_at(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, const struct location *p,
                   uint32_t bytes);
/* The same with a number that the kind needs: a target, an index. */
bool warp_fault_value(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, uint64_t value);
/* The same of one whose text is known. */
bool warp_fault_detail(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, const char *detail);
/* Ends the launch with a fault of no thread's, unless it has one. */
void launch_fail(struct launch *l, enum fault_kind kind);

hd_result fault_result(enum fault_kind kind);
const char *fault_code(enum fault_kind kind);
/* What the thread did: "writes 4 bytes at ..., 16 bytes past the end of ...". */
const char *fault_describe(struct machine *m, const struct fault *f, struct arena *arena);
/* What a buffer is called after its size: " allocated at main.cu:27", " `argument 3`", "". Of one
 * that was freed: " at main.cu:40 (allocated at main.cu:27)". */
const char *fault_buffer(struct machine *m, const struct mem_block *b, bool freed, struct arena *arena);
/* "lane 3", "lanes 3, 8-15", "16 lanes (0x55555555)"; `what` is the word for one. */
const char *fault_members(const char *what, uint32_t set, struct arena *arena);
/* The instruction in the PTX text, with its line of CUDA. `at` may be NULL. */
struct place fault_place(const struct ir_insn *at, struct arena *arena);
/* "file.cu:12" of an instruction for the middle of a sentence, "PTX line 7" without line
 * information. */
const char *fault_line(const struct ir_insn *at, struct arena *arena);
/* The same of a place; NULL is allowed. */
const char *place_line(const struct place *p, struct arena *arena);

/* Adds the fault as a diagnostic: kernel, source line, thread, address, nearest allocation. */
void fault_report(struct machine *m, const struct kernel *k, const struct fault *f, struct diags *diags);

#endif
