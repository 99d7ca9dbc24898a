/* Bodies of functions: statements (PTX ISA 4.3, 11), tables of branches and calls; see parser.h. */
#include "ptx/parser.h"

enum { MAX_SCOPES = 256, MAX_REGISTERS = 1 << 26, MAX_REG_COUNT = 1 << 24 };
enum { MAX_OUTER_REGISTERS = 4096 }; /* of a module: each function has numbers for all of them */

static struct ptx_stmt *add_stmt(struct parser *p, enum ptx_stmt_kind kind)
{
    struct ptx_stmt *s = VEC_PUSH(p->arena, &p->func->body);
    s->kind = kind;
    return s;
}

bool parse_pragma(struct parser *p, struct str *strings, bool *keeps_rolled)
{
    parse_advance(p);
    *strings = p->tok.text;
    do {
        if (p->tok.kind != TOKEN_STRING)
            return parse_fail(p, NULL, "expected a string");
        *keeps_rolled |= str_is(p->tok.text, "nounroll");
        strings->n = (size_t)(p->tok.text.p + p->tok.text.n - strings->p);
        parse_advance(p);
    } while (accept(p, ','));
    return parse_expect_end(p, "the pragma");
}

/* ---- tables ---- */

static bool parse_table(struct parser *p, struct str name, uint32_t offset)
{
    struct ptx_table *t = ARENA_NEW(p->arena, struct ptx_table);
    t->symbol = (struct ptx_symbol){SYMBOL_TABLE, name, offset};
    t->table_kind = at_dot(p, "branchtargets") ? TABLE_BRANCHTARGETS
                    : at_dot(p, "calltargets") ? TABLE_CALLTARGETS
                                               : TABLE_CALLPROTOTYPE;
    parse_advance(p);
    *VEC_PUSH(p->arena, &p->func->body) = (struct ptx_stmt){STMT_TABLE, .table = t};
    if (t->table_kind == TABLE_CALLPROTOTYPE) {
        if (at_punct(p, '(') && !parse_signature_side(p, &t->signature, true, false))
            return false;
        struct str unnamed;
        uint32_t at;
        struct token named = p->tok;
        if (!parse_take_name(p, &unnamed, &at, "the prototype, `_`"))
            return false;
        if (!str_is(unnamed, "_"))
            return parse_fail_at(p, named, "write `_`", "a prototype has no name of its own");
        if ((at_punct(p, '(') && !parse_signature_side(p, &t->signature, false, false)))
            return false;
        while (p->tok.kind == TOKEN_DOT) {
            t->signature.noreturn |= at_dot(p, "noreturn");
            t->signature.abi_preserve |= at_dot(p, "abi_preserve");
            parse_advance(p);
            if (p->tok.kind == TOKEN_INT)
                parse_advance(p);
        }
        return parse_declare(p, &t->symbol) && parse_expect_end(p, "the prototype");
    }
    VEC(struct token) names = {0};
    do {
        struct token at = p->tok;
        struct str ignored;
        uint32_t ignored_offset;
        if (!parse_take_name(p, &ignored, &ignored_offset, "a target"))
            return false;
        *VEC_PUSH(p->arena, &names) = at;
    } while (accept(p, ','));
    for (uint32_t i = 0; i < names.n; i++)
        *VEC_PUSH(p->arena, &t->targets) = NULL;
    for (uint32_t i = 0; i < names.n; i++) {
        struct token n = names.at[i];
        if (t->table_kind == TABLE_BRANCHTARGETS)
            *VEC_PUSH(p->arena, &p->label_uses) = (struct label_use){p->scope, n.text, n.offset, &t->targets.at[i]};
        else if (!(t->targets.at[i] = parse_find_symbol(p, n.text)) || t->targets.at[i]->kind != SYMBOL_FUNC)
            return parse_fail_at(p, n, NULL, "`%.*s` is not a function declared so far", STR_ARG(n.text));
    }
    return parse_declare(p, &t->symbol) && parse_expect_end(p, "the targets");
}

/* ---- statements ---- */

/* Gives registers of a declaration their numbers; outside of functions also the memory that each
 * thread has for them. */
static bool take_registers(struct parser *p, struct ptx_reg *r)
{
    uint32_t *n = p->func ? &p->func->n_registers : &p->module->n_registers;
    uint32_t most = p->func ? MAX_REGISTERS : MAX_OUTER_REGISTERS;
    r->first = *n;
    if (r->first + (uint64_t)r->count * r->vector > most)
        return parse_fail(
            p, NULL, p->func ? "more than %u registers in one function" : "more than %u registers outside of functions",
            most);
    *n += r->count * r->vector;
    if (p->func) {
        *VEC_PUSH(p->arena, &p->func->regs) = r;
        add_stmt(p, STMT_REG)->reg = r;
        return true;
    }
    uint32_t bytes = (isa_type_bits(r->type) + 7) / 8;
    r->storage = ARENA_NEW(p->arena, struct ptx_var);
    *r->storage = (struct ptx_var){.symbol = {SYMBOL_VAR, r->symbol.name, r->symbol.offset},
                                   .space = SPACE_LOCAL,
                                   .type = r->type,
                                   .vector = 1,
                                   .align = bytes,
                                   .size = (uint64_t)bytes * r->count * r->vector,
                                   .definition = r->storage};
    *VEC_PUSH(p->arena, &p->module->items) = (struct ptx_item){ITEM_REG, .reg = r};
    return true;
}

bool parse_registers(struct parser *p)
{
    struct ptx_reg base = {.vector = 1};
    parse_advance(p);
    for (; p->tok.kind == TOKEN_DOT; parse_advance(p)) {
        struct str w = p->tok.text;
        enum isa_type type = isa_type_by_name(w);
        if (type)
            base.type = type;
        else if (w.n == 2 && w.p[0] == 'v' && (w.p[1] == '2' || w.p[1] == '4'))
            base.vector = (uint8_t)(w.p[1] - '0');
        else
            return parse_fail(p, NULL, "unexpected `.%.*s` in a register declaration", STR_ARG(w));
    }
    if (!base.type)
        return parse_fail(p, "for example .reg .b32 %r<10>;", "expected a type");
    do {
        struct ptx_reg *r = ARENA_NEW(p->arena, struct ptx_reg);
        *r = base;
        r->symbol.kind = SYMBOL_REG;
        r->count = 1;
        if (!parse_take_name(p, &r->symbol.name, &r->symbol.offset, "a register"))
            return false;
        if (accept(p, '<')) {
            uint64_t count;
            r->parametrised = true;
            if (!parse_count(p, MAX_REG_COUNT, &count, "the number of registers") ||
                !parse_expect(p, '>', "the number"))
                return false;
            r->count = (uint32_t)count;
        }
        if (!(r->parametrised ? parse_declare_range(p, &r->symbol, r->count, NULL) : parse_declare(p, &r->symbol)) ||
            !take_registers(p, r))
            return false;
    } while (accept(p, ','));
    return parse_expect_end(p, "the declaration");
}

static void take_local_variable(struct parser *p, struct ptx_var *v)
{
    if (parse_declare(p, &v->symbol))
        add_stmt(p, STMT_VAR)->var = v;
}

static bool parse_u32(struct parser *p, uint32_t *value, const char *what)
{
    uint64_t v;
    if (!parse_size(p, UINT32_MAX, &v, what))
        return false;
    *value = (uint32_t)v;
    return true;
}

/* In the text of inline assembly, which is one statement of the source, newer LLVMs add the lines
 * of the text to the statement's. */
static void take_line_of_asm(struct parser *p, uint32_t asm_text, struct ptx_loc *loc)
{
    if (asm_text != p->asm_text) {
        p->asm_text = asm_text;
        p->asm_line = loc->line;
    }
    loc->line = p->asm_line;
}

/* 11.5.3; the forms with function_name and inlined_at come from -lineinfo. */
static bool parse_loc(struct parser *p)
{
    struct ptx_loc *loc = ARENA_NEW(p->arena, struct ptx_loc);
    uint32_t asm_text = p->lex.in_asm_text ? p->lex.asm_texts : 0;
    parse_advance(p);
    if (!parse_u32(p, &loc->file, "the file") || !parse_u32(p, &loc->line, "the line") ||
        !parse_u32(p, &loc->column, "the column"))
        return false;
    while (accept(p, ',')) {
        struct str word;
        uint32_t offset;
        if (!parse_take_name(p, &word, &offset, "an attribute"))
            return false;
        if (str_is(word, "function_name")) {
            if (!parse_take_name(p, &loc->function_name, &offset, "a label"))
                return false;
            if (accept(p, '+')) {
                uint64_t disp;
                if (!parse_size(p, UINT32_MAX, &disp, "the offset"))
                    return false;
                loc->function_disp = (int64_t)disp;
            }
        } else if (str_is(word, "inlined_at")) {
            loc->inlined = true;
            if (!parse_u32(p, &loc->at_file, "the file") || !parse_u32(p, &loc->at_line, "the line") ||
                !parse_u32(p, &loc->at_column, "the column"))
                return false;
        } else {
            return parse_fail(p, "known: function_name, inlined_at", "unknown attribute `%.*s`", STR_ARG(word));
        }
    }
    accept(p, ';');
    if (asm_text)
        take_line_of_asm(p, asm_text, loc);
    add_stmt(p, STMT_LOC)->loc = loc;
    return true;
}

static bool parse_body_directive(struct parser *p)
{
    if (at_dot(p, "reg"))
        return parse_registers(p);
    if (at_dot(p, "loc"))
        return parse_loc(p);
    if (at_dot(p, "pragma")) {
        struct str *text = ARENA_NEW(p->arena, struct str);
        add_stmt(p, STMT_PRAGMA)->pragma = text;
        return parse_pragma(p, text, &p->keeps_rolled.block);
    }
    if (at_dot(p, "visible") || at_dot(p, "weak") || at_dot(p, "entry") || at_dot(p, "func"))
        return parse_fail(p, "is a `}` missing above?", "%s cannot stand in the body of `%.*s`",
                          parse_describe(p, p->tok), STR_ARG(p->func->symbol.name));
    enum ptx_linkage linkage = LINK_STATIC;
    if (at_dot(p, "extern")) {
        linkage = LINK_EXTERN;
        parse_advance(p);
    }
    return parse_variables(p, linkage, take_local_variable);
}

static bool parse_label(struct parser *p, struct token name)
{
    parse_advance(p);
    if (at_dot(p, "branchtargets") || at_dot(p, "calltargets") || at_dot(p, "callprototype"))
        return parse_table(p, name.text, name.offset);
    struct ptx_label *label = ARENA_NEW(p->arena, struct ptx_label);
    label->symbol = (struct ptx_symbol){SYMBOL_LABEL, name.text, name.offset};
    label->stmt = p->func->body.n;
    add_stmt(p, STMT_LABEL)->label = label;
    p->keeps_rolled.block = false;
    return parse_declare(p, &label->symbol);
}

static bool at_label(const struct parser *p)
{
    struct lexer ahead = p->lex;
    struct token next = lex_next(&ahead);
    return next.kind == TOKEN_PUNCT && next.punct == ':';
}

static bool parse_statement(struct parser *p)
{
    if (p->tok.kind == TOKEN_DOT)
        return parse_body_directive(p);
    if (accept(p, ';'))
        return true;
    struct ptx_insn *i = ARENA_NEW(p->arena, struct ptx_insn);
    if (at_punct(p, '@') && !parse_guard(p, i))
        return false;
    bool named = p->tok.kind == TOKEN_IDENT;
    if (named && !i->guard && p->lex.p < p->lex.end && *p->lex.p != '.' && at_label(p)) {
        struct token name = p->tok;
        parse_advance(p);
        return parse_label(p, name);
    }
    if (!named || p->tok.text.p[0] == '%')
        return parse_fail(p, "as in: add.u32 %r1, %r2, %r3;", "expected an instruction, not %s",
                          parse_describe(p, p->tok));
    if (!parse_insn(p, i))
        return false;
    i->keeps_rolled = p->keeps_rolled.function || p->keeps_rolled.block;
    add_stmt(p, STMT_INSN)->insn = i;
    return true;
}

/* Gives every use of a label in the closing scope its label; the rest are the outer scope's. */
static void resolve_labels(struct parser *p, struct scope *closing)
{
    uint32_t kept = closing->first_use;
    for (uint32_t i = kept; i < p->label_uses.n; i++) {
        struct label_use u = p->label_uses.at[i];
        struct ptx_symbol *symbol = u.scope == closing ? parse_find_in_scope(closing, u.name) : NULL;
        if (symbol) {
            *u.symbol = symbol;
            continue;
        }
        if (u.scope == closing)
            u.scope = closing->parent;
        if (u.scope == &p->module_scope)
            parse_fail_undeclared(p, (struct token){.kind = TOKEN_IDENT, .offset = u.offset, .text = u.name}, "label ");
        else
            p->label_uses.at[kept++] = u;
    }
    p->label_uses.n = kept;
}

/* To behind the brace that closes the last of `open` blocks. */
static void skip_body(struct parser *p, unsigned open)
{
    for (; open && p->tok.kind != TOKEN_END; parse_advance(p))
        open += at_punct(p, '{') ? 1 : at_punct(p, '}') ? -1u : 0;
}

bool parse_body(struct parser *p)
{
    struct scope *outer = p->scope;
    unsigned depth = 0;
    parse_advance(p);
    for (;;) {
        if (p->tok.kind == TOKEN_END) {
            parse_fail(p, NULL, "the body of `%.*s` does not end: `}` is missing", STR_ARG(p->func->symbol.name));
            break;
        }
        if (at_punct(p, '{') && depth == MAX_SCOPES) {
            parse_fail(p, NULL, "blocks are nested more than %d levels deep", MAX_SCOPES);
            skip_body(p, depth + 1);
            break;
        }
        if (accept(p, '{')) {
            struct scope *s = ARENA_NEW(p->arena, struct scope);
            scope_open(p, s);
            depth++;
            add_stmt(p, STMT_OPEN);
        } else if (at_punct(p, '}')) {
            parse_advance(p);
            resolve_labels(p, p->scope);
            if (depth-- == 0)
                break;
            p->scope = p->scope->parent;
            add_stmt(p, STMT_CLOSE);
        } else if (!parse_statement(p)) {
            parse_skip_statement(p);
        }
    }
    p->label_uses.n = 0;
    p->scope = outer;
    parse_find_calls(p->func);
    return true;
}
