/* Values of buffers and parameters: from text, to text, and as a kernel's bytes.
 *
 * Types are those entries of isa/types.def that hold one value of 8 to 64 bits: u8 ... u64, s8 ...
 * s64, b8 ... b64, f16, bf16, f32, f64. TYPE_none stands for any other text.
 */
#ifndef HEDDLE_CLI_VALUE_H
#define HEDDLE_CLI_VALUE_H

#include "base/arena.h"
#include "isa/isa.h"

/* One value, wide enough for every type. */
enum value_kind { VALUE_UNSIGNED, VALUE_SIGNED, VALUE_FLOAT };
struct value {
    enum value_kind kind;
    union {
        uint64_t u;
        int64_t s;
        double f;
    };
};

enum isa_type value_type(struct str name);
/* The names of all types, "u8, u16, ...", for messages. */
const char *value_types(struct arena *arena);
size_t value_bytes(enum isa_type type);
bool value_is_float(enum isa_type type);

/* Reads a number for `type`: 512, -3, 0x10, 1e6; for floats also 2.5, inf, nan, 0x1p-3 and PTX's
 * 0f3F800000. An integer must fit the type's bits, signed or unsigned. Returns NULL, or what is
 * wrong, in the arena. */
const char *value_parse(struct arena *arena, struct str text, enum isa_type type, struct value *v);

/* The value in the type's bytes, converted: integers wrap, floats round to nearest even. */
void value_store(enum isa_type type, struct value v, void *to);
struct value value_load(enum isa_type type, const void *from);

double value_as_double(struct value v);
/* Returns -1, 0 or 1; both values have the same kind, and neither is NaN. */
int value_compare(struct value a, struct value b);

/* Text that reads back as the same value: the shortest decimal for floats, hexadecimal for b8 to
 * b64. */
enum { VALUE_TEXT = 40 };
void value_text(enum isa_type type, struct value v, char text[VALUE_TEXT]);

#endif
