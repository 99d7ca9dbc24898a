/* What the files of the parser share: parse.c (modules, declarations), parse_names.c (names, errors), parse_expr.c (constants,
 * initialisers), parse_body.c (statements, instructions, operands). Private to ptx/.
 *
 * A parse function returns false after it has reported an error; its callers return false up to the statement
 * or directive, which skips to its end, so that one run finds several errors.
 */
#ifndef HEDDLE_PTX_PARSER_H
#define HEDDLE_PTX_PARSER_H

#include "ptx/lex.h"
#include "ptx/module.h"

/* Names of a pair of braces; `parent` is the surrounding one, up to the module's. */
struct scope {
    struct scope *parent;
    struct map names;   /* struct ptx_symbol */
    uint32_t first_use; /* label_uses from here on were made in it */
};

/* A name used before its label or table was seen; patched when the scope that holds it closes. */
struct label_use {
    struct scope *scope;
    struct str name;
    uint32_t offset;
    struct ptx_symbol **symbol;
};

struct parser {
    struct lexer lex;
    struct token tok;    /* the next token, not yet taken */
    uint32_t taken_to;   /* the offset behind the last token taken */
    struct map reported; /* names that are not declared, each reported once */
    struct arena *arena;
    struct ptx_module *module;
    struct diags *diags;
    struct ptx_func *func;
    struct scope *scope, module_scope;
    struct map sregs; /* enum isa_sreg + 1 by name with its % */
    VEC(struct label_use) label_uses;
};

/* ---- tokens ---- */

static inline void advance(struct parser *p)
{
    p->taken_to = (uint32_t)(p->lex.p - p->lex.source->text.p);
    p->tok = lex_next(&p->lex);
}

static inline bool at_punct(const struct parser *p, char c)
{
    return p->tok.kind == TOKEN_PUNCT && p->tok.punct == c;
}

static inline bool at_dot(const struct parser *p, const char *word)
{
    return p->tok.kind == TOKEN_DOT && str_is(p->tok.text, word);
}

static inline bool accept(struct parser *p, char c)
{
    if (!at_punct(p, c))
        return false;
    advance(p);
    return true;
}

struct place place_of(const struct parser *p, struct token t);
/* The token in backquotes, for a message. */
const char *describe(struct parser *p, struct token t);
/* Takes the character or reports that it is missing after `what`. */
bool expect(struct parser *p, char c, const char *what);
/* Reports an error at the next token, and false. */
bool fail(struct parser *p, const char *help, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool fail_at(struct parser *p, struct token at, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Takes the `;` that ends something. Where it is missing at the end of a line, says so there, and goes on as if it
 * stood. */
bool expect_end(struct parser *p, const char *what);
/* Takes a name; `what` says what it would name. */
bool take_name(struct parser *p, struct str *name, uint32_t *offset, const char *what);
/* Skips to behind the ';' that ends a broken statement, or to before a brace. */
void skip_statement(struct parser *p);

/* ---- names ---- */

struct ptx_symbol *find_symbol(struct parser *p, struct str name);
/* A register by name, also of a parametrised declaration; number is set. */
const struct ptx_reg *find_reg(struct parser *p, struct str name, uint32_t *number);
/* Reports a name that nothing declares, once. `kind` is "label " or empty. */
bool fail_undeclared(struct parser *p, struct token at, const char *kind);
/* Enters a symbol in the innermost scope; reports a name that stands there already. */
bool declare(struct parser *p, struct ptx_symbol *symbol);

/* ---- parse_expr.c ---- */

/* A constant: an integer of 64 bits, signed or not (4.5.1), or an f64 or f32. */
struct constant {
    enum { CONSTANT_INT, CONSTANT_F32, CONSTANT_F64 } kind;
    bool is_unsigned;
    uint64_t bits;
};

bool parse_constant(struct parser *p, struct constant *c);
/* An integer constant of at most `limit`. */
bool parse_size(struct parser *p, uint64_t limit, uint64_t *value, const char *what);
/* The same between < and >, where > ends it. */
bool parse_count(struct parser *p, uint64_t limit, uint64_t *value, const char *what);
/* '= initialiser' of a variable whose type and dimensions stand. */
bool parse_initialiser(struct parser *p, struct ptx_var *v);

/* ---- parse.c ---- */

/* Variables from the state space on: .space ... name [= init], ... ; each is handed to `take`. */
bool parse_variables(struct parser *p, enum ptx_linkage linkage, void (*take)(struct parser *, struct ptx_var *));
/* '(' parameters ')' in the given list; parameters are declared in the current scope where `in_scope`. */
bool parse_signature_side(struct parser *p, struct ptx_signature *s, bool returns, bool in_scope);
bool parse_table(struct parser *p, struct str name, uint32_t offset);

/* ---- parse_body.c ---- */

/* '{' statements '}' of p->func. */
bool parse_body(struct parser *p);

#endif
