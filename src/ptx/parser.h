/* What the files of the parser share: parse.c (modules, heads of functions), parse_variable.c
 * (variables, parameters), parse_names.c (names, errors), parse_expr.c (constants, initialisers),
 * parse_body.c (statements), parse_insn.c (instructions, operands). Private to ptx/.
 *
 * A parse function returns false after it has reported an error; its callers return false up to the
 * statement or directive, which skips to its end, so that one run finds several errors.
 */
#ifndef HEDDLE_PTX_PARSER_H
#define HEDDLE_PTX_PARSER_H

#include "ptx/lex.h"
#include "ptx/module.h"

/* Names of a pair of braces; `parent` is the surrounding one, up to the module's. A name means what
 * the innermost scope says that declares it. In a scope it is declared by itself (%r7) or in a
 * range (%r<10>), and not in both ways. */
struct scope {
    struct scope *parent;
    struct map names;   /* struct ptx_symbol, of what is declared by itself */
    struct map ranges;  /* struct name_range, by stem; see parse_names.c */
    uint32_t first_use; /* label_uses from here on were made in it */
};

/* A label's name, where it is used; patched when the scope that holds the label closes. */
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
    struct map sregs;    /* enum isa_sreg + 1 by name with its % */
    uint32_t n_compared; /* names, for hints */
    bool wrong_target;   /* a .target stands, of an unknown device */
    struct {
        bool function, block;
    } keeps_rolled; /* where .pragma "nounroll" has stood (23.1); block: behind the last label */
    unsigned depth; /* of what stands in each other: expressions, initialisers, vectors */
    VEC(struct label_use) label_uses;
    uint32_t n_ranged; /* variables declared in ranges so far */
    /* The text of inline assembly that contains the last .loc of such a text, and the line of
     * the first .loc there. */
    uint32_t asm_text, asm_line;
};

/* ---- tokens ---- */

static inline void parse_advance(struct parser *p)
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
    parse_advance(p);
    return true;
}

/* What a parse function that calls itself begins with, and ends with where it was
 * true: nothing stands deeper in itself than MAX_DEPTH, so that a small stack is
 * enough. Reports what is deeper. */
enum { MAX_DEPTH = 128 };
bool parse_enter(struct parser *p);
static inline bool parse_leave(struct parser *p, bool ok)
{
    p->depth--;
    return ok;
}

struct place parse_place_of(const struct parser *p, struct token t);
/* The token in backquotes, for a message. */
const char *parse_describe(struct parser *p, struct token t);
/* Takes the character or reports that it is missing after `what`. */
bool parse_expect(struct parser *p, char c, const char *what);
/* Reports an error at the next token, and false. */
bool parse_fail(struct parser *p, const char *help, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool parse_fail_at(struct parser *p, struct token at, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Takes the `;` that ends something. Where it is missing at the end of a line, says so there, and
 * goes on as if it stood. */
bool parse_expect_end(struct parser *p, const char *what);
/* Takes a name; `what` says what it would name. */
bool parse_take_name(struct parser *p, struct str *name, uint32_t *offset, const char *what);
/* Skips to behind the ';' that ends a broken statement, or to before a brace. */
void parse_skip_statement(struct parser *p);

/* ---- names ---- */

/* Opens a scope in the present one. */
void scope_open(struct parser *p, struct scope *s);
struct ptx_symbol *parse_find_in_scope(const struct scope *s, struct str name);
/* What a name stands for here: for a register of a range the range, for a variable of a range that
 * variable. */
struct ptx_symbol *parse_find_symbol(struct parser *p, struct str name);
/* A register by name, also of a parametrised declaration; number is set. */
const struct ptx_reg *parse_find_reg(struct parser *p, struct str name, uint32_t *number);
/* Reports a name that nothing declares, once. `kind` is "label " or empty. */
bool parse_fail_undeclared(struct parser *p, struct token at, const char *kind);
/* Enters a symbol in the innermost scope; reports a name that stands there already. */
bool parse_declare(struct parser *p, struct ptx_symbol *symbol);
/* The same of stem0 to stem(count - 1): registers, or variables where `vars` holds them. */
bool parse_declare_range(struct parser *p, struct ptx_symbol *stem, uint32_t count, struct ptx_var *vars);
/* Enters a symbol whose name is free, or that replaces another declaration of the same thing. */
void scope_enter(struct parser *p, struct scope *s, struct ptx_symbol *symbol);
/* Reports that `symbol` declares `name`, which stands at `first` already, and false. */
bool parse_fail_twice(struct parser *p, const struct ptx_symbol *symbol, struct str name, uint32_t first);

bool ptx_space_by_name(struct str s, enum ptx_space *space);

static inline bool is_label(const struct ptx_symbol *s)
{
    return s->kind == SYMBOL_LABEL || s->kind == SYMBOL_TABLE;
}

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
/* What no variable exceeds. */
static const uint64_t max_bytes = 1ull << 46;
/* '= initialiser' of a variable whose type and dimensions stand. */
bool parse_initialiser(struct parser *p, struct ptx_var *v);

/* ---- parse_variable.c ---- */

/* Variables from the state space on: .space ... name [= init], ... ; each is handed to `take`. */
bool parse_variables(struct parser *p, enum ptx_linkage linkage, void (*take)(struct parser *, struct ptx_var *));
/* '(' parameters ')' in the given list; parameters are declared in the current scope where
 * `in_scope`. */
bool parse_signature_side(struct parser *p, struct ptx_signature *s, bool returns, bool in_scope);
/* .attribute(.managed), .attribute(.unified(a, b)) (5.4.8) */
bool parse_attribute(struct parser *p, struct ptx_var *v);

/* ---- parse_insn.c ---- */

/* @p or @!p, which stands there, before an instruction. */
bool parse_guard(struct parser *p, struct ptx_insn *i);
/* The rest of it, to its end; its name is p->tok. */
bool parse_insn(struct parser *p, struct ptx_insn *i);

/* ---- calls.c ---- */

/* Of each .loc of the function's body: the .loc of the call that it is inlined at. */
void parse_find_calls(const struct ptx_func *f);

/* ---- parse_body.c ---- */

/* '{' statements '}' of p->func. */
bool parse_body(struct parser *p);
/* Strings behind .pragma; *keeps_rolled where one is "nounroll". */
bool parse_pragma(struct parser *p, struct str *strings, bool *keeps_rolled);
/* .reg and what it declares, in a body or, in PTX before 3.0, outside of functions. */
bool parse_registers(struct parser *p);

#endif
