/* See type.h. */
#include "debug/type.h"

#include <math.h>
#include <string.h>

const struct c_type c_void = {.kind = C_VOID, .name = "void"};
const struct c_type c_bool = {.kind = C_BOOL, .bytes = 1, .name = "bool"};
const struct c_type c_char = {.kind = C_CHAR, .is_signed = true, .bytes = 1, .name = "char"};
const struct c_type c_schar = {.kind = C_CHAR, .is_signed = true, .bytes = 1, .name = "signed char"};
const struct c_type c_uchar = {.kind = C_CHAR, .bytes = 1, .name = "unsigned char"};
const struct c_type c_short = {.kind = C_INT, .bytes = 2, .name = "short"};
const struct c_type c_ushort = {.kind = C_UINT, .bytes = 2, .name = "unsigned short"};
const struct c_type c_int = {.kind = C_INT, .bytes = 4, .name = "int"};
const struct c_type c_uint = {.kind = C_UINT, .bytes = 4, .name = "unsigned int"};
const struct c_type c_long = {.kind = C_INT, .bytes = 8, .name = "long"};
const struct c_type c_ulong = {.kind = C_UINT, .bytes = 8, .name = "unsigned long"};
const struct c_type c_float = {.kind = C_FLOAT, .bytes = 4, .name = "float"};
const struct c_type c_double = {.kind = C_FLOAT, .bytes = 8, .name = "double"};
const struct c_type c_half = {.kind = C_HALF, .bytes = 2, .name = "__half"};
const struct c_type c_bfloat = {.kind = C_BFLOAT, .bytes = 2, .name = "__nv_bfloat16"};

static const struct c_member dim3_members[] = {
    {"x", &c_uint, 0, 0, 0}, {"y", &c_uint, 4, 0, 0}, {"z", &c_uint, 8, 0, 0}};
const struct c_type c_dim3 = {.kind = C_STRUCT, .bytes = 12, .name = "dim3", .members = dim3_members, .n = 3};

const struct c_type *c_pointer_to(const struct c_type *of, enum c_space space, struct arena *arena)
{
    struct c_type *t = ARENA_NEW(arena, struct c_type);
    *t = (struct c_type){.kind = C_POINTER, .bytes = 8, .of = of, .space = space};
    return t;
}

const struct c_type *c_array_of(const struct c_type *of, uint64_t count, struct arena *arena)
{
    struct c_type *t = ARENA_NEW(arena, struct c_type);
    *t = (struct c_type){.kind = C_ARRAY, .of = of, .count = count};
    if (__builtin_mul_overflow(of->bytes, count, &t->bytes))
        t->bytes = UINT64_MAX;
    return t;
}

/* Debugging information may say of a struct that it has itself as a member. */
static const struct c_type *copy_type(const struct c_type *t, unsigned depth, struct arena *arena)
{
    enum { DEEPEST = 30 };
    if (depth > DEEPEST)
        return &c_void;
    struct c_type *copy = ARENA_NEW(arena, struct c_type);
    *copy = *t;
    copy->name = t->name ? arena_strdup(arena, t->name) : NULL;
    if (t->kind == C_POINTER)
        copy->of = &c_void;
    else if (t->kind == C_ARRAY || t->kind == C_FUNCTION)
        copy->of = copy_type(t->of, depth + 1, arena);
    struct c_member *members =
        t->kind == C_STRUCT || t->kind == C_FUNCTION ? ARENA_ARRAY(arena, struct c_member, t->n) : NULL;
    for (uint32_t i = 0; members && i < t->n; i++) {
        members[i] = t->members[i];
        members[i].name = t->members[i].name ? arena_strdup(arena, t->members[i].name) : NULL;
        members[i].type = copy_type(t->members[i].type, depth + 1, arena);
    }
    struct c_enumerator *names = t->kind == C_ENUM ? ARENA_ARRAY(arena, struct c_enumerator, t->n) : NULL;
    for (uint32_t i = 0; names && i < t->n; i++)
        names[i] = (struct c_enumerator){arena_strdup(arena, t->enumerators[i].name), t->enumerators[i].value};
    copy->members = members;
    copy->enumerators = names;
    return copy;
}

const struct c_type *c_type_copy(const struct c_type *t, struct arena *arena)
{
    return copy_type(t, 0, arena);
}

static const char *space_word(enum c_space space)
{
    return space == C_SHARED ? "@shared " : space == C_LOCAL ? "@local " : "";
}

static const char *parameters_text(const struct c_type *t, struct arena *arena)
{
    struct text to = {.arena = arena};
    text_puts(&to, "(");
    for (uint32_t i = 0; i < t->n; i++)
        text_printf(&to, "%s%s", i ? ", " : "", c_type_text(t->members[i].type, arena));
    text_puts(&to, ")");
    return to.p;
}

/* From the name out, as C declares: `inner` is what stands where the name does. */
static const char *declared(const struct c_type *t, const char *inner, const char *space, struct arena *arena)
{
    const char *word = t->name               ? t->name
                       : t->kind == C_ENUM   ? "enum {...}"
                       : t->is_union         ? "union {...}"
                       : t->kind == C_STRUCT ? "struct {...}"
                                             : "?";
    if (t->name || !t->of || t->kind == C_ENUM)
        return arena_printf(arena, "%s%s%s%s", space, word, *inner && *inner != '[' ? " " : "", inner);
    if (t->kind == C_ARRAY)
        return declared(t->of, arena_printf(arena, "%s[%llu]", inner, (unsigned long long)t->count), space, arena);
    if (t->kind == C_FUNCTION)
        return declared(t->of, arena_printf(arena, "%s%s", inner, parameters_text(t, arena)), space, arena);
    bool binds = !t->of->name && (t->of->kind == C_ARRAY || t->of->kind == C_FUNCTION);
    return declared(t->of, arena_printf(arena, binds ? "(%s%s)" : "%s%s", t->is_reference ? "&" : "*", inner),
                    *space ? space : space_word(t->space), arena);
}

const char *c_type_text(const struct c_type *t, struct arena *arena)
{
    return declared(t, "", "", arena);
}

const char *c_declaration(const struct c_type *t, const char *name, struct arena *arena)
{
    return declared(t, name, "", arena);
}

/* "float b[3]", "int bits : 5"; of a struct or union without a name, what it has. */
static void put_members(struct text *to, const struct c_type *t, unsigned depth)
{
    enum { DEEPEST = 8, INDENT = 4 };
    for (uint32_t i = 0; i < t->n; i++) {
        const struct c_member *m = &t->members[i];
        text_printf(to, "%*s", (int)(INDENT * depth), "");
        if (!m->name && !m->type->name && m->type->kind == C_STRUCT && depth < DEEPEST) {
            text_puts(to, m->type->is_union ? "union {\n" : "struct {\n");
            put_members(to, m->type, depth + 1);
            text_printf(to, "%*s};\n", (int)(INDENT * depth), "");
            continue;
        }
        text_puts(to, c_declaration(m->type, m->name ? m->name : "", to->arena));
        text_printf(to, m->bits ? " : %u;\n" : ";\n", m->bits);
    }
}

const char *c_type_whole(const struct c_type *t, struct arena *arena)
{
    struct text to = {.arena = arena};
    if (t->kind != C_STRUCT && t->kind != C_ENUM)
        return c_type_text(t, arena);
    text_printf(&to, "%s%s%s {\n",
                t->kind == C_ENUM ? "enum"
                : t->is_union     ? "union"
                                  : "struct",
                t->name ? " " : "", t->name ? t->name : "");
    if (t->kind == C_STRUCT)
        put_members(&to, t, 1);
    for (uint32_t i = 0; i < t->n && t->kind == C_ENUM; i++)
        text_printf(&to, "    %s = %lld,\n", t->enumerators[i].name ? t->enumerators[i].name : "?",
                    (long long)t->enumerators[i].value);
    text_puts(&to, "}");
    return to.p;
}

/* ---- by words ---- */

static const struct {
    const char *name;
    const struct c_type *type;
} names[] = {
    {"void", &c_void},          {"bool", &c_bool},     {"_Bool", &c_bool},      {"float", &c_float},
    {"double", &c_double},      {"half", &c_half},     {"__half", &c_half},     {"__nv_bfloat16", &c_bfloat},
    {"nv_bfloat16", &c_bfloat}, {"size_t", &c_ulong},  {"ptrdiff_t", &c_long},  {"int8_t", &c_schar},
    {"uint8_t", &c_uchar},      {"int16_t", &c_short}, {"uint16_t", &c_ushort}, {"int32_t", &c_int},
    {"uint32_t", &c_uint},      {"int64_t", &c_long},  {"uint64_t", &c_ulong},  {"uintptr_t", &c_ulong},
    {"uchar", &c_uchar},        {"ushort", &c_ushort}, {"uint", &c_uint},       {"ulong", &c_ulong},
};

struct words {
    unsigned is_unsigned, is_signed, longs, shorts, chars, ints, all;
};

static bool count_word(struct words *w, struct str word)
{
    unsigned *of = str_is(word, "unsigned") ? &w->is_unsigned
                   : str_is(word, "signed") ? &w->is_signed
                   : str_is(word, "long")   ? &w->longs
                   : str_is(word, "short")  ? &w->shorts
                   : str_is(word, "char")   ? &w->chars
                   : str_is(word, "int")    ? &w->ints
                                            : NULL;
    if (of)
        ++*of;
    w->all++;
    return of;
}

static const struct c_type *integer_of(const struct words *w)
{
    if (w->is_unsigned + w->is_signed > 1 || w->chars + w->ints > 1 || w->shorts > 1 || w->longs > 2 ||
        (w->shorts && w->longs) || (w->chars && (w->shorts || w->longs)))
        return NULL;
    if (w->chars)
        return w->is_unsigned ? &c_uchar : w->is_signed ? &c_schar : &c_char;
    if (w->shorts)
        return w->is_unsigned ? &c_ushort : &c_short;
    if (w->longs)
        return w->is_unsigned ? &c_ulong : &c_long;
    return w->is_unsigned ? &c_uint : &c_int;
}

const struct c_type *c_type_named(struct str words)
{
    struct words w = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_is(words, names[i].name))
            return names[i].type;
    for (size_t at = 0, end; at < words.n; at = end + 1) {
        for (end = at; end < words.n && words.p[end] != ' '; end++)
            ;
        if (end > at && !count_word(&w, (struct str){words.p + at, end - at}))
            return NULL;
    }
    return w.all ? integer_of(&w) : NULL;
}

/* ---- values ---- */

static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(fraction + 1024, exponent - 25);
    return h & 0x8000 ? -v : v;
}

/* To the nearest, ties to even. */
static uint16_t half_bits(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    int exponent;
    if (isnan(v))
        return 0x7fff;
    if (a >= 65520)
        return sign | 0x7c00;
    if (a < ldexp(1, -14))
        return sign | (uint16_t)nearbyint(ldexp(a, 24));
    frexp(a, &exponent);
    double scaled = nearbyint(ldexp(a, 11 - exponent)); /* 1024 to 2048 */
    return (uint16_t)(sign + (uint16_t)((exponent + 13) << 10) + (uint16_t)((int)scaled - 1024) + 0x400);
}

static float bfloat_value(uint16_t b)
{
    uint32_t bits = (uint32_t)b << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint16_t bfloat_bits(double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if (isnan(v))
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static int64_t extended(uint64_t v, uint64_t bytes, bool is_signed)
{
    unsigned shift = bytes < 8 ? (unsigned)(64 - 8 * bytes) : 0;
    return is_signed ? (int64_t)(v << shift) >> shift : (int64_t)(v << shift >> shift);
}

union c_value c_load(const struct c_type *t, const void *bytes)
{
    uint64_t v = 0;
    float f;
    union c_value r = {0};
    memcpy(&v, bytes, t->bytes < 8 ? t->bytes : 8);
    switch (t->kind) {
    case C_FLOAT:
        memcpy(&f, &v, 4);
        if (t->bytes == 4)
            r.f = f;
        else
            memcpy(&r.f, &v, 8);
        break;
    case C_HALF: r.f = half_value((uint16_t)v); break;
    case C_BFLOAT: r.f = bfloat_value((uint16_t)v); break;
    default: r.i = extended(v, t->bytes, c_is_signed(t));
    }
    return r;
}

void c_store(const struct c_type *t, union c_value v, void *bytes)
{
    uint64_t bits = (uint64_t)v.i;
    float f = (float)v.f;
    uint16_t h = t->kind == C_HALF ? half_bits(v.f) : bfloat_bits(v.f);
    const void *from = t->kind == C_FLOAT && t->bytes == 4        ? (const void *)&f
                       : t->kind == C_HALF || t->kind == C_BFLOAT ? (const void *)&h
                                                                  : (const void *)&bits;
    memcpy(bytes, from, t->bytes < 8 ? t->bytes : 8);
}

/* As the hardware's cvt: what is beyond the range is its end, a NaN is 0. */
static int64_t to_integer(double v, bool is_signed)
{
    if (isnan(v))
        return 0;
    if (is_signed)
        return v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
    return v >= 0x1p64 ? -1 : v <= 0 ? 0 : (int64_t)(uint64_t)v;
}

union c_value c_convert(const struct c_type *to, const struct c_type *from, union c_value v)
{
    union c_value r;
    uint64_t bytes[1] = {0};
    if (to->kind == C_BOOL) {
        r.i = c_is_float(from) ? v.f != 0 : v.i != 0;
        return r;
    }
    if (c_is_float(to))
        r.f = c_is_float(from) ? v.f : c_is_signed(from) ? (double)v.i : (double)(uint64_t)v.i;
    else
        r.i = c_is_float(from) ? to_integer(v.f, c_is_signed(to)) : v.i;
    c_store(to, r, bytes);
    return c_load(to, bytes);
}
