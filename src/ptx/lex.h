/* The tokens of PTX text (PTX ISA 4 "Syntax"). */
#ifndef HEDDLE_PTX_LEX_H
#define HEDDLE_PTX_LEX_H

#include "base/diag.h"

enum token_kind {
    TOKEN_END,
    TOKEN_IDENT,  /* names; '%' and '$' may stand in them */
    TOKEN_DOT,    /* a dot and a word: .reg, .v4, .shared::cta; text without the dot */
    TOKEN_INT,    /* value, is_unsigned */
    TOKEN_F32,    /* value: bits of 0f12345678 */
    TOKEN_F64,    /* value: bits of 0d... or of a decimal number */
    TOKEN_STRING, /* text without the quotes */
    /* punct: one character, or '<<' as 'L', '>>' as 'R', '<=' 'l', '>=' 'g', '==' 'e', '!=' 'n',
     * '&&' 'a', '||' 'o'. */
    TOKEN_PUNCT,
    TOKEN_BAD,
};

struct token {
    enum token_kind kind;
    char punct;
    bool is_unsigned, overflow;
    uint32_t offset;
    struct str text;
    uint64_t value;
};

struct lexer {
    const struct source *source;
    const char *p, *end;
    uint32_t asm_texts; /* texts of inline assembly that have begun, by compilers' comments */
    bool in_asm_text;
};

/* `text` is a part of the source's. */
void lex_init(struct lexer *l, const struct source *source, struct str text);
struct token lex_next(struct lexer *l);
/* Given the name that starts an instruction and was read last: the whole
 * opcode with its modifiers. */
struct str lex_opcode(struct lexer *l, struct token name);

#endif
