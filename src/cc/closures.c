/* The closures of nvcc's extended lambdas, in the preprocessed text of a source; see cc.h.
 *
 * Captures of constants: where a lambda captures by `=` and may name a constant of the function
 * around, its body begins with what captures.c makes of clang's dump; the lambda is the value of a
 * variable, by whose name the dump is asked for:
 *
 *     [=] __device__ (int i) { return n + i; }
 *     ({ auto heddle_captures_0 = [=] __device__ (int i) { return n + i; }; heddle_captures_0; })
 *
 * nvcc's host code holds a `__host__ __device__` lambda that captures in a class of its own, with a
 * pointer to the lambda of the host's compiler behind what is captured, and its device code has the
 * same layout: such a closure is 8 bytes longer than clang's, from the next multiple of 8 on. So
 * the lambda gets one capture more, of a variable in a statement expression around it, as its last:
 *
 *     [=] H D (int i) { return f(i); }    ({ void *heddle_closure; [=] H D (int i) { return f(i); (void)heddle_closure; }; })
 *     [a] H D (int i) { return f(a); }    ({ void *heddle_closure; [a, heddle_closure] H D (int i) { return f(a); }; })
 *
 * What a lambda names stands before what it captures by its default, in the order of first use. Its
 * mangled name is that of its function and its number, and stays.
 *
 * nvcc does so where the lambda is in a function of the host, or of both: not in a kernel or a
 * `__device__` function, and not in another such lambda. A lambda without captures, and a
 * `__device__` one, is as long as what it captures.
 */
#include <ctype.h>

#include "base/map.h"
#include "base/str.h"
#include "base/text.h"
#include "cc/cc.h"

enum space { NO_SPACE = 0, HOST = 1, DEVICE = 2, KERNEL = 4 };

/* A brace or parenthesis that is open, and where functions run by the words before it: for a brace,
 * whose body it may begin. */
struct open {
    char bracket;
    unsigned space;
    size_t at;
};

enum purpose { LOOK, MARK, LAY_OUT };

struct scan {
    struct str text;
    struct arena *arena;
    enum purpose purpose;
    struct text out;
    size_t copied; /* bytes of the text that the output has */
    VEC(struct open) open;
    /* By the words since the last `;` or bracket; an inner one that has closed is none. */
    unsigned space;
    uint32_t found;              /* lambdas that nvcc may lay out otherwise */
    uint32_t asked;              /* of them those whose captures clang is asked for */
    struct cc_captures captures; /* of those */
    struct map aliases;          /* names of types: do they hide a `const`? */
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

size_t cc_behind_bracket(struct str text, size_t at)
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
    *at = cc_behind_bracket(text, open);
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

/* May a lambda be an extended one here? Of the braces around it the innermost decides that says
 * where its function runs; the host's say nothing. */
static bool is_of_host(const struct scan *s)
{
    for (uint32_t i = s->open.n; i-- > 0;)
        if (s->open.at[i].bracket == '{' && s->open.at[i].space)
            return s->open.at[i].space & HOST;
    return s->open.n > 0;
}

/* ---- may a lambda name a constant of the function around? ---- */

static size_t statement_begin(struct str text, size_t at)
{
    while (at > 0 && !strchr(";{}", text.p[at - 1]))
        at--;
    return at;
}

/* Where the word stands next, from *from on; false: nowhere. */
static bool next_word(struct str text, struct str word, size_t *from)
{
    for (const char *at; (at = memmem(text.p + *from, text.n - *from, word.p, word.n));
         *from = (size_t)(at - text.p) + 1) {
        size_t begin = (size_t)(at - text.p), end = begin + word.n;
        if ((begin == 0 || !is_of_word(text.p[begin - 1])) && (end == text.n || !is_of_word(text.p[end]))) {
            *from = begin;
            return true;
        }
    }
    return false;
}

/* Is the name at `at` declared by `using X = const int;` or `typedef const int X;`? */
static bool declares_alias_of_constant(struct str text, struct str name, size_t at)
{
    size_t begin = skip_blanks(text, statement_begin(text, at)), next = skip_blanks(text, at + name.n);
    const char *end = memchr(text.p + at, ';', text.n - at);
    struct str statement = {text.p + begin, end ? (size_t)(end - text.p) - begin : 0};
    return next < text.n && str_has(statement, "const") &&
           ((text.p[next] == '=' && str_starts(statement, "using ")) ||
            (text.p[next] == ';' && str_starts(statement, "typedef ")));
}

static bool is_alias_of_constant(struct scan *s, struct str name)
{
    static char yes, no;
    char *known = map_get(&s->aliases, name);
    for (size_t at = 0; !known && next_word(s->text, name, &at); at++)
        if (declares_alias_of_constant(s->text, name, at))
            known = &yes;
    if (!known)
        known = &no;
    map_put(&s->aliases, name, known);
    return known == &yes;
}

/* May what is declared behind these words be a constant to C++? A reference may be one to something
 * that is. */
static bool may_be_constant(struct scan *s, struct str words)
{
    if (str_has(words, "const") || str_has(words, "decltype") || memchr(words.p, '&', words.n))
        return true;
    for (size_t at = 0; at < words.n; at++)
        if (is_of_word(words.p[at]) && (at == 0 || !is_of_word(words.p[at - 1])) &&
            is_alias_of_constant(s, word_at(words, at)))
            return true;
    return false;
}

/* Is the name one of a constant that the text before `end` declares, from `begin` on? */
static bool names_constant(struct scan *s, struct str name, size_t begin, size_t end)
{
    struct str text = {s->text.p, end};
    for (size_t at = begin; next_word(text, name, &at); at++) {
        size_t next = skip_blanks(text, at + name.n), first = statement_begin(text, at);
        bool is_declared = next < end && strchr("=({[,;:)", text.p[next]);
        first = first < begin ? begin : first;
        if (is_declared && at > first && may_be_constant(s, (struct str){text.p + first, at - first}))
            return true;
    }
    return false;
}

/* Where the body of the outermost function begins that is open. */
static size_t function_begin(const struct scan *s)
{
    for (uint32_t i = 0; i < s->open.n; i++) {
        size_t at = s->open.at[i].at, begin = statement_begin(s->text, at);
        if (s->open.at[i].bracket == '{' && memchr(s->text.p + begin, '(', at - begin))
            return at + 1;
    }
    return s->open.n ? s->open.at[0].at + 1 : 0;
}

static bool may_name_constants(struct scan *s, size_t lambda, size_t body, size_t end)
{
    struct map seen;
    map_init(&seen, s->arena);
    for (size_t at = body, next; at < end; at = next) {
        next = cc_skip(s->text, at);
        if (next != at)
            continue;
        struct str word = word_at(s->text, at);
        next = at + (word.n ? word.n : 1);
        if (word.n && !isdigit((unsigned char)*word.p) && !map_put(&seen, word, s) &&
            names_constant(s, word, function_begin(s), lambda))
            return true;
    }
    return false;
}

/* ---- a lambda ---- */

static void copy_until(struct scan *s, size_t at, const char *then)
{
    text_put(&s->out, s->text.p + s->copied, at - s->copied);
    text_puts(&s->out, then);
    s->copied = at;
}

/* `[[nodiscard]]`, whose second `[` begins no lambda either: C++ has none there. */
static bool is_of_attribute(struct str text, size_t open)
{
    size_t next = skip_blanks(text, open + 1), before = open;
    while (before > 0 && isspace((unsigned char)text.p[before - 1]))
        before--;
    return (next < text.n && text.p[next] == '[') || (before > 0 && text.p[before - 1] == '[');
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

struct lambda {
    size_t open, close; /* its captures */
    size_t body, end;
    enum captures captures;
    unsigned space;
};

/* The lambda at `open`, a `[`, if it is an extended one that captures by copy. */
static bool read_lambda(const struct scan *s, size_t open, struct lambda *l)
{
    struct str text = s->text;
    *l = (struct lambda){.open = open, .captures = captures_of(text, open)};
    if (!l->captures || is_of_attribute(text, open))
        return false;
    l->body = l->close = cc_behind_bracket(text, open);
    l->space = l->close < text.n ? read_spaces(text, &l->body) : NO_SPACE;
    if (!(l->space & DEVICE) || l->space & KERNEL || !is_of_host(s))
        return false;
    /* Parameters, `mutable`, `noexcept`, the type of the result. */
    while (l->body < text.n && text.p[l->body] != '{') {
        size_t behind = text.p[l->body] == '(' ? cc_behind_bracket(text, l->body) : cc_skip(text, l->body);
        l->body = behind != l->body ? behind : l->body + 1;
    }
    l->end = l->body < text.n ? cc_behind_bracket(text, l->body) : text.n;
    return l->end < text.n;
}

static void mark(struct scan *s, const struct lambda *l)
{
    size_t n = l->end - l->open;
    *VEC_PUSH(s->arena, &s->captures.lambdas) = (struct str){arena_strndup(s->arena, s->text.p + l->open, n), n};
    copy_until(s, l->open, "({ auto ");
    text_printf(&s->out, CC_CAPTURES "%u = ", s->asked);
    copy_until(s, l->end, "; ");
    text_printf(&s->out, CC_CAPTURES "%u; })", s->asked);
}

static void write_lambda(struct scan *s, const struct lambda *l, bool is_longer, const char *captures)
{
    if (is_longer) {
        copy_until(s, l->open, "({ void *heddle_closure; ");
        copy_until(s, l->close - 1, l->captures == BY_NAME ? ", heddle_closure" : "");
    }
    copy_until(s, l->body + 1, captures);
    if (is_longer) {
        copy_until(s, l->end - 1, l->captures == BY_DEFAULT ? " (void)heddle_closure; " : "");
        copy_until(s, l->end, "; })");
    }
}

/* Lays out the lambda at `open`, if there is one that is to be. Returns where it ends, or 0. */
static size_t lay_out_lambda(struct scan *s, size_t open)
{
    struct lambda l;
    if (!read_lambda(s, open, &l))
        return 0;
    bool is_longer = l.space == (HOST | DEVICE);
    bool is_asked = l.captures == BY_DEFAULT && may_name_constants(s, open, l.body, l.end);
    if (!is_longer && !is_asked)
        return 0;
    if (s->purpose == MARK && is_asked)
        mark(s, &l);
    else if (s->purpose == LAY_OUT)
        write_lambda(s, &l, is_longer, is_asked && s->captures.found ? s->captures.found[s->asked] : "");
    s->found++;
    s->asked += is_asked;
    return l.end;
}

static void open_bracket(struct scan *s, char bracket, size_t at)
{
    *VEC_PUSH(s->arena, &s->open) = (struct open){bracket, s->space, at};
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
            open_bracket(s, c, at);
        } else if (c == ')') {
            close_parenthesis(s);
        } else if (c == '}') {
            close_brace(s, next);
        } else if (c == ';') {
            s->space = NO_SPACE;
        }
    }
}

static struct scan scanned(struct str text, enum purpose purpose, struct cc_captures captures, struct arena *arena)
{
    struct scan s = {.text = text, .arena = arena, .purpose = purpose, .captures = captures, .out = {.arena = arena}};
    map_init(&s.aliases, arena);
    scan(&s);
    if (purpose != LOOK)
        copy_until(&s, text.n, "");
    return s;
}

bool cc_has_closures(struct str text, struct arena *arena)
{
    return scanned(text, LOOK, (struct cc_captures){0}, arena).found > 0;
}

/* Lines `# 5 "file.h" 3` become `# N "" 3`, by which places are the text's own; what is the
 * system's stays that, as clang takes more in it. */
static struct str number_lines(struct str text, struct arena *arena)
{
    struct text out = {.arena = arena};
    unsigned number = 1;
    for (size_t at = 0, n; at < text.n; at += n, number++) {
        const char *line = text.p + at, *end = memchr(line, '\n', text.n - at);
        n = end ? (size_t)(end - line) + 1 : text.n - at;
        if (n > 2 && line[0] == '#' && isdigit((unsigned char)line[2])) {
            const char *flags = memrchr(line, '"', n);
            bool is_of_system = flags && memchr(flags, '3', n - (size_t)(flags - line));
            text_printf(&out, "# %u \"\"%s\n", number + 1, is_of_system ? " 3" : "");
        } else {
            text_put(&out, line, n);
        }
    }
    return (struct str){out.p, out.n};
}

struct str cc_mark_closures(struct str text, struct cc_captures *captures, struct arena *arena)
{
    struct scan s = scanned(text, MARK, (struct cc_captures){0}, arena);
    *captures = s.captures;
    return s.asked ? number_lines((struct str){s.out.p, s.out.n}, arena) : (struct str){NULL, 0};
}

struct str cc_lay_out_closures(struct str text, const struct cc_captures *captures, struct arena *arena)
{
    struct scan s = scanned(text, LAY_OUT, *captures, arena);
    return s.found ? (struct str){s.out.p, s.out.n} : (struct str){NULL, 0};
}
