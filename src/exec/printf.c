/* See printf.h. Each conversion is cut out of the format and given to the C library with a value of its type.
 */
#include "exec/printf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_STRING = 1 << 20, LONGEST_SPEC = 64 };

struct formatter {
    struct text *out;
    uint64_t args;
    printf_read *read;
    void *data;
    int n_args;
    bool ok;
};

static void put(struct text *t, const char *s, size_t n)
{
    if (t->n + n + 1 > t->capacity) {
        size_t capacity = t->capacity ? t->capacity * 2 : 256;
        while (capacity < t->n + n + 1)
            capacity *= 2;
        char *more = realloc(t->bytes, capacity);
        if (!more)
            return; /* the text is cut short */
        t->bytes = more;
        t->capacity = capacity;
    }
    memcpy(t->bytes + t->n, s, n);
    t->n += n;
}

/* The next argument: 4 or 8 bytes at their alignment. */
static uint64_t next_arg(struct formatter *f, unsigned bytes)
{
    uint64_t value = 0;
    f->args = (f->args + bytes - 1) & ~(uint64_t)(bytes - 1);
    if (f->ok)
        f->ok = f->read(f->data, f->args, &value, bytes);
    f->args += bytes;
    f->n_args++;
    return value;
}

/* A zero-ended string in the kernel's memory; freed by the caller. */
static char *read_string(struct formatter *f, uint64_t address)
{
    struct text s = {0};
    for (;; address++) {
        char c;
        if (!f->read(f->data, address, &c, 1)) {
            f->ok = false;
            break;
        }
        if (!c || s.n == LONGEST_STRING)
            break;
        put(&s, &c, 1);
    }
    put(&s, "", 1);
    return s.bytes;
}

/* One conversion as text for snprintf: "%-8.3llx". */
struct spec {
    char text[LONGEST_SPEC];
    size_t n;
    unsigned bytes; /* of an integer argument */
    char conversion;
};

static void add(struct spec *s, char c)
{
    if (s->n + 2 < sizeof s->text)
        s->text[s->n++] = c;
    s->text[s->n] = 0;
}

static const char *read_number(struct formatter *f, struct spec *s, const char *p)
{
    if (*p == '*') {
        char number[16];
        snprintf(number, sizeof number, "%d", (int)(int32_t)next_arg(f, 4));
        for (const char *c = number; *c; c++)
            add(s, *c);
        return p + 1;
    }
    while (*p >= '0' && *p <= '9')
        add(s, *p++);
    return p;
}

static const char *read_spec(struct formatter *f, struct spec *s, const char *p)
{
    *s = (struct spec){.bytes = 4};
    add(s, '%');
    while (*p && strchr("-+ #0", *p))
        add(s, *p++);
    p = read_number(f, s, p);
    if (*p == '.') {
        add(s, *p++);
        p = read_number(f, s, p);
    }
    for (; *p && strchr("hlLqjzt", *p); p++)
        if (*p != 'h' && *p != 'L')
            s->bytes = 8;
        else if (*p == 'h')
            s->bytes = s->bytes == 2 ? 1 : 2;
    s->conversion = *p;
    return *p ? p + 1 : p;
}

static void put_printed(struct formatter *f, const char *text, int n)
{
    if (n > 0)
        put(f->out, text, (size_t)n);
}

static int64_t narrow(uint64_t v, unsigned bytes)
{
    return bytes == 1 ? (int8_t)v : bytes == 2 ? (int16_t)v : bytes == 4 ? (int32_t)v : (int64_t)v;
}

static void put_integer(struct formatter *f, struct spec *s)
{
    char buffer[512];
    uint64_t v = next_arg(f, s->bytes == 8 ? 8 : 4);
    bool is_signed = s->conversion == 'd' || s->conversion == 'i';
    add(s, 'l');
    add(s, 'l');
    add(s, s->conversion);
    uint64_t mask = s->bytes == 8 ? ~0ull : (1ull << 8 * s->bytes) - 1;
    long long value = is_signed ? narrow(v, s->bytes) : (long long)(v & mask);
    put_printed(f, buffer, snprintf(buffer, sizeof buffer, s->text, value));
}

static void put_float(struct formatter *f, struct spec *s)
{
    uint64_t bits = next_arg(f, 8);
    double d;
    memcpy(&d, &bits, 8);
    add(s, s->conversion);
    int n = snprintf(NULL, 0, s->text, d);
    char *buffer = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (!buffer)
        return;
    put_printed(f, buffer, snprintf(buffer, (size_t)n + 1, s->text, d));
    free(buffer);
}

static void put_string(struct formatter *f, struct spec *s)
{
    uint64_t address = next_arg(f, 8);
    char *string = address ? read_string(f, address) : strdup("(null)");
    if (!string)
        return;
    add(s, 's');
    int n = snprintf(NULL, 0, s->text, string);
    char *buffer = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (buffer)
        put_printed(f, buffer, snprintf(buffer, (size_t)n + 1, s->text, string));
    free(buffer);
    free(string);
}

static void put_conversion(struct formatter *f, struct spec *s)
{
    char buffer[128];
    switch (s->conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': put_integer(f, s); break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': put_float(f, s); break;
    case 's': put_string(f, s); break;
    case 'c':
        add(s, 'c');
        put_printed(f, buffer, snprintf(buffer, sizeof buffer, s->text, (int)next_arg(f, 4)));
        break;
    case 'p':
        add(s, 'p');
        put_printed(f, buffer, snprintf(buffer, sizeof buffer, s->text, (void *)(uintptr_t)next_arg(f, 8)));
        break;
    case 'n': next_arg(f, 8); break; /* not written, as under CUDA */
    case '%': put(f->out, "%", 1); break;
    default:
        put(f->out, s->text, s->n);
        if (s->conversion)
            put(f->out, &s->conversion, 1);
        break;
    }
}

int printf_format(struct text *out, uint64_t format, uint64_t args, printf_read *read, void *data, bool *ok)
{
    struct formatter f = {out, args, read, data, 0, true};
    if (!format)
        return -1;
    char *text = read_string(&f, format);
    for (const char *p = text; p && *p && f.ok;) {
        const char *percent = strchr(p, '%');
        size_t plain = percent ? (size_t)(percent - p) : strlen(p);
        put(out, p, plain);
        p += plain;
        if (percent) {
            struct spec s;
            p = read_spec(&f, &s, percent + 1);
            put_conversion(&f, &s);
        }
    }
    free(text);
    *ok = f.ok;
    return f.n_args;
}
