/* Executes a thread's instructions with values that may be unknown; see thread.h. */
#include "explore/machine.h"
#include "isa/opcodes.h"

#include <string.h>

/* ---- operands ---- */

static uint8_t width_of(const struct ir_func *f, ir_ref r)
{
    return r ? layout_width(f, r) : 0;
}

static uint64_t low_bits(uint64_t v, unsigned width)
{
    return width >= 64 || width == 0 ? v : v & ((1ull << width) - 1);
}

struct value operand(struct execution *x, ir_ref r)
{
    const struct frame *f = top(x->m);
    uint32_t i = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_REG: return x->m->values[f->registers + i];
    case REF_CONST: return (struct value){.lo = program_constant(x->r->program, f->code, i)};
    case REF_SREG: return (struct value){.lo = program_special(x->r->program, &x->r->at, i)};
    default: return (struct value){0};
    }
}

void set_register(struct execution *x, ir_ref r, struct value v)
{
    const struct frame *f = top(x->m);
    if (ir_ref_kind(r) != REF_REG)
        return;
    v.lo = low_bits(v.lo, width_of(f->code->ir, r));
    v.set = x->m->n_steps;
    x->m->values[f->registers + ir_ref_index(r)] = v;
}

bool refuse(struct execution *x, const struct ir_insn *i, const char *what)
{
    program_refuse(x->r->program, i, "%s", what);
    x->end = RUN_REFUSED;
    return false;
}

/* Does the guard hold? It is unknown if guard.needs is set. */
static struct value guard_of(struct execution *x, const struct ir_insn *i)
{
    if (!i->guard)
        return (struct value){.lo = 1};
    struct value g = operand(x, i->guard);
    g.lo = (g.lo & 1) != i->guard_negated;
    return g;
}

/* ---- pure instructions ---- */

struct row {
    _Alignas(64) uint8_t bytes[WARP_LANES * 16];
};

static void put_row(struct row *row, unsigned width, struct value v)
{
    memcpy(row->bytes, &v.lo, width == 1 ? 4 : width < 64 ? width / 8 : 8);
    if (width == 128)
        memcpy(row->bytes + 8, &v.hi, 8);
}

static void get_row(const struct row *row, unsigned width, struct value *v)
{
    v->lo = v->hi = 0;
    memcpy(&v->lo, row->bytes, width == 1 ? 4 : width < 64 ? width / 8 : 8);
    v->lo &= width == 1 ? 1 : ~0ull;
    if (width == 128)
        memcpy(&v->hi, row->bytes + 8, 8);
}

struct value call_lane(const struct execution *x, lane_id id, struct value a, struct value b, struct value c,
                       struct value *e, uint64_t imm)
{
    struct row rows[5] = {0};
    const struct lane_info *info = lane_info(id);
    struct value d = merge(merge(a, b), c);
    if (info->e & CARRY_IN || info->e == CARRY_FOURTH)
        d = merge(d, *e);
    if (d.needs == 0) {
        put_row(&rows[0], info->a, a);
        put_row(&rows[1], info->b, b);
        put_row(&rows[2], info->c, c);
        put_row(&rows[3], info->e == CARRY_FOURTH ? info->d : 32, *e);
        x->r->program->lane[id](&rows[4], &rows[3], &rows[0], &rows[1], &rows[2], imm);
        get_row(&rows[4], info->d, &d);
        if (info->e & CARRY_OUT)
            get_row(&rows[3], 32, e);
    }
    e->needs = d.needs;
    e->from = d.from;
    return d;
}

static void step_lanes(struct execution *x, const struct ir_insn *i, struct value guard)
{
    const struct lane_info *info = lane_info(i->lane);
    struct value none = {0}, e = i->e ? operand(x, i->e) : none;
    if (!guard.needs && !guard.lo)
        return;
    struct value d = call_lane(x, i->lane, info->a ? operand(x, i->a) : none, info->b ? operand(x, i->b) : none,
                               info->c ? operand(x, i->c) : none, &e, i->imm);
    if (guard.needs) { /* the old value, or the new one */
        d = merge(merge(d, operand(x, i->d)), guard);
        e = merge(e, guard);
    }
    set_register(x, i->d, d);
    if (info->e & CARRY_OUT && info->e != CARRY_FOURTH)
        set_register(x, i->e, e);
}

/* ---- where a thread goes on ---- */

static bool go_to(struct execution *x, uint32_t block)
{
    struct frame *f = top(x->m);
    const struct ir_func *ir = f->code->ir;
    if (block == NO_BLOCK) { /* behind the last block there is no code */
        x->end = RUN_DONE;
        return false;
    }
    const struct loop_kind *loops = x->r->program->loops[f->code->index];
    if (loops[block].detour.to != NO_BLOCK && !loops[block].detour.from)
        block = loops[block].detour.to;
    bool back = ir->blocks.at[block].order <= ir->blocks.at[f->block].order;
    if ((loops[block].heads || loops[block].entry) && !loop_enter(x, block, back))
        return false;
    f = top(x->m);
    f->block = block;
    f->at = 0;
    return true;
}

static bool step_branch(struct execution *x, const struct ir_insn *i, struct value guard)
{
    uint32_t next = top(x->m)->code->ir->blocks.at[top(x->m)->block].next;
    struct value index = guard;
    if (guard.needs)
        return stop_until(x, guard.needs);
    if (i->guard && guard.from > x->m->control_from)
        x->m->control_from = guard.from;
    if (!guard.lo)
        return go_to(x, next);
    if (i->kind == IR_BRA)
        return go_to(x, i->targets[0]);
    index = operand(x, i->a);
    if (index.needs)
        return stop_until(x, index.needs);
    if (index.from > x->m->control_from)
        x->m->control_from = index.from;
    if (index.lo >= i->n_targets)
        return stop_at_fault(x, "an index beyond a branch's targets");
    return go_to(x, i->targets[index.lo]);
}

static uint32_t param_at(const struct code *c, bool result, uint32_t k)
{
    const struct ptx_signature *s = &c->ir->func->signature;
    return ir_frame_offset(c->ir, result ? s->returns.at[k] : s->params.at[k]);
}

/* A trap ends the launch. The thread runs on as if the trap were only noted; a kernel without code
 * behind it ends there. */
static bool trap(struct execution *x, const struct ir_insn *i, struct value guard)
{
    if (guard.needs)
        return stop_until(x, guard.needs);
    if (guard.lo && !x->m->trap) {
        x->m->trap = i;
        x->m->trap_at = x->m->n_events;
    }
    return go_to(x, top(x->m)->code->ir->blocks.at[top(x->m)->block].next);
}

enum { MAX_FRAMES = 256 };

static bool enter(struct execution *x, const struct ir_insn *i, const struct code *callee)
{
    struct machine *m = x->m;
    uint32_t caller = top(m)->local, local = (m->n_local + 15) & ~15u;
    if (m->n_frames >= MAX_FRAMES)
        return refuse(x, i, "calls are nested too deeply");
    struct frame f = {
        .code = callee, .block = callee->ir->order[0], .registers = m->n_values, .local = local, .called = i};
    machine_room(m, m->n_frames + 1, m->n_values + callee->ir->regs.n, local + callee->ir->frame_bytes);
    memset(m->values + m->n_values, 0, callee->ir->regs.n * sizeof *m->values);
    for (uint32_t b = m->n_local; b < local + callee->ir->frame_bytes; b++) {
        m->local[b] = 0;
        m->local_needs[b] = 0;
        m->local_from[b] = 0;
    }
    m->n_values += callee->ir->regs.n;
    m->n_local = local + callee->ir->frame_bytes;
    m->frames[m->n_frames++] = f;
    for (uint32_t k = 0; k < i->call->params.n; k++)
        local_copy(m, caller + i->call->params.at[k].caller_at, local + param_at(callee, false, k),
                   i->call->params.at[k].bytes);
    return true;
}

static bool step_call(struct execution *x, const struct ir_insn *i, struct value guard)
{
    uint32_t next = top(x->m)->code->ir->blocks.at[top(x->m)->block].next;
    if (guard.needs)
        return stop_until(x, guard.needs);
    if (!guard.lo || i->call->syscall == SYSCALL_VPRINTF)
        return go_to(x, next);
    if (i->call->syscall == SYSCALL_ASSERTFAIL)
        return trap(x, i, guard) && (x->end = RUN_DONE, false);
    if (i->call->syscall)
        return refuse(x, i,
                      ir_is_nested(i->call->syscall) ? "launches by kernels are not explored"
                                                     : "`malloc` and `free` in kernels are not explored");
    const struct code *callee = i->call->callee ? program_function(x->r->program, i->call->callee) : NULL;
    if (!i->call->callee) {
        struct value at = operand(x, i->a);
        if (at.needs)
            return stop_until(x, at.needs);
        callee = code_at(x->r->program->kernel, at.lo);
    }
    if (!callee)
        return refuse(x, i, "a call of a function that does not exist");
    return enter(x, i, callee);
}

static bool step_return(struct execution *x, struct value guard)
{
    struct machine *m = x->m;
    struct frame f = *top(m);
    if (guard.needs)
        return stop_until(x, guard.needs);
    if (!guard.lo)
        return go_to(x, f.code->ir->blocks.at[f.block].next);
    if (m->n_frames == 1) {
        x->end = RUN_DONE;
        return false;
    }
    uint32_t caller = m->frames[m->n_frames - 2].local;
    for (uint32_t k = 0; k < f.called->call->results.n; k++)
        local_copy(m, f.local + param_at(f.code, true, k), caller + f.called->call->results.at[k].caller_at,
                   f.called->call->results.at[k].bytes);
    m->n_frames--;
    m->n_values = f.registers;
    m->n_local = f.local;
    while (m->n_heads && m->heads[m->n_heads - 1].frame >= m->n_frames)
        m->n_heads--;
    return go_to(x, top(m)->code->ir->blocks.at[top(m)->block].next);
}

static bool step_end(struct execution *x, struct value guard, enum run_end end)
{
    if (guard.needs)
        return stop_until(x, guard.needs);
    if (!guard.lo)
        return go_to(x, top(x->m)->code->ir->blocks.at[top(x->m)->block].next);
    x->end = end;
    return false;
}

/* ---- where threads meet ---- */

static bool meet(struct execution *x, struct run_event *e)
{
    if (e->flags & RUN_RESOLVED)
        return true;
    machine_keep(x);
    x->end = RUN_MEETS;
    return false;
}

static bool step_barrier(struct execution *x, const struct ir_insn *i, struct value guard)
{
    uint32_t next = top(x->m)->code->ir->blocks.at[top(x->m)->block].next;
    struct value id = operand(x, i->a), count = operand(x, i->b), vote = operand(x, i->c);
    uint64_t needs = guard.needs | id.needs | count.needs | vote.needs;
    if (needs)
        return stop_until(x, needs);
    if (!guard.lo)
        return go_to(x, next);
    struct run_event *e = next_event(x, RUN_BARRIER, i);
    bool of_cluster = i->mode == BAR_CLUSTER_ARRIVE || i->mode == BAR_CLUSTER_WAIT;
    e->mode = i->mode;
    e->barrier = of_cluster ? CLUSTER_BARRIER : (uint8_t)id.lo;
    e->count = i->b ? (uint32_t)count.lo : 0;
    e->operand[0] = vote.lo & 1;
    e->flags |= RUN_PLACED;
    e->order = strength_with(x->r->program->changes, i).order;
    if (!of_cluster && id.lo >= BARRIERS)
        return stop_at_fault(x, "a barrier beyond the 16 that a block has");
    if (i->mode == BAR_ARRIVE || i->mode == BAR_CLUSTER_ARRIVE)
        e->flags |= RUN_RESOLVED;
    if (!meet(x, e))
        return false;
    if (i->d)
        set_register(x, i->d, (struct value){.lo = e->read});
    return go_to(x, next);
}

static bool step_exchange(struct execution *x, const struct ir_insn *i, struct value guard)
{
    uint32_t next = top(x->m)->code->ir->blocks.at[top(x->m)->block].next;
    struct value mask = i->f ? operand(x, i->f) : (struct value){.lo = UINT32_MAX};
    struct value a = operand(x, i->a), b = operand(x, i->b), c = operand(x, i->c);
    uint64_t needs = guard.needs | mask.needs | a.needs | b.needs | c.needs;
    if (!i->f)
        return refuse(x, i, "a warp instruction without .sync: which lanes take part is not defined");
    if (needs)
        return stop_until(x, needs);
    if (!guard.lo)
        return go_to(x, next);
    struct run_event *e = next_event(x, RUN_EXCHANGE, i);
    e->mode = i->mode;
    e->count = (uint32_t)mask.lo;
    e->operand[0] = a.lo;
    e->operand[1] = (uint32_t)b.lo | c.lo << 32;
    e->flags |= RUN_PLACED;
    if (!meet(x, e))
        return false;
    uint16_t from = x->m->n_events;
    if (i->d)
        set_register(
            x, i->d,
            (struct value){.lo = width_of(top(x->m)->code->ir, i->d) == 1 ? e->read >> 32 & 1 : (uint32_t)e->read,
                           .from = from});
    if (i->e)
        set_register(x, i->e, (struct value){.lo = e->read >> 32 & 1, .from = from});
    return go_to(x, next);
}

void run_fence(struct execution *x, const struct ir_insn *i, uint8_t order, uint8_t scope)
{
    struct run_event *e = next_event(x, RUN_FENCE, i);
    e->flags |= RUN_PLACED | RUN_STRONG;
    e->order = order;
    e->scope = scope;
}

static bool step_fence(struct execution *x, const struct ir_insn *i, struct value guard)
{
    const struct isa_inst *inst = i->origin ? i->origin->inst : NULL;
    if (!guard.needs && !guard.lo)
        return true;
    if (!inst || inst->op == OP_griddepcontrol || isa_has(inst, MOD_proxy))
        return refuse(x, i, "proxies and dependent grids are not explored");
    if (guard.needs)
        return stop_until(x, guard.needs);
    struct strength s = strength_with(x->r->program->changes, i);
    run_fence(x, i, s.order, s.scope);
    return true;
}

/* ---- one after the other ---- */

static void step_frame(struct execution *x, const struct ir_insn *i, struct value guard)
{
    struct value v = {.lo = top(x->m)->local + i->imm, .needs = guard.needs, .from = guard.from};
    if (guard.needs || guard.lo)
        set_register(x, i->d, v);
}

static bool step_mbarrier(struct execution *x, const struct ir_insn *i, struct value guard)
{
    uint64_t needs = guard.needs | (i->b ? operand(x, i->b).needs : 0);
    if (needs)
        return stop_until(x, needs);
    return step_memory(x, i, guard) && go_to(x, top(x->m)->code->ir->blocks.at[top(x->m)->block].next);
}

static bool step(struct execution *x, const struct ir_insn *i)
{
    struct value guard = guard_of(x, i);
    x->run->stopped = i;
    switch ((enum ir_kind)i->kind) {
    case IR_LANES: step_lanes(x, i, guard); return true;
    case IR_FRAME: step_frame(x, i, guard); return true;
    case IR_LD:
    case IR_ST:
        if (ir_is_copy(i))
            return refuse(x, i, "asynchronous copies are not explored");
        return step_memory(x, i, guard);
    case IR_ATOM: return step_memory(x, i, guard);
    case IR_MBARRIER: return step_mbarrier(x, i, guard);
    case IR_FENCE: return step_fence(x, i, guard);
    case IR_BRA:
    case IR_BRX: return step_branch(x, i, guard);
    case IR_CALL: return step_call(x, i, guard);
    case IR_RET: return step_return(x, guard);
    case IR_EXIT: return step_end(x, guard, RUN_DONE);
    case IR_TRAP: return trap(x, i, guard);
    case IR_JUMP:
    case IR_NANOSLEEP:
    case IR_BRKPT: return go_to(x, top(x->m)->code->ir->blocks.at[top(x->m)->block].next);
    case IR_BAR: return step_barrier(x, i, guard);
    case IR_SHFL:
    case IR_VOTE:
    case IR_MATCH:
    case IR_REDUX:
    case IR_ELECT:
    case IR_WARPSYNC: return step_exchange(x, i, guard);
    case IR_NOW: return refuse(x, i, "the kernel's behaviour depends on a clock, which is not explored");
    case IR_ACTIVEMASK:
        return refuse(x, i,
                      "`activemask` (`__activemask()`, `coalesced_threads()`) has no defined value: name the lanes, as "
                      "by `__ballot_sync()` where they are still together, or by `tiled_partition()`");
    case IR_ASYNC:
    case IR_GROUP: return refuse(x, i, "asynchronous copies are not explored");
    case IR_MATRIX: return refuse(x, i, "matrix instructions are not explored");
    case IR_TEXTURE: return refuse(x, i, "textures and surfaces are not explored");
    default: return refuse(x, i, "the stack of a thread is not explored: alloca");
    }
}

/* Skips an instruction that only passes time. */
static bool pass_over(struct execution *x, const struct ir_insn *i)
{
    struct frame *f = top(x->m);
    if (i->kind == IR_BRA)
        return go_to(x, x->r->program->idle[f->code->index].to[f->block]);
    f->at++;
    return true;
}

enum { MAX_STEPS = 10 * 1000 * 1000 };

enum run_end execute(struct execution *x)
{
    for (uint32_t steps = 0; steps < MAX_STEPS; steps++) {
        struct frame *f = top(x->m);
        const struct ir_block *b = &f->code->ir->blocks.at[f->block];
        x->events_before = x->m->n_events;
        if (f->at >= b->n) {
            if (!go_to(x, b->next))
                return x->end;
            continue;
        }
        const struct ir_insn *i = &f->code->ir->insns.at[b->first + f->at];
        const bool *idle = x->r->program->idle[f->code->index].insns;
        const struct detour *detour = &x->r->program->loops[f->code->index][f->block].detour;
        x->m->n_steps++;
        if (detour->to != NO_BLOCK && f->at == detour->from) {
            if (!go_to(x, detour->to))
                return x->end;
            continue;
        }
        if (idle && idle[b->first + f->at]) {
            if (!pass_over(x, i))
                return x->end;
            continue;
        }
        if (!step(x, i))
            return x->end;
        if (!ir_ends_block((enum ir_kind)i->kind))
            top(x->m)->at++;
    }
    program_refuse(x->r->program, x->run->stopped, "a thread executes more than %u instructions", MAX_STEPS);
    return RUN_REFUSED;
}
