/* Variables of the debugging information, as nodes of expressions. Private to debug/. */
#ifndef HEDDLE_DEBUG_SCOPE_H
#define HEDDLE_DEBUG_SCOPE_H

#include "debug/debugger.h"
#include "debug/dwarf_reader.h"
#include "debug/sections.h"

enum { MOST_VARIABLES = 500 };

/* The debugging information of a module. */
struct module_info {
    struct sections sections;
    void *reader; /* NULL: there is none */
};

/* A place in the code. */
struct scope_data {
    struct run *run;
    const struct code *code;
    const struct op *op;
    uint32_t level;           /* how many of the inlined calls there enclose it */
    struct module_info *info; /* or NULL */
};

/* The visible variables, from the innermost block out; returns their number. */
uint32_t scope_variables(struct scope_data *s, struct dwarf_variable to[MOST_VARIABLES]);
/* A variable `extern __shared__`, whose size the launch sets; NULL: it is something else. */
const struct ptx_var *scope_dynamic_shared(const struct ptx_item *item);
struct node *scope_node(struct scope_data *s, const struct dwarf_variable *v, struct arena *arena);

#endif
