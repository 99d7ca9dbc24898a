/* Lane serialisation of critical sections: the code of a function's serial parts, in which lanes
 * run one after the other; see emit.h, ir/serial_parts.c, exec/serial.c.
 *
 * The same emitter makes the code with the shapes of a warp of one lane: nothing is divergent,
 * every register is a scalar, and every branch is taken or not. A lane's registers are loaded from
 * its elements of the rows, and stored there when it leaves the part or waits. So waiting lanes are
 * in the state that the engine expects, and either engine can continue each of them.
 *
 * A part may have a second version for passes whose first lane begins at its head. Mostly all lanes
 * access the same places, those of a lock and of what it guards. Then these are tested once for all
 * lanes, and a critical section is as short as possible. The second version of a part that
 * cas_loop.c handles is its exchange.
 */
#include "jit/emit/atom.h"

#include <string.h>

/* The serial parts of the function being emitted. */
struct parts {
    struct emit *e;
    struct cursor *here;
    const struct ir_shapes *warp; /* shapes in the function itself */
    uint64_t *written, *touched;  /* for the part being emitted: sets by the numbers in `live` */
    uint8_t *exits;               /* by block: lanes continue there behind a part */
    /* By block that is an exit: alloca of the lanes that exit there. */
    value *out;
    value left, lane;            /* allocas: the remaining lanes; the running lane */
    struct cas_loop **cas_loop;  /* by the first block of a part; or NULL */
    LLVMBasicBlockRef next_lane; /* reached when the lane is done */
    /* The same for waiting lanes, and where they continue, by block: in the current version, unless
     * that combines. */
    LLVMBasicBlockRef next_waiting, *waiting;
};

/* ---- in the function itself: a call of the engine, which has the lanes run ---- */

/* Reloads the registers that the part has written from their rows. */
static void take_back(struct emit *e, uint32_t to, const uint64_t *written, value mask)
{
    const struct ir_live *live = &e->fn->shapes->live;
    bool has_pending = ir_has_pending(e->fn->shapes, e->here->block);
    for (uint32_t n = 0; n < live->n; n++) {
        if (!ir_in_set(written, n) || !ir_in_set(live_in(e->fn, to), n))
            continue;
        value lanes = reg_load_row(e, live->regs[n]);
        reg_write_lanes(e, ir_make_ref(REF_REG, live->regs[n]), lanes, has_pending ? mask : NULL);
    }
}

void emit_serial_call(struct emit *e)
{
    uint64_t written[e->fn->shapes->live.words + 1], touched[e->fn->shapes->live.words + 1];
    uint8_t exits[e->fn->ir->n_ordered];
    const struct ir_block *part = block_at(e->fn, e->here->block);
    value mask = emit_mask(e), args[4] = {e->warp.w, e->warp.a, const_i32(e, e->here->block), mask};
    LLVMBasicBlockRef parked = emit_new_block(e, "");
    serial_parts_find_registers(e->fn, e->here->block, written, touched);
    memset(exits, 0, sizeof exits);
    serial_parts_add_exits(e->fn, part->serial_from, part->serial_to, exits);
    value live_lanes = ir_has_pending(e->fn->shapes, e->here->block) ? mask : NULL;
    struct live_state live = live_state_of_set(e, live_in(e->fn, e->here->block), SPILL_ROWS, live_lanes);
    exit_spill(e, &live);
    value to = engine_call(e, abi.compiled_calls_serial, e->m->i32, args, 4);
    value choose = LLVMBuildSwitch(e->m->b, to, parked, 2);
    LLVMAddCase(choose, const_i32(e, SERIAL_FAULT), e->f->fault);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++) {
        if (!exits[b])
            continue;
        emit_case(e, choose, b, "behind");
        take_back(e, b, written, mask);
        emit_go_to(e, b, mask);
    }
    emit_at_end(e, parked);
    exit_emit(e, &(struct side_exit){.reason = LEAVE_YIELD,
                                     .block = part->serial_from,
                                     .op = NO_OP,
                                     .lanes = const_i32(e, 0),
                                     .by = e->f->leave});
}

/* ---- the lanes' own function ---- */

static void each(const struct parts *p, const uint64_t *among, const uint64_t *set,
                 void (*move)(struct emit *, uint32_t))
{
    const struct ir_live *live = &p->e->fn->shapes->live;
    for (uint32_t n = 0; n < live->n; n++)
        if (ir_in_set(among, n) && ir_in_set(set, n))
            move(p->e, live->regs[n]);
}

static void store(struct emit *e, uint32_t reg)
{
    reg_spill(e, reg, NULL);
}

static void load(struct emit *e, uint32_t reg)
{
    reg_reload(e, reg, NULL);
}

/* The lane waits at a block for its next pass; this ends CAS-loop combining. */
static void wait_at(const struct parts *p, uint32_t block)
{
    struct emit *e = p->e;
    each(p, p->written, live_in(e->fn, block), store);
    engine_park(e, block, emit_lane_bit(e));
    build_br(e, p->next_waiting);
}

/* Writes the combined value to the cell; from here on the lane accesses the cell itself. */
static void settle(const struct parts *p)
{
    struct emit *e = p->e;
    if (!e->lanes.cas_loop)
        return;
    LLVMBasicBlockRef settled = emit_new_block(e, "");
    cas_loop_settle(e, e->lanes.cas_loop, settled);
    emit_at_end(e, settled);
}

/* A backward branch: another try, or a loop that ends by itself. */
static void go_back(const struct parts *p, uint32_t target)
{
    struct emit *e = p->e;
    LLVMBasicBlockRef gives_way = emit_new_block(e, "");
    if (block_at(e->fn, target)->spins) {
        LLVMBasicBlockRef often = emit_new_block(e, "");
        value tries = build_add(e, emit_load_i32(e, e->lanes.fences.tries), const_i32(e, 1));
        build_store(e, tries, e->lanes.fences.tries);
        emit_likely(e, build_ule(e, tries, const_i32(e, FREE_TRIES)), e->block[target], often);
        emit_at_end(e, often);
        settle(p); /* it waits for other threads */
        value again = engine_call(e, abi.compiled_calls_back_off, e->m->i1, (value[]){e->warp.w, tries}, 2);
        build_cond_br(e, again, p->waiting[target], gives_way);
        emit_at_end(e, gives_way);
    } else {
        value left = build_sub(e, emit_load_i32(e, e->f->count.budget), const_i32(e, 1));
        build_store(e, left, e->f->count.budget);
        emit_likely(e, build_sge(e, left, const_i32(e, 0)), e->block[target], gives_way);
        emit_at_end(e, gives_way);
        settle(p);
    }
    wait_at(p, target);
}

static void go_on(const struct parts *p, uint32_t target)
{
    struct emit *e = p->e;
    if (target == NO_BLOCK) { /* behind the last block: unreachable */
        LLVMBuildUnreachable(e->m->b);
    } else if (!serial_part_holds(e->fn, e->here->block, target)) {
        each(p, p->written, live_in(e->fn, target), store);
        value out = build_or(e, emit_load_i32(e, p->out[target]), emit_lane_bit(e));
        build_store(e, out, p->out[target]);
        build_br(e, p->next_lane);
    } else if (target <= e->here->block) {
        go_back(p, target);
    } else {
        build_br(e, e->block[target]);
    }
}

static void emit_branch(const struct parts *p, const struct ir_insn *i)
{
    struct emit *e = p->e;
    uint32_t target = fn_target(e->fn, e->here->block), next = fn_next(e->fn, e->here->block);
    if (!i->guard || target == next) {
        go_on(p, target);
        return;
    }
    LLVMBasicBlockRef no = emit_if_guard(e, i);
    go_on(p, target);
    emit_at_end(e, no);
    go_on(p, next);
}

static void find_lane(const struct parts *p)
{
    p->e->lanes.lane = build_load(p->e, p->e->m->i64, p->lane);
}

static void emit_block(const struct parts *p, uint32_t order)
{
    struct emit *e = p->e;
    struct cursor *here = p->here;
    emit_stand_at(e, here, order);
    emit_at_end(e, e->block[order]);
    find_lane(p);
    emit_count(e, 1);
    for (; here->index < block_at(e->fn, order)->n; here->index++) {
        const struct ir_insn *i = fn_insn_at(*here, here->index);
        if (i->kind == IR_BRA) {
            emit_branch(p, i);
            return;
        }
        if (i->kind == IR_NANOSLEEP) {
            wait_at(p, fn_next(e->fn, order));
            return;
        }
        emit_insn(e, i);
    }
    go_on(p, fn_next(e->fn, order));
}

/* Begins the next of the remaining lanes. */
static void start_lane(const struct parts *p)
{
    struct emit *e = p->e;
    value left = emit_load_i32(e, p->left);
    value lane = build_zext(e, emit_first_lane(e, left), e->m->i64);
    build_store(e, emit_other_lanes(e, left), p->left);
    build_store(e, lane, p->lane);
    build_store(e, emit_load_field(e, e->m->i32, e->warp.w, abi.warp_lane_budget), e->f->count.budget);
    build_store(e, const_i32(e, 0), e->lanes.fences.tries);
}

/* The exchange of a combined pass has failed: runs all lanes again. */
static void emit_again(const struct parts *p, const struct cas_loop *c, LLVMBasicBlockRef lane_start)
{
    struct emit *e = p->e;
    emit_at_end(e, c->again);
    cas_loop_restore(e, c);
    for (uint32_t k = 0; k < e->fn->ir->n_ordered; k++)
        if (p->exits[k])
            build_store(e, const_i32(e, 0), p->out[k]);
    build_store(e, const_i64(e, 0), e->f->count.instructions);
    build_store(e, e->enter_with, p->left);
    build_br(e, lane_start);
}

/* Emits the second version of a part; returns the block where its first lane begins. c: CAS-loop
 * combining, or NULL. */
static LLVMBasicBlockRef emit_version(struct parts *p, uint32_t head, struct cas_loop *c, LLVMBasicBlockRef lane_start,
                                      LLVMBasicBlockRef done)
{
    struct emit *e = p->e;
    const struct parts first = *p;
    uint32_t end = block_at(e->fn, head)->serial_to;
    LLVMBasicBlockRef code[end], more = emit_new_block(e, "lane"), none = emit_new_block(e, "");
    for (uint32_t b = head; b < end; b++)
        code[b] = emit_new_block(e, "version");
    p->next_lane = emit_new_block(e, "next_lane");
    if (!c) {
        p->next_waiting = p->next_lane;
        p->waiting = code;
    }
    e->block = code;
    e->lanes.cas_loop = c;
    for (uint32_t b = head; b < end; b++)
        emit_block(p, b);
    emit_at_end(e, p->next_lane);
    build_cond_br(e, emit_is_zero(e, emit_load_i32(e, p->left)), none, more);
    emit_at_end(e, more);
    start_lane(p);
    find_lane(p);
    each(p, p->touched, live_in(e->fn, head), load);
    build_br(e, code[head]);
    emit_at_end(e, none);
    if (c) {
        cas_loop_settle(e, c, done);
        emit_again(p, c, lane_start);
    } else {
        build_br(e, done);
    }
    e->block = first.waiting;
    e->lanes.cas_loop = NULL;
    *p = first;
    return code[head];
}

/* Can an access be tested once for all lanes before they begin? If its address is a uniform
 * register that the part does not write. */
static bool can_test(const struct parts *p, uint32_t head, const struct ir_insn *i)
{
    const struct emit *e = p->e;
    struct atom t;
    bool is_atom = i->kind == IR_ATOM;
    if ((!is_atom && i->kind != IR_LD && i->kind != IR_ST) || i->guard || ir_ref_kind(i->a) != REF_REG ||
        i->access->disp_const || (is_atom ? !atom_begin(p->e, i, &t) : !access_is_simple(e->fn, i)))
        return false;
    return mem_access_may_be_global(&i->access->mem) && live_has(e->fn, live_in(e->fn, head), i->a) &&
           !live_has(e->fn, p->written, i->a) && p->warp->regs[ir_ref_index(i->a)] == SHAPE_UNIFORM;
}

/* Accesses of a part that are tested before its lanes begin, and the few address registers that
 * must be equal in all lanes. */
struct tested {
    struct transfer access[16];
    unsigned n;
    ir_ref regs[2];
    unsigned n_regs;
    bool *by_insn; /* as e->lanes.tested */
};

/* Is r one of the registers that are compared? If not, adds it, if there is room. */
static bool compares(struct tested *t, ir_ref r)
{
    for (unsigned k = 0; k < t->n_regs; k++)
        if (t->regs[k] == r)
            return true;
    if (t->n_regs == sizeof t->regs / sizeof *t->regs)
        return false;
    t->regs[t->n_regs++] = r;
    return true;
}

static void find_tested(const struct parts *p, uint32_t head, struct tested *t)
{
    struct emit *e = p->e;
    t->n = t->n_regs = 0;
    t->by_insn = ARENA_ARRAY(e->arena, bool, e->fn->ir->insns.n);
    for (uint32_t b = head; b < block_at(e->fn, head)->serial_to; b++)
        for (uint32_t k = 0; k < block_at(e->fn, b)->n; k++) {
            uint32_t at = block_at(e->fn, b)->first + k;
            const struct ir_insn *i = &e->fn->ir->insns.at[at];
            t->by_insn[at] = t->n < sizeof t->access / sizeof *t->access && can_test(p, head, i) && compares(t, i->a);
            if (t->by_insn[at])
                t->access[t->n++] = (struct transfer){.a = access_new(e->fn, i)};
        }
}

/* Branches to the second version if all lanes access the same places, and these are inside; else
 * code continues here. */
static void enter_tested(struct emit *e, value is_first, struct tested *t, LLVMBasicBlockRef version)
{
    LLVMBasicBlockRef on = emit_new_block(e, ""), next = emit_new_block(e, "");
    build_cond_br(e, is_first, next, on);
    for (unsigned k = 0; k < t->n_regs; k++) {
        emit_at_end(e, next);
        next = emit_new_block(e, "");
        build_cond_br(e, reg_has_shape(e, ir_ref_index(t->regs[k]), e->enter_with), next, on);
    }
    for (unsigned k = 0; k < t->n; k++) {
        emit_at_end(e, next);
        next = k + 1 < t->n ? emit_new_block(e, "") : version;
        access_find_first(e, &t->access[k]);
        access_branch_on_first(e, &t->access[k], next, on);
    }
    emit_at_end(e, on);
}

/* The function's entry: branches to the block where lanes begin, and loads what they need. */
static void emit_entry(struct parts *p, uint32_t head, value choose, LLVMBasicBlockRef lane_start,
                       LLVMBasicBlockRef done)
{
    struct emit *e = p->e;
    struct cas_loop *c = p->cas_loop[head];
    struct tested t = {.n = 0};
    if (!c && block_at(e->fn, head)->serial_from == head && !serial_parts_have_many_blocks(e->fn))
        find_tested(p, head, &t);
    e->lanes.tested = t.n ? t.by_insn : NULL;
    LLVMBasicBlockRef version = c || t.n ? emit_version(p, head, c, lane_start, done) : NULL;
    e->lanes.tested = NULL;
    emit_stand_at(e, p->here, head);
    emit_case(e, choose, head, "enter");
    find_lane(p);
    each(p, p->touched, live_in(e->fn, head), load);
    value so_far = build_or(e, emit_load_i32(e, p->left), emit_lane_bit(e));
    value is_first = build_eq(e, so_far, e->enter_with);
    if (c)
        cas_loop_enter(e, c, is_first, version);
    else if (version)
        enter_tested(e, is_first, &t, version);
    build_br(e, e->block[head]);
}

/* All lanes have run: those behind the part continue together, or are noted in their records. */
static void finish(const struct parts *p)
{
    struct emit *e = p->e;
    value all = const_i32(e, 0);
    fence_before_leaving(e);
    emit_add_counts(e);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++) {
        if (!p->exits[b])
            continue;
        value out = emit_load_i32(e, p->out[b]);
        all = build_or(e, all, out);
        LLVMBasicBlockRef other = emit_if(e, build_eq(e, out, e->enter_with));
        build_ret(e, const_i32(e, b));
        emit_at_end(e, other);
    }
    emit_store_field(e, all, e->warp.w, abi.warp_out);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered; b++)
        if (p->exits[b]) /* possibly none */
            engine_park(e, b, emit_load_i32(e, p->out[b]));
    build_ret(e, const_i32(e, SERIAL_PARKED));
}

static void find_cas_loops(struct parts *p)
{
    struct emit *e = p->e;
    const struct ir_live *live = &e->fn->shapes->live;
    p->cas_loop = ARENA_ARRAY(e->arena, struct cas_loop *, e->fn->ir->n_ordered);
    for (uint32_t b = 0; b < e->fn->ir->n_ordered && !serial_parts_have_many_blocks(e->fn); b++) {
        const struct ir_block *part = block_at(e->fn, b);
        if (!part->serial_to || part->serial_from != b)
            continue;
        serial_parts_find_registers(e->fn, b, p->written, p->touched);
        for (uint32_t w = 0; w < live->words; w++)
            p->touched[w] &= live_in(e->fn, b)[w];
        p->cas_loop[b] = cas_loop_find(e, b, p->touched, p->written);
        if (p->cas_loop[b])
            p->cas_loop[b]->again = emit_new_block(e, "again");
    }
}

static void emit_parts_of(struct parts *p)
{
    struct emit *e = p->e;
    uint32_t blocks = e->fn->ir->n_ordered;
    LLVMBasicBlockRef lane_start = emit_new_block(e, "lane"), done = emit_new_block(e, "done"),
                      nowhere = emit_new_block(e, "");
    p->next_lane = p->next_waiting = emit_new_block(e, "next_lane");
    for (uint32_t b = 0; b < blocks; b++)
        e->block[b] = block_at(e->fn, b)->serial_to ? emit_new_block(e, "code") : NULL;
    for (uint32_t b = 0; b < blocks; b++)
        p->out[b] = p->exits[b] ? emit_keep(e, const_i32(e, 0)) : NULL;
    e->lanes.fences.tries = emit_alloca(e, e->m->i32);
    e->lanes.fences.has_stored = emit_keep(e, const_i1(e, true));
    e->lanes.fences.has_exchanged = emit_keep(e, const_i1(e, false));
    e->lanes.fences.waits = emit_keep(e, const_i1(e, false));
    p->left = emit_keep(e, e->enter_with);
    p->lane = emit_alloca(e, e->m->i64);
    p->waiting = e->block;
    find_cas_loops(p);
    emit_go_on(e, lane_start);
    start_lane(p);
    value choose = LLVMBuildSwitch(e->m->b, e->enter_at, nowhere, 2);
    emit_at_end(e, nowhere); /* the engine only requests blocks of serial parts */
    LLVMBuildUnreachable(e->m->b);
    for (uint32_t b = 0; b < blocks; b++) {
        if (!block_at(e->fn, b)->serial_to)
            continue;
        serial_parts_find_registers(e->fn, b, p->written, p->touched);
        emit_entry(p, b, choose, lane_start, done);
        emit_block(p, b);
    }
    emit_at_end(e, p->next_lane);
    build_cond_br(e, emit_is_zero(e, emit_load_i32(e, p->left)), done, lane_start);
    emit_at_end(e, done);
    finish(p);
    emit_at_end(e, e->f->fault);
    build_ret(e, const_i32(e, SERIAL_FAULT));
}

void emit_serial(struct emit *e, const struct function *fn, const char *name)
{
    if (!serial_parts_exist(fn))
        return;
    struct ir_shapes one;
    struct function of_lane = function_of_one_lane(fn, &one);
    struct code_function f = {.mask = NULL}; /* the lane's bit */
    emit_declare(e, &of_lane, &lane_mode, &f, name);
    e->clean = ARENA_ARRAY(e->arena, uint64_t, 2 * one.live.words + 1); /* nothing is clean */
    /* Until start_lane() sets it. */
    e->lanes.lane = const_i64(e, 0);
    emit_context(e, &f);
    emit_warp(e);
    e->enter_at = LLVMGetParam(e->f->llvm_fn, 2);
    e->enter_with = LLVMGetParam(e->f->llvm_fn, 3);
    f.count.budget = emit_alloca(e, e->m->i32);
    f.count.instructions = emit_keep(e, const_i64(e, 0));
    struct cursor here = {.fn = &of_lane, .check_groups = access_groups_alone(e->arena, fn->ir->insns.n)};
    struct parts p = {.e = e,
                      .here = &here,
                      .warp = fn->shapes,
                      .written = ARENA_ARRAY(e->arena, uint64_t, one.live.words + 1),
                      .touched = ARENA_ARRAY(e->arena, uint64_t, one.live.words + 1),
                      .exits = ARENA_ARRAY(e->arena, uint8_t, fn->ir->n_ordered),
                      .out = ARENA_ARRAY(e->arena, value, fn->ir->n_ordered)};
    serial_parts_find_exits(e->fn, p.exits);
    emit_parts_of(&p);
    inline_caches_end(e);
    e->lanes.lane = NULL;
}
