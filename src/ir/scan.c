/* Words and numbers of a function's text; see scan.h. */
#include "ir/scan.h"

bool scan_fail(struct scanner *s, const char *at, const char *format, ...)
{
    struct place place = {.source = s->source, .offset = (uint32_t)(at - s->source->text.p), .length = 1};
    va_list args;
    if (s->failed)
        return false;
    s->failed = true;
    va_start(args, format);
    diag_verror(s->diags, place, "ir-syntax", NULL, format, args);
    va_end(args);
    return false;
}

char scan_peek(struct scanner *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
    while (s->p < s->end && *s->p == ';' && *s->p != '\n')
        while (s->p < s->end && *s->p != '\n')
            s->p++;
    return s->p < s->end ? *s->p : '\n';
}

bool scan_take(struct scanner *s, char c)
{
    bool is = !s->failed && scan_peek(s) == c && s->p < s->end;
    s->p += is;
    return is;
}

bool scan_expect(struct scanner *s, char c)
{
    return scan_take(s, c) || scan_fail(s, s->p, "`%c` is missing here", c);
}

bool scan_at_line_end(struct scanner *s)
{
    return scan_peek(s) == '\n';
}

void scan_skip_lines(struct scanner *s)
{
    while (scan_at_line_end(s) && s->p < s->end)
        s->p++;
}

bool scan_end_line(struct scanner *s)
{
    if (s->failed || !scan_at_line_end(s))
        return scan_fail(s, s->p, "the line goes on after its end");
    scan_skip_lines(s);
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$';
}

struct str scan_word(struct scanner *s)
{
    scan_peek(s);
    struct str word = {s->p, 0};
    while (!s->failed && s->p < s->end && is_word(*s->p))
        s->p++;
    word.n = (size_t)(s->p - word.p);
    return word;
}

bool scan_this(struct scanner *s, const char *word)
{
    const char *start = s->p;
    if (str_is(scan_word(s), word))
        return true;
    s->p = start;
    return false;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_digits(struct scanner *s, unsigned base, uint64_t *v)
{
    const char *start = s->p;
    *v = 0;
    while (s->p < s->end && digit_of(*s->p) >= 0 && digit_of(*s->p) < (int)base) {
        if (__builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, (uint64_t)digit_of(*s->p), v))
            return scan_fail(s, start, "the number is longer than 64 bits");
        s->p++;
    }
    return s->p > start || scan_fail(s, start, "a number is missing here");
}

uint64_t scan_number(struct scanner *s)
{
    uint64_t v = 0;
    bool negative = scan_take(s, '-');
    if (s->failed)
        return 0;
    scan_peek(s);
    if (s->p + 1 < s->end && s->p[0] == '0' && s->p[1] == 'x') {
        s->p += 2;
        take_digits(s, 16, &v);
    } else {
        take_digits(s, 10, &v);
    }
    return negative ? -v : v;
}

uint32_t scan_small(struct scanner *s, uint64_t most, const char *what)
{
    const char *start = (scan_peek(s), s->p);
    uint64_t v = scan_number(s);
    if (v <= most)
        return (uint32_t)v;
    scan_fail(s, start, "%s is %llu at most", what, (unsigned long long)most);
    return 0;
}

uint8_t scan_width(struct scanner *s)
{
    const char *start = (scan_peek(s), s->p);
    uint64_t v = scan_number(s);
    if (v != 1 && v != 16 && v != 32 && v != 64 && v != 128)
        scan_fail(s, start, "a width is 1, 16, 32, 64 or 128");
    return (uint8_t)v;
}

int scan_among(struct str word, const char *(*text)(size_t))
{
    for (int i = 0; text((size_t)i); i++)
        if (str_is(word, text((size_t)i)))
            return i;
    return -1;
}
