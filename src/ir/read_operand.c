/* Operands, accesses and addresses of a function's text; see reader.h and text.h. */
#include "ir/reader.h"

#include <stdio.h>

#include "isa/isa.h"

/* ---- operands ---- */

static ir_ref register_at(struct reader *r, const char *start)
{
    uint32_t number = scan_small(&r->s, MAX_REGISTER, "a register's number");
    if (!r->s.failed && number == 0)
        scan_fail(&r->s, start, "registers are numbered from 1");
    while (!r->s.failed && r->f->regs.n <= number) {
        *VEC_PUSH(r->arena, &r->f->regs) = (struct ir_reg){0};
        *VEC_PUSH(r->arena, &r->seen) = 0;
    }
    if (r->s.failed)
        return REF_NONE;
    if (!r->seen.at[number])
        r->seen.at[number] = 1 + (uint32_t)(start - r->s.source->text.p);
    return ir_make_ref(REF_REG, number);
}

/* Behind the `%`. */
uint32_t reader_sreg(struct reader *r)
{
    const char *start = r->s.p;
    struct str name = scan_word(&r->s);
    uintptr_t found = (uintptr_t)map_get(&r->sregs, name);
    if (!found)
        scan_fail(&r->s, start, "there is no special register `%%%.*s`", STR_ARG(name));
    return found ? (uint32_t)(found - 1) : 0;
}

/* A constant, as wide as said or as `width`; 0: it has to say so. */
static ir_ref take_const(struct reader *r, unsigned width)
{
    const char *start = (scan_peek(&r->s), r->s.p);
    struct str word = {r->s.p, 0};
    int base = BASE_NONE;
    if (!is_digit(*r->s.p) && *r->s.p != '-') {
        word = scan_word(&r->s);
        base = word.n ? scan_among(word, ir_base_text) : -1;
        if (base < 0 || !scan_expect(&r->s, '+')) {
            scan_fail(&r->s, start, "an operand is missing here: `%%1`, `%%tid.x`, `7` or `_`");
            return REF_NONE;
        }
    }
    uint64_t v = scan_number(&r->s);
    width = scan_take(&r->s, ':') ? scan_width(&r->s) : width;
    if (r->s.failed || width == 0 || width == 128) {
        scan_fail(&r->s, start, width ? "constants have 64 bits at most" : "how wide is the constant? `%.*s:32`",
                  (int)(r->s.p - start), start);
        return REF_NONE;
    }
    return base ? ir_const_base(&r->b, width, (enum ir_base)base, NULL, (int64_t)v) : ir_const_of(&r->b, width, v);
}

ir_ref reader_operand(struct reader *r, unsigned width)
{
    const char *start = (scan_peek(&r->s), r->s.p);
    if (scan_take(&r->s, '_'))
        return REF_NONE;
    if (r->s.failed || !scan_take(&r->s, '%'))
        return r->s.failed ? REF_NONE : take_const(r, width);
    if (r->s.p < r->s.end && is_digit(*r->s.p))
        return register_at(r, start);
    uint32_t sreg = reader_sreg(r);
    return r->s.failed ? REF_NONE : ir_make_ref(REF_SREG, sreg);
}

/* A register where it is written, with its width; `_` for none. */
ir_ref reader_result(struct reader *r)
{
    if (scan_take(&r->s, '_'))
        return REF_NONE;
    const char *start = (scan_peek(&r->s), r->s.p);
    ir_ref reg = scan_expect(&r->s, '%') ? register_at(r, start) : REF_NONE;
    if (r->s.failed || !scan_expect(&r->s, ':'))
        return REF_NONE;
    uint8_t width = scan_width(&r->s);
    struct ir_reg *found = &r->f->regs.at[ir_ref_index(reg)];
    if (!r->s.failed && found->width && found->width != width)
        scan_fail(&r->s, start, "%%%u is %u bits wide elsewhere", ir_ref_index(reg), found->width);
    found->width = width;
    return reg;
}

/* ---- accesses ---- */

/* Passes the next part if it is the one, or if it is one of those that `text` tells: which. */
bool reader_part_is(struct str *word, const char *text)
{
    struct str rest = *word;
    bool is = str_is(ir_next_part(&rest), text);
    if (is)
        *word = rest;
    return is;
}

static int part_among(struct str *word, const char *(*text)(size_t))
{
    struct str rest = *word;
    int found = word->n ? scan_among(ir_next_part(&rest), text) : -1;
    if (found >= 0)
        *word = rest;
    return found;
}

static const char *space_text(size_t space)
{
    return space <= SPACE_PARAM ? ptx_space_name((enum ptx_space)space) : NULL;
}

static const char *type_text(size_t type)
{
    return type < TYPE_COUNT ? isa_type_name((enum isa_type)type) : NULL;
}

static const enum isa_mod scopes[] = {MOD_cta, MOD_cluster, MOD_gpu, MOD_sys};
static const char *scope_text(size_t scope)
{
    return scope < sizeof scopes / sizeof scopes[0] ? isa_mod_text(scopes[scope]) : NULL;
}

static const char *atom_text(size_t atom)
{
    return atom < ATOM_COUNT ? atom_name((enum atom_op)atom) : NULL;
}

/* "b32x4" */
static bool read_elements(struct reader *r, struct str part, struct ir_access *a)
{
    char text[16];
    for (unsigned bytes = 1; bytes <= 16; bytes *= 2)
        for (unsigned n = 1; n <= 8; n *= 2) {
            snprintf(text, sizeof text, n > 1 ? "b%ux%u" : "b%u", 8 * bytes, n);
            if (part.n < 2 || !str_is((struct str){part.p + 1, part.n - 1}, text + 1) || !strchr("bs", *part.p))
                continue;
            a->mem.sign = *part.p == 's';
            a->mem.bytes = (uint8_t)bytes;
            a->mem.n = (uint8_t)n;
            return true;
        }
    return scan_fail(&r->s, part.p, "what is accessed is like `b32`, `s8` or `b64x2`");
}

/* "shared.relaxed.gpu.add.u32.b32", behind the operation */
bool reader_access(struct reader *r, struct str word, struct ir_insn *i)
{
    struct ir_access *a = i->access = ARENA_NEW(r->arena, struct ir_access);
    const char *start = word.p;
    int space = part_among(&word, space_text);
    if (space < 0 || space == SPACE_REG)
        return scan_fail(&r->s, start, "a state space is missing here, as in `ld.global.b32`");
    a->mem.space = (enum ptx_space)space;
    a->mem.is_volatile = reader_part_is(&word, "volatile");
    int order = part_among(&word, ir_order_text), scope = part_among(&word, scope_text);
    a->mem.order = (uint8_t)(order > 0 ? order : ORDER_WEAK);
    a->mem.scope = (uint8_t)(scope >= 0 ? scopes[scope] : MOD_none);
    a->mem.is_const = reader_part_is(&word, "nc") || space == SPACE_CONST;
    int atom = i->kind == IR_ATOM || i->kind == IR_ASYNC ? part_among(&word, atom_text) : -1;
    int type = atom >= 0 ? part_among(&word, type_text) : TYPE_none;
    if (type < 0 || (i->kind == IR_ATOM && atom < 0))
        return scan_fail(&r->s, start, "an operation and a type are missing, as in `atom.global.add.u32.b32`");
    a->mem.atom = (uint8_t)(atom >= 0 ? atom : 0);
    a->mem.type = (uint8_t)type;
    return read_elements(r, word, a);
}

/* One of what is added up to an address. */
static bool read_summand(struct reader *r, struct ir_insn *i)
{
    struct ir_access *a = i->access;
    const char *start = (scan_peek(&r->s), r->s.p);
    if (scan_this(&r->s, "frame")) {
        a->mem.frame = true;
        return true;
    }
    if (scan_peek(&r->s) == '%') {
        if (i->a)
            return scan_fail(&r->s, start, "an address has one register");
        i->a = reader_operand(r, 0);
        return !r->s.failed;
    }
    bool is_number = *r->s.p == '-' || (is_digit(*r->s.p));
    uint64_t v = is_number ? scan_number(&r->s) : 0;
    if (is_number && scan_peek(&r->s) != ':') {
        a->disp = (int64_t)v;
        return !r->s.failed;
    }
    r->s.p = start;
    if (a->disp_const)
        return scan_fail(&r->s, start, "an address has one constant with a width");
    a->disp_const = take_const(r, 0);
    return !r->s.failed;
}

bool reader_address(struct reader *r, struct ir_insn *i)
{
    if (!scan_expect(&r->s, '['))
        return false;
    do
        if (!read_summand(r, i))
            return false;
    while (scan_take(&r->s, '+'));
    return scan_expect(&r->s, ']');
}
