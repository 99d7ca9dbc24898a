/* What kernels call of the device runtime (ir/syscalls.def), on its way from a lane to whoever
 * makes launches of it (api/nested.h). */
#ifndef HEDDLE_EXEC_NESTED_H
#define HEDDLE_EXEC_NESTED_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/fault.h"
#include "ir/ir.h"

struct warp;
struct activation;
struct op;
struct event_block;

/* The call of a lane. */
struct nested_call {
    enum ir_syscall what; /* none of those whose stream 0 is the thread's own: */
    bool own_stream;
    struct warp *warp;
    const struct activation *act;
    const struct op *op;
    unsigned lane;
    bool failed; /* a fault has ended the launch */
};

/* Who answers; `data` is the launch's. */
struct nested_hooks {
    uint64_t (*call)(void *data, struct nested_call *c);
    /* For a debugger, which runs a grid again to go back: from now on what the grid launches
     * waits, and its calls return as if it did not; */
    void (*hold)(void *data);
    void (*forget)(void *data); /* the grid begins anew, and has launched nothing; */
    void (*let_go)(void *data); /* what waits is submitted. */
};

struct nested {
    const struct nested_hooks *hooks;
    void *data;
};

/* An argument: its bits; its bytes, of which it has `n`. */
uint64_t nested_argument(const struct nested_call *c, unsigned i);
void nested_bytes(const struct nested_call *c, unsigned i, void *to, uint32_t n);
/* Memory at a generic address of the lane; a fault where there is none. */
bool nested_read(struct nested_call *c, uint64_t address, void *to, uint32_t bytes);
bool nested_write(struct nested_call *c, uint64_t address, const void *from, uint32_t bytes);
/* The block that the lane is of, by its number in the grid, and its thread's in that. */
uint64_t nested_block(const struct nested_call *c);
uint32_t nested_thread(const struct nested_call *c);
/* Ends the launch with a fault of the lane. */
void nested_fault(struct nested_call *c, enum fault_kind kind, uint64_t value);
void nested_fault_detail(struct nested_call *c, enum fault_kind kind, const char *detail);
/* May the lane use bytes of global memory? A fault where it may not. */
bool nested_may_use(struct nested_call *c, uint64_t address, uint64_t bytes, bool writes);
/* The heap of kernels: NULL where it is full. */
uint64_t nested_malloc(struct nested_call *c, uint64_t bytes);
void nested_free(struct nested_call *c, uint64_t address);
/* Is an address none of shared, local or constant memory, and not 0? */
bool nested_is_global(const struct nested_call *c, uint64_t address);
/* Is there memory at an address of the lane? */
bool nested_has(const struct nested_call *c, uint64_t address, uint32_t bytes);
/* How events name the block; its warp. */
const struct event_block *nested_told(const struct nested_call *c);
unsigned nested_warp(const struct nested_call *c);
/* Where the call stands. */
const struct ir_insn *nested_place(const struct nested_call *c);

/* The call of lanes; false after a fault. */
bool nested_run(struct warp *w, const struct activation *a, const struct op *o, uint32_t mask,
                void result(struct warp *w, const struct activation *a, const struct op *o, unsigned lane,
                            uint64_t value));

#endif
