/* What the files that read expressions share. Private to debug/. */
#ifndef HEDDLE_DEBUG_PARSE_H
#define HEDDLE_DEBUG_PARSE_H

#include <ctype.h>

#include "debug/expression.h"

struct parsing {
    const char *at;
    const struct scope *scope;
    struct arena *arena;
    const char *wrong;
    unsigned depth;
};

/* ---- parse_type.c ---- */

/* NULL; the first that is said to be wrong stays. */
struct node *expr_fail(struct parsing *p, const char *wrong);
void expr_skip(struct parsing *p);
/* Past the word, if it stands there, behind blanks. */
bool expr_take(struct parsing *p, const char *word);
static inline bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}
/* A name, with what :: joins; empty: there is none. */
struct str expr_take_name(struct parsing *p);
/* A type, if one is there: "@shared float *", "int", "P **". NULL leaves the place where it is. */
const struct c_type *expr_type(struct parsing *p);

/* ---- parse.c ---- */

/* In a member function, a member of its object; NULL: there is none so called. */
struct node *expr_own_member(struct parsing *p, struct str name);

/* ---- parse_name.c ---- */

struct node *expr_number(struct parsing *p);
struct node *expr_character(struct parsing *p);
/* $r5, $lane, $arg1. */
struct node *expr_convenience(struct parsing *p);
struct node *expr_name(struct parsing *p);

#endif
