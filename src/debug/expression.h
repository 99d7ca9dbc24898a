/* Expressions of C that a debugger evaluates: parsed and typed once, computed for all lanes of a
 * warp at a time, so that a breakpoint's condition costs little more than the instructions around
 * it.
 *
 *     threadIdx.x  blockIdx.x  blockDim  gridDim  warpSize     special registers
 *     $r5  %r5  $lane  $warp  $arg2                            registers of PTX, the lane, the warp, a kernel's second parameter
 *     NAME                                                     variables: of the scope, in shared and global memory
 *     *e  &e  e[i]  e.m  e->m  (type *)e  e@8                  memory, at generic addresses; e@8: so many from e on
 *     + - * / % << >> < <= > >= == != & | ^ && || ! ~ ?: sizeof
 */
#ifndef HEDDLE_DEBUG_EXPRESSION_H
#define HEDDLE_DEBUG_EXPRESSION_H

#include "debug/type.h"
#include "exec/block.h"

enum node_kind {
    NODE_CONST,
    NODE_ROW,    /* a register, or a special one: a row of the frame's, the warp's or the block's */
    NODE_PLACE,  /* blockIdx and its kind: value.i is 4 * enum isa_sreg + the component */
    NODE_PLACES, /* all three components of such a one, a dim3: for show.h alone */
    NODE_LANE,   /* the lane's number */
    NODE_WARP,   /* the warp's, in its block */
    NODE_LOCAL,  /* the address of the activation's frame, generic */
    NODE_SHARED, /* the address of the block's shared memory, generic */
    NODE_PARAM,  /* the address of the kernel's parameters */
    NODE_MEMORY, /* what is at the address a */
    NODE_CAST,
    NODE_NEGATE,
    NODE_NOT,    /* ! */
    NODE_INVERT, /* ~ */
    NODE_BINARY,
    NODE_CHOOSE, /* a ? b : c */
    NODE_GONE,   /* a variable whose value is nowhere now: `text` says why */
};

enum binary {
    B_MUL,
    B_DIV,
    B_MOD,
    B_ADD,
    B_SUB,
    B_SHL,
    B_SHR,
    B_LT,
    B_LE,
    B_GT,
    B_GE,
    B_EQ,
    B_NE,
    B_AND,
    B_XOR,
    B_OR,
    B_LAND,
    B_LOR
};

struct lanes_value;

struct node {
    enum node_kind kind;
    const struct c_type *type;
    enum binary binary;
    struct node *a, *b, *c;
    union c_value value;     /* NODE_CONST */
    struct lanes_value *all; /* NODE_BINARY: of a b that is constant, its values */
    uint32_t *words;         /* such a b: the values of all lanes, of 32 bits */
    row_ref row;             /* NODE_ROW, */
    uint8_t width;           /* in bits */
    uint8_t bit_at, bits;    /* NODE_MEMORY: of a bit field */
    const char *text;        /* NODE_GONE */
};

/* Where names are looked up. */
struct scope {
    const struct code *code; /* the function; NULL: only what has an address is known */
    const struct kernel *kernel;
    void *data;
    /* A variable of the source that is visible there; NULL: there is none, or nobody knows. */
    struct node *(*variable)(void *data, struct str name, struct arena *arena);
    /* A type of the source, as "struct P" or "P"; NULL: there is none. */
    const struct c_type *(*type)(void *data, struct str name, struct arena *arena);
    /* An enumerator; NULL: there is none. */
    const struct c_type *(*enumerator)(void *data, struct str name, int64_t *value, struct arena *arena);
    /* Is it a function of the kernel's code? */
    bool (*function)(void *data, struct str name, struct arena *arena);
    /* A variable in global or constant memory, by its name in the PTX or in the source. */
    bool (*global)(void *data, struct str name, uint64_t *address, const struct ptx_var **var);
};

/* NULL with what is wrong: "there is no `x` here". */
struct node *expression_parse(const char *text, const struct scope *scope, struct arena *arena, const char **wrong);
struct node *node_new(struct arena *arena, enum node_kind kind, const struct c_type *type);
struct node *node_binary(struct arena *arena, enum binary op, struct node *a, struct node *b,
                         const struct c_type *type);
struct node *node_cast(struct node *a, const struct c_type *type, struct arena *arena);
/* The type that a text names, or that of an expression; NULL with what is wrong. */
const struct c_type *expression_type(const char *text, const struct scope *scope, struct arena *arena,
                                     const char **wrong);
/* A node of memory of a type, at an address. */
struct node *node_memory(struct node *address, const struct c_type *type, struct arena *arena);
struct node *node_offset(struct node *address, int64_t by, struct arena *arena);
struct node *node_const(int64_t value, const struct c_type *type, struct arena *arena);
struct node *node_register(const struct code *code, uint32_t reg, const struct c_type *type, struct arena *arena);
/* A member of the node, which is in memory. */
struct node *node_member(struct node *of, const struct c_member *m, struct arena *arena);
/* Its address, as an expression; NULL: it has none. */
struct node *node_address(struct node *n, struct arena *arena);

/* The type that a PTX type is, as a register or variable of it is shown. */
const struct c_type *c_type_of_ptx(enum isa_type t);
/* The register of a function by its name in the PTX, without the %; 0: there is none. */
uint32_t register_named(const struct code *code, struct str name);
/* Its name. */
const char *register_name(const struct code *code, uint32_t reg, struct arena *arena);

/* ---- values ---- */

struct frame {
    struct warp *warp;
    struct activation *act;
};

struct lanes_value {
    uint32_t lanes;   /* those that have one */
    const char *why;  /* the others have none; NULL: all have */
    uint64_t address; /* why: no memory is there */
    union c_value at[WARP_LANES];
};

/* The values of a scalar, of these lanes. Of an array, struct or function: their addresses. */
void expression_eval(const struct node *n, const struct frame *f, uint32_t lanes, struct lanes_value *v);
/* All lanes have a value. */
void expression_fill(struct lanes_value *v, union c_value value);
/* Lanes where the expression is not 0; those that have no value are not among them. */
uint32_t expression_true(const struct node *n, const struct frame *f, uint32_t lanes);
/* Gives a scalar a value, of another node's type converted, in these lanes; false with *wrong. */
bool expression_assign(const struct node *to, const struct node *from, const struct frame *f, uint32_t lanes,
                       const char **wrong);
/* Reads memory at a generic address, as far as there is any; returns how many bytes. */
uint64_t memory_read(const struct frame *f, unsigned lane, uint64_t address, void *to, uint64_t bytes);
bool memory_write(const struct frame *f, unsigned lane, uint64_t address, const void *from, uint64_t bytes);

#endif
