/* See show.h. */
#include "debug/show.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/demangle.h"
#include "base/printable.h"
#include "exec/launch.h"

/* ---- numbers ---- */

/* As few digits as give the number again. */
static void show_float(double v, uint64_t bytes, struct text *t)
{
    char text[64];
    int most = bytes == 8 ? 17 : bytes == 4 ? 9 : 5;
    if (isnan(v) || isinf(v)) {
        text_printf(t, "%s%s", signbit(v) ? "-" : "", isnan(v) ? "nan" : "inf");
        return;
    }
    /* 100, and not 1e+02. */
    int whole = fabs(v) >= 1 && fabs(v) < 1e15 ? (int)log10(fabs(v)) + 1 : 1;
    for (int digits = whole; digits <= most || digits == whole; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        double back = strtod(text, NULL);
        if (bytes == 8 ? back == v : (float)back == (float)v)
            break;
    }
    text_puts(t, text);
}

static void show_binary(uint64_t v, struct text *t)
{
    int bit = v ? 63 - __builtin_clzll(v) : 0;
    for (; bit >= 0; bit--)
        text_puts(t, v >> bit & 1 ? "1" : "0");
}

static void show_character(int64_t v, struct text *t)
{
    unsigned char c = (unsigned char)v;
    text_printf(t, "%" PRId64, v);
    if (isprint(c))
        text_printf(t, c == '\'' || c == '\\' ? " '\\%c'" : " '%c'", c);
    else
        text_printf(t, " '\\%03o'", c);
}

static uint64_t bits_of(const struct c_type *type, union c_value v)
{
    uint64_t bits = 0;
    c_store(type, v, &bits);
    return bits;
}

static const char *enumerator(const struct c_type *type, int64_t value)
{
    for (uint32_t i = 0; type->kind == C_ENUM && i < type->n; i++)
        if (type->enumerators[i].value == value)
            return type->enumerators[i].name;
    return NULL;
}

/* As gdb: of an enumeration of bits those that are set, "(A | C)". False: it is
 * none, or has not all of them. */
static bool show_flags(const struct c_type *type, int64_t value, struct text *t)
{
    int64_t known = 0;
    for (uint32_t i = 0; i < type->n; i++) {
        int64_t v = type->enumerators[i].value;
        if (v < 0 || v & (v - 1) || known & v)
            return false;
        known |= v;
    }
    if (!value || value & ~known)
        return false;
    text_puts(t, "(");
    for (uint32_t i = 0, n = 0; i < type->n; i++)
        if (type->enumerators[i].value & value)
            text_printf(t, "%s%s", n++ ? " | " : "", type->enumerators[i].name);
    text_puts(t, ")");
    return true;
}

static void show_enumerator(const struct c_type *type, int64_t value, struct text *t)
{
    const char *name = enumerator(type, value);
    if (name)
        text_puts(t, name);
    else if (!show_flags(type, value, t))
        text_printf(t, "%" PRId64, value);
}

static void show_plain(const struct c_type *type, union c_value v, struct text *t)
{
    switch (type->kind) {
    case C_BOOL: text_puts(t, v.i ? "true" : "false"); break;
    case C_CHAR: show_character(v.i, t); break;
    case C_UINT: text_printf(t, "%" PRIu64, (uint64_t)v.i); break;
    case C_FLOAT: show_float(v.f, type->bytes, t); break;
    case C_HALF:
    case C_BFLOAT: show_float(v.f, 2, t); break;
    case C_POINTER: text_printf(t, "0x%" PRIx64, (uint64_t)v.i); break;
    case C_ENUM: show_enumerator(type, v.i, t); break;
    default: text_printf(t, "%" PRId64, v.i);
    }
}

void show_value(const struct c_type *type, union c_value v, char format, struct text *t)
{
    uint64_t bits = bits_of(type, v);
    switch (format) {
    case 'x':
    case 'a': text_printf(t, "0x%" PRIx64, bits); break;
    case 'z': text_printf(t, "0x%0*" PRIx64, (int)(2 * type->bytes), bits); break;
    case 'o': text_printf(t, bits ? "0%" PRIo64 : "0", bits); break;
    case 't': show_binary(bits, t); break;
    case 'c': show_character((int8_t)bits, t); break;
    case 'd':
        text_printf(t, "%" PRId64,
                    c_is_float(type) ? c_convert(&c_long, type, v).i
                                     : (int64_t)(bits << (64 - 8 * type->bytes)) >> (64 - 8 * type->bytes));
        break;
    case 'u': text_printf(t, "%" PRIu64, c_is_float(type) ? (uint64_t)c_convert(&c_ulong, type, v).i : bits); break;
    case 'f':
        if (!c_is_float(type) && (type->bytes == 4 || type->bytes == 8)) {
            const struct c_type *as = type->bytes == 4 ? &c_float : &c_double;
            show_float(c_load(as, &bits).f, as->bytes, t);
            break;
        }
        show_plain(type, v, t);
        break;
    default: show_plain(type, v, t);
    }
}

/* ---- what pointers lead to ---- */

/* The function of an address: one that the kernel may call, or that its module has. */
static const struct ptx_func *function_at(const struct launch *l, uint64_t address)
{
    const struct code *c = code_at(l->kernel, address);
    const struct ptx_module *m = l->kernel->func->module;
    for (uint32_t i = 0; i < m->items.n && !c; i++)
        if (m->items.at[i].kind == ITEM_FUNC && m->items.at[i].func->has_body &&
            code_address(&l->machine->mem, m->items.at[i].func) == address)
            return m->items.at[i].func;
    return c ? c->ir->func : NULL;
}

/* As gdb: "<twice(float)>" of a function, the text of characters. */
static void show_led_to(const struct c_type *type, uint64_t address, const struct frame *f, unsigned lane,
                        struct text *t)
{
    enum { MOST_CHARACTERS = 200 };
    const struct launch *l = f->warp->block->launch;
    char text[MOST_CHARACTERS + 1] = "";
    if (type->of->kind == C_FUNCTION) {
        const struct ptx_func *func = function_at(l, address);
        if (func)
            text_printf(t, " <%s>", demangle(func->symbol.name, t->arena));
        return;
    }
    if (type->of->kind != C_CHAR || !type->of->is_signed)
        return;
    uint64_t n = memory_read(f, lane, address, text, MOST_CHARACTERS);
    uint64_t length = strnlen(text, n);
    for (uint64_t i = 0; i < length; i++)
        if (!isprint((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
            return;
    if (!n)
        return;
    text_puts(t, " \"");
    printable_put(t, (struct str){text, length});
    text_puts(t, length < n ? "\"" : "\"...");
}

/* ---- what has parts ---- */

enum { MOST_ELEMENTS = 200, DEEPEST = 20 };

struct showing {
    const uint8_t *bytes; /* n of them are there */
    uint64_t n;
    const struct frame *f; /* who looks at them, */
    unsigned lane;
    char format;
    struct text *t;
    unsigned left, depth;
};

static void show_scalar(struct showing *s, const struct c_type *type, union c_value v);

static void show_at(struct showing *s, const struct c_type *type, uint64_t at, const struct c_member *field);

static bool same_bytes(const struct showing *s, uint64_t a, uint64_t b, uint64_t bytes)
{
    return a + bytes <= s->n && b + bytes <= s->n && memcmp(s->bytes + a, s->bytes + b, bytes) == 0;
}

/* Text in an array of characters, up to its first zero. */
static bool show_string(struct showing *s, const struct c_type *type, uint64_t at)
{
    uint64_t n = 0;
    if (type->of->kind != C_CHAR || !type->of->is_signed || s->format || at + type->count > s->n)
        return false;
    while (n < type->count && s->bytes[at + n])
        n++;
    for (uint64_t i = 0; i < n; i++)
        if (!isprint(s->bytes[at + i]) && !isspace(s->bytes[at + i]))
            return false;
    if (!n)
        return false;
    text_puts(s->t, "\"");
    printable_put(s->t, (struct str){(const char *)s->bytes + at, n});
    text_puts(s->t, "\"");
    return true;
}

/* Like gdb, prints an element that repeats many times only once. */
static void show_array(struct showing *s, const struct c_type *type, uint64_t at)
{
    enum { REPEATS = 10 };
    uint64_t size = type->of->bytes;
    if (!size) {
        text_puts(s->t, "{}");
        return;
    }
    if (show_string(s, type, at))
        return;
    text_puts(s->t, "{");
    for (uint64_t i = 0, same; i < type->count; i += same) {
        if (!s->left) {
            text_puts(s->t, i ? ", ..." : "...");
            break;
        }
        for (same = 1; i + same < type->count && same_bytes(s, at + i * size, at + (i + same) * size, size); same++)
            ;
        same = same > REPEATS ? same : 1;
        if (i)
            text_puts(s->t, ", ");
        show_at(s, type->of, at + i * size, NULL);
        if (same > 1)
            text_printf(s->t, " <repeats %" PRIu64 " times>", same);
    }
    text_puts(s->t, "}");
}

static void show_struct(struct showing *s, const struct c_type *type, uint64_t at)
{
    const char *between = "";
    text_puts(s->t, "{");
    for (uint32_t i = 0; i < type->n; i++) {
        const struct c_member *m = &type->members[i];
        if (!m->name && m->type->kind == C_STRUCT && !m->type->n) /* a base class without members */
            continue;
        text_puts(s->t, between);
        between = ", ";
        if (m->name)
            text_printf(s->t, "%s = ", m->name);
        else if (m->type->name)
            text_printf(s->t, "<%s> = ", m->type->name);
        show_at(s, m->type, at + m->at, m);
    }
    text_puts(s->t, "}");
}

/* The number that a reference refers to. */
static void show_referred(struct showing *s, const struct c_type *type, uint64_t address)
{
    uint64_t bits = 0;
    text_printf(s->t, "@0x%" PRIx64, address);
    if (c_is_scalar(type) && type->bytes <= 8 &&
        memory_read(s->f, s->lane, address, &bits, type->bytes) == type->bytes) {
        text_puts(s->t, ": ");
        show_scalar(s, type, c_load(type, &bits));
    }
}

static void show_scalar(struct showing *s, const struct c_type *type, union c_value v)
{
    bool leads = type->kind == C_POINTER && type->of && v.i && !s->format;
    if (leads && type->is_reference && s->depth < DEEPEST) {
        s->depth++;
        show_referred(s, type->of, (uint64_t)v.i);
        s->depth--;
        return;
    }
    show_value(type, v, s->format, s->t);
    if (leads)
        show_led_to(type, (uint64_t)v.i, s->f, s->lane, s->t);
}

static void show_scalar_at(struct showing *s, const struct c_type *type, uint64_t at, const struct c_member *field)
{
    uint64_t bits = 0;
    s->left -= s->left > 0;
    memcpy(&bits, s->bytes + at, type->bytes < 8 ? type->bytes : 8);
    if (field && field->bits) {
        uint64_t v = bits >> field->bit_at << (64 - field->bits);
        union c_value value = {.i = c_is_signed(type) ? (int64_t)v >> (64 - field->bits)
                                                      : (int64_t)(v >> (64 - field->bits))};
        show_value(type, value, s->format, s->t);
        return;
    }
    show_scalar(s, type, c_load(type, &bits));
}

static void show_at(struct showing *s, const struct c_type *type, uint64_t at, const struct c_member *field)
{
    bool whole = type->bytes <= s->n && at <= s->n - type->bytes;
    if (s->depth++ >= DEEPEST)
        text_puts(s->t, "{...}");
    else if (type->kind == C_ARRAY)
        show_array(s, type, at);
    else if (type->kind == C_STRUCT)
        show_struct(s, type, at);
    else if (!whole || !c_is_scalar(type))
        text_puts(s->t, whole ? "<a type that cannot be shown>" : "<no memory there>");
    else
        show_scalar_at(s, type, at, field);
    s->depth--;
}

void show_bytes(const struct c_type *type, const uint8_t *bytes, uint64_t n, const struct frame *f, unsigned lane,
                char format, struct text *t)
{
    struct showing s = {.bytes = bytes, .n = n, .f = f, .lane = lane, .format = format, .t = t, .left = MOST_ELEMENTS};
    show_at(&s, type, 0, NULL);
}

static void show_places(const struct node *n, const struct frame *f, unsigned lane, struct text *t)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct lanes_value v;
        struct node one = {.kind = n->value.i == SREG_tid ? NODE_ROW : NODE_PLACE, .type = &c_uint, .width = 32};
        one.value.i = n->value.i * 4 + i;
        one.row = i * 128 | ROW_WARP;
        expression_eval(&one, f, 1u << lane, &v);
        text_printf(t, "%s%s = %u", i ? ", " : "{", c_dim3.members[i].name, (unsigned)v.at[lane].i);
    }
    text_puts(t, "}");
}

void show_node(const struct node *n, const struct frame *f, unsigned lane, char format, struct text *t)
{
    enum { MOST_BYTES = 1 << 20 };
    struct lanes_value v;
    if (n->kind == NODE_GONE) {
        text_printf(t, "<%s>", n->text);
        return;
    }
    if (n->kind == NODE_PLACES) {
        show_places(n, f, lane, t);
        return;
    }
    expression_eval(n, f, 1u << lane, &v);
    if (!v.lanes && v.why && strcmp(v.why, "no memory") == 0)
        text_printf(t, "<no memory at 0x%" PRIx64 ">", v.address);
    else if (!v.lanes)
        text_printf(t, "<%s>", v.why ? v.why : "it has no value now");
    else if (c_is_scalar(n->type)) {
        struct showing s = {.f = f, .lane = lane, .format = format, .t = t};
        show_scalar(&s, n->type, v.at[lane]);
    } else {
        uint64_t bytes = n->type->bytes < MOST_BYTES ? n->type->bytes : MOST_BYTES;
        uint8_t *at = arena_alloc(t->arena, bytes);
        show_bytes(n->type, at, memory_read(f, lane, (uint64_t)v.at[lane].i, at, bytes), f, lane, format, t);
    }
}

/* ---- places and threads ---- */

json_t *show_frame(const struct call_frame *f)
{
    json_t *to = json_pack("{s:I, s:I}", "line", (json_int_t)f->line, "ptx_line", (json_int_t)f->ptx_line);
    if (f->function)
        json_object_set_new(to, "function", json_string(f->function));
    if (f->file)
        json_object_set_new(to, "file", json_string(f->file));
    return to;
}

static void unpack(uint64_t index, const uint32_t dims[3], uint32_t at[3])
{
    at[0] = (uint32_t)(index % dims[0]);
    at[1] = (uint32_t)(index / dims[0] % dims[1]);
    at[2] = (uint32_t)(index / dims[0] / dims[1]);
}

void coordinates_of_block(const struct run *r, uint64_t index, uint32_t at[3])
{
    unpack(index, r->request->dims.grid, at);
}

void coordinates_of_thread(const struct run *r, const struct thread_name *t, uint32_t at[3])
{
    unpack(t->warp * (uint64_t)WARP_LANES + t->lane, r->request->dims.block, at);
}

static bool pack(const uint32_t at[3], const uint32_t dims[3], uint64_t *index)
{
    *index = at[0] + (uint64_t)dims[0] * (at[1] + (uint64_t)dims[1] * at[2]);
    return at[0] < dims[0] && at[1] < dims[1] && at[2] < dims[2];
}

bool block_at(const struct run *r, const uint32_t at[3], uint64_t *index)
{
    return pack(at, r->request->dims.grid, index);
}

bool thread_at(const struct run *r, const uint32_t at[3], struct thread_name *t)
{
    uint64_t index;
    bool is = pack(at, r->request->dims.block, &index);
    t->warp = (uint32_t)(index / WARP_LANES);
    t->lane = (uint32_t)(index % WARP_LANES);
    return is;
}

json_t *show_thread(const struct run *r, const struct thread_name *t)
{
    uint32_t b[3], at[3];
    coordinates_of_block(r, t->block, b);
    coordinates_of_thread(r, t, at);
    return json_pack("{s:[I,I,I], s:[I,I,I], s:I, s:I}", "block", (json_int_t)b[0], (json_int_t)b[1], (json_int_t)b[2],
                     "thread", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2], "warp", (json_int_t)t->warp,
                     "lane", (json_int_t)t->lane);
}
