/* Reading a function back from its text; text.h has the grammar. The first error ends
 * it. */
#include "ir/reader.h"

#include "isa/isa.h"
#include "isa/lane_ids.h"

#include <stdio.h>

/* ---- blocks ---- */

/* A block by its number, to be looked at when all are known. */
static uint32_t take_block(struct reader *r, bool may_be_end)
{
    const char *start = (scan_peek(&r->s), r->s.p);
    uint32_t block = scan_small(&r->s, NO_BLOCK - 1, "a block's number");
    *VEC_PUSH(r->arena, &r->mentions) = (struct mention){(uint32_t)(start - r->s.source->text.p), block, may_be_end};
    return block;
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
    case 'm': reader_address(r, i); break;
    case 'I': i->imm = scan_this(&r->s, "imm") ? scan_number(&r->s) : 0; break;
    case 'i': i->imm = scan_number(&r->s); break;
    case 'o':
        i->imm = (uint64_t)scan_among(scan_word(&r->s), ir_order_text);
        if (i->imm > ORDER_SC)
            scan_fail(&r->s, start, "the name of a memory order is missing here");
        break;
    case 's': i->imm = scan_expect(&r->s, '%') ? reader_sreg(r) / 4 : 0; break;
    case 't':
    case 'T': read_targets(r, i, o->what == 'T'); break;
    default: *o->ref = reader_operand(r, o->width);
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
    if (*o->operands == 'm' && !reader_access(r, (struct str){word.p + length, word.n - length}, i))
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
            return scan_fail(&r->s, r->s.p, "no instruction has so many results");
        results[n++] = reader_result(r);
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
    if (i->kind == IR_TEXTURE) {
        i->texture->writes = ARENA_ARRAY(r->arena, ir_ref, n);
        i->texture->n_writes = (uint8_t)n;
    }
    unsigned most = ir_text_results(i, places);
    bool reads_carry = i->kind == IR_LANES && lane_info(i->lane)->e == CARRY_INOUT;
    if (n > most || (n < most && i->kind == IR_LD))
        return scan_fail(&r->s, start, "it has %u result%s, and not %u", most, most == 1 ? "" : "s", n);
    if (reads_carry && i->e != (n > 1 ? results[1] : REF_NONE))
        return scan_fail(&r->s, r->s.p, "`%s` reads the carry that it writes", lane_info(i->lane)->name);
    for (unsigned k = 0; k < n; k++)
        *places[k] = results[k];
    return true;
}

static bool is_operation(const struct ir_operation *o, struct str word)
{
    size_t n = strlen(o->text);
    return str_starts(word, o->text) && (*o->operands == 'm' ? word.n > n && word.p[n] == '.' : word.n == n);
}

static bool starts_as(struct str word, const char *const *names, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (str_starts(word, names[k]))
            return true;
    return false;
}

static bool is_texture_name(struct str word)
{
    static const char *const names[] = {"tex.", "tld4.", "txq.", "istypep.", "suld.", "sust.", "sured.", "suq."};
    return starts_as(word, names, sizeof names / sizeof names[0]);
}

/* An opcode of PTX, which may have `::` in it. */
static bool take_matrix_name(struct reader *r, struct str *word)
{
    static const char *const names[] = {"mma.", "wmma.", "wgmma.", "ldmatrix.", "stmatrix.", "movmatrix."};
    bool found = starts_as(*word, names, sizeof names / sizeof names[0]);
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
    if (!reader_part_is(&word, "access"))
        r->s.p = start;
    else if (!reader_access(r, word, i))
        return false;
    bool is_read = read_operands(r, i, i->access ? "mq" : "q");
    while (m->n_reads && !m->reads[m->n_reads - 1])
        m->n_reads--;
    return is_read;
}

static bool read_texture(struct reader *r, struct str name, struct ir_insn *i)
{
    struct ir_texture *t = i->texture = ARENA_NEW(r->arena, struct ir_texture);
    i->kind = IR_TEXTURE;
    t->name = name;
    t->n_reads = IR_TEXTURE_READS;
    t->reads = ARENA_ARRAY(r->arena, ir_ref, t->n_reads);
    bool is_read = read_operands(r, i, "Q");
    while (t->n_reads && !t->reads[t->n_reads - 1])
        t->n_reads--;
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
    if (is_texture_name(word))
        return read_texture(r, word, i);
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
        i.guard = reader_operand(r, 1);
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
        return scan_fail(&r->s, start, "a block is marked by `loop`, `spins` or `serial 1..3`");
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
            ir_ref reg = reader_result(r);
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
                             "%%%u is never written: declare it in the function's first line, with `zeroed %%%u:32`", k,
                             k);
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
           scan_fail(&r->s, place_of(r, ref), "`%s` takes %u bits, not %u", lane_info(i->lane)->name, width, found);
}

static bool check_insn(struct reader *r, const struct ir_insn *i)
{
    const struct lane_info *info = lane_info(i->lane);
    if (i->guard && ir_ref_width(&r->b, i->guard) != 1)
        return scan_fail(&r->s, place_of(r, i->guard), "a guard must be a predicate");
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
            return scan_fail(&r->s, r->s.source->text.p, "block %u does not fit the serial part that it names", k);
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
        map_put(&r.lanes, str_of(lane_info((lane_id)lane)->name), (void *)(lane + 1));
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
