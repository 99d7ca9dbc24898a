/* See value.h. */
#include "cli/value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- types ---- */

static bool is_usable(enum isa_type type)
{
    enum isa_class c = isa_type_class(type);
    unsigned bits = isa_type_bits(type);
    bool scalar = type != TYPE_f16x2 && type != TYPE_bf16x2;
    return (c == CLASS_U || c == CLASS_S || c == CLASS_B || (c == CLASS_F && scalar)) && bits >= 8 && bits <= 64;
}

enum isa_type value_type(struct str name)
{
    for (int t = TYPE_none + 1; t < TYPE_COUNT; t++)
        if (is_usable((enum isa_type)t) && str_is(name, isa_type_name((enum isa_type)t)))
            return (enum isa_type)t;
    return TYPE_none;
}

const char *value_types(struct arena *arena)
{
    const char *list = "";
    for (int t = TYPE_none + 1; t < TYPE_COUNT; t++)
        if (is_usable((enum isa_type)t))
            list = arena_printf(arena, "%s%s%s", list, *list ? " " : "", isa_type_name((enum isa_type)t));
    return list;
}

size_t value_bytes(enum isa_type type)
{
    return isa_type_bits(type) / 8;
}

bool value_is_float(enum isa_type type)
{
    return isa_type_class(type) == CLASS_F;
}

/* ---- from text ---- */

/* 0f3F800000 and 0d3FF0000000000000 (PTX ISA 4.5.2). */
static bool parse_ptx_float(const char *s, double *f)
{
    size_t digits = strspn(s + 2, "0123456789abcdefABCDEF");
    char letter = s[1] | 0x20;
    if (s[0] != '0' || s[2 + digits] != 0 || !((letter == 'f' && digits == 8) || (letter == 'd' && digits == 16)))
        return false;
    uint64_t bits = strtoull(s + 2, NULL, 16);
    uint32_t low = (uint32_t)bits;
    float single;
    memcpy(&single, &low, sizeof single);
    memcpy(f, &bits, sizeof *f);
    if (letter == 'f')
        *f = (double)single;
    return true;
}

static bool parse_double(const char *s, double *f)
{
    char *end;
    if (parse_ptx_float(s, f))
        return true;
    if (*s == 0 || *s == ' ' || *s == '\t')
        return false;
    *f = strtod(s, &end);
    bool c_suffix = (*end == 'f' || *end == 'F') && end > s && end[-1] >= '0' && end[-1] <= '9' && !end[1];
    return end != s && (*end == 0 || c_suffix);
}

/* Reads a magnitude and a sign, which covers -2^63 to 2^64 - 1. */
static bool parse_integer(const char *s, bool *negative, uint64_t *magnitude)
{
    *negative = *s == '-';
    s += *s == '-' || *s == '+';
    bool hex = s[0] == '0' && (s[1] | 0x20) == 'x';
    const char *digits = hex ? s + 2 : s;
    size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (n > 0 && digits[n] == 0) {
        errno = 0;
        *magnitude = strtoull(digits, NULL, hex ? 16 : 10);
        return errno == 0;
    }
    double f; /* 1e6 */
    if (hex || !strpbrk(s, "eE.") || !parse_double(s, &f) || f < 0 || f >= 0x1p64 || f != floor(f))
        return false;
    *magnitude = (uint64_t)f;
    return true;
}

static const char *parse_for_integer(struct arena *arena, const char *s, enum isa_type type, struct value *v)
{
    bool negative;
    uint64_t magnitude;
    unsigned bits = isa_type_bits(type);
    if (!parse_integer(s, &negative, &magnitude))
        return arena_printf(arena, "`%s` is not an integer, as %s needs", s, isa_type_name(type));
    uint64_t most = negative ? 1ull << (bits - 1) : UINT64_MAX >> (64 - bits);
    if (magnitude > most)
        return arena_printf(arena, "%s does not fit the %u bits of %s", s, bits, isa_type_name(type));
    *v = (struct value){VALUE_SIGNED, {.u = negative ? -magnitude : magnitude}};
    if (!negative)
        v->kind = VALUE_UNSIGNED;
    return NULL;
}

const char *value_parse(struct arena *arena, struct str text, enum isa_type type, struct value *v)
{
    char *s = arena_strndup(arena, text.p, text.n);
    if (!value_is_float(type))
        return parse_for_integer(arena, s, type, v);
    *v = (struct value){VALUE_FLOAT, {.u = 0}};
    if (!parse_double(s, &v->f))
        return arena_printf(arena, "`%s` is not a number", s);
    return NULL;
}

/* ---- bytes ---- */

double value_as_double(struct value v)
{
    switch (v.kind) {
    case VALUE_SIGNED: return (double)v.s;
    case VALUE_FLOAT: return v.f;
    default: return (double)v.u;
    }
}

static uint64_t as_integer(struct value v)
{
    if (v.kind != VALUE_FLOAT)
        return v.u;
    return v.f < 0 ? (uint64_t)(int64_t)v.f : (uint64_t)v.f;
}

/* Rounds once, from all bits of the double: rounding to float first could round twice. */
static uint16_t bf16_of(double x)
{
    int exponent;
    uint32_t bits;
    frexp(x, &exponent);
    if (isfinite(x) && x != 0) {
        /* the exponent of the lowest of the 8 bits that are kept */
        int lowest = (exponent < -125 ? -125 : exponent) - 8;
        x = ldexp(nearbyint(ldexp(x, -lowest)), lowest);
    }
    float f = (float)x;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

void value_store(enum isa_type type, struct value v, void *to)
{
    switch (type) {
    case TYPE_f64: *(double *)to = value_as_double(v); return;
    case TYPE_f32: *(float *)to = (float)value_as_double(v); return;
    case TYPE_f16: *(_Float16 *)to = (_Float16)value_as_double(v); return;
    case TYPE_bf16: *(uint16_t *)to = bf16_of(value_as_double(v)); return;
    default: break;
    }
    uint64_t bits = as_integer(v);
    memcpy(to, &bits, value_bytes(type)); /* both sides are little-endian */
}

struct value value_load(enum isa_type type, const void *from)
{
    struct value v = {VALUE_FLOAT, {.u = 0}};
    switch (type) {
    case TYPE_f64: v.f = *(const double *)from; return v;
    case TYPE_f32: v.f = (double)*(const float *)from; return v;
    case TYPE_f16: v.f = (double)*(const _Float16 *)from; return v;
    case TYPE_bf16: {
        uint32_t bits = (uint32_t)*(const uint16_t *)from << 16;
        float f;
        memcpy(&f, &bits, sizeof f);
        v.f = (double)f;
        return v;
    }
    default: break;
    }
    v.kind = isa_type_class(type) == CLASS_S ? VALUE_SIGNED : VALUE_UNSIGNED;
    memcpy(&v.u, from, value_bytes(type));
    if (v.kind == VALUE_SIGNED) {
        unsigned shift = 64 - isa_type_bits(type);
        v.s = (int64_t)(v.u << shift) >> shift;
    }
    return v;
}

int value_compare(struct value a, struct value b)
{
    switch (a.kind) {
    case VALUE_SIGNED: return (a.s > b.s) - (a.s < b.s);
    case VALUE_FLOAT: return (a.f > b.f) - (a.f < b.f);
    default: return (a.u > b.u) - (a.u < b.u);
    }
}

/* ---- to text ---- */

static void float_text(enum isa_type type, double f, char *text)
{
    if (isnan(f)) {
        strcpy(text, "nan");
        return;
    }
    /* Prints 60, not 6e+01. */
    int whole = fabs(f) >= 1 && fabs(f) < 1e6 ? (int)log10(fabs(f)) + 1 : 1;
    for (int digits = whole; digits <= 17; digits++) {
        _Alignas(8) uint8_t bytes[8];
        snprintf(text, VALUE_TEXT, "%.*g", digits, f);
        value_store(type, (struct value){VALUE_FLOAT, {.f = strtod(text, NULL)}}, bytes);
        if (value_load(type, bytes).f == f)
            return;
    }
}

void value_text(enum isa_type type, struct value v, char text[VALUE_TEXT])
{
    if (value_is_float(type))
        float_text(type, v.f, text);
    else if (isa_type_class(type) == CLASS_B)
        snprintf(text, VALUE_TEXT, "0x%0*" PRIx64, (int)value_bytes(type) * 2, v.u);
    else if (v.kind == VALUE_SIGNED)
        snprintf(text, VALUE_TEXT, "%" PRId64, v.s);
    else
        snprintf(text, VALUE_TEXT, "%" PRIu64, v.u);
}
