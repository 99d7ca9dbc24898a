/* The lexer; see lex.h. Each character is looked at once, by its class. */
#include "ptx/lex.h"

#include <errno.h>
#include <stdlib.h>

#include "base/printable.h"

enum { C_SPACE = 1, C_NAME = 2, C_DIGIT = 4, C_START = 8 };

static const uint8_t class_of[256] = {
    [' '] = C_SPACE,
    ['\t'] = C_SPACE,
    ['\r'] = C_SPACE,
    ['\n'] = C_SPACE,
    ['\f'] = C_SPACE,
    ['\v'] = C_SPACE,
    ['0' ... '9'] = C_NAME | C_DIGIT,
    ['a' ... 'z'] = C_NAME | C_START,
    ['A' ... 'Z'] = C_NAME | C_START,
    ['_'] = C_NAME | C_START,
    ['$'] = C_NAME | C_START,
    ['%'] = C_START,
};

static bool is(char c, uint8_t class)
{
    return (class_of[(uint8_t)c] & class) != 0;
}

void lex_init(struct lexer *l, const struct source *source, struct str text)
{
    *l = (struct lexer){.source = source, .p = text.p, .end = text.p + text.n};
}

/* LLVM's compilers, nvcc among them, write where inline assembly begins and ends. */
static void note_comment(struct lexer *l, const char *end)
{
    struct str comment = {l->p, (size_t)(end - l->p)};
    if (str_is(comment, "// begin inline asm")) {
        l->in_asm_text = true;
        l->asm_texts++;
    } else if (str_is(comment, "// end inline asm")) {
        l->in_asm_text = false;
    }
}

/* Over white space and comments; false where a comment does not end. */
static bool skip_blank(struct lexer *l)
{
    for (;;) {
        while (l->p < l->end && is(*l->p, C_SPACE))
            l->p++;
        bool line = l->p < l->end && l->p[0] == '#'; /* left by a preprocessor */
        if (!line && (l->end - l->p < 2 || l->p[0] != '/'))
            return true;
        if (line || l->p[1] == '/') {
            const char *newline = memchr(l->p, '\n', (size_t)(l->end - l->p));
            const char *end = newline ? newline : l->end;
            note_comment(l, end);
            l->p = end;
        } else if (l->p[1] == '*') {
            const char *q = l->p + 2;
            while (q + 1 < l->end && !(q[0] == '*' && q[1] == '/'))
                q++;
            if (q + 1 >= l->end)
                return false;
            l->p = q + 2;
        } else {
            return true;
        }
    }
}

static const char *name_end(const struct lexer *l, const char *p)
{
    while (p < l->end && is(*p, C_NAME))
        p++;
    return p;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

static const char *digits(struct lexer *l, const char *p, unsigned base, struct token *t)
{
    for (int d; p < l->end && (d = digit_value(*p)) < (int)base; p++) {
        t->overflow |= __builtin_mul_overflow(t->value, base, &t->value);
        t->overflow |= __builtin_add_overflow(t->value, (uint64_t)d, &t->value);
    }
    return p;
}

static bool decimal_point_follows(const struct lexer *l, const char *p)
{
    return p < l->end && (*p == '.' || ((*p == 'e' || *p == 'E') && p + 1 < l->end &&
                                        (is(p[1], C_DIGIT) || p[1] == '-' || p[1] == '+')));
}

/* A decimal floating-point number, which is of type f64 (4.5.2). As for ptxas, one that is no
 * normal number of it, nor 0, overflows. */
static const char *decimal(struct lexer *l, struct token *t)
{
    char buffer[64];
    const char *p = l->p;
    size_t n = 0;
    while (p < l->end && n + 1 < sizeof buffer) {
        bool exponent_sign = (*p == '-' || *p == '+') && n && (buffer[n - 1] == 'e' || buffer[n - 1] == 'E');
        if (!is(*p, C_DIGIT) && *p != '.' && *p != 'e' && *p != 'E' && !exponent_sign)
            break;
        buffer[n++] = *p++;
    }
    buffer[n] = 0;
    char *stop;
    errno = 0;
    double d = strtod(buffer, &stop);
    t->overflow = errno == ERANGE;
    memcpy(&t->value, &d, 8);
    t->kind = *stop ? TOKEN_BAD : TOKEN_F64;
    return p;
}

static struct token number(struct lexer *l)
{
    struct token t = {.kind = TOKEN_INT, .offset = (uint32_t)(l->p - l->source->text.p)};
    const char *p = l->p, *start = l->p;
    char second = p + 1 < l->end && *p == '0' ? p[1] : 0;
    if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
        size_t want = second == 'f' || second == 'F' ? 8 : 16;
        p = digits(l, p + 2, 16, &t);
        t.kind = (size_t)(p - start) != want + 2 ? TOKEN_BAD : want == 8 ? TOKEN_F32 : TOKEN_F64;
    } else if (second == 'x' || second == 'X') {
        p = digits(l, p + 2, 16, &t);
        t.kind = p == start + 2 ? TOKEN_BAD : TOKEN_INT;
    } else if (second == 'b' || second == 'B') {
        p = digits(l, p + 2, 2, &t);
        t.kind = p == start + 2 ? TOKEN_BAD : TOKEN_INT;
    } else {
        p = digits(l, p, 10, &t);
        if (decimal_point_follows(l, p)) {
            t.value = 0;
            p = decimal(l, &t);
        } else if (second >= '0' && second <= '9') {
            t.value = 0;
            t.overflow = false;
            p = digits(l, start, 8, &t);
        }
    }
    if (t.kind == TOKEN_INT && p < l->end && (*p == 'U' || *p == 'u')) {
        t.is_unsigned = true;
        p++;
    }
    if (p < l->end && is(*p, C_NAME)) {
        t.kind = TOKEN_BAD;
        p = name_end(l, p);
    }
    t.text = (struct str){start, (size_t)(p - start)};
    l->p = p;
    return t;
}

static struct token string(struct lexer *l)
{
    struct token t = {.kind = TOKEN_STRING, .offset = (uint32_t)(l->p - l->source->text.p)};
    const char *start = ++l->p;
    while (l->p < l->end && *l->p != '"' && *l->p != '\n')
        l->p += *l->p == '\\' && l->p + 1 < l->end ? 2 : 1;
    t.text = (struct str){start, (size_t)(l->p - start)};
    if (l->p < l->end && *l->p == '"')
        l->p++;
    else
        t.kind = TOKEN_BAD;
    return t;
}

static struct token punctuation(struct lexer *l)
{
    static const char pairs[][3] = {"<<L", ">>R", "<=l", ">=g", "==e", "!=n", "&&a", "||o"};
    struct token t = {
        .kind = TOKEN_PUNCT, .punct = *l->p, .offset = (uint32_t)(l->p - l->source->text.p), .text = {l->p, 1}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && l->end - l->p > 1; i++) {
        if (l->p[0] == pairs[i][0] && l->p[1] == pairs[i][1]) {
            t.punct = pairs[i][2];
            t.text.n = 2;
        }
    }
    if (*l->p & 0x80) { /* no PTX, but one character to whoever wrote it */
        uint32_t code;
        unsigned n = utf8_decode(l->p, (size_t)(l->end - l->p), &code);
        t.text.n = n ? n : 1;
    }
    l->p += t.text.n;
    return t;
}

struct token lex_next(struct lexer *l)
{
    if (!skip_blank(l)) {
        struct token t = {.kind = TOKEN_BAD, .offset = (uint32_t)(l->p - l->source->text.p), .text = {l->p, 2}};
        l->p = l->end;
        return t;
    }
    if (l->p == l->end)
        return (struct token){.kind = TOKEN_END, .offset = (uint32_t)(l->p - l->source->text.p), .text = {l->p, 0}};
    char c = *l->p;
    struct token t = {.offset = (uint32_t)(l->p - l->source->text.p)};
    if (is(c, C_START)) {
        const char *end = name_end(l, l->p + 1);
        if (c == '%' && end == l->p + 1)
            return punctuation(l);
        t.kind = TOKEN_IDENT;
        t.text = (struct str){l->p, (size_t)(end - l->p)};
        l->p = end;
        return t;
    }
    if (c == '.' && l->p + 1 < l->end && is(l->p[1], C_DIGIT)) {
        t.text.p = l->p;
        l->p = decimal(l, &t);
        t.text.n = (size_t)(l->p - t.text.p);
        return t;
    }
    if (c == '.' && l->p + 1 < l->end && is(l->p[1], C_NAME)) {
        const char *end = name_end(l, l->p + 1);
        while (l->end - end > 2 && end[0] == ':' && end[1] == ':' && is(end[2], C_NAME))
            end = name_end(l, end + 2);
        t.kind = TOKEN_DOT;
        t.text = (struct str){l->p + 1, (size_t)(end - l->p - 1)};
        l->p = end;
        return t;
    }
    if (is(c, C_DIGIT))
        return number(l);
    return c == '"' ? string(l) : punctuation(l);
}

struct str lex_opcode(struct lexer *l, struct token name)
{
    const char *p = l->p;
    while (p < l->end && (*p == '.' || *p == ':')) {
        const char *word = *p == '.' ? p + 1 : p + 2;
        if (word > l->end || (*p == ':' && (l->end - p < 3 || p[1] != ':')) || word == l->end || !is(*word, C_NAME))
            break;
        p = name_end(l, word);
    }
    l->p = p;
    return (struct str){name.text.p, (size_t)(p - name.text.p)};
}
