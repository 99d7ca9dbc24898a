/* Reading a function back from its text; the grammar stands in text.h. The first thing that is wrong ends it. */
#include "ir/builder.h"
#include "ir/scan.h"
#include "ir/text.h"
#include "isa/isa.h"

#include <stdio.h>

/* Names are numbers: more registers than any function of a test has would only cost memory. */
enum { MAX_REGISTER = 1 << 20, MAX_RESULTS = FRAGMENT_MAX_REGS };

/* A block that is named before it is known how many there are. */
struct mention {
    uint32_t at, block; /* in the text */
    bool may_be_end;    /* it is one that something ends before */
};

struct reader {
    struct scanner s;
    struct builder b; /* its function and arena: for constants */
    struct ir_func *f;
    struct arena *arena;
    struct map lanes; /* 1 + enum lane_id, by name */
    struct map sregs; /* 1 + what a special register is referred to as, by name */
    VEC(struct mention) mentions;
    VEC(uint32_t) seen; /* by register: 1 + where it is first named */
};

/* ---- blocks ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A block by its number, to be looked at when all are known. */
static uint32_t take_block(struct reader *r, bool may_be_end)
{
    const char *start = (scan_peek(&r->s), r->s.p);
    uint32_t block = scan_small(&r->s, NO_BLOCK - 1, "a block's number");
    *VEC_PUSH(r->arena, &r->mentions) = (struct mention){(uint32_t)(start - r->s.source->text.p), block, may_be_end};
    return block;
}

/* ---- operands ---- */

/* The register of that number; `start` is where it is named. */
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
static uint32_t take_sreg(struct reader *r)
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

static ir_ref take_operand(struct reader *r, unsigned width)
{
    const char *start = (scan_peek(&r->s), r->s.p);
    if (scan_take(&r->s, '_'))
        return REF_NONE;
    if (r->s.failed || !scan_take(&r->s, '%'))
        return r->s.failed ? REF_NONE : take_const(r, width);
    if (r->s.p < r->s.end && is_digit(*r->s.p))
        return register_at(r, start);
    uint32_t sreg = take_sreg(r);
    return r->s.failed ? REF_NONE : ir_make_ref(REF_SREG, sreg);
}

/* A register where it is written, with its width; `_` for none. */
static ir_ref take_result(struct reader *r)
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
static bool part_is(struct str *word, const char *text)
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
static bool read_access(struct reader *r, struct str word, struct ir_insn *i)
{
    struct ir_access *a = i->access = ARENA_NEW(r->arena, struct ir_access);
    const char *start = word.p;
    int space = part_among(&word, space_text);
    if (space < 0 || space == SPACE_REG)
        return scan_fail(&r->s, start, "a state space is missing here, as in `ld.global.b32`");
    a->mem.space = (enum ptx_space)space;
    a->mem.is_volatile = part_is(&word, "volatile");
    int order = part_among(&word, ir_order_text), scope = part_among(&word, scope_text);
    a->mem.order = (uint8_t)(order > 0 ? order : ORDER_WEAK);
    a->mem.scope = (uint8_t)(scope >= 0 ? scopes[scope] : MOD_none);
    a->mem.is_const = part_is(&word, "nc") || space == SPACE_CONST;
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
        i->a = take_operand(r, 0);
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

static bool read_address(struct reader *r, struct ir_insn *i)
{
    if (!scan_expect(&r->s, '['))
        return false;
    do
        if (!read_summand(r, i))
            return false;
    while (scan_take(&r->s, '+'));
    return scan_expect(&r->s, ']');
}

/* ---- instructions ---- */

static void read_targets(struct reader *r, struct ir_insn *i, bool several)
{
    VEC(uint32_t) targets = {0};
    do
        *VEC_PUSH(r->arena, &targets) = take_block(r, false);
    while (several && !r->s.failed && scan_take(&r->s, ','));
    i->targets = targets.at;
    i->n_targets = targets.n;
}

static void read_operand(struct reader *r, struct ir_insn *i, const struct ir_text_operand *o)
{
    const char *start = (scan_peek(&r->s), r->s.p);
    switch (o->what) {
    case 'm': read_address(r, i); break;
    case 'I': i->imm = scan_this(&r->s, "imm") ? scan_number(&r->s) : 0; break;
    case 'i': i->imm = scan_number(&r->s); break;
    case 'o':
        i->imm = (uint64_t)scan_among(scan_word(&r->s), ir_order_text);
        if (i->imm > ORDER_SC)
            scan_fail(&r->s, start, "the name of a memory order is missing here");
        break;
    case 's': i->imm = scan_expect(&r->s, '%') ? take_sreg(r) / 4 : 0; break;
    case 't':
    case 'T': read_targets(r, i, o->what == 'T'); break;
    default: *o->ref = take_operand(r, o->width);
    }
}

static bool read_operands(struct reader *r, struct ir_insn *i, const char *form)
{
    struct ir_text_operand operands[IR_MAX_REFS];
    unsigned n = ir_text_operands(i, form, operands);
    for (unsigned k = 0; k < n && !r->s.failed; k++)
        if (!(operands[k].is_optional && scan_at_line_end(&r->s)) && (k == 0 || scan_expect(&r->s, ',')))
            read_operand(r, i, &operands[k]);
    return !r->s.failed;
}

static bool read_operation(struct reader *r, const struct ir_operation *o, struct str word, struct ir_insn *i)
{
    size_t length = strlen(o->text) + 1; /* with the dot behind it */
    i->kind = o->kind;
    i->mode = o->kind == IR_CALL ? 0 : o->mode;
    if (o->kind == IR_CALL) {
        i->call = ARENA_NEW(r->arena, struct ir_call);
        i->call->syscall = (enum ir_syscall)o->mode;
    }
    if (*o->operands == 'm' && !read_access(r, (struct str){word.p + length, word.n - length}, i))
        return false;
    return read_operands(r, i, o->operands);
}

/* What stands before the `=`. */
static unsigned read_results(struct reader *r, ir_ref results[MAX_RESULTS])
{
    unsigned n = 0;
    if (scan_peek(&r->s) != '%' && scan_peek(&r->s) != '_')
        return 0;
    do {
        if (n == MAX_RESULTS)
            return scan_fail(&r->s, r->s.p, "no instruction has as many results");
        results[n++] = take_result(r);
    } while (scan_take(&r->s, ','));
    scan_expect(&r->s, '=');
    return n;
}

static bool set_results(struct reader *r, const char *start, struct ir_insn *i, const ir_ref *results, unsigned n)
{
    ir_ref *places[FRAGMENT_MAX_REGS];
    if (i->kind == IR_MATRIX) {
        i->matrix->writes = ARENA_ARRAY(r->arena, ir_ref, n);
        i->matrix->n_writes = (uint16_t)n;
    }
    unsigned most = ir_text_results(i, places);
    bool reads_carry = i->kind == IR_LANES && lane_info((enum lane_id)i->lane)->e == CARRY_INOUT;
    if (n > most || (n < most && i->kind == IR_LD))
        return scan_fail(&r->s, start, "it has %u result%s, and not %u", most, most == 1 ? "" : "s", n);
    if (reads_carry && i->e != (n > 1 ? results[1] : REF_NONE))
        return scan_fail(&r->s, r->s.p, "`%s` reads the carry that it writes", lane_info((enum lane_id)i->lane)->name);
    for (unsigned k = 0; k < n; k++)
        *places[k] = results[k];
    return true;
}

static bool is_operation(const struct ir_operation *o, struct str word)
{
    size_t n = strlen(o->text);
    return str_starts(word, o->text) && (*o->operands == 'm' ? word.n > n && word.p[n] == '.' : word.n == n);
}

/* An opcode of PTX, which may have `::` in it. */
static bool take_matrix_name(struct reader *r, struct str *word)
{
    static const char *const names[] = {"mma.", "wmma.", "wgmma.", "ldmatrix.", "stmatrix.", "movmatrix."};
    bool found = false;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        found |= str_starts(*word, names[k]);
    while (found && r->s.p < r->s.end && *r->s.p == ':') {
        r->s.p++;
        scan_word(&r->s);
    }
    word->n = (size_t)(r->s.p - word->p);
    return found;
}

/* What it computes is in its name, which nothing that reads texts looks at. */
static bool read_matrix(struct reader *r, struct str name, struct ir_insn *i)
{
    struct ir_matrix *m = i->matrix = ARENA_NEW(r->arena, struct ir_matrix);
    i->kind = IR_MATRIX;
    i->mode = COLLECTIVE_MATRIX;
    m->name = name;
    m->n_reads = IR_MAX_REFS - 8;
    m->reads = ARENA_ARRAY(r->arena, ir_ref, m->n_reads);
    const char *start = (scan_peek(&r->s), r->s.p);
    struct str word = scan_word(&r->s);
    if (!part_is(&word, "access"))
        r->s.p = start;
    else if (!read_access(r, word, i))
        return false;
    bool is_read = read_operands(r, i, i->access ? "mq" : "q");
    while (m->n_reads && !m->reads[m->n_reads - 1])
        m->n_reads--;
    return is_read;
}

static bool read_what(struct reader *r, struct ir_insn *i)
{
    struct str word = scan_word(&r->s);
    uintptr_t lane = (uintptr_t)map_get(&r->lanes, word);
    for (size_t n = 0; ir_operation(n); n++)
        if (is_operation(ir_operation(n), word))
            return read_operation(r, ir_operation(n), word, i);
    if (take_matrix_name(r, &word))
        return read_matrix(r, word, i);
    if (!lane)
        return scan_fail(&r->s, word.p,
                         word.n ? "there is no instruction `%.*s`" : "an instruction is missing here%.*s",
                         STR_ARG(word));
    i->kind = IR_LANES;
    i->lane = (uint16_t)(lane - 1);
    return read_operands(r, i, "");
}

static bool read_insn(struct reader *r)
{
    struct ir_insn i = {0};
    ir_ref results[MAX_RESULTS];
    const char *start = (scan_peek(&r->s), r->s.p);
    if (scan_take(&r->s, '@')) {
        i.guard_negated = scan_take(&r->s, '!');
        i.guard = take_operand(r, 1);
        if (!i.guard)
            return scan_fail(&r->s, start, "a guard is a predicate");
    }
    unsigned n = read_results(r, results);
    if (r->s.failed || !read_what(r, &i) || !set_results(r, start, &i, results, n) || !scan_end_line(&r->s))
        return false;
    *VEC_PUSH(r->arena, &r->f->insns) = i;
    return true;
}

/* ---- blocks ---- */

static bool read_attribute(struct reader *r, struct ir_block *b)
{
    const char *start = (scan_peek(&r->s), r->s.p);
    struct str word = scan_word(&r->s);
    if (str_is(word, "loop"))
        b->loop_header = true;
    else if (str_is(word, "spins"))
        b->spins = true;
    else if (!str_is(word, "serial"))
        return scan_fail(&r->s, start, "of a block it is said `loop`, `spins`, `serial 1..3`");
    else {
        b->serial_from = take_block(r, false);
        if (r->s.p + 1 < r->s.end && r->s.p[0] == '.' && r->s.p[1] == '.')
            r->s.p += 2;
        else
            return scan_fail(&r->s, r->s.p, "`..` is missing here");
        b->serial_to = take_block(r, true);
    }
    return !r->s.failed;
}

/* Lines of instructions, and where the block leads. */
static bool read_body(struct reader *r, struct ir_block *b)
{
    while (r->s.p < r->s.end && !r->s.failed) {
        const char *start = (scan_peek(&r->s), r->s.p);
        const struct ir_insn *last = b->n ? &r->f->insns.at[b->first + b->n - 1] : NULL;
        if (scan_take(&r->s, '-')) {
            scan_expect(&r->s, '>');
            b->next = take_block(r, false);
            return !r->s.failed && scan_end_line(&r->s);
        }
        if (scan_this(&r->s, "block")) {
            r->s.p = start;
            break;
        }
        if (last && ir_ends_block((enum ir_kind)last->kind))
            return scan_fail(&r->s, start, "the instruction before this one ends its block");
        if (!read_insn(r))
            return false;
        b->n++;
    }
    return !r->s.failed;
}

static bool read_block(struct reader *r)
{
    const char *start = (scan_peek(&r->s), r->s.p);
    uint32_t number = r->f->blocks.n;
    if (!scan_this(&r->s, "block"))
        return scan_fail(&r->s, start, "`block %u:` is missing here", number);
    if (scan_small(&r->s, NO_BLOCK - 1, "a block's number") != number)
        return scan_fail(&r->s, start, "this is block %u", number);
    if (!scan_expect(&r->s, ':'))
        return false;
    struct ir_block b = {.first = r->f->insns.n, .next = NO_BLOCK, .order = number};
    for (bool more = !scan_at_line_end(&r->s); more; more = scan_take(&r->s, ','))
        if (!read_attribute(r, &b))
            return false;
    if (!scan_end_line(&r->s) || !read_body(r, &b))
        return false;
    if ((b.next != NO_BLOCK) != ir_falls_through(r->f, &b))
        return scan_fail(&r->s, start,
                         b.next == NO_BLOCK ? "this block goes on: say where, as in `-> %u`"
                                            : "this block does not go on: its branch is for all (block %u)",
                         number + (b.next == NO_BLOCK));
    *VEC_PUSH(r->arena, &r->f->blocks) = b;
    return true;
}

/* ---- functions ---- */

static bool read_head(struct reader *r)
{
    const char *start = (scan_skip_lines(&r->s), r->s.p);
    struct ptx_func *func = ARENA_NEW(r->arena, struct ptx_func);
    func->entry = scan_this(&r->s, "kernel");
    if (!func->entry && !scan_this(&r->s, "func"))
        return scan_fail(&r->s, start, "`kernel NAME` or `func NAME` is missing here");
    scan_peek(&r->s);
    const char *name = r->s.p;
    while (r->s.p < r->s.end && *r->s.p > ' ' && *r->s.p != ';')
        r->s.p++;
    func->symbol.kind = SYMBOL_FUNC;
    func->symbol.name = (struct str){name, (size_t)(r->s.p - name)};
    r->f->func = func;
    if (r->s.p == name || !scan_end_line(&r->s))
        return scan_fail(&r->s, name, "the name of the function is missing here");
    if (scan_this(&r->s, "frame")) {
        r->f->frame_bytes = scan_small(&r->s, INT32_MAX, "a frame");
        scan_end_line(&r->s);
    }
    if (!r->s.failed && scan_this(&r->s, "zeroed")) {
        do {
            const char *at = (scan_peek(&r->s), r->s.p);
            ir_ref reg = take_result(r);
            *VEC_PUSH(r->arena, &r->f->zeroed) = ir_ref_index(reg);
            if (!reg)
                scan_fail(&r->s, at, "a register is missing here");
        } while (scan_take(&r->s, ','));
        scan_end_line(&r->s);
    }
    return !r->s.failed;
}

/* ---- what can only be seen when all has been read ---- */

static bool check_mentions(struct reader *r)
{
    for (uint32_t k = 0; k < r->mentions.n; k++) {
        const struct mention *m = &r->mentions.at[k];
        if (m->block >= r->f->blocks.n + m->may_be_end)
            return scan_fail(&r->s, r->s.source->text.p + m->at, "there is no block %u", m->block);
    }
    return true;
}

/* A number that is left out is a register that nobody uses. */
static bool check_registers(struct reader *r)
{
    for (uint32_t k = 1; k < r->f->regs.n; k++) {
        if (r->seen.at[k] && !r->f->regs.at[k].width)
            return scan_fail(&r->s, r->s.source->text.p + r->seen.at[k] - 1,
                             "%%%u is written nowhere: its first line says `zeroed %%%u:32` then", k, k);
        if (!r->seen.at[k])
            r->f->regs.at[k].width = 32;
    }
    return true;
}

/* Where an operand is first named; what has no register stands at the end. */
static const char *place_of(const struct reader *r, ir_ref ref)
{
    return ir_ref_kind(ref) == REF_REG ? r->s.source->text.p + r->seen.at[ir_ref_index(ref)] - 1 : r->s.end;
}

static bool check_width(struct reader *r, const struct ir_insn *i, ir_ref ref, unsigned width)
{
    unsigned found = ir_ref_width(&r->b, ref);
    return !ref || !width || found == width ||
           scan_fail(&r->s, place_of(r, ref), "`%s` takes %u bits, not %u", lane_info((enum lane_id)i->lane)->name,
                     width, found);
}

static bool check_insn(struct reader *r, const struct ir_insn *i)
{
    const struct lane_info *info = lane_info((enum lane_id)i->lane);
    if (i->guard && ir_ref_width(&r->b, i->guard) != 1)
        return scan_fail(&r->s, place_of(r, i->guard), "it is the guard of an instruction, and no predicate");
    return i->kind != IR_LANES ||
           (check_width(r, i, i->d, info->d) && check_width(r, i, i->a, info->a) && check_width(r, i, i->b, info->b) &&
            check_width(r, i, i->c, info->c) && check_width(r, i, i->e, info->e ? 32 : 0));
}

static bool check_serial(struct reader *r)
{
    for (uint32_t k = 0; k < r->f->blocks.n; k++) {
        const struct ir_block *b = &r->f->blocks.at[k], *head = &r->f->blocks.at[b->serial_from];
        if (b->serial_to && (k < b->serial_from || k >= b->serial_to || head->serial_from != b->serial_from ||
                             head->serial_to != b->serial_to))
            return scan_fail(&r->s, r->s.source->text.p, "block %u is not in the serial part that it says", k);
    }
    return true;
}

static bool read_function(struct reader *r)
{
    if (!read_head(r))
        return false;
    while (r->s.p < r->s.end && !r->s.failed)
        if (!read_block(r))
            return false;
    if (r->f->blocks.n == 0)
        return scan_fail(&r->s, r->s.p, "`block 0:` is missing here");
    if (!check_registers(r))
        return false;
    for (uint32_t k = 0; k < r->f->insns.n; k++)
        if (!check_insn(r, &r->f->insns.at[k]))
            return false;
    return check_mentions(r) && check_serial(r);
}

struct ir_func *ir_read(struct arena *arena, const struct source *source, struct diags *diags)
{
    struct ir_func *f = ARENA_NEW(arena, struct ir_func);
    struct reader r = {
        .b = {.f = f, .arena = arena, .diags = diags}, .f = f, .arena = arena, .s = {.diags = diags, .source = source}};
    f->arena = arena;
    r.s.p = source->text.p;
    r.s.end = r.s.p + source->text.n;
    *VEC_PUSH(arena, &f->regs) = (struct ir_reg){0};
    *VEC_PUSH(arena, &r.seen) = 0;
    *VEC_PUSH(arena, &f->consts) = (struct ir_const){0};
    map_init(&r.lanes, arena);
    map_init(&r.sregs, arena);
    for (uintptr_t lane = 1; lane < LANE_COUNT; lane++)
        map_put(&r.lanes, str_of(lane_info((enum lane_id)lane)->name), (void *)(lane + 1));
    for (uint32_t sreg = IR_SHARED_START + 1;
         sreg-- > 0;) /* of those with one component the first is the one referred to */
        map_put(&r.sregs, str_of(ir_sreg_text(sreg, arena)), (void *)(uintptr_t)(1 + sreg));
    if (!read_function(&r))
        return NULL;
    f->order = ARENA_ARRAY(arena, uint32_t, f->blocks.n);
    for (f->n_ordered = 0; f->n_ordered < f->blocks.n; f->n_ordered++)
        f->order[f->n_ordered] = f->n_ordered;
    return f;
}
