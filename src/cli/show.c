/* See show.h. */
#include "cli/show.h"

#include "cli/cli.h"

#include <math.h>

enum { FIRST_VALUES = 8, VALUES_A_LINE = 10 };

static struct value value_at(const struct buffer *b, uint64_t i)
{
    return value_load(b->type, (const char *)b->at + i * value_bytes(b->type));
}

uint64_t buffer_changed(const struct buffer *b)
{
    size_t bytes = value_bytes(b->type);
    uint64_t n = 0;
    if (memcmp(b->at, b->before, arg_buffer_bytes(b)) == 0)
        return 0;
    for (uint64_t i = 0; i < b->count; i++)
        n += memcmp((const char *)b->at + i * bytes, (const char *)b->before + i * bytes, bytes) != 0;
    return n;
}

/* ---- summaries ---- */

/* The CRC-32 of zlib, PNG and Python's zlib.crc32. */
static uint32_t crc32_of(const void *data, size_t n)
{
    uint32_t table[256], crc = UINT32_MAX;
    const uint8_t *p = data;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
    }
    for (size_t i = 0; i < n; i++)
        crc = table[(crc ^ p[i]) & 0xff] ^ crc >> 8;
    return ~crc;
}

struct summary {
    uint64_t numbers, nans;
    struct value min, max; /* where there are numbers */
    double mean;
    uint32_t crc32;
};

static struct summary summarise(const struct buffer *b)
{
    struct summary s = {.crc32 = crc32_of(b->at, arg_buffer_bytes(b))};
    long double sum = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        struct value v = value_at(b, i);
        if (v.kind == VALUE_FLOAT && isnan(v.f)) {
            s.nans++;
            continue;
        }
        if (s.numbers == 0)
            s.min = s.max = v;
        s.min = value_compare(v, s.min) < 0 ? v : s.min;
        s.max = value_compare(v, s.max) > 0 ? v : s.max;
        sum += (long double)value_as_double(v);
        s.numbers++;
    }
    s.mean = s.numbers ? (double)(sum / (long double)s.numbers) : 0;
    return s;
}

/* ---- text ---- */

static void put_values(FILE *out, const struct buffer *b, uint64_t from, uint64_t to)
{
    char text[VALUE_TEXT];
    for (uint64_t i = from; i < to; i++) {
        value_text(b->type, value_at(b, i), text);
        fprintf(out, " %s", text);
    }
}

/* Prints each row of the last dimension on a line; a single dimension in lines of ten. */
static void put_all(FILE *out, const struct buffer *b)
{
    uint64_t row = b->n_dims > 1 ? b->dim[b->n_dims - 1] : VALUES_A_LINE;
    if (b->count <= row) {
        put_values(out, b, 0, b->count);
        fputc('\n', out);
        return;
    }
    for (uint64_t i = 0; i < b->count; i += row) {
        fputs("\n ", out);
        put_values(out, b, i, i + row < b->count ? i + row : b->count);
    }
    fputc('\n', out);
}

static void put_summary(FILE *out, const struct buffer *b)
{
    struct summary s = summarise(b);
    char min[VALUE_TEXT] = "none", max[VALUE_TEXT] = "none";
    if (s.numbers) {
        value_text(b->type, s.min, min);
        value_text(b->type, s.max, max);
    }
    fprintf(out, " crc32 %08x, min %s, max %s, mean %.9g", s.crc32, min, max, s.mean);
    if (s.nans)
        fprintf(out, ", %llu NaN", (unsigned long long)s.nans);
    fputc('\n', out);
}

static void put_changed(FILE *out, const struct buffer *b, uint64_t changed)
{
    put_values(out, b, 0, b->count < FIRST_VALUES ? b->count : FIRST_VALUES);
    fprintf(out, "%s (%llu of %llu changed)\n", b->count > FIRST_VALUES ? " ..." : "", (unsigned long long)changed,
            (unsigned long long)b->count);
}

bool show_buffer(FILE *out, const struct buffer *b, struct arena *arena)
{
    const char *head = arena_printf(arena, "%s: %s", buffer_label(b, arena), buffer_type_text(b, arena));
    bool asked = b->print || b->sum || b->hide;
    uint64_t changed = asked ? 0 : buffer_changed(b);
    if (b->sum) {
        fprintf(out, "%s:", head);
        put_summary(out, b);
    }
    if (b->print) {
        fprintf(out, "%s =", head);
        put_all(out, b);
    }
    if (b->save)
        fprintf(out, "%s saved to %s\n", head, b->save);
    if (changed) {
        fprintf(out, "%s =", head);
        put_changed(out, b, changed);
    }
    return b->print || b->sum || b->save || changed;
}

/* ---- JSON ---- */

static json_t *value_json(enum isa_type type, struct value v)
{
    char text[VALUE_TEXT];
    if (v.kind == VALUE_FLOAT && isfinite(v.f))
        return json_real(v.f);
    if (v.kind == VALUE_SIGNED || (v.kind == VALUE_UNSIGNED && v.u <= INT64_MAX))
        return json_integer(v.s);
    if (v.kind == VALUE_UNSIGNED)
        snprintf(text, sizeof text, "%llu", (unsigned long long)v.u);
    else
        value_text(type, v, text);
    return json_string(text);
}

json_t *show_buffer_json(const struct buffer *b)
{
    struct summary s = summarise(b);
    char crc[9];
    snprintf(crc, sizeof crc, "%08x", s.crc32);
    json_t *shape = json_array(), *values = json_array(), *o = json_object();
    for (unsigned i = 0; i < b->n_dims; i++)
        json_array_append_new(shape, json_integer((json_int_t)b->dim[i]));
    for (uint64_t i = 0; i < b->count && (b->print || i < FIRST_VALUES); i++)
        json_array_append_new(values, value_json(b->type, value_at(b, i)));
    if (b->argument)
        json_object_set_new(o, "argument", json_integer(b->argument));
    else
        json_object_set_new(o, "variable", json_text(b->text, strlen(b->text)));
    json_object_set_new(o, "type", json_string(isa_type_name(b->type)));
    json_object_set_new(o, "shape", shape);
    json_object_set_new(o, "bytes", json_integer((json_int_t)arg_buffer_bytes(b)));
    json_object_set_new(o, "changed", json_integer((json_int_t)buffer_changed(b)));
    json_object_set_new(o, "crc32", json_string(crc));
    if (s.numbers) {
        json_object_set_new(o, "min", value_json(b->type, s.min));
        json_object_set_new(o, "max", value_json(b->type, s.max));
        json_object_set_new(o, "mean", value_json(TYPE_f64, (struct value){VALUE_FLOAT, {.f = s.mean}}));
    }
    json_object_set_new(o, "nan", json_integer((json_int_t)s.nans));
    json_object_set_new(o, "values", values);
    if (b->save)
        json_object_set_new(o, "saved", json_text(b->save, strlen(b->save)));
    return o;
}

/* ---- files ---- */

const char *show_save(const struct buffer *b, struct arena *arena)
{
    struct file_writer w;
    const char *error = file_create(&w, arena, b->save);
    if (error)
        return error;
    struct npy npy = {.type = b->type, .n_dims = b->n_dims, .count = b->count, .data = b->at};
    memcpy(npy.dim, b->dim, sizeof npy.dim);
    if (strcmp(file_extension(b->save), ".npy") == 0)
        npy_write(&w, &npy);
    else
        file_write(&w, b->at, arg_buffer_bytes(b));
    return file_finish(&w);
}
