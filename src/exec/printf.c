/* See printf.h. CUDA C++ Programming Guide 10.35: conversions are
 * %[flags][width][.precision][size]type, all combinations are taken, and the rest is the host's
 * printf. What one of them prints is laid out here; the C library makes the digits of
 * floating-point numbers alone, of so many as can differ from zero, so that no width and no
 * precision reaches a buffer.
 */
#include "exec/printf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum {
    LONGEST_STRING = 64 << 10, /* a format or an argument of %s; a call with a longer one is lost */
    /* "printf() can accept up to 32 arguments"; further conversions are "output as-is". */
    MOST_ARGS = 32,
    /* A double has 309 digits before its point and 1074 behind it; only zeros follow. */
    MOST_DIGITS = 1100,
    MOST_WIDTH = INT32_MAX,
};

struct formatter {
    struct printed *out;
    uint64_t format; /* where it is read, */
    char c;          /* and what stands there */
    uint64_t end;    /* of the longest format */
    uint64_t args;
    printf_read *read;
    void *data;
    int n_args;
    uint64_t missing; /* bytes of this call that did not fit: from the first on, none is kept */
    bool ok, cut;     /* cut: a string was too long */
    bool too_many;    /* arguments */
};

/* ---- text ---- */

/* Room for n bytes behind the text; NULL where they are missing. */
static char *append(struct formatter *f, uint64_t n)
{
    struct printed *t = f->out;
    bool fits = !f->missing && n <= t->limit - t->n, made = fits && VEC_RESERVE(t, n);
    t->no_memory |= fits && !made;
    if (!made) {
        f->missing += n;
        return NULL;
    }
    t->n += n;
    return t->at + t->n - n;
}

static void put(struct formatter *f, const char *s, size_t n)
{
    char *to = n ? append(f, n) : NULL;
    if (to)
        memcpy(to, s, n);
}

static void fill(struct formatter *f, char c, uint64_t n)
{
    char *to = n ? append(f, n) : NULL;
    if (to)
        memset(to, c, n);
}

/* ---- the kernel's memory ---- */

static char read_char(struct formatter *f, uint64_t address)
{
    char c = 0;
    if (f->ok)
        f->ok = f->read(f->data, address, &c, 1);
    return f->ok ? c : 0;
}

/* `n` bytes as they stand there, which are not read where there is no room for them. */
static void put_memory(struct formatter *f, uint64_t address, uint64_t n)
{
    char *to = append(f, n);
    for (uint64_t i = 0; to && i < n; i++)
        to[i] = read_char(f, address + i);
}

static void look_at(struct formatter *f, uint64_t format)
{
    f->format = format;
    f->cut |= format == f->end;
    f->c = f->cut ? 0 : read_char(f, format);
}

static void step(struct formatter *f)
{
    look_at(f, f->format + 1);
}

/* The next argument: 4 or 8 bytes at their alignment. */
static uint64_t next_arg(struct formatter *f, unsigned bytes)
{
    uint64_t value = 0;
    if (f->n_args == MOST_ARGS) {
        f->too_many = true;
        return 0;
    }
    f->args = (f->args + bytes - 1) & ~(uint64_t)(bytes - 1);
    if (f->ok)
        f->ok = f->read(f->data, f->args, &value, bytes);
    f->args += bytes;
    f->n_args++;
    return f->ok ? value : 0;
}

/* ---- reading conversions ---- */

struct spec {
    uint64_t start; /* of its text, in the format */
    bool minus, plus, space, alternate, zero, has_precision;
    uint64_t width, precision;
    unsigned bytes; /* of an integer */
    char conversion;
};

static bool *flag_of(struct spec *s, char c)
{
    switch (c) {
    case '-': return &s->minus;
    case '+': return &s->plus;
    case ' ': return &s->space;
    case '#': return &s->alternate;
    case '0': return &s->zero;
    default: return NULL;
    }
}

static int64_t read_number(struct formatter *f)
{
    int64_t n = 0;
    if (f->c == '*') {
        step(f);
        return (int32_t)next_arg(f, 4);
    }
    for (; f->c >= '0' && f->c <= '9'; step(f))
        n = n > MOST_WIDTH / 10 - 1 ? MOST_WIDTH : 10 * n + (f->c - '0');
    return n;
}

/* From behind the percent sign to behind the conversion. */
static struct spec read_spec(struct formatter *f)
{
    struct spec s = {.start = f->format - 1, .bytes = 4};
    for (bool *flag; (flag = flag_of(&s, f->c)); step(f))
        *flag = true;
    int64_t width = read_number(f);
    s.minus |= width < 0;
    s.width = (uint64_t)(width < 0 ? -width : width);
    if (f->c == '.') {
        step(f);
        int64_t precision = read_number(f);
        s.has_precision = precision >= 0; /* a negative one counts as left out */
        s.precision = s.has_precision ? (uint64_t)precision : 0;
    }
    for (; f->c && strchr("hlLqjzt", f->c); step(f))
        if (f->c == 'h')
            s.bytes = s.bytes == 2 ? 1 : 2;
        else if (f->c != 'L')
            s.bytes = 8;
    s.conversion = f->c;
    if (f->c)
        step(f);
    return s;
}

/* ---- writing conversions ---- */

/* A conversion's text: prefix, zeros, digits, zeros, tail; padded in front, behind or by the first
 * zeros. */
struct pieces {
    const char *prefix, *digits, *tail;
    size_t n_prefix, n_digits, n_tail;
    uint64_t zeros, more_zeros;
};

static void put_padded(struct formatter *f, const struct spec *s, struct pieces p, bool by_zeros)
{
    uint64_t n = p.n_prefix + p.zeros + p.n_digits + p.more_zeros + p.n_tail, pad = s->width > n ? s->width - n : 0;
    bool zeros = by_zeros && s->zero && !s->minus;
    fill(f, ' ', s->minus || zeros ? 0 : pad);
    put(f, p.prefix, p.n_prefix);
    fill(f, '0', p.zeros + (zeros ? pad : 0));
    put(f, p.digits, p.n_digits);
    fill(f, '0', p.more_zeros);
    put(f, p.tail, p.n_tail);
    fill(f, ' ', s->minus ? pad : 0);
}

static void put_chars(struct formatter *f, const struct spec *s, const char *text, size_t n)
{
    put_padded(f, s, (struct pieces){.digits = text, .n_digits = n}, false);
}

static void put_digits(struct formatter *f, const struct spec *s, uint64_t v, const char *sign)
{
    char buffer[24], *end = buffer + sizeof buffer, *at = end;
    unsigned base = s->conversion == 'o'                                                   ? 8
                    : s->conversion == 'x' || s->conversion == 'X' || s->conversion == 'p' ? 16
                                                                                           : 10;
    const char *all = s->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    for (uint64_t left = v; left; left /= base)
        *--at = all[left % base];
    size_t n = (size_t)(end - at);
    uint64_t least = s->has_precision ? s->precision : 1;
    if (base == 8 && s->alternate && least <= n)
        least = n + 1;
    if (base == 16 && v && (s->alternate || s->conversion == 'p'))
        sign = s->conversion == 'X' ? "0X" : "0x";
    put_padded(
        f, s,
        (struct pieces){
            .prefix = sign, .n_prefix = strlen(sign), .zeros = least > n ? least - n : 0, .digits = at, .n_digits = n},
        !s->has_precision);
}

static const char *sign_of(const struct spec *s, bool negative)
{
    return negative ? "-" : s->plus ? "+" : s->space ? " " : "";
}

static int64_t narrow(uint64_t v, unsigned bytes)
{
    return bytes == 1 ? (int8_t)v : bytes == 2 ? (int16_t)v : bytes == 4 ? (int32_t)v : (int64_t)v;
}

static void put_integer(struct formatter *f, const struct spec *s, uint64_t v)
{
    uint64_t mask = s->bytes == 8 ? ~0ull : (1ull << 8 * s->bytes) - 1;
    int64_t value = narrow(v, s->bytes);
    if (s->conversion == 'd' || s->conversion == 'i')
        put_digits(f, s, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, sign_of(s, value < 0));
    else
        put_digits(f, s, v & mask, "");
}

static bool is_hexadecimal(const struct spec *s)
{
    return s->conversion == 'a' || s->conversion == 'A';
}

/* The digits of a number's absolute value, by the C library; their count. */
static size_t print_digits(const struct spec *s, double d, char *to, size_t size)
{
    char text[8] = "%", *at = text + 1;
    if (s->alternate)
        *at++ = '#';
    if (s->has_precision) {
        *at++ = '.';
        *at++ = '*';
    }
    *at = s->conversion;
    int precision = s->precision < MOST_DIGITS ? (int)s->precision : MOST_DIGITS;
    int n = s->has_precision ? snprintf(to, size, text, precision, fabs(d)) : snprintf(to, size, text, fabs(d));
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static void put_float(struct formatter *f, const struct spec *s, uint64_t bits)
{
    char buffer[MOST_DIGITS + 512], prefix[4];
    double d;
    memcpy(&d, &bits, 8);
    size_t n = print_digits(s, d, buffer, sizeof buffer);
    /* Without zeros at its end. */
    bool short_form = (s->conversion == 'g' || s->conversion == 'G') && !s->alternate;
    struct pieces p = {.prefix = prefix, .digits = buffer, .n_digits = n};
    p.n_prefix = (size_t)snprintf(prefix, sizeof prefix, "%s", sign_of(s, signbit(d)));
    if (!isfinite(d)) {
        put_padded(f, s, p, false);
        return;
    }
    if (is_hexadecimal(s)) { /* zeros of a width stand behind the 0x */
        memcpy(prefix + p.n_prefix, buffer, 2);
        p.n_prefix += 2;
        p.digits += 2;
        p.n_digits -= 2;
    }
    if (s->has_precision && s->precision > MOST_DIGITS && !short_form) { /* before the exponent */
        p.more_zeros = s->precision - MOST_DIGITS;
        size_t mantissa = 0;
        while (mantissa < p.n_digits && !strchr(is_hexadecimal(s) ? "pP" : "eE", p.digits[mantissa]))
            mantissa++;
        p.tail = p.digits + mantissa;
        p.n_tail = p.n_digits - mantissa;
        p.n_digits = mantissa;
    }
    put_padded(f, s, p, true);
}

/* A precision bounds what is read. */
static void put_string(struct formatter *f, const struct spec *s, uint64_t address)
{
    uint64_t limit = s->has_precision && s->precision < LONGEST_STRING ? s->precision : LONGEST_STRING, n = 0;
    if (!address) {
        put_chars(f, s, "(null)", limit < 6 ? limit : 6);
        return;
    }
    while (n < limit && !f->missing && read_char(f, address + n))
        n++;
    f->cut |= n == LONGEST_STRING;
    uint64_t pad = s->width > n ? s->width - n : 0;
    fill(f, ' ', s->minus ? 0 : pad);
    put_memory(f, address, n);
    fill(f, ' ', s->minus ? pad : 0);
}

/* Bytes of a conversion's argument; 0: it has none. */
static unsigned arg_bytes(const struct spec *s)
{
    if (!s->conversion)
        return 0;
    if (strchr("diuoxX", s->conversion))
        return s->bytes == 8 ? 8 : 4;
    return s->conversion == 'c' ? 4 : strchr("fFeEgGaAspn", s->conversion) ? 8 : 0;
}

static void put_conversion(struct formatter *f, const struct spec *s)
{
    unsigned bytes = arg_bytes(s);
    uint64_t v = bytes ? next_arg(f, bytes) : 0;
    char c = (char)v;
    if (s->conversion == '%')
        put(f, "%", 1);
    else if (f->too_many || !bytes)
        put_memory(f, s->start, f->format - s->start);
    else if (s->conversion == 'c')
        put_chars(f, s, &c, 1);
    else if (s->conversion == 's')
        put_string(f, s, v);
    else if (s->conversion == 'p' && v)
        put_digits(f, s, v, "");
    else if (s->conversion == 'p')
        put_chars(f, s, "(nil)", 5);
    else if (strchr("diuoxX", s->conversion))
        put_integer(f, s, v);
    else if (s->conversion != 'n') /* which writes nothing, as under CUDA */
        put_float(f, s, v);
}

int printf_format(struct printed *out, uint64_t format, uint64_t args, printf_read *read, void *data, bool *ok)
{
    struct formatter f = {
        .out = out, .end = format + LONGEST_STRING, .args = args, .read = read, .data = data, .ok = true};
    size_t start = out->n;
    if (!format)
        return -1;
    for (look_at(&f, format); f.c;) {
        char c = f.c;
        step(&f);
        if (c == '%') {
            struct spec s = read_spec(&f);
            put_conversion(&f, &s);
        } else {
            put(&f, &c, 1);
        }
    }
    out->calls += f.ok;
    if (f.ok && (f.missing || f.cut)) {
        out->lost_calls++;
        out->lost_bytes += out->n - start + f.missing;
    }
    if (!f.ok || f.missing || f.cut)
        out->n = start;
    *ok = f.ok;
    return f.n_args;
}
