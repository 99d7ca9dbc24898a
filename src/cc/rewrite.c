/* What nvcc takes and clang does not, put as clang wants it, in the text of a source, which keeps
 * its lines; comments and strings are left alone. See cc.h.
 *
 * `k << <blocks, threads>> >(x)`: the signs of a launch may stand apart, as formatters leave them
 * that know no CUDA. A launch is three `<` in a line, not behind `operator`, up to three `>` before
 * a `(`.
 *
 * `__shared__ alignas(16) float x[4]`, `__device__ [[nodiscard]] int f()`: to clang, these are the
 * first words of a declaration.
 *
 * `asm("mov.u64 %0, %globaltimer;" : ...)`: to clang, a % of PTX's own is written %%, if the
 * assembly has operands. The name of a register has two letters at least; a letter before a number
 * is a modifier of an operand.
 *
 * `asm("st.u8 [%1], %0;" :: "r"(x) "l"(p))`: to clang, commas stand between operands.
 */
#include <ctype.h>

#include "base/str.h"
#include "cc/cc.h"

/* Three of the character, from `at` on, with blanks of one line between: behind the last of them,
 * or 0. */
static size_t three(struct str text, size_t at, char c)
{
    for (int i = 0;; at++) {
        if (at < text.n && text.p[at] == c) {
            if (++i == 3)
                return at + 1;
        } else if (i == 0 || at >= text.n || (text.p[at] != ' ' && text.p[at] != '\t')) {
            return 0;
        }
    }
}

/* Behind R"x( ... )x", whose R stands in front of the quote. */
static size_t after_raw_string(struct str text, size_t quote)
{
    size_t n = 0;
    while (quote + 1 + n < text.n && text.p[quote + 1 + n] != '(')
        n++;
    for (size_t at = quote + 1 + n; at + n + 1 < text.n; at++)
        if (text.p[at] == ')' && memcmp(text.p + at + 1, text.p + quote + 1, n) == 0 && text.p[at + n + 1] == '"')
            return at + n + 2;
    return text.n;
}

size_t cc_skip(struct str text, size_t at)
{
    char c = text.p[at], next = at + 1 < text.n ? text.p[at + 1] : 0;
    if (c == '/' && next == '/') {
        for (; at < text.n && text.p[at] != '\n'; at++)
            at += text.p[at] == '\\'; /* also the end of a line that goes on */
        return at < text.n ? at : text.n;
    }
    if (c == '/' && next == '*') {
        const char *end = memmem(text.p + at + 2, text.n - at - 2, "*/", 2);
        return end ? (size_t)(end - text.p) + 2 : text.n;
    }
    if (c == '"' && at > 0 && text.p[at - 1] == 'R')
        return after_raw_string(text, at);
    bool digits = c == '\'' && at > 0 && isalnum((unsigned char)text.p[at - 1]); /* 1'000 */
    if (c != '"' && (c != '\'' || digits))
        return at;
    for (at++; at < text.n && text.p[at] != c && text.p[at] != '\n'; at++)
        at += text.p[at] == '\\';
    return at < text.n ? at + 1 : text.n;
}

static bool is_behind_operator(struct str text, size_t at)
{
    while (at > 0 && isspace((unsigned char)text.p[at - 1]))
        at--;
    return at >= 8 && memcmp(text.p + at - 8, "operator", 8) == 0;
}

size_t cc_launch_end(struct str text, size_t at)
{
    for (int depth = 0; at < text.n && depth >= 0 && text.p[at] != ';'; at++) {
        size_t behind = cc_skip(text, at);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        char c = text.p[at];
        depth += (c == '(' || c == '{') - (c == ')' || c == '}');
        size_t end = depth == 0 && c == '>' ? three(text, at, '>') : 0;
        size_t next = end;
        while (end && next < text.n && isspace((unsigned char)text.p[next]))
            next++;
        if (end && next < text.n && text.p[next] == '(')
            return at;
    }
    return 0;
}

/* Moves three characters of a kind together; true where they were apart. */
static bool join(char *text, size_t from, size_t end, char c)
{
    memset(text + from, ' ', end - from);
    memset(text + from, c, 3);
    return end - from > 3;
}

/* Joins the signs of the launch that begins at `at`, if one does. */
static bool join_launch(struct str text, size_t at, char *to)
{
    size_t end = text.p[at] == '<' ? three(text, at, '<') : 0;
    size_t close = end && !is_behind_operator(text, at) ? cc_launch_end(text, end) : 0;
    if (!close)
        return false;
    bool opened = join(to, at, end, '<'), closed = join(to, close, three(text, close, '>'), '>');
    return opened || closed;
}

static bool is_part_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where the words before `at`, in its line, begin that may stand before the type of a variable;
 * *of_device says whether there is one of CUDA's. */
static size_t first_specifier(struct str text, size_t at, bool *of_device)
{
    static const char *const words[] = {"__shared__", "__device__",      "__constant__", "__managed__", "__host__",
                                        "__global__", "__forceinline__", "inline",       "extern",      "static",
                                        "const",      "constexpr",       "volatile"};
    enum { CUDA_S = 6 };
    for (;;) {
        size_t end = at, begin, i = 0;
        while (end > 0 && (text.p[end - 1] == ' ' || text.p[end - 1] == '\t'))
            end--;
        for (begin = end; begin > 0 && is_part_of_word(text.p[begin - 1]);)
            begin--;
        while (i < sizeof words / sizeof words[0] &&
               (strlen(words[i]) != end - begin || memcmp(words[i], text.p + begin, end - begin) != 0))
            i++;
        if (i == sizeof words / sizeof words[0])
            return at;
        *of_device |= i < CUDA_S;
        at = begin;
    }
}

/* Behind the alignas(...) or [[...]] that begins at `at` and ends in its line, or 0. */
static size_t behind_specifier(struct str text, size_t at)
{
    static const char word[] = "alignas";
    size_t end = at;
    if (text.n - at > sizeof word && memcmp(text.p + at, word, sizeof word - 1) == 0)
        end = at + sizeof word - 1;
    else if (text.n - at < 2 || text.p[at] != '[' || text.p[at + 1] != '[')
        return 0;
    while (end < text.n && (text.p[end] == ' ' || text.p[end] == '\t'))
        end++;
    for (int depth = 0; end < text.n && text.p[end] != '\n' && (depth > 0 || strchr("([", text.p[end])); end++) {
        depth += (text.p[end] == '(' || text.p[end] == '[') - (text.p[end] == ')' || text.p[end] == ']');
        if (depth == 0)
            return end + 1;
    }
    return 0;
}

/* Moves an alignas(...) or [[...]] that begins at `at` before the words that stand in front of it,
 * if it is a declaration of CUDA's. */
static bool move_specifier(struct str text, size_t at, char *to)
{
    bool of_device = false;
    size_t end = text.p[at] == 'a' || text.p[at] == '[' ? behind_specifier(text, at) : 0, n = end - at;
    size_t first = end ? first_specifier(text, at, &of_device) : at;
    if (!of_device)
        return false;
    memcpy(to + first, text.p + at, n);
    to[first + n] = ' ';
    memcpy(to + first + n + 1, text.p + first, at - first - 1);
    return true;
}

static bool is_word(struct str text, size_t at, const char *word)
{
    size_t n = strlen(word);
    return at + n <= text.n && memcmp(text.p + at, word, n) == 0 && (at == 0 || !is_part_of_word(text.p[at - 1])) &&
           (at + n == text.n || !is_part_of_word(text.p[at + n]));
}

/* Marks each % that is to be two in the string from `at` to `end`. */
static size_t mark_registers(struct str text, size_t at, size_t end, char *before)
{
    size_t n = 0;
    for (; at + 2 < end; at++) {
        bool is_register = text.p[at] == '%' && isalpha((unsigned char)text.p[at + 1]) &&
                           (isalpha((unsigned char)text.p[at + 2]) || text.p[at + 2] == '_');
        if (is_register)
            before[at] = '%', n++;
        else
            at += text.p[at] == '%'; /* what follows is no other */
    }
    return n;
}

/* Marks where a comma is missing between operands, which follow the first `:` of an assembly. */
static size_t mark_commas(struct str text, size_t at, char *before)
{
    size_t n = 0;
    for (int depth = 0; at < text.n && depth >= 0; at++) {
        size_t behind = cc_skip(text, at);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        depth += (text.p[at] == '(') - (text.p[at] == ')');
        if (text.p[at] == ')' && depth == 0 && cc_operand_without_comma(text, at))
            before[at + 1] = ',', n++;
    }
    return n;
}

/* How many characters are to be put in, into the assembly that begins at `at`, if some does: its
 * strings are before its first `:`. */
static size_t mark_assembly(struct str text, size_t at, char *before)
{
    static const char *const words[] = {"asm", "__asm__", "__asm"};
    size_t begin = 0, n = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is_word(text, at, words[i]))
            begin = at + strlen(words[i]);
    while (begin && begin < text.n && text.p[begin] != '(' &&
           (isspace((unsigned char)text.p[begin]) || is_part_of_word(text.p[begin])))
        begin++;
    if (begin == 0 || begin == text.n || text.p[begin] != '(')
        return 0;
    for (size_t i = begin + 1; i < text.n && text.p[i] != ')'; i++) {
        size_t behind = cc_skip(text, i);
        if (text.p[i] == ':')
            return n + mark_commas(text, i, before);
        if (text.p[i] == '"')
            n += mark_registers(text, i, behind, before);
        if (behind != i)
            i = behind - 1;
    }
    memset(before + begin, 0, text.n - begin); /* no operands: what is there is PTX as it is */
    return 0;
}

struct str cc_rewrite(struct str text, struct arena *arena)
{
    char *to = arena_strndup(arena, text.p, text.n);
    /* What is put in before each; 0: nothing. */
    char *before = arena_array(arena, text.n + 1, sizeof *before);
    bool changed = false;
    size_t more = 0;
    for (size_t at = 0; at < text.n; at++) {
        size_t behind = cc_skip(text, at), marked = behind == at ? mark_assembly(text, at, before) : 0;
        more += marked;
        if (behind != at)
            at = behind - 1;
        else if (join_launch(text, at, to) || move_specifier(text, at, to))
            changed = true;
    }
    if (!more)
        return (struct str){changed ? to : NULL, changed ? text.n : 0};
    char *longer = arena_alloc(arena, text.n + more + 1), *end = longer;
    for (size_t at = 0; at < text.n; at++) {
        if (before[at])
            *end++ = before[at];
        *end++ = to[at];
    }
    *end = 0;
    return (struct str){longer, text.n + more};
}
