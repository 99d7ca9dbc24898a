/* Declarations of functions and variables of the device in the text of a source: see
 * declarations.h. */
#include "cc/declarations.h"

#include <ctype.h>

#include "cc/cc.h"

bool cc_is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

struct str cc_word_at(struct str text, size_t at)
{
    size_t n = 0;
    while (at + n < text.n && cc_is_of_word(text.p[at + n]))
        n++;
    return (struct str){text.p + at, n};
}

size_t cc_skip_blanks(struct str text, size_t at)
{
    while (at < text.n && isspace((unsigned char)text.p[at]))
        at++;
    return at;
}

/* Behind the last character before `at` that is no blank. */
size_t cc_before_blanks(struct str text, size_t at)
{
    while (at > 0 && isspace((unsigned char)text.p[at - 1]))
        at--;
    return at;
}

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

static struct device_function read_declaration(struct str text, size_t at)
{
    struct device_function d = {0};
    struct str last = {0};
    for (int depth = 0; at < text.n; at++) {
        size_t behind = cc_skip(text, at);
        char c = text.p[at];
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        if (cc_is_of_word(c)) {
            struct str word = cc_word_at(text, at);
            at += word.n - 1;
            d.host |= str_is(word, "__host__");
            last = depth == 0 ? word : last;
        } else if (c == '<' && depth == 0 && !str_is(last, "operator") && cc_behind_arguments(text, at)) {
            at = cc_behind_arguments(text, at) - 1; /* of a specialisation, behind its name */
        } else if (c == '(' && depth++ == 0 && !d.name.n && !takes_arguments(last)) {
            d.name = last;
        } else if (c == ')') {
            depth--;
        } else if (depth == 0 && c == '=' && !str_is(last, "operator")) {
            d.is_variable = true;
        } else if (depth == 0 && (c == ';' || c == '{' || c == '}')) {
            d.body = c == '{' ? at : 0;
            d.end = d.body ? cc_behind_bracket(text, at) : 0;
            return d;
        }
    }
    return d;
}

/* Where the declaration with the word at `at` begins; *host: __host__ stands before that. */
static size_t declaration_start(struct str text, size_t at, bool *host)
{
    while (at > 0 && !strchr(";{}", text.p[at - 1])) {
        at--;
        *host |= str_is(cc_word_at(text, at), "__host__");
    }
    return at;
}

size_t cc_word_start(struct str text, size_t end)
{
    while (end > 0 && cc_is_of_word(text.p[end - 1]))
        end--;
    return end;
}

/* Is the word that ends before `end` one that stands before a value? */
bool cc_is_before_value(struct str text, size_t end)
{
    static const char *const words[] = {"return", "else", "case", "throw", "typename", "template"};
    size_t at = cc_word_start(text, end);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_eq((struct str){text.p + at, end - at}, str_of(words[i])))
            return true;
    return false;
}

/* Is what ends before `end` a line of the preprocessor's? */
static bool is_directive(struct str text, size_t end)
{
    while (end > 0 && text.p[end - 1] != '\n')
        end--;
    while (end < text.n && (text.p[end] == ' ' || text.p[end] == '\t'))
        end++;
    return end < text.n && text.p[end] == '#';
}

/* Is the name at `at`, behind what ends before `before`, that of a variable which is declared
 * there: `int k`, `T *k`, `(*k)(int)`, `int i, k = 0`? */
static bool is_declared_at(struct str text, size_t before, size_t at, size_t n)
{
    size_t behind = cc_skip_blanks(text, at + n);
    char first = before && !is_directive(text, before) ? text.p[before - 1] : ';',
         next = behind < text.n ? text.p[behind] : ';';
    if (cc_is_of_word(first)) /* `void k(int)` is a kernel's own declaration */
        return !cc_is_before_value(text, before) &&
               !(next == '(' && before >= 4 && !memcmp(text.p + before - 4, "void", 4));
    if (first == '>')
        return before > 1 && text.p[before - 2] != '-' && next != '(';
    if (first == ',')
        return next == ';' || (next == '=' && text.p[behind + 1] != '=');
    if (first != '*' && first != '&')
        return false;
    while (before > 0 && strchr("*& ", text.p[before - 1]))
        before--;
    first = before ? text.p[before - 1] : ';';
    return (cc_is_of_word(first) && !cc_is_before_value(text, before)) || first == '>' || (first == '(' && next == ')');
}

bool cc_declares(struct str text, size_t from, size_t end, struct str name)
{
    size_t before = from; /* behind what precedes, but for blanks and comments */
    for (size_t at = from; at < end; at++) {
        size_t behind = cc_skip(text, at);
        if (behind != at) {
            before = text.p[at] == '/' ? before : behind;
            at = behind - 1;
            continue;
        }
        struct str word = cc_word_at(text, at);
        if (str_eq(word, name) && is_declared_at(text, before, at, word.n))
            return true;
        at += word.n ? word.n - 1 : 0;
        before = isspace((unsigned char)text.p[at]) ? before : at + 1;
    }
    return false;
}

/* Where the brackets that end before `at` begin. */
size_t cc_open_bracket(struct str text, size_t at, char open, char close)
{
    int depth = 0;
    while (at > 0) {
        char c = text.p[--at], before = at ? text.p[at - 1] : 0;
        /* `<=`, `->`. */
        bool is_sign = close == '>' && (text.p[at + 1] == '=' || (c == '>' && before == '-'));
        if (is_sign && strchr("<>", c))
            continue;
        if (close == '>' && c == '<' && before == '<') { /* `1 << 3` */
            at--;
            continue;
        }
        depth += (c == close) - (c == open);
        if (depth == 0)
            return at;
        if (c == ')' && close != ')')
            at = cc_open_bracket(text, at + 1, '(', ')');
    }
    return 0;
}

size_t cc_next_of_device(struct str text, size_t at, struct device_function *d)
{
    for (; at < text.n; at++) {
        size_t behind = cc_skip(text, at);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        struct str word = cc_word_at(text, at);
        bool begins = word.n && (at == 0 || !cc_is_of_word(text.p[at - 1]));
        if (begins && (str_is(word, "__global__") || str_is(word, "__device__"))) {
            *d = read_declaration(text, at);
            d->start = declaration_start(text, at, &d->host);
            d->word = at;
            return at;
        }
        at += begins ? word.n - 1 : 0;
    }
    return text.n;
}

/* Behind the `>` of the arguments of a template that begin at `at`, or 0. */
size_t cc_behind_arguments(struct str text, size_t at)
{
    for (int depth = 0; at < text.n && text.p[at] != ';'; at++) {
        char next = at + 1 < text.n ? text.p[at + 1] : 0;
        if (text.p[at] == '(')
            at = cc_behind_bracket(text, at) - 1;
        if (strchr("<>", text.p[at]) && next == '=')
            continue;                                        /* `<=` */
        if (depth > 0 && text.p[at] == '<' && next == '<') { /* `1 << 3` */
            at++;
            continue;
        }
        depth += (text.p[at] == '<') - (text.p[at] == '>');
        if (depth == 0)
            return at + 1;
    }
    return 0;
}
