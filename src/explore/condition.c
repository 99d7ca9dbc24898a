/* See condition.h. A recursive descent parser that builds a tree. */
#include "explore/condition.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum operator{ NUMBER, PLACE, NOT, NEGATE, OR, AND, EQ, NE, LE, GE, LT, GT, PLUS, MINUS };

struct condition {
    enum operator operator;
    uint64_t number;      /* or the place's number */
    unsigned signed_bits; /* of a place with a signed type */
    struct condition *a, *b;
};

struct parser {
    struct arena *arena;
    const char *text, *at;
    condition_place_fn *place;
    void *data;
    const char *error;
};

/* By precedence; within a level, longer operators first. */
static const struct {
    const char *text;
    unsigned level;
    enum operator operator;
} operators[] = {
    {"||", 0, OR}, {"&&", 1, AND}, {"==", 2, EQ}, {"!=", 2, NE},  {"<=", 2, LE},
    {">=", 2, GE}, {"<", 2, LT},   {">", 2, GT},  {"+", 3, PLUS}, {"-", 3, MINUS},
};
enum { LEVELS = 4, MOST_NESTED = 100 };

static struct condition *node(struct parser *p, enum operator operator, struct condition * a, struct condition *b)
{
    struct condition *c = ARENA_NEW(p->arena, struct condition);
    *c = (struct condition){.operator= operator, .a = a, .b = b};
    return c;
}

static struct condition *fail(struct parser *p, const char *what)
{
    if (!p->error)
        p->error = arena_printf(p->arena, "%s at `%s`\n  %s\n  %*s", what, *p->at ? p->at : "the end", p->text,
                                (int)(p->at - p->text) + 1, "^");
    return NULL;
}

static void skip(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static struct condition *parse_level(struct parser *p, unsigned level, unsigned depth);

/* A place, 2[0], counter[3], counter or 2[0]:u64; or a number. */
static struct condition *parse_word(struct parser *p)
{
    const char *start = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '$')
        p->at++;
    if (p->at == start)
        return fail(p, "a place or a number is missing");
    struct condition *c = node(p, PLACE, NULL, NULL);
    if (*p->at != '[' && isdigit((unsigned char)*start)) {
        char *end;
        errno = 0;
        c->operator= NUMBER;
        c->number = strtoull(start, &end, 0);
        end += strspn(end, "uUlL");
        p->at = start + (end == p->at ? p->at - start : 0);
        return errno           ? (p->at = start, fail(p, "this number is beyond 64 bits"))
               : p->at > start ? c
                               : fail(p, "this is not a number");
    }
    if (*p->at == '[') {
        const char *end = strchr(p->at, ']');
        if (!end)
            return fail(p, "`]` is missing");
        p->at = end + 1;
    }
    if (*p->at == ':')
        for (p->at++; isalnum((unsigned char)*p->at);)
            p->at++;
    int place = p->place(p->data, arena_strndup(p->arena, start, (size_t)(p->at - start)), &c->signed_bits);
    if (place < 0) {
        p->error = p->error ? p->error : "";
        return NULL;
    }
    c->number = (uint64_t)place;
    return c;
}

static struct condition *parse_unary(struct parser *p, unsigned depth)
{
    skip(p);
    if (depth > MOST_NESTED)
        return fail(p, "the condition is nested too deeply");
    if ((*p->at == '!' && p->at[1] != '=') || *p->at == '-') {
        enum operator operator= * p->at++ == '!' ? NOT : NEGATE;
        struct condition *a = parse_unary(p, depth + 1);
        return a ? node(p, operator, a, NULL) : NULL;
    }
    if (*p->at != '(')
        return parse_word(p);
    p->at++;
    struct condition *a = parse_level(p, 0, depth + 1);
    skip(p);
    if (a && *p->at != ')')
        return fail(p, "`)` is missing");
    p->at++;
    return a;
}

static bool take_operator(struct parser *p, unsigned level, enum operator* operator)
{
    skip(p);
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t n = strlen(operators[i].text);
        if (operators[i].level == level && strncmp(p->at, operators[i].text, n) == 0) {
            p->at += n;
            *operator= operators[i].operator;
            return true;
        }
    }
    return false;
}

/* Does it compare an unsigned place with a negative number? */
static bool is_in_vain(enum operator operator, const struct condition * a, const struct condition *b)
{
    bool compares = operator>= EQ && operator<= GT;
    return compares && a->operator== PLACE && !a->signed_bits && b->operator== NEGATE && b->a->operator== NUMBER &&
                       b->a->number;
}

static struct condition *parse_level(struct parser *p, unsigned level, unsigned depth)
{
    if (level == LEVELS)
        return parse_unary(p, depth);
    struct condition *a = parse_level(p, level + 1, depth);
    enum operator operator;
    while (a && take_operator(p, level, &operator)) {
        skip(p);
        const char *right = p->at;
        struct condition *b = parse_level(p, level + 1, depth);
        if (b && (is_in_vain(operator, a, b) || is_in_vain(operator, b, a))) {
            p->at = right;
            return fail(p, "a place of an unsigned type is never negative: write `:s32` or `:s64` behind it to read it "
                           "as signed,");
        }
        a = b ? node(p, operator, a, b) : NULL;
    }
    return a;
}

struct condition *condition_parse(struct arena *arena, const char *text, condition_place_fn *place, void *data,
                                  const char **error)
{
    struct parser p = {.arena = arena, .text = text, .at = text, .place = place, .data = data};
    struct condition *c = parse_level(&p, 0, 0);
    skip(&p);
    if (c && *p.at)
        c = fail(&p, *p.at == '=' ? "`==` compares:" : "one of the operators && || == != < <= > >= + - is missing");
    *error = p.error;
    return c;
}

/* Wide enough for sums of as many words as fit on a command line. */
typedef __int128 whole;

static whole value_of(const struct condition *c, const uint64_t *values)
{
    if (c->operator== NUMBER)
        return c->number;
    if (c->operator== PLACE)
        return c->signed_bits ? (int64_t)(values[c->number] << (64 - c->signed_bits)) >> (64 - c->signed_bits)
                              : (whole)values[c->number];
    whole a = value_of(c->a, values), b = c->b ? value_of(c->b, values) : 0;
    switch (c->operator) {
    case NOT: return !a;
    case NEGATE: return -a;
    case OR: return a || b;
    case AND: return a && b;
    case EQ: return a == b;
    case NE: return a != b;
    case LE: return a <= b;
    case GE: return a >= b;
    case LT: return a < b;
    case GT: return a > b;
    case PLUS: return a + b;
    default: return a - b;
    }
}

bool condition_holds(const struct condition *c, const uint64_t *values)
{
    return value_of(c, values) != 0;
}

bool claim_is_broken(const struct claim *c, const uint64_t *values)
{
    return condition_holds(c->condition, values) == c->forbidden;
}
