/* What code.c (what a kernel is made of) and decode.c (a function's operations) share while a
 * kernel is made ready. Private to code.c and decode.c. */
#ifndef HEDDLE_EXEC_PREPARER_H
#define HEDDLE_EXEC_PREPARER_H

#include "exec/code.h"

struct preparer {
    struct kernel *k;
    const struct code_env *env;
    struct diags *diags;
    struct arena *arena;
    struct map placed;    /* struct placed_var by variable */
    struct map functions; /* struct code by function */
};

/* What a pointer is entered by in a map: its own bytes, where it stays. */
static inline struct str preparer_key(const void *const *pointer)
{
    return (struct str){(const char *)pointer, sizeof *pointer};
}

/* Where a variable or function is; a variable is placed at its first use. */
uint64_t preparer_symbol_address(struct preparer *p, const struct ptx_symbol *s);
/* The function for the interpreter, in its code. */
void code_decode(struct preparer *p, struct code *c);

#endif
