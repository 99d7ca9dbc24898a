/* Words and types of an expression's text; see parse.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "debug/parse.h"

/* ---- words ---- */

struct node *expr_fail(struct parsing *p, const char *wrong)
{
    if (!p->wrong)
        p->wrong = wrong;
    return NULL;
}

void expr_skip(struct parsing *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

bool expr_take(struct parsing *p, const char *word)
{
    expr_skip(p);
    size_t n = strlen(word);
    if (strncmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

struct str expr_take_name(struct parsing *p)
{
    expr_skip(p);
    const char *start = p->at;
    if (!isalpha((unsigned char)*start) && *start != '_' && !(start[0] == ':' && start[1] == ':'))
        return (struct str){0};
    while (is_name_char(*p->at) || (p->at[0] == ':' && p->at[1] == ':' && (p->at += 1)))
        p->at++;
    return (struct str){start, (size_t)(p->at - start)};
}

/* ---- types ---- */

static const struct c_type *named_type(struct parsing *p, struct str name)
{
    const struct c_type *t = c_type_named(name);
    return t ? t : p->scope->type ? p->scope->type(p->scope->data, name, p->arena) : NULL;
}

static bool is_qualifier(struct str word)
{
    return str_is(word, "const") || str_is(word, "volatile") || str_is(word, "__restrict__");
}

/* "Vec<double>" of a name where < follows: with all up to the > that belongs to it. Empty: there is
 * none. */
static struct str template_name(struct parsing *p, struct str name)
{
    unsigned depth = 0;
    expr_skip(p);
    if (*p->at != '<')
        return (struct str){0};
    do {
        depth += *p->at == '<';
        depth -= *p->at == '>';
    } while (*p->at && p->at++ && depth);
    return depth ? (struct str){0} : (struct str){name.p, (size_t)(p->at - name.p)};
}

/* "unsigned long", "struct P", "std::pair": as many words as make a type. */
static const struct c_type *parse_type_words(struct parsing *p)
{
    struct text words = {.arena = p->arena};
    const struct c_type *t = NULL;
    const char *end = p->at;
    for (;;) {
        struct str word = expr_take_name(p);
        if (!word.n)
            break;
        if (is_qualifier(word)) {
            end = t ? p->at : end;
            continue;
        }
        const char *name_end = p->at;
        struct str with_arguments = template_name(p, word);
        if (with_arguments.n && (t = named_type(p, with_arguments))) {
            end = p->at;
            break;
        }
        p->at = name_end;
        size_t before = words.n;
        text_printf(&words, "%s%.*s", words.n ? " " : "", STR_ARG(word));
        const struct c_type *longer = named_type(p, (struct str){words.p, words.n});
        bool may_go_on =
            str_is(word, "struct") || str_is(word, "class") || str_is(word, "union") || str_is(word, "enum");
        if (!longer && !may_go_on) {
            words.n = before;
            break;
        }
        t = longer ? longer : t;
        end = longer ? p->at : end;
    }
    p->at = end;
    return t;
}

const struct c_type *expr_type(struct parsing *p)
{
    const char *start = p->at;
    enum c_space space = expr_take(p, "@shared") ? C_SHARED : expr_take(p, "@local") ? C_LOCAL : C_GENERIC;
    if (!space && !expr_take(p, "@global"))
        expr_take(p, "@generic");
    const struct c_type *t = parse_type_words(p);
    if (!t) {
        p->at = start;
        return NULL;
    }
    for (;;) {
        const char *before = p->at;
        if (expr_take(p, "*")) {
            t = c_pointer_to(t, space, p->arena);
            continue;
        }
        struct str word = expr_take_name(p);
        if (!is_qualifier(word)) {
            p->at = before;
            break;
        }
    }
    expr_skip(p);
    if (*p->at == '[') {
        p->at++;
        char *end;
        unsigned long long n = strtoull(p->at, &end, 0);
        p->at = end;
        t = expr_take(p, "]") ? c_array_of(t, n, p->arena) : NULL;
    }
    if (!t)
        p->at = start;
    return t;
}
