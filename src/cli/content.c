/* See content.h. */
#include "cli/content.h"

#include <stdlib.h>

/* ---- reading ---- */

/* Parts of "name:A:B:C". */
struct parts {
    struct str name, at[3];
    unsigned n; /* number of parts */
};

/* Returns false if there are more than three. */
static bool split(struct str text, struct parts *p)
{
    *p = (struct parts){0};
    struct str *part = &p->name;
    for (;;) {
        const char *colon = memchr(text.p, ':', text.n);
        size_t length = colon ? (size_t)(colon - text.p) : text.n;
        *part = (struct str){text.p, length};
        if (!colon)
            return true;
        if (p->n == 3)
            return false;
        part = &p->at[p->n++];
        text = (struct str){colon + 1, text.n - length - 1};
    }
}

static const char *parse_undef(struct arena *arena, const struct parts *p, enum isa_type type, struct content *c)
{
    (void)arena, (void)p, (void)type;
    c->kind = CONTENT_UNDEF;
    return NULL;
}

static const char *parse_fill(struct arena *arena, const struct parts *p, enum isa_type type, struct content *c)
{
    c->kind = CONTENT_FILL;
    if (str_is(p->name, "fill"))
        return value_parse(arena, p->at[0], type, &c->first);
    c->first = (struct value){VALUE_UNSIGNED, {.u = str_is(p->name, "ones")}};
    return NULL;
}

static const char *parse_range(struct arena *arena, const struct parts *p, enum isa_type type, struct content *c)
{
    const char *error = NULL;
    c->kind = CONTENT_RANGE;
    c->second.u = 1;
    if (value_is_float(type))
        c->first = c->second = (struct value){VALUE_FLOAT, {.u = 0}}, c->second.f = 1;
    if (p->n > 0)
        error = value_parse(arena, p->at[0], type, &c->first);
    if (p->n > 1 && !error)
        error = value_parse(arena, p->at[1], type, &c->second);
    return error;
}

static const char *parse_seed(struct arena *arena, struct str text, struct content *c)
{
    struct value seed;
    const char *error = value_parse(arena, text, TYPE_u64, &seed);
    c->seed = error ? 0 : seed.u;
    return error;
}

static const char *parse_rand(struct arena *arena, const struct parts *p, enum isa_type type, struct content *c)
{
    (void)type;
    c->kind = CONTENT_RAND;
    return p->n ? parse_seed(arena, p->at[0], c) : NULL;
}

static bool in_order(struct value lo, struct value hi)
{
    bool lo_negative = lo.kind == VALUE_SIGNED, hi_negative = hi.kind == VALUE_SIGNED;
    if (lo_negative != hi_negative)
        return lo_negative;
    return lo.u <= hi.u; /* holds for two negative numbers, too */
}

static const char *parse_randint(struct arena *arena, const struct parts *p, enum isa_type type, struct content *c)
{
    c->kind = CONTENT_RANDINT;
    enum isa_type bounds = value_is_float(type) ? TYPE_s64 : type;
    const char *error = value_parse(arena, p->at[0], bounds, &c->first);
    if (!error)
        error = value_parse(arena, p->at[1], bounds, &c->second);
    if (!error && p->n > 2)
        error = parse_seed(arena, p->at[2], c);
    if (!error && !in_order(c->first, c->second))
        error = "randint:LO:HI: LO is greater than HI";
    return error;
}

static const char *parse_list(struct arena *arena, struct str text, enum isa_type type, struct content *c)
{
    c->kind = CONTENT_LIST;
    c->count = 1;
    for (size_t i = 0; i < text.n; i++)
        c->count += text.p[i] == ',';
    c->list = ARENA_ARRAY(arena, struct value, c->count);
    for (uint64_t i = 0; i < c->count; i++) {
        const char *comma = memchr(text.p, ',', text.n);
        size_t length = comma ? (size_t)(comma - text.p) : text.n;
        const char *error = value_parse(arena, (struct str){text.p, length}, type, &c->list[i]);
        if (error)
            return error;
        if (comma)
            text = (struct str){comma + 1, text.n - length - 1};
    }
    return NULL;
}

static const char *parse_file(struct arena *arena, struct str text, enum isa_type *type, uint64_t count,
                              struct content *c)
{
    const char *path = arena_strndup(arena, text.p + 1, text.n - 1);
    const char *error = file_read(arena, path, *type ? count * value_bytes(*type) : 0, &c->file);
    if (error)
        return error;
    c->kind = CONTENT_FILE;
    if (strcmp(file_extension(path), ".npy") == 0) {
        error = npy_read(arena, c->file.bytes, c->file.n, &c->npy);
        if (error)
            return arena_printf(arena, "%s: %s", path, error);
        *type = *type ? *type : c->npy.type;
        if (!npy_fits(&c->npy, *type))
            return arena_printf(arena, "%s holds %s, not %s", path, isa_type_name(c->npy.type), isa_type_name(*type));
    } else if (!*type) {
        return arena_printf(arena, "%s holds raw bytes: give their type, as in f32[]=@%s", path, path);
    } else if (c->file.n % value_bytes(*type)) {
        return arena_printf(arena, "%s has %zu bytes, which is not a whole number of %s", path, c->file.n,
                            isa_type_name(*type));
    } else {
        c->npy.data = c->file.bytes;
        c->npy.count = c->file.n / value_bytes(*type);
    }
    c->count = c->npy.count;
    return c->count ? NULL : arena_printf(arena, "%s is empty", path);
}

static const struct {
    const char *name, *form;
    unsigned least, most; /* the number of parts behind the name */
    const char *(*parse)(struct arena *, const struct parts *, enum isa_type, struct content *);
} words[] = {
    {"zeros", "zeros", 0, 0, parse_fill},
    {"ones", "ones", 0, 0, parse_fill},
    {"undef", "undef", 0, 0, parse_undef},
    {"fill", "fill:VALUE", 1, 1, parse_fill},
    {"range", "range[:START[:STEP]]", 0, 2, parse_range},
    {"rand", "rand[:SEED]", 0, 1, parse_rand},
    {"randint", "randint:LO:HI[:SEED]", 2, 3, parse_randint},
};
enum { WORDS = sizeof words / sizeof words[0] };

static const char *unknown_word(struct arena *arena, struct str name)
{
    const char *near = NULL, *all = "";
    unsigned least = 3;
    for (int i = 0; i < WORDS; i++) {
        unsigned d = str_distance(name, str_of(words[i].name), 2);
        if (d < least) {
            least = d;
            near = words[i].form;
        }
        all = arena_printf(arena, "%s%s, ", all, words[i].form);
    }
    if (near)
        return arena_printf(arena, "there is no content `%.*s`; did you mean `%s`?", STR_ARG(name), near);
    return arena_printf(arena, "there is no content `%.*s`; a content is %sa list of values or @FILE", STR_ARG(name),
                        all);
}

const char *content_parse(struct arena *arena, struct str text, enum isa_type *type, uint64_t count, uint64_t seed,
                          struct content *c)
{
    struct parts p;
    *c = (struct content){.seed = seed};
    if (text.n && text.p[0] == '@')
        return parse_file(arena, text, type, count, c);
    bool few = split(text, &p);
    for (int i = 0; i < WORDS; i++) {
        if (!str_is(p.name, words[i].name))
            continue;
        if (!few || p.n < words[i].least || p.n > words[i].most)
            return arena_printf(arena, "`%.*s` is written %s", STR_ARG(p.name), words[i].form);
        return words[i].parse(arena, &p, *type, c);
    }
    char first = text.n ? text.p[0] : 0;
    bool number = (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.' ||
                  str_starts(text, "nan") || str_starts(text, "inf");
    return number ? parse_list(arena, text, *type, c) : unknown_word(arena, p.name);
}

/* ---- filling ---- */

/* 64 random bits for an element (SplitMix64, whose state is a counter). */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed * 0xD1342543DE82EF95u) + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* In [0, 1), with as many bits as the type has exactly. */
static double unit_interval(enum isa_type type, uint64_t bits)
{
    unsigned digits = type == TYPE_f64 ? 53 : type == TYPE_f32 ? 24 : type == TYPE_f16 ? 11 : 8;
    return (double)(bits >> (64 - digits)) / (double)(1ull << digits);
}

static struct value element(const struct content *c, enum isa_type type, uint64_t i)
{
    struct value v = c->first;
    switch (c->kind) {
    case CONTENT_RANGE:
        if (value_is_float(type))
            v.f += (double)i * c->second.f;
        else
            v.u += i * c->second.u;
        break;
    case CONTENT_RAND:
        v.u = random_bits(c->seed, i);
        if (value_is_float(type))
            v = (struct value){VALUE_FLOAT, {.f = unit_interval(type, v.u)}};
        break;
    case CONTENT_RANDINT: {
        /* n is 0 for the whole range of 2^64 values */
        uint64_t n = c->second.u - c->first.u + 1, bits = random_bits(c->seed, i);
        v.u += n ? (uint64_t)((unsigned __int128)bits * n >> 64) : bits;
        if (c->first.kind == VALUE_SIGNED)
            v.kind = VALUE_SIGNED;
        break;
    }
    case CONTENT_LIST: v = c->list[i]; break;
    default: break;
    }
    return v;
}

void content_fill(const struct content *c, enum isa_type type, void *to, uint64_t count)
{
    size_t bytes = value_bytes(type);
    if (c->kind == CONTENT_FILE) {
        memcpy(to, c->npy.data, count * bytes);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        value_store(type, element(c, type, i), (char *)to + i * bytes);
}

void content_free(struct content *c)
{
    free(c->file.bytes);
    c->file.bytes = NULL;
}
