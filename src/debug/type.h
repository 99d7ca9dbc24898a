/* Types of C, as a debugger has them: of what debugging information describes, and of what casts
 * name. */
#ifndef HEDDLE_DEBUG_TYPE_H
#define HEDDLE_DEBUG_TYPE_H

#include "base/text.h"
#include "base/vec.h"

enum c_kind {
    C_VOID,
    C_BOOL,
    C_CHAR, /* shown as a character, too; signed or not */
    C_INT,
    C_UINT,
    C_FLOAT, /* of 4 or 8 bytes */
    C_HALF,
    C_BFLOAT,
    C_ENUM,
    C_POINTER,
    C_ARRAY,
    C_STRUCT, /* or class, or union */
    C_FUNCTION,
};

struct c_type;

struct c_member {
    const char *name; /* NULL: it has none, as a base class or an anonymous union */
    const struct c_type *type;
    uint64_t at; /* bytes from the start */
    /* Of a bit field: from the least bit of the integer at `at`; bits 0: it is none. */
    uint8_t bit_at, bits;
};

struct c_enumerator {
    const char *name;
    int64_t value;
};

/* Where a pointer's value is an address of its own state space, and not a generic one. */
enum c_space { C_GENERIC, C_SHARED, C_LOCAL };

struct c_type {
    enum c_kind kind;
    bool is_signed;    /* C_CHAR, C_ENUM */
    bool is_reference; /* C_POINTER: what it leads to is meant */
    bool is_union;     /* C_STRUCT */
    enum c_space space;
    uint64_t bytes;
    const char *name; /* "float", "struct P" has "P"; NULL: it follows from `of` */
    /* C_POINTER, C_ARRAY, C_ENUM (or NULL); C_FUNCTION: what it returns. */
    const struct c_type *of;
    uint64_t count;                 /* C_ARRAY */
    const struct c_member *members; /* C_STRUCT; C_FUNCTION: its parameters */
    const struct c_enumerator *enumerators;
    uint32_t n;
};

extern const struct c_type c_void, c_bool, c_char, c_schar, c_uchar, c_short, c_ushort, c_int, c_uint, c_long, c_ulong,
    c_float, c_double, c_half, c_bfloat, c_dim3;

const struct c_type *c_pointer_to(const struct c_type *of, enum c_space space, struct arena *arena);
const struct c_type *c_array_of(const struct c_type *of, uint64_t count, struct arena *arena);
/* The same type in another arena, but for what pointers in it lead to. */
const struct c_type *c_type_copy(const struct c_type *t, struct arena *arena);
/* "float *", "int[3]", "float (*)(float)" */
const char *c_type_text(const struct c_type *t, struct arena *arena);
/* The same as it declares a name: "float (*f)(float)". */
const char *c_declaration(const struct c_type *t, const char *name, struct arena *arena);

/* The same, of a struct or enumeration with all that it has, in lines. */
const char *c_type_whole(const struct c_type *t, struct arena *arena);

static inline bool c_is_integer(const struct c_type *t)
{
    return (t->kind >= C_BOOL && t->kind <= C_UINT) || t->kind == C_ENUM;
}
static inline bool c_is_float(const struct c_type *t)
{
    return t->kind >= C_FLOAT && t->kind <= C_BFLOAT;
}
static inline bool c_is_signed(const struct c_type *t)
{
    return t->kind == C_INT || ((t->kind == C_CHAR || t->kind == C_ENUM) && t->is_signed);
}
/* Has it one value, that a register holds? */
static inline bool c_is_scalar(const struct c_type *t)
{
    return c_is_integer(t) || c_is_float(t) || t->kind == C_POINTER;
}

/* A type by the words of a cast ("unsigned int", "size_t", "__half"), in any order where C has it
 * so; NULL: there is none so called. */
const struct c_type *c_type_named(struct str words);

/* The value of a scalar's bytes, and back: integers and pointers in `i`, as wide as they can be;
 * floats in `f`. */
union c_value {
    int64_t i;
    double f;
};
union c_value c_load(const struct c_type *t, const void *bytes);
void c_store(const struct c_type *t, union c_value v, void *bytes);
/* As a value of type `to`, as C converts it. */
union c_value c_convert(const struct c_type *to, const struct c_type *from, union c_value v);

#endif
