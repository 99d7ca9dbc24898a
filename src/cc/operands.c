/* Operands of inline assembly that the user has not written; see cc.h.
 *
 * For an operand "+r"(x), clang adds an input of its own behind all written ones. With
 * `asm("add.u32 %0, %0, %2;" : "+r"(x) : "r"(y))`, %2 is x again for clang, where nvcc says that
 * %2 does not exist (Inline PTX Assembly, "Parameters"). Operands are counted in the text of a
 * source if all of them are written out, `"constraint"(value)`, and none comes from a macro.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cc/cc.h"

static size_t skip_space(struct str text, size_t at)
{
    for (;;) {
        while (at < text.n && isspace((unsigned char)text.p[at]))
            at++;
        size_t behind = at + 1 < text.n && text.p[at] == '/' ? cc_skip(text, at) : at;
        if (behind == at)
            return at;
        at = behind;
    }
}

bool cc_operand_without_comma(struct str text, size_t close)
{
    const size_t next = skip_space(text, close + 1);
    return next < text.n && (text.p[next] == '"' || text.p[next] == '[');
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind the word at `at`, if it is one of those that begin inline assembly, and behind `volatile`;
 * else 0. */
static size_t behind_asm(struct str text, size_t at)
{
    static const char *const words[] = {"asm", "__asm__", "__asm", "volatile", "__volatile__"};
    size_t end = at;
    bool found = false;
    if (at > 0 && is_word_char(text.p[at - 1]))
        return 0;
    for (int i = 0; i < 5; i++) {
        size_t n = strlen(words[i]);
        if (end + n < text.n && memcmp(text.p + end, words[i], n) == 0 && !is_word_char(text.p[end + n]) &&
            (i < 3) == !found) {
            found = true;
            end = skip_space(text, end + n);
        }
    }
    return found && end < text.n && text.p[end] == '(' ? end + 1 : 0;
}

/* The greatest %N of a string. */
static int greatest_number(struct str text, size_t at, size_t end)
{
    int greatest = -1;
    for (; at + 1 < end; at++) {
        if (text.p[at] != '%')
            continue;
        at++;
        int number = isdigit((unsigned char)text.p[at]) ? atoi(text.p + at) : -1;
        greatest = number > greatest ? number : greatest;
    }
    return greatest;
}

/* How many operands begin in a section that starts at *at and ends before a `:` or `)`; *at is
 * moved there. -1: not all are written out. */
static int count_operands(struct str text, size_t *at)
{
    int n = 0, depth = 0;
    bool begins = true;
    for (*at = skip_space(text, *at); *at < text.n; *at = skip_space(text, *at)) {
        char c = text.p[*at];
        size_t behind = cc_skip(text, *at);
        if (depth == 0 && (c == ':' || c == ')'))
            return n;
        if (begins && depth == 0 && c != '"' && c != '[')
            return -1;
        n += begins && depth == 0;
        begins = depth == 0 && c == ',';
        depth += behind == *at && (c == '(' || c == '[' || c == '{');
        depth -= behind == *at && (c == ')' || c == ']' || c == '}');
        if (c == ')' && depth == 0) /* rewrite.c adds the comma */
            begins = cc_operand_without_comma(text, *at);
        *at = behind != *at ? behind : *at + 1;
    }
    return -1;
}

/* Of the assembly whose parenthesis opens before `at`: true where a string names an operand that is
 * not there. */
static bool names_too_many(struct str text, size_t at, int *number, int *operands)
{
    *number = -1;
    for (at = skip_space(text, at); at < text.n && text.p[at] != ':' && text.p[at] != ')'; at = skip_space(text, at)) {
        size_t behind = cc_skip(text, at);
        int greatest = behind != at ? greatest_number(text, at, behind) : -1;
        *number = greatest > *number ? greatest : *number;
        at = behind != at ? behind : at + 1;
    }
    if (at >= text.n || text.p[at] != ':')
        return false;
    at++;
    int outputs = count_operands(text, &at), inputs = 0;
    if (outputs >= 0 && at < text.n && text.p[at] == ':') {
        at++;
        inputs = count_operands(text, &at);
    }
    *operands = outputs + inputs;
    return outputs >= 0 && inputs >= 0 && *number >= *operands;
}

const char *cc_check_operands(struct str text, const char *name, struct arena *arena)
{
    unsigned line = 1;
    for (size_t at = 0, next; at < text.n; at = next) {
        size_t begin = behind_asm(text, at);
        int number, operands;
        if (begin && names_too_many(text, begin, &number, &operands))
            return arena_printf(
                arena, "%s:%u: error: %%%d is not an operand of this assembly, which has %d operand%s, from %%0 on",
                name, line, number, operands, operands == 1 ? "" : "s");
        next = cc_skip(text, at);
        next = next != at ? next : at + 1;
        for (size_t i = at; i < next; i++)
            line += text.p[i] == '\n';
    }
    return NULL;
}
