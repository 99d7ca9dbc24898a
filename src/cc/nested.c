/* Launches by kernels, put as clang takes them, in the text of a source, which keeps its lines; see
 * cc.h.
 *
 * clang 19 refuses k<<<...>>>(x) in device code, and does not let device code name a kernel at all:
 * but for where a constant is wanted, as in the arguments of a template. So what stands in the body
 * of a function of the device becomes
 *
 *     k<<<grid, block>>>(x)    ::heddle::nested(HEDDLE_KERNEL(1, k), grid, block)(x)
 *     k<<<grid, block>>>(x)    HEDDLE_LAUNCH((heddle_launch_k), grid, block)(x)
 *     f<<<grid, block>>>(x)    ::heddle::nested(f, grid, block)(x)
 *     p = k; g(&k); (void *)k  p = HEDDLE_KERNEL(-1, k); g(HEDDLE_KERNEL(-1, k)); ...
 *
 * (include/cuda/heddle/nested.h): the second where the launch may leave arguments of k or of its
 * template out, or tells kernels of one name apart (deduced.c), the third where the function
 * declares f, the fourth where the source declares a kernel k and the function does not. The number
 * is that of its parameters, which tells kernels of one name apart; -1: any. The host's side takes
 * the same. A `__host__ __device__` function has both, as its host code launches as it is written:
 *
 *     k<<<grid, block>>>(x)    HEDDLE_ON_HOST(k<<<grid, block>>>) HEDDLE_ON_DEVICE(...)(x)
 */
#include <ctype.h>

#include "base/str.h"
#include "base/text.h"
#include "base/vec.h"
#include "cc/cc.h"
#include "cc/declarations.h"

struct kernel {
    struct str name;
    unsigned parameters; /* of templates that a launch may leave to be deduced; 0: none such */
    /* A launch may leave arguments out; kernels of this name are told apart by theirs. */
    bool defaults, several;
    bool defined;           /* the source has its body */
    bool otherwise, wanted; /* one cannot be launched so; a launch wants it */
};

/* A launched name that is no kernel of the texts, and whether one of them declares it. */
struct looked_up {
    struct str name;
    bool declared;
};

struct nested_scan {
    struct str text; /* of all: the one that is rewritten */
    const struct str *all;
    uint32_t n;
    bool in_both; /* rewrite `__host__ __device__` functions, too */
    struct arena *arena;
    VEC(struct kernel) kernels; /* that the texts declare */
    VEC(struct looked_up) others;
    struct text out;
    size_t written; /* of the text, so far */
};

/* ---- names of kernels ---- */

/* What is launched by the `<<<` at a place: a name with scopes and template arguments, or
 * an expression in parentheses. */
static size_t callee_start(struct str text, size_t at)
{
    size_t start = cc_before_blanks(text, at);
    if (start > 0 && text.p[start - 1] == ')') {
        start = cc_open_bracket(text, start, '(', ')');
        size_t before = cc_before_blanks(text, start);
        bool is_call = before > 0 && (cc_is_of_word(text.p[before - 1]) || strchr(">])", text.p[before - 1])) &&
                       !cc_is_before_value(text, before);
        if (!is_call)
            return start;
        start = before;
    }
    for (;;) {
        if (start > 0 && text.p[start - 1] == '>')
            start = cc_before_blanks(text, cc_open_bracket(text, start, '<', '>'));
        start = cc_word_start(text, start);
        size_t before = cc_before_blanks(text, start);
        if (before < 2 || text.p[before - 1] != ':' || text.p[before - 2] != ':')
            return start;
        start = cc_before_blanks(text, before - 2);
        if (start == 0 || (!cc_is_of_word(text.p[start - 1]) && text.p[start - 1] != '>'))
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
    int n = cc_skip_blanks(text, at + 1) < end;
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

static struct kernel *find_kernel(const struct nested_scan *s, struct str name)
{
    for (uint32_t i = 0; i < s->kernels.n; i++)
        if (str_eq(s->kernels.at[i].name, name))
            return &s->kernels.at[i];
    return NULL;
}

/* May a value begin behind what ends before `end`? A cast to a pointer ends with `*)`, or with the
 * parentheses of parameters. */
static bool is_value_expected(struct str text, size_t end)
{
    char last = end ? text.p[end - 1] : 0;
    if (last == ')') {
        size_t star = cc_before_blanks(text, end - 1);
        return star > 0 && (text.p[star - 1] == '*' || text.p[star - 1] == ')');
    }
    return last ? strchr("(,=?:{!", last) != NULL || (cc_is_of_word(last) && cc_is_before_value(text, end)) : false;
}

/* ---- writing ---- */

static void copy_to(struct nested_scan *s, size_t at)
{
    if (at > s->written)
        text_put(&s->out, s->text.p + s->written, at - s->written);
    s->written = at;
}

/* Where the expression begins whose last name begins at `start`: `a.f`, `p->f[i]`. */
static size_t member_start(struct str text, size_t start)
{
    for (;;) {
        size_t before = cc_before_blanks(text, start);
        /* Else it may end a comment. */
        bool same_line = !memchr(text.p + before, '\n', start - before);
        bool is_dot = same_line && before > 0 && text.p[before - 1] == '.';
        bool is_arrow = same_line && before > 1 && text.p[before - 1] == '>' && text.p[before - 2] == '-';
        if (!is_dot && !is_arrow)
            return start;
        start = cc_before_blanks(text, before - (is_dot ? 1 : 2));
        while (start > 0 && text.p[start - 1] == ']')
            start = cc_before_blanks(text, cc_open_bracket(text, start, '[', ']'));
        start = callee_start(text, start);
    }
}

static bool is_declared(const struct nested_scan *s, struct str name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (cc_declares(s->all[i], 0, s->all[i].n, name))
            return true;
    return false;
}

/* Is it the name of a variable? One that is no kernel of the texts may be a member, or of the
 * device. The texts are searched once for each name. */
static bool is_variable(struct nested_scan *s, const struct device_function *f, size_t at, struct str name)
{
    if (find_kernel(s, name))
        return cc_declares(s->text, f->start, at, name);
    for (uint32_t i = 0; i < s->others.n; i++)
        if (str_eq(s->others.at[i].name, name))
            return s->others.at[i].declared;
    bool declared = is_declared(s, name);
    *VEC_PUSH(s->arena, &s->others) = (struct looked_up){name, declared};
    return declared;
}

/* How many arguments `<...>` has. */
static unsigned count_given(struct str list)
{
    unsigned n = 0;
    for (size_t at = cc_skip_blanks(list, 1); at + 1 < list.n; at++, n++)
        at = cc_behind_parameter(list, at, false);
    return n;
}

/* The function that calls the kernel, if a launch may leave some to it. */
static bool put_deduced(struct nested_scan *s, struct str callee)
{
    size_t end = callee.n;
    unsigned given = 0;
    if (callee.p[end - 1] == '>') {
        end = cc_open_bracket(callee, end, '<', '>');
        given = count_given((struct str){callee.p + end, callee.n - end});
        end = cc_before_blanks(callee, end);
    }
    size_t name = cc_word_start(callee, end);
    struct kernel *k = find_kernel(s, (struct str){callee.p + name, end - name});
    if (!k || k->otherwise || (given >= k->parameters && !k->defaults && !k->several))
        return false;
    k->wanted = true;
    text_printf(&s->out, "HEDDLE_LAUNCH((%.*s" CC_DEDUCING "%.*s)", (int)name, callee.p, (int)(callee.n - name),
                callee.p + name);
    return true;
}

/* In a function of both sides: what the host's code keeps, and the beginning
 * of what the device's has. */
static void put_on_host(struct nested_scan *s, const struct device_function *f, size_t start, size_t end)
{
    if (!f->host)
        return;
    text_puts(&s->out, "HEDDLE_ON_HOST(");
    cc_put_line(&s->out, (struct str){s->text.p + start, end - start});
    text_puts(&s->out, ") HEDDLE_ON_DEVICE(");
}

/* A launch whose `<` are at `at`; what is inside of it may have others.
 * Returns behind its `<<<`. */
static size_t put_launch(struct nested_scan *s, const struct device_function *f, size_t at, size_t *close)
{
    size_t open = at + 3, end = cc_before_blanks(s->text, at), last = end;
    while (last > 0 && s->text.p[last - 1] == ']')
        last = cc_before_blanks(s->text, cc_open_bracket(s->text, last, '[', ']'));
    size_t name = callee_start(s->text, last), start = member_start(s->text, name);
    *close = cc_launch_end(s->text, open);
    if (!*close || start < f->body || start < s->written)
        return open;
    struct str callee = {s->text.p + start, end - start};
    bool is_expression = !callee.n || callee.p[callee.n - 1] == ')' || last != end || name != start;
    bool is_parameter = cc_declares(s->text, f->start, f->word, callee),
         is_value = is_expression || is_variable(s, f, at, callee);
    copy_to(s, start);
    put_on_host(s, f, start, *close + 3);
    if (is_parameter || is_value || !put_deduced(s, callee)) {
        text_puts(&s->out, "::heddle::nested(");
        if (is_parameter)
            text_printf(&s->out, "::heddle::kernel_pointer<decltype(%.*s), %.*s>", STR_ARG(callee), STR_ARG(callee));
        else if (is_value)
            text_str(&s->out, callee);
        else
            put_kernel(&s->out, callee, count_arguments(s->text, cc_skip_blanks(s->text, *close + 3)));
    }
    text_put(&s->out, s->text.p + end, at - end); /* lines stay */
    text_puts(&s->out, ", ");
    s->written = open;
    return open;
}

/* The name of a kernel where a value may stand. Returns behind what is done with. */
static size_t put_name(struct nested_scan *s, const struct device_function *f, size_t at, struct str word)
{
    size_t end = at + word.n, behind = cc_skip_blanks(s->text, end), name = callee_start(s->text, end), start = name;
    if (behind < s->text.n && s->text.p[behind] == '<' && s->text.p[behind + 1] != '<') {
        behind = cc_behind_arguments(s->text, behind);
        end = behind ? behind : end;
        behind = cc_skip_blanks(s->text, end);
    }
    size_t before = cc_before_blanks(s->text, start);
    if (before > f->body && s->text.p[before - 1] == '&' &&
        is_value_expected(s->text, cc_before_blanks(s->text, before - 1)))
        start = before = cc_before_blanks(s->text, before - 1);
    if (start < s->written || !is_value_expected(s->text, before) || behind >= s->text.n ||
        !strchr("),;:?}=!+-", s->text.p[behind]) || (name == at && cc_declares(s->text, f->start, at, word)))
        return at + word.n;
    copy_to(s, start);
    put_on_host(s, f, start, end);
    put_kernel(&s->out, (struct str){s->text.p + name, end - name}, -1);
    text_puts(&s->out, f->host ? ")" : "");
    s->written = end;
    return end;
}

static bool begins_launch(struct str text, size_t at)
{
    return at + 3 < text.n && memcmp(text.p + at, "<<<", 3) == 0 && text.p[at + 3] != '<' &&
           (at == 0 || text.p[at - 1] != '<');
}

static void put_body(struct nested_scan *s, const struct device_function *f)
{
    VEC(size_t) closes = {0};
    for (size_t at = f->body; at < f->end; at++) {
        size_t behind = cc_skip(s->text, at), close = 0;
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        struct str word = cc_word_at(s->text, at);
        if (word.n && (at == 0 || !cc_is_of_word(s->text.p[at - 1]))) {
            at = (find_kernel(s, word) && !f->is_variable ? put_name(s, f, at, word) : at + word.n) - 1;
        } else if (begins_launch(s->text, at)) {
            at = put_launch(s, f, at, &close) - 1;
            if (close && s->written == at + 1)
                *VEC_PUSH(s->arena, &closes) = close;
        } else if (closes.n && closes.at[closes.n - 1] == at) {
            copy_to(s, at);
            text_puts(&s->out, f->host ? "))" : ")");
            s->written = at + 3;
            at += 2;
            closes.n--;
        }
    }
}

static void find_kernels(struct nested_scan *s)
{
    struct device_function d;
    for (size_t at = 0; (at = cc_next_of_device(s->text, at, &d)) < s->text.n; at++) {
        struct kernel *k = d.name.n ? find_kernel(s, d.name) : NULL;
        struct deducing made = {0};
        if (!d.name.n || !str_is(cc_word_at(s->text, at), "__global__"))
            continue;
        if (!k)
            *(k = VEC_PUSH(s->arena, &s->kernels)) = (struct kernel){.name = d.name};
        k->several |= d.body && k->defined;
        k->defined |= d.body != 0;
        if (cc_deducing(s->text, &d, false, &made, s->arena)) {
            k->parameters = made.parameters > k->parameters ? made.parameters : k->parameters;
            k->defaults |= made.has_defaults;
        } else {
            k->otherwise |= !made.is_specialized;
        }
    }
}

/* The bodies of all functions of the device, and what their launches want declared. Nothing where
 * the text is to stay. */
static struct str put_all(struct nested_scan *s)
{
    struct device_function d;
    s->out = (struct text){.arena = s->arena};
    s->written = 0;
    for (size_t at = 0; (at = cc_next_of_device(s->text, at, &d)) < s->text.n; at++) {
        const struct kernel *k = d.name.n ? find_kernel(s, d.name) : NULL;
        struct deducing made;
        if (k && k->wanted && cc_deducing(s->text, &d, d.body || !k->defined, &made, s->arena)) {
            copy_to(s, made.at);
            text_str(&s->out, made.declaration);
            s->written = made.end;
        }
        if (d.body && (!d.host || s->in_both)) {
            put_body(s, &d);
            at = d.end - 1;
        }
    }
    if (!s->written)
        return (struct str){0};
    copy_to(s, s->text.n);
    return (struct str){s->out.p, s->out.n};
}

static void put_texts(struct nested_scan *s, struct str *made)
{
    for (uint32_t i = 0; i < s->n; i++) {
        s->text = s->all[i];
        made[i] = put_all(s);
    }
}

void cc_rewrite_nested(struct str *texts, uint32_t n, bool in_both, struct arena *arena)
{
    struct nested_scan s = {.all = texts, .n = n, .in_both = in_both, .arena = arena};
    struct str *made = ARENA_ARRAY(arena, struct str, n);
    for (uint32_t i = 0; i < n; i++) {
        s.text = texts[i];
        find_kernels(&s);
    }
    if (!s.kernels.n)
        return;
    put_texts(&s, made);
    for (uint32_t i = 0; i < s.kernels.n; i++)
        if (s.kernels.at[i].wanted) {
            /* The declarations may stand before what has shown that they are wanted. */
            put_texts(&s, made);
            break;
        }
    for (uint32_t i = 0; i < n; i++)
        if (made[i].p)
            texts[i] = made[i];
}
