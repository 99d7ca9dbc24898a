/* See arg.h. */
#include "cli/arg.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/opts.h"
#include "cli/cli.h"
#include "files/file.h"

size_t arg_buffer_bytes(const struct buffer *b)
{
    return b->count * value_bytes(b->type);
}

const char *buffer_type_text(const struct buffer *b, struct arena *arena)
{
    const char *dims = "";
    for (unsigned i = 0; i < b->n_dims; i++)
        dims = arena_printf(arena, "%s%s%llu", dims, i ? "," : "", (unsigned long long)b->dim[i]);
    return arena_printf(arena, "%s[%s]", isa_type_name(b->type), dims);
}

const char *buffer_label(const struct buffer *b, struct arena *arena)
{
    return b->argument ? arena_printf(arena, "argument %u", b->argument) : arena_printf(arena, "variable %s", b->text);
}

/* ---- types ---- */

/* Other names of types, as CUDA and NumPy have them, and ours for each. */
static const char *const foreign_types[][2] = {
    {"float", "f32"},    {"double", "f64"},   {"half", "f16"},    {"int", "s32"},       {"unsigned", "u32"},
    {"uint", "u32"},     {"char", "s8"},      {"uchar", "u8"},    {"short", "s16"},     {"ushort", "u16"},
    {"long", "s64"},     {"ulong", "u64"},    {"int8", "s8"},     {"int16", "s16"},     {"int32", "s32"},
    {"int64", "s64"},    {"uint8", "u8"},     {"uint16", "u16"},  {"uint32", "u32"},    {"uint64", "u64"},
    {"float16", "f16"},  {"float32", "f32"},  {"float64", "f64"}, {"bfloat16", "bf16"}, {"int8_t", "s8"},
    {"int16_t", "s16"},  {"int32_t", "s32"},  {"int64_t", "s64"}, {"uint8_t", "u8"},    {"uint16_t", "u16"},
    {"uint32_t", "u32"}, {"uint64_t", "u64"}, {"size_t", "u64"},  {"bool", "u8"},       {"i8", "s8"},
    {"i16", "s16"},      {"i32", "s32"},      {"i64", "s64"},
};

static const char *parse_type(struct arena *arena, struct str name, enum isa_type *type)
{
    *type = value_type(name);
    if (*type)
        return NULL;
    for (size_t i = 0; i < sizeof foreign_types / sizeof foreign_types[0]; i++)
        if (str_is(name, foreign_types[i][0]))
            return arena_printf(arena, "write the type `%s` as %s", foreign_types[i][0], foreign_types[i][1]);
    return arena_printf(arena, "there is no type `%.*s`; types are %s", STR_ARG(name), value_types(arena));
}

/* ---- buffers ---- */

/* Takes the suffixes "+print", "+sum", "+hide", "+outcomes" and "+save:FILE" off the end of the
 * text, the last one first. A plus sign within a file's name starts no suffix. */
static const char *take_suffixes(struct arena *arena, struct str *text, struct buffer *b)
{
    for (size_t i = text->n; i-- > 0;) {
        struct str word = {text->p + i + 1, text->n - i - 1};
        if (text->p[i] != '+')
            continue;
        if (str_starts(word, "save:")) {
            if (b->save)
                return "+save is given twice";
            b->save = arena_strndup(arena, word.p + 5, word.n - 5);
            if (!*b->save)
                return "+save:FILE needs a file";
        } else if (str_is(word, "print")) {
            b->print = true;
        } else if (str_is(word, "sum")) {
            b->sum = true;
        } else if (str_is(word, "outcomes")) {
            b->outcomes = true;
        } else if (str_is(word, "hide")) {
            b->hide = true;
        } else {
            continue;
        }
        text->n = i;
    }
    const char *error = b->save ? file_may_create(arena, b->save) : NULL;
    if (b->hide && (b->print || b->sum))
        error = "+hide contradicts +print and +sum";
    return error;
}

static const char *parse_shape(struct arena *arena, struct str shape, struct buffer *b)
{
    b->count = shape.n > 0;
    if (shape.n == 0)
        return NULL;
    b->n_dims = opts_dims(shape, b->dim, NPY_MAX_DIMS);
    if (b->n_dims == 0)
        return arena_printf(arena, "`[%.*s]` is not a shape; shapes are like [1024], [64K] or [32,32]", STR_ARG(shape));
    for (unsigned i = 0; i < b->n_dims; i++)
        if (__builtin_mul_overflow(b->count, b->dim[i], &b->count))
            return "the shape is too large";
    size_t bytes;
    return __builtin_mul_overflow(b->count, value_bytes(b->type), &bytes) ? "the shape is too large" : NULL;
}

/* The shape must have as many elements as the content; an open shape takes the content's number. */
static const char *settle_shape(struct arena *arena, struct buffer *b)
{
    const struct content *c = &b->content;
    if (b->n_dims == 0 && c->count == 0)
        return arena_printf(arena, "the number of elements is missing, as in %s[1024]", isa_type_name(b->type));
    if (b->n_dims == 0) {
        b->n_dims = c->npy.n_dims ? c->npy.n_dims : 1;
        b->dim[0] = c->count;
        memcpy(b->dim, c->npy.dim, c->npy.n_dims * sizeof b->dim[0]);
        b->count = c->count;
    }
    if (c->count && c->count != b->count)
        return arena_printf(arena, "%llu values for the %llu elements of %s", (unsigned long long)c->count,
                            (unsigned long long)b->count, buffer_type_text(b, arena));
    return NULL;
}

/* "=CONTENT", "+WHAT..." or nothing, behind a type and shape or a name. */
static const char *parse_content(struct arena *arena, struct str rest, uint64_t seed, struct buffer *b)
{
    if (rest.n == 0)
        return NULL;
    if (rest.p[0] == '+')
        return arena_printf(
            arena, "there is no `%.*s`; there are +print, +sum, +hide, +save:FILE and, for heddle explore, +outcomes",
            STR_ARG(rest));
    if (rest.p[0] != '=')
        return arena_printf(arena, "`%.*s` is unexpected; write `=` before the content", STR_ARG(rest));
    b->has_content = true;
    return content_parse(arena, (struct str){rest.p + 1, rest.n - 1}, &b->type, b->count, seed, &b->content);
}

static const char *parse_typed_buffer(struct arena *arena, struct str text, uint64_t seed, struct buffer *b)
{
    const char *open = memchr(text.p, '[', text.n);
    struct str type = {text.p, (size_t)(open - text.p)};
    const char *close = memchr(open, ']', text.n - type.n);
    if (!close)
        return "the `]` after the shape is missing";
    const char *error = parse_type(arena, type, &b->type);
    if (!error)
        error = parse_shape(arena, (struct str){open + 1, (size_t)(close - open - 1)}, b);
    if (!error)
        error = parse_content(arena, (struct str){close + 1, (size_t)(text.p + text.n - close - 1)}, seed, b);
    return error;
}

/* Adds the buffer that a text describes. */
static const char *parse_buffer(struct args *args, struct str text, struct buffer **buffer)
{
    struct buffer *b = ARENA_NEW(args->arena, struct buffer);
    unsigned number = b->argument = args->list.n + 1;
    *VEC_PUSH(args->arena, &args->buffers) = *buffer = b;
    b->text = arena_strndup(args->arena, text.p, text.n);
    const char *error = take_suffixes(args->arena, &text, b);
    if (!error && text.p[0] == '@') {
        b->has_content = true;
        error = content_parse(args->arena, text, &b->type, 0, number, &b->content);
    } else if (!error) {
        error = parse_typed_buffer(args->arena, text, number, b);
    }
    return error ? error : settle_shape(args->arena, b);
}

static bool is_buffer(struct str text)
{
    const char *open = memchr(text.p, '[', text.n), *equals = memchr(text.p, '=', text.n);
    return open && (!equals || open < equals);
}

/* ---- structures ---- */

/* A parameter's bytes while they are filled in. */
struct filling {
    struct args *args;
    struct arg *arg;
    size_t at, bytes;
};

static const char *too_long(const struct filling *f)
{
    return arena_printf(f->args->arena, "it has more than the %zu bytes of the parameter", f->bytes);
}

/* Returns the place of the next member, aligned to its `bytes` bytes; NULL if it does not fit. */
static void *next_member(struct filling *f, size_t bytes)
{
    f->at = (f->at + bytes - 1) / bytes * bytes;
    if (f->at + bytes > f->bytes)
        return NULL;
    f->at += bytes;
    return f->arg->bytes + f->at - bytes;
}

/* "f32:1,2,3" */
static const char *parse_members(struct filling *f, struct str item)
{
    struct arena *arena = f->args->arena;
    enum isa_type type;
    struct value v;
    const char *colon = memchr(item.p, ':', item.n);
    if (!colon)
        return arena_printf(arena, "`%.*s`: a member is written TYPE:VALUE", STR_ARG(item));
    const char *error = parse_type(arena, (struct str){item.p, (size_t)(colon - item.p)}, &type);
    struct str rest = {colon + 1, (size_t)(item.p + item.n - colon - 1)};
    while (!error) {
        const char *comma = memchr(rest.p, ',', rest.n);
        size_t length = comma ? (size_t)(comma - rest.p) : rest.n;
        error = value_parse(arena, (struct str){rest.p, length}, type, &v);
        void *to = error ? NULL : next_member(f, value_bytes(type));
        if (to)
            value_store(type, v, to);
        else if (!error)
            return too_long(f);
        if (!comma)
            break;
        rest = (struct str){comma + 1, rest.n - length - 1};
    }
    return error;
}

static const char *parse_pointer_member(struct filling *f, struct str item)
{
    struct buffer *buffer;
    const char *error = parse_buffer(f->args, item, &buffer);
    if (error)
        return error;
    if (!next_member(f, 8))
        return too_long(f);
    *VEC_PUSH(f->args->arena, &f->arg->pointers) = (struct pointer){f->at - 8, 0, buffer};
    return NULL;
}

static const char *parse_items(struct filling *f, struct str items)
{
    const char *error = NULL;
    while (!error) {
        const char *semicolon = memchr(items.p, ';', items.n);
        struct str item = {items.p, semicolon ? (size_t)(semicolon - items.p) : items.n};
        error = is_buffer(item) ? parse_pointer_member(f, item) : parse_members(f, item);
        if (!semicolon)
            break;
        items = (struct str){semicolon + 1, items.n - item.n - 1};
    }
    return error;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static const char *parse_hex(struct filling *f, struct str text)
{
    if (text.n % 2)
        return "hex: needs two digits for each byte";
    for (size_t i = 0; i < text.n; i += 2) {
        int high = hex_digit(text.p[i]), low = hex_digit(text.p[i + 1]);
        if (high < 0 || low < 0)
            return arena_printf(f->args->arena, "`%.2s` is not a hexadecimal byte", text.p + i);
        if (f->at == f->bytes)
            return too_long(f);
        f->arg->bytes[f->at++] = (uint8_t)(high << 4 | low);
    }
    return NULL;
}

static const char *parse_struct_file(struct filling *f, const char *path)
{
    struct file_bytes file;
    const char *error = file_read(f->args->arena, path, f->bytes, &file);
    if (error)
        return error;
    f->at = file.n;
    if (file.n <= f->bytes)
        memcpy(f->arg->bytes, file.bytes, file.n);
    free(file.bytes);
    return f->at > f->bytes ? too_long(f) : NULL;
}

static const char *parse_struct(struct args *args, struct str text, const hd_param_info *p, struct arg *arg)
{
    struct filling f = {args, arg, 0, p->bytes};
    const char *error;
    if (str_starts(text, "hex:"))
        error = parse_hex(&f, (struct str){text.p + 4, text.n - 4});
    else if (text.p[0] == '@')
        error = parse_struct_file(&f, text.p + 1);
    else if (text.p[0] == '{' && text.p[text.n - 1] == '}')
        error = parse_items(&f, (struct str){text.p + 1, text.n - 2});
    else
        error = parse_items(&f, text);
    if (error)
        return error;
    size_t padded = (f.at + p->align - 1) / p->align * p->align;
    if (padded != p->bytes)
        return arena_printf(args->arena, "it has %zu bytes, and parameter `%s` is a structure of %zu bytes", f.at,
                            p->name, p->bytes);
    return NULL;
}

/* ---- scalars ---- */

static const char *does_not_fit(struct arena *arena, const char *what, const hd_param_info *p)
{
    return arena_printf(arena, "it is %s, but parameter `%s` is a .%s; it takes %s", what, p->name, p->type,
                        arg_hint(p, arena));
}

static const char *parse_scalar(struct args *args, struct str text, const hd_param_info *p, struct arg *arg)
{
    struct arena *arena = args->arena;
    enum isa_type declared = value_type(str_of(p->type)), type = declared;
    const char *colon = memchr(text.p, ':', text.n);
    if (colon) {
        const char *error = parse_type(arena, (struct str){text.p, (size_t)(colon - text.p)}, &type);
        if (error)
            return error;
        bool raw = isa_type_class(declared) == CLASS_B || isa_type_class(type) == CLASS_B;
        if (value_bytes(type) != p->bytes || (!raw && value_is_float(type) != value_is_float(declared)))
            return does_not_fit(arena,
                                arena_printf(arena, "a%s %zu-byte %s", value_bytes(type) == 8 ? "n" : "",
                                             value_bytes(type), isa_type_name(type)),
                                p);
        text = (struct str){colon + 1, (size_t)(text.p + text.n - colon - 1)};
    }
    struct value v;
    const char *error = value_parse(arena, text, type, &v);
    if (error && isa_type_class(type) == CLASS_B && !value_parse(arena, text, TYPE_f64, &v))
        return arena_printf(arena,
                            "parameter `%s` is a .%s, which may hold an integer or a float: write a float as f%zu:%.*s",
                            p->name, p->type, 8 * p->bytes, STR_ARG(text));
    if (error && p->bytes == 8 && !value_is_float(type))
        return arena_printf(arena, "%s; write a buffer like f32[1024]", error);
    if (!error)
        value_store(type, v, arg->bytes);
    return error;
}

static const char *parse_same(struct args *args, struct str text, struct arg *arg)
{
    uint64_t number, addend = 0;
    const char *plus = memchr(text.p, '+', text.n);
    struct str digits = {text.p, plus ? (size_t)(plus - text.p) : text.n};
    if (!opts_size(digits, &number) || (plus && !opts_size((struct str){plus + 1, text.n - digits.n - 1}, &addend)))
        return "write same:N or same:N+BYTES";
    if (number == 0 || number > args->list.n || args->list.at[number - 1].pointers.n == 0)
        return arena_printf(args->arena, "same:N names an earlier buffer, but argument %llu is not one",
                            (unsigned long long)number);
    struct buffer *b = args->list.at[number - 1].pointers.at[0].buffer;
    *VEC_PUSH(args->arena, &arg->pointers) = (struct pointer){0, addend, b};
    return NULL;
}

/* ---- files ---- */

int arg_read_files(struct session *s, int *n, struct file_bytes **files)
{
    *n = 1;
    while (*n < s->n_words && strcmp(file_extension(s->words[*n]), ".ptx") == 0)
        ++*n;
    *files = ARENA_ARRAY(&s->arena, struct file_bytes, (size_t)*n);
    for (int i = 0; i < *n; i++) {
        const char *error = file_read_ptx(&s->arena, s->words[i], &(*files)[i]);
        if (error)
            return usage_error(s, "%s", error);
    }
    return 0;
}

/* ---- arguments ---- */

static bool is_struct(const hd_param_info *p)
{
    enum isa_type type = value_type(str_of(p->type));
    return !type || value_bytes(type) != p->bytes;
}

static const char *parse_address(struct args *args, struct str text, const hd_param_info *p, struct arg *arg)
{
    struct buffer *buffer;
    if (p->bytes != 8 || is_struct(p) || value_is_float(value_type(str_of(p->type))))
        return does_not_fit(args->arena, "a buffer, hence an address of 8 bytes", p);
    if (str_starts(text, "same:"))
        return parse_same(args, (struct str){text.p + 5, text.n - 5}, arg);
    const char *error = parse_buffer(args, text, &buffer);
    if (!error)
        *VEC_PUSH(args->arena, &arg->pointers) = (struct pointer){0, 0, buffer};
    return error;
}

const char *arg_parse(struct args *args, const char *text, const hd_param_info *p)
{
    struct arg arg = {.bytes = arena_alloc(args->arena, p->bytes + 1)};
    struct str s = str_of(text);
    const char *error;
    if (s.n == 0)
        error = "it is empty";
    else if (is_struct(p))
        error = parse_struct(args, s, p, &arg);
    else if (is_buffer(s) || text[0] == '@' || str_starts(s, "same:"))
        error = parse_address(args, s, p, &arg);
    else
        error = parse_scalar(args, s, p, &arg);
    if (error)
        return arena_printf(args->arena, "argument %u, `%s`: %s", args->list.n + 1, text, error);
    *VEC_PUSH(args->arena, &args->list) = arg;
    return NULL;
}

const char *arg_hint(const hd_param_info *p, struct arena *arena)
{
    const char *example = arg_example(p, arena);
    if (is_struct(p))
        return arena_printf(arena, "a structure of %zu bytes: %s", p->bytes, example);
    if (p->bytes == 8 && !value_is_float(value_type(str_of(p->type))))
        return p->is_pointer ? "a buffer: 'f32[1024]'" : "a buffer: 'f32[1024]', or a number";
    return arena_printf(arena, "a number: %s", example);
}

const char *arg_example(const hd_param_info *p, struct arena *arena)
{
    enum isa_type type = value_type(str_of(p->type));
    if (is_struct(p))
        return p->align >= 8 && p->bytes % 8 == 0 ? arena_printf(arena, "@FILE, hex:00..., or '{f32[1024];u64:7;...}'")
                                                  : "@FILE, hex:00..., or f32:1,2,...";
    if (value_is_float(type))
        return "2.5";
    return p->bytes == 8 ? "'f32[1024]'" : isa_type_class(type) == CLASS_B ? "512 or f32:2.5" : "512";
}

/* ---- variables ---- */

static const char *unknown_variable(struct arena *arena, struct str name, const hd_module *module)
{
    enum { SHOWN = 100 };
    size_t n = hd_module_variable_count(module);
    hd_variable_info v;
    struct text all = {.arena = arena};
    for (size_t i = 0; i < SHOWN && hd_module_get_variable(module, i, &v); i++)
        text_printf(&all, "%s%s", i ? ", " : "", v.name);
    if (n > SHOWN)
        text_printf(&all, " and %zu more", n - SHOWN);
    if (n == 0)
        return arena_printf(arena, "there is no variable `%.*s`: the module has none", STR_ARG(name));
    return arena_printf(arena, "there is no variable `%.*s`; the module has %s", STR_ARG(name), all.p);
}

static bool find_variable(const hd_module *module, struct str name, hd_variable_info *v)
{
    for (size_t i = 0; hd_module_get_variable(module, i, v); i++)
        if (str_is(name, v->name))
            return true;
    return false;
}

static void set_variable(struct buffer *b, const hd_variable_info *v)
{
    b->text = v->name;
    b->at = v->pointer;
    b->type = value_type(str_of(v->type));
    b->n_dims = 1;
    b->dim[0] = b->count = v->bytes / value_bytes(b->type);
}

const char *arg_parse_variable(struct args *args, const char *text, const hd_module *module)
{
    struct arena *arena = args->arena;
    struct buffer *b = ARENA_NEW(arena, struct buffer);
    struct str s = str_of(text);
    *VEC_PUSH(arena, &args->buffers) = b;
    const char *error = take_suffixes(arena, &s, b);
    const char *equals = memchr(s.p, '=', s.n);
    struct str name = {s.p, equals ? (size_t)(equals - s.p) : s.n};
    hd_variable_info v;
    if (!error && !find_variable(module, name, &v))
        error = unknown_variable(arena, name, module);
    if (!error && !value_type(str_of(v.type)))
        error = arena_printf(arena, "a variable of type .%s cannot be shown", v.type);
    if (error)
        return arena_printf(arena, "`--var %s`: %s", text, error);
    set_variable(b, &v);
    error = parse_content(arena, (struct str){s.p + name.n, s.n - name.n}, args->buffers.n, b);
    if (!error)
        error = settle_shape(arena, b);
    return error ? arena_printf(arena, "`--var %s`: %s", text, error) : NULL;
}

/* Does `at` point at one of the first n buffers? */
static bool is_there(const struct args *args, uint32_t n, const void *at)
{
    for (uint32_t i = 0; i < n; i++)
        if (args->buffers.at[i]->at == at)
            return true;
    return false;
}

void arg_add_variables(struct args *args, const hd_module *module)
{
    hd_variable_info v;
    uint32_t n_named = args->buffers.n;
    for (size_t i = 0; hd_module_get_variable(module, i, &v); i++) {
        if (strcmp(v.space, "global") != 0 || !value_type(str_of(v.type)) || is_there(args, n_named, v.pointer))
            continue;
        struct buffer *b = ARENA_NEW(args->arena, struct buffer);
        set_variable(b, &v);
        *VEC_PUSH(args->arena, &args->buffers) = b;
    }
}

/* ---- a launch ---- */

void arg_pack(const struct args *args, hd_kernel *kernel, hd_launch_config *config)
{
    hd_kernel_info info;
    hd_kernel_get_info(kernel, &info);
    uint8_t *packed = arena_alloc(args->arena, info.param_bytes + 1);
    hd_param_info p;
    for (size_t i = 0; hd_kernel_get_param(kernel, i, &p); i++) {
        const struct arg *a = &args->list.at[i];
        memcpy(packed + p.offset, a->bytes, p.bytes);
        for (uint32_t k = 0; k < a->pointers.n; k++) {
            uint64_t address = (uint64_t)(uintptr_t)a->pointers.at[k].buffer->at + a->pointers.at[k].addend;
            memcpy(packed + p.offset + a->pointers.at[k].at, &address, sizeof address);
        }
    }
    config->packed_args = packed;
    config->packed_bytes = info.param_bytes;
}

void arg_shape(const struct options *o, const hd_kernel_info *info, hd_launch_config *config)
{
    for (int i = 0; i < 3; i++) {
        config->grid[i] = o->grid[i];
        config->cluster[i] = o->cluster[i];
        config->block[i] = o->block[0] ? o->block[i] : info->required_block[i];
    }
    config->shared_bytes = o->shared;
}
