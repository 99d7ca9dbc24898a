/* clang says nothing of `extern __shared__ double s[];` in debugging information. Under -G a
 * pointer stands behind each, whose type says what it is: `decltype(s)
 * *heddle_extern_17_s;`, where 17 tells equal names apart. A debugger reads it
 * (debug/dwarf_reader.c), and no code does. See cc.h. */
#include "base/text.h"
#include "cc/cc.h"
#include "cc/declarations.h"

/* The name that a declaration gives to dynamic shared memory, from behind its `extern` on: the
 * word before the first bracket that is not in parentheses. *end: behind its semicolon. An empty
 * name: it is another declaration. */
static struct str declared_name(struct str text, size_t at, size_t *end)
{
    struct str last = {0}, name = {0};
    bool is_shared = false;
    for (int depth = 0; at < text.n && !strchr("{}=", text.p[at]); at++) {
        size_t behind = cc_skip(text, at);
        char c = text.p[at];
        depth += (c == '(') - (c == ')');
        if (behind != at) {
            at = behind - 1;
        } else if (cc_is_of_word(c)) {
            last = cc_word_at(text, at);
            is_shared |= str_is(last, "__shared__");
            at += last.n - 1;
        } else if (c == '[' && depth == 0 && !name.n) {
            name = last;
        } else if (c == ';' && depth == 0) {
            *end = at + 1;
            return is_shared ? name : (struct str){0};
        }
    }
    return (struct str){0};
}

/* Does the brace at `at` open a namespace, or extern "C"? */
static bool opens_space(struct str text, size_t at)
{
    size_t from = at;
    while (from > 0 && !strchr(";{})", text.p[from - 1]))
        from--;
    const struct str head = {text.p + from, at - from};
    return memmem(head.p, head.n, "namespace", 9) || memmem(head.p, head.n, "extern \"C", 9);
}

struct str cc_say_dynamic(struct str text, struct arena *arena)
{
    struct text to = {.arena = arena};
    size_t done = 0, end;
    enum { DEEPEST = 64 };
    bool spaces[DEEPEST];
    int depth = 0, inside = 0; /* of braces; of those that open no namespace */
    for (size_t at = 0; at < text.n; at++) {
        size_t behind = cc_skip(text, at);
        if (behind != at) {
            at = behind - 1;
        } else if (text.p[at] == '{') {
            bool space = opens_space(text, at);
            if (depth < DEEPEST)
                spaces[depth] = space;
            inside += !space;
            depth++;
        } else if (text.p[at] == '}' && depth > 0) {
            depth--;
            inside -= !(depth < DEEPEST && spaces[depth]);
        } else if (cc_is_of_word(text.p[at])) {
            struct str word = cc_word_at(text, at),
                       name = str_is(word, "extern") ? declared_name(text, at + word.n, &end) : (struct str){0};
            at += word.n - 1;
            if (!name.n)
                continue;
            text_put(&to, text.p + done, end - done);
            text_printf(&to, " %s decltype(%.*s) *heddle_extern_%zu_%.*s;",
                        inside > 0 ? "__attribute__((unused))" : "static __device__ __attribute__((used))",
                        STR_ARG(name), end, STR_ARG(name));
            done = end;
            at = end - 1;
        }
    }
    if (!done)
        return (struct str){0};
    text_put(&to, text.p + done, text.n - done);
    return (struct str){to.p, to.n};
}
