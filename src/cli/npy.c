/* See npy.h. The header is a Python dictionary with three keys in any order:
 * {'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), } */
#include "cli/npy.h"

#include <stdio.h>
#include <stdlib.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, PREFIX_V1 = 10, PREFIX_V2 = 12, HEADER_ALIGN = 64 };

/* NumPy's names of types. Any of a type's entries is read; its first one is written. */
static const struct {
    const char *descr;
    enum isa_type type;
} descrs[] = {
    {"|u1", TYPE_u8},   {"<u2", TYPE_u16}, {"<u4", TYPE_u32}, {"<u8", TYPE_u64}, {"|i1", TYPE_s8},
    {"<i2", TYPE_s16},  {"<i4", TYPE_s32}, {"<i8", TYPE_s64}, {"<f2", TYPE_f16}, {"<f4", TYPE_f32},
    {"<f8", TYPE_f64},  {"|u1", TYPE_b8},  {"<u2", TYPE_b16}, {"<u4", TYPE_b32}, {"<u8", TYPE_b64},
    {"<V2", TYPE_bf16}, {"|V2", TYPE_b16}, {"<V2", TYPE_b16}, {"|b1", TYPE_u8},
};
enum { DESCRS = sizeof descrs / sizeof descrs[0] };

/* ---- reading the header ---- */

struct scanner {
    const char *at, *end;
    struct arena *arena;
};

static void skip_spaces(struct scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t'))
        s->at++;
}

static bool take(struct scanner *s, const char *text)
{
    skip_spaces(s);
    size_t n = strlen(text);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, text, n) != 0)
        return false;
    s->at += n;
    return true;
}

static bool take_string(struct scanner *s, struct str *text)
{
    skip_spaces(s);
    char quote = s->at < s->end ? *s->at : 0;
    if (quote != '\'' && quote != '"')
        return false;
    const char *close = memchr(s->at + 1, quote, (size_t)(s->end - s->at - 1));
    if (!close)
        return false;
    *text = (struct str){s->at + 1, (size_t)(close - s->at - 1)};
    s->at = close + 1;
    return true;
}

static const char *take_shape(struct scanner *s, struct npy *npy)
{
    if (!take(s, "("))
        return "its shape is not a tuple";
    npy->n_dims = 0;
    npy->count = 1;
    while (!take(s, ")")) {
        skip_spaces(s);
        uint64_t v = 0;
        const char *first = s->at;
        for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*s->at - '0'), &v))
                return "its shape is too large";
        if (s->at == first)
            return "its shape is not a tuple of numbers";
        if (npy->n_dims == NPY_MAX_DIMS)
            return arena_printf(s->arena, "it has more than %d dimensions", NPY_MAX_DIMS);
        npy->dim[npy->n_dims++] = v;
        if (__builtin_mul_overflow(npy->count, v, &npy->count))
            return "its shape is too large";
        take(s, "L"); /* long integers of Python 2 end in L */
        if (!take(s, ",") && !(s->at < s->end && *s->at == ')'))
            return "its shape is not a tuple of numbers";
    }
    return NULL;
}

static const char *take_type(struct scanner *s, struct npy *npy)
{
    struct str descr;
    if (!take_string(s, &descr))
        return "it holds structures; only arrays of one number type can be read";
    for (size_t i = 0; i < DESCRS; i++) {
        if (str_is(descr, descrs[i].descr) && descrs[i].type != TYPE_bf16) {
            npy->type = descrs[i].type;
            return NULL;
        }
    }
    if (descr.n && descr.p[0] == '>')
        return arena_printf(s->arena, "it is big-endian (%.*s); save a.astype(a.dtype.newbyteorder('<'))",
                            STR_ARG(descr));
    return arena_printf(s->arena, "elements of type %.*s cannot be read", STR_ARG(descr));
}

static const char *take_dictionary(struct scanner *s, struct npy *npy)
{
    bool fortran = false;
    unsigned seen = 0;
    if (!take(s, "{"))
        return "its header is damaged";
    while (!take(s, "}")) {
        struct str key;
        const char *error = NULL;
        if (!take_string(s, &key) || !take(s, ":"))
            return "its header is damaged";
        if (str_is(key, "descr")) {
            seen |= 1;
            error = take_type(s, npy);
        } else if (str_is(key, "fortran_order")) {
            seen |= 2;
            fortran = take(s, "True");
            error = fortran || take(s, "False") ? NULL : "its header is damaged";
        } else if (str_is(key, "shape")) {
            seen |= 4;
            error = take_shape(s, npy);
        } else {
            error = "its header is damaged";
        }
        if (error)
            return error;
        take(s, ",");
    }
    if (seen != 7)
        return "its header is damaged";
    if (fortran && npy->n_dims > 1)
        return "it is in Fortran order; save numpy.ascontiguousarray(a)";
    return NULL;
}

const char *npy_read(struct arena *arena, const char *bytes, size_t n, struct npy *npy)
{
    const uint8_t *b = (const uint8_t *)bytes;
    *npy = (struct npy){0};
    if (n < PREFIX_V1 || memcmp(bytes, magic, MAGIC) != 0)
        return "it is not a .npy file";
    if (b[6] < 1 || b[6] > 3)
        return arena_printf(arena, "version %u.%u of the .npy format is unknown", b[6], b[7]);
    size_t prefix = b[6] == 1 ? PREFIX_V1 : PREFIX_V2;
    if (n < prefix)
        return "it ends within its header";
    size_t header =
        b[6] == 1 ? b[8] | (size_t)b[9] << 8 : b[8] | (size_t)b[9] << 8 | (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (header > n - prefix)
        return "it ends within its header";
    struct scanner s = {bytes + prefix, bytes + prefix + header, arena};
    const char *error = take_dictionary(&s, npy);
    if (error)
        return error;
    uint64_t size, left = n - prefix - header;
    if (__builtin_mul_overflow(npy->count, value_bytes(npy->type), &size) || size > left)
        return arena_printf(arena, "it ends early: %llu elements of %zu bytes need more than its %llu bytes",
                            (unsigned long long)npy->count, value_bytes(npy->type), (unsigned long long)left);
    if (size < left)
        return arena_printf(arena, "%llu bytes follow the last element", (unsigned long long)(left - size));
    npy->data = bytes + prefix + header;
    return NULL;
}

bool npy_fits(const struct npy *npy, enum isa_type wanted)
{
    if (value_bytes(npy->type) != value_bytes(wanted))
        return false;
    bool raw = isa_type_class(wanted) == CLASS_B;
    if (value_is_float(npy->type))
        return raw || npy->type == wanted;
    return raw || wanted == TYPE_bf16 || !value_is_float(wanted);
}

/* ---- writing ---- */

static const char *descr_of(enum isa_type type)
{
    for (size_t i = 0; i < DESCRS; i++)
        if (descrs[i].type == type)
            return descrs[i].descr;
    return "|u1";
}

const char *npy_write(struct file_writer *w, const struct npy *npy)
{
    const char *shape = "";
    for (unsigned i = 0; i < npy->n_dims; i++)
        shape =
            arena_printf(w->arena, "%s%llu,%s", shape, (unsigned long long)npy->dim[i], i + 1 < npy->n_dims ? " " : "");
    const char *text =
        arena_printf(w->arena, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr_of(npy->type), shape);
    size_t total = (PREFIX_V1 + strlen(text) + 1 + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
    size_t header = total - PREFIX_V1;
    char *start = arena_alloc(w->arena, total);
    memcpy(start, magic, MAGIC);
    start[6] = 1;
    start[8] = (char)(header & 0xff);
    start[9] = (char)(header >> 8);
    memset(start + PREFIX_V1, ' ', header);
    memcpy(start + PREFIX_V1, text, strlen(text));
    start[total - 1] = '\n';
    file_write(w, start, total);
    return file_write(w, npy->data, npy->count * value_bytes(npy->type));
}
