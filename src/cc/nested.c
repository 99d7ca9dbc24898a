/* Launches by kernels, put as clang takes them, in the text of a source, which keeps its lines; see
 * cc.h.
 *
 * clang 19 refuses k<<<...>>>(x) in device code, and does not let device code name a kernel at all:
 * but for where a constant is wanted, as in the arguments of a template. So what stands in the body
 * of a function that is the device's alone becomes
 *
 *     k<<<grid, block>>>(x)    ::heddle::nested(HEDDLE_KERNEL(1, k), grid, block)(x)
 *     (const void *)k          (const void *)HEDDLE_KERNEL(-1, k)
 *
 * (include/cuda/heddle/nested.h), the second where the source declares a kernel k. The number is
 * that of its parameters, which tells kernels of one name apart; -1: any. The host's side takes the
 * same.
 */
#include <ctype.h>

#include "base/str.h"
#include "base/text.h"
#include "base/vec.h"
#include "cc/cc.h"

struct nested_scan {
    struct str text;
    struct arena *arena;
    VEC(struct str) kernels; /* that the source declares */
    struct text out;
    size_t written; /* of the text, so far */
};

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static struct str word_at(struct str text, size_t at)
{
    size_t n = 0;
    while (at + n < text.n && is_of_word(text.p[at + n]))
        n++;
    return (struct str){text.p + at, n};
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.n && isspace((unsigned char)text.p[at]))
        at++;
    return at;
}

/* Behind the last character before `at` that is no blank. */
static size_t before_blanks(struct str text, size_t at)
{
    while (at > 0 && isspace((unsigned char)text.p[at - 1]))
        at--;
    return at;
}

/* ---- functions ---- */

/* A declaration from one of CUDA's words on: where its body is, and its name. */
struct declared {
    struct str name;
    size_t body, end; /* from { to behind }; 0: none */
    bool host;        /* __host__, too */
};

/* Is the word an attribute that has arguments? */
static bool takes_arguments(struct str word)
{
    static const char *const words[] = {"__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__",
                                        "__attribute__",     "alignas",          "__align__",      "decltype"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_is(word, words[i]))
            return true;
    return false;
}

static struct declared read_declaration(struct str text, size_t at)
{
    struct declared d = {0};
    struct str last = {0};
    for (int depth = 0; at < text.n; at++) {
        size_t behind = cc_skip(text, at);
        char c = text.p[at];
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        if (is_of_word(c)) {
            struct str word = word_at(text, at);
            at += word.n - 1;
            d.host |= str_is(word, "__host__");
            last = depth == 0 ? word : last;
        } else if (c == '(' && depth++ == 0 && !d.name.n && !takes_arguments(last)) {
            d.name = last;
        } else if (c == ')') {
            depth--;
        } else if (depth == 0 && (c == ';' || c == '{' || c == '}')) {
            d.body = c == '{' ? at : 0;
            d.end = d.body ? cc_behind_bracket(text, at) : 0;
            return d;
        }
    }
    return d;
}

/* Does __host__ stand before the word, in the same declaration? */
static bool follows_host(struct str text, size_t at)
{
    while (at > 0 && !strchr(";{}", text.p[at - 1])) {
        at--;
        if (str_is(word_at(text, at), "__host__"))
            return true;
    }
    return false;
}

/* ---- names of kernels ---- */

/* Where the brackets that end before `at` begin. */
static size_t open_bracket(struct str text, size_t at, char open, char close)
{
    int depth = 0;
    while (at > 0) {
        char c = text.p[--at];
        depth += (c == close) - (c == open);
        if (depth == 0)
            return at;
        if (c == ')' && close != ')')
            at = open_bracket(text, at + 1, '(', ')');
    }
    return 0;
}

/* What is launched by the `<<<` at a place: a name with scopes and template arguments, or an
 * expression in parentheses. */
static size_t callee_start(struct str text, size_t at)
{
    size_t start = before_blanks(text, at);
    if (start > 0 && text.p[start - 1] == ')')
        return open_bracket(text, start, '(', ')');
    for (;;) {
        if (start > 0 && text.p[start - 1] == '>')
            start = before_blanks(text, open_bracket(text, start, '<', '>'));
        while (start > 0 && is_of_word(text.p[start - 1]))
            start--;
        size_t before = before_blanks(text, start);
        if (before < 2 || text.p[before - 1] != ':' || text.p[before - 2] != ':')
            return start;
        start = before_blanks(text, before - 2);
        if (start == 0 || (!is_of_word(text.p[start - 1]) && text.p[start - 1] != '>'))
            return before - 2;
    }
}

static void put_kernel(struct text *out, struct str name, int n)
{
    text_printf(out, "HEDDLE_KERNEL(%d, %.*s)", n, STR_ARG(name));
}

/* How many arguments the parentheses at `at` have; -1 where that cannot be seen, or is more than
 * are told apart. */
static int count_arguments(struct str text, size_t at)
{
    enum { MOST = 16 };
    size_t end = cc_behind_bracket(text, at) - 1;
    int n = skip_blanks(text, at + 1) < end;
    for (size_t i = at + 1, depth = 0; i < end; i++) {
        size_t behind = cc_skip(text, i);
        char c = text.p[i];
        if (behind != i) {
            i = behind - 1;
            continue;
        }
        depth += (c == '(' || c == '[' || c == '{');
        depth -= (c == ')' || c == ']' || c == '}');
        n += depth == 0 && c == ',';
        if (c == '<' || (c == '.' && text.p[i + 1] == '.'))
            return -1;
    }
    return n > MOST || n == 0 ? -1 : n;
}

static bool is_kernel(const struct nested_scan *s, struct str word)
{
    for (uint32_t i = 0; i < s->kernels.n; i++)
        if (str_eq(s->kernels.at[i], word))
            return true;
    return false;
}

/* Is the name that begins at `at` cast to a pointer? */
static bool is_cast(struct str text, size_t at)
{
    size_t close = before_blanks(text, at);
    if (close == 0 || text.p[close - 1] != ')')
        return false;
    size_t star = before_blanks(text, close - 1);
    return star > 0 && text.p[star - 1] == '*';
}

/* ---- writing ---- */

static void copy_to(struct nested_scan *s, size_t at)
{
    if (at > s->written)
        text_put(&s->out, s->text.p + s->written, at - s->written);
    s->written = at;
}

/* A launch whose `<` are at `at`; what is inside of it may have others. Returns behind its `<<<`. */
static size_t put_launch(struct nested_scan *s, size_t at, size_t body, size_t *close)
{
    size_t open = at + 3, start = callee_start(s->text, at), end = before_blanks(s->text, at);
    *close = cc_launch_end(s->text, open);
    if (!*close || start < body || start < s->written)
        return open;
    struct str callee = {s->text.p + start, end - start};
    copy_to(s, start);
    text_puts(&s->out, "::heddle::nested(");
    if (callee.n && callee.p[0] == '(')
        text_str(&s->out, callee);
    else
        put_kernel(&s->out, callee, count_arguments(s->text, skip_blanks(s->text, *close + 3)));
    text_put(&s->out, s->text.p + end, at - end); /* lines stay */
    text_puts(&s->out, ", ");
    s->written = open;
    return open;
}

static bool begins_launch(struct str text, size_t at)
{
    return at + 3 < text.n && memcmp(text.p + at, "<<<", 3) == 0 && text.p[at + 3] != '<' &&
           (at == 0 || text.p[at - 1] != '<');
}

static void put_body(struct nested_scan *s, size_t from, size_t end)
{
    VEC(size_t) closes = {0};
    for (size_t at = from; at < end; at++) {
        size_t behind = cc_skip(s->text, at), close = 0;
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        struct str word = word_at(s->text, at);
        if (word.n && (at == 0 || !is_of_word(s->text.p[at - 1]))) {
            if (is_kernel(s, word) && is_cast(s->text, at) && s->text.p[skip_blanks(s->text, at + word.n)] != '<') {
                copy_to(s, at);
                put_kernel(&s->out, word, -1);
                s->written = at + word.n;
            }
            at += word.n - 1;
        } else if (begins_launch(s->text, at)) {
            at = put_launch(s, at, from, &close) - 1;
            if (close && s->written == at + 1)
                *VEC_PUSH(s->arena, &closes) = close;
        } else if (closes.n && closes.at[closes.n - 1] == at) {
            copy_to(s, at);
            text_puts(&s->out, ")");
            s->written = at + 3;
            at += 2;
            closes.n--;
        }
    }
}

/* ---- all ---- */

static size_t next_of_device(struct str text, size_t at, struct declared *d)
{
    for (; at < text.n; at++) {
        size_t behind = cc_skip(text, at);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        struct str word = word_at(text, at);
        bool begins = word.n && (at == 0 || !is_of_word(text.p[at - 1]));
        if (begins && (str_is(word, "__global__") || str_is(word, "__device__"))) {
            *d = read_declaration(text, at);
            d->host |= follows_host(text, at);
            return at;
        }
        at += begins ? word.n - 1 : 0;
    }
    return text.n;
}

struct str cc_rewrite_nested(struct str text, struct arena *arena)
{
    struct nested_scan s = {.text = text, .arena = arena, .out = {.arena = arena}};
    struct declared d;
    if (!memmem(text.p, text.n, "__global__", 10))
        return (struct str){NULL, 0};
    for (size_t at = 0; (at = next_of_device(text, at, &d)) < text.n; at++)
        if (str_is(word_at(text, at), "__global__") && d.name.n)
            *VEC_PUSH(arena, &s.kernels) = d.name;
    for (size_t at = 0; (at = next_of_device(text, at, &d)) < text.n; at++)
        if (d.body && !d.host) {
            put_body(&s, d.body, d.end);
            at = d.end - 1;
        }
    if (!s.written)
        return (struct str){NULL, 0};
    copy_to(&s, text.n);
    return (struct str){s.out.p, s.out.n};
}
