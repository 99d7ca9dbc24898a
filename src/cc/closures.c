/* The closures of nvcc's extended lambdas, in the preprocessed text of a source; see cc.h.
 *
 * nvcc's host code holds a `__host__ __device__` lambda that captures in a class of its own, with a pointer to the lambda of the host's
 * compiler behind what is captured, and its device code has the same layout: such a closure is 8 bytes longer than clang's, from the
 * next multiple of 8 on. So the lambda gets one capture more, of a variable in a statement expression around it, as its last:
 *
 *     [=] H D (int i) { return f(i); }    ({ void *heddle_closure; [=] H D (int i) { return f(i); (void)heddle_closure; }; })
 *     [a] H D (int i) { return f(a); }    ({ void *heddle_closure; [a, heddle_closure] H D (int i) { return f(a); }; })
 *
 * What a lambda names stands before what it captures by its default, in the order of first use. Its mangled name is that of its
 * function and its number, and stays.
 *
 * nvcc does so where the lambda is in a function of the host, or of both: not in a kernel or a `__device__` function, and not in
 * another such lambda. A lambda without captures, and a `__device__` one, is as it is.
 */
#include <ctype.h>

#include "base/str.h"
#include "base/text.h"
#include "cc/cc.h"

enum space { NO_SPACE = 0, HOST = 1, DEVICE = 2, KERNEL = 4 };

/* A brace or parenthesis that is open, and where functions run by the words before it: for a brace, whose body it may begin. */
struct open {
    char bracket;
    unsigned space;
};

struct scan {
    struct str text;
    struct arena *arena;
    struct text *out; /* NULL: it is only looked whether there is such a lambda */
    size_t copied;    /* bytes of the text that the output has */
    VEC(struct open) open;
    unsigned space; /* by the words since the last `;` or bracket; an inner one that has closed is none */
    unsigned found;
};

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t word_end(struct str text, size_t at)
{
    while (at < text.n && is_of_word(text.p[at]))
        at++;
    return at;
}

static size_t skip_blanks(struct str text, size_t at)
{
    for (size_t next; at < text.n; at = next) {
        bool is_comment = text.p[at] == '/' && at + 1 < text.n && (text.p[at + 1] == '/' || text.p[at + 1] == '*');
        next = isspace((unsigned char)text.p[at]) ? at + 1 : is_comment ? cc_skip(text, at) : at;
        if (next == at)
            break;
    }
    return at;
}

/* Behind the bracket that closes the one at `at`; text.n where none does. */
static size_t behind_bracket(struct str text, size_t at)
{
    for (int depth = 0; at < text.n; at++) {
        size_t behind = cc_skip(text, at);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        char c = text.p[at];
        depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
        if (depth == 0)
            return at + 1;
    }
    return text.n;
}

/* `__device__`, and in an attribute `device`, too. */
static unsigned space_of_word(struct str word, bool in_attribute)
{
    static const struct {
        const char *word, *in_attribute;
        unsigned space;
    } words[] = {
        {"__host__", "host", HOST},
        {"__device__", "device", DEVICE},
        {"__global__", "global", KERNEL},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_is(word, words[i].word) || (in_attribute && str_is(word, words[i].in_attribute)))
            return words[i].space;
    return NO_SPACE;
}

static struct str word_at(struct str text, size_t at)
{
    return (struct str){text.p + at, word_end(text, at) - at};
}

/* What the word at *at says, `__device__` or `__attribute__((device))`; *at is moved behind it. */
static unsigned read_space(struct str text, size_t *at)
{
    struct str word = word_at(text, *at);
    *at += word.n;
    size_t open = str_is(word, "__attribute__") ? skip_blanks(text, *at) : text.n;
    if (open + 2 >= text.n || text.p[open] != '(' || text.p[open + 1] != '(')
        return space_of_word(word, false);
    *at = behind_bracket(text, open);
    return space_of_word(word_at(text, open + 2), true);
}

/* What all such words from *at on say; *at is moved behind them. */
static unsigned read_spaces(struct str text, size_t *at)
{
    unsigned all = NO_SPACE, one;
    size_t next = *at;
    do {
        next = skip_blanks(text, next);
        one = next < text.n && is_of_word(text.p[next]) ? read_space(text, &next) : NO_SPACE;
        all |= one;
        *at = one ? next : *at;
    } while (one);
    return all;
}

/* May a lambda be an extended one here? Of the braces around it the innermost decides that says where its function runs; the host's say
 * nothing. */
static bool is_of_host(const struct scan *s)
{
    for (uint32_t i = s->open.n; i-- > 0;)
        if (s->open.at[i].bracket == '{' && s->open.at[i].space)
            return s->open.at[i].space & HOST;
    return s->open.n > 0;
}

static void copy_until(struct scan *s, size_t at, const char *then)
{
    text_put(s->out, s->text.p + s->copied, at - s->copied);
    text_puts(s->out, then);
    s->copied = at;
}

/* Does the list of captures at `open` capture by copy? By default (`=`), or by names alone. */
enum captures { NOTHING, BY_NAME, BY_DEFAULT };
static enum captures captures_of(struct str text, size_t open)
{
    size_t first = skip_blanks(text, open + 1), next = first < text.n ? skip_blanks(text, first + 1) : first;
    if (next >= text.n || text.p[first] == ']' || (text.p[first] == '&' && !is_of_word(text.p[next])))
        return NOTHING;
    return text.p[first] == '=' ? BY_DEFAULT : BY_NAME;
}

/* Lays out the lambda at `open`, a `[`, if it is an extended one that captures by copy. Returns where it ends, or 0. */
static size_t lay_out_lambda(struct scan *s, size_t open)
{
    struct str text = s->text;
    enum captures captures = captures_of(text, open);
    size_t close = captures ? behind_bracket(text, open) : text.n, body = close;
    if (close >= text.n || read_spaces(text, &body) != (HOST | DEVICE) || !is_of_host(s))
        return 0;
    while (body < text.n && text.p[body] != '{') { /* parameters, `mutable`, `noexcept`, the type of the result */
        size_t behind = text.p[body] == '(' ? behind_bracket(text, body) : cc_skip(text, body);
        body = behind != body ? behind : body + 1;
    }
    size_t end = body < text.n ? behind_bracket(text, body) : text.n;
    if (end >= text.n)
        return 0;
    s->found++;
    if (s->out) {
        copy_until(s, open, "({ void *heddle_closure; ");
        copy_until(s, close - 1, captures == BY_NAME ? ", heddle_closure" : "");
        copy_until(s, end - 1, captures == BY_DEFAULT ? " (void)heddle_closure; " : "");
        copy_until(s, end, "; })");
    }
    return end;
}

static void open_bracket(struct scan *s, char bracket)
{
    *VEC_PUSH(s->arena, &s->open) = (struct open){bracket, s->space};
    s->space = NO_SPACE;
}

static void close_parenthesis(struct scan *s)
{
    if (s->open.n && s->open.at[s->open.n - 1].bracket == '(')
        s->space = s->open.at[--s->open.n].space;
}

/* What follows is another declaration, but behind a constructor's initialiser, `A() : x{1} {`. */
static void close_brace(struct scan *s, size_t behind)
{
    size_t next = skip_blanks(s->text, behind);
    while (s->open.n && s->open.at[s->open.n - 1].bracket != '{')
        s->open.n--;
    struct open brace = s->open.n ? s->open.at[--s->open.n] : (struct open){0};
    bool in_list = s->open.n && s->open.at[s->open.n - 1].bracket == '(';
    bool goes_on = next < s->text.n && (s->text.p[next] == '{' || s->text.p[next] == ',') && !in_list;
    s->space = goes_on ? brace.space : NO_SPACE;
}

static void scan(struct scan *s)
{
    for (size_t at = 0, next; at < s->text.n; at = next) {
        char c = s->text.p[at];
        size_t end;
        next = cc_skip(s->text, at);
        if (next != at)
            continue;
        next = at + 1;
        if (is_of_word(c)) {
            next = at;
            s->space |= read_space(s->text, &next);
        } else if (c == '[' && (end = lay_out_lambda(s, at))) {
            next = end;
        } else if (c == '{' || c == '(') {
            open_bracket(s, c);
        } else if (c == ')') {
            close_parenthesis(s);
        } else if (c == '}') {
            close_brace(s, next);
        } else if (c == ';') {
            s->space = NO_SPACE;
        }
    }
}

bool cc_has_closures(struct str text, struct arena *arena)
{
    struct scan s = {.text = text, .arena = arena};
    scan(&s);
    return s.found > 0;
}

struct str cc_lay_out_closures(struct str text, struct arena *arena)
{
    struct text out = {.arena = arena};
    struct scan s = {.text = text, .arena = arena, .out = &out};
    scan(&s);
    if (!s.found)
        return (struct str){NULL, 0};
    copy_until(&s, text.n, "");
    return (struct str){out.p, out.n};
}
