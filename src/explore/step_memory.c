/* Loads, stores and atomic operations. Accesses to shared memory are events; a thread's local
 * memory is in the machine. */
#include "explore/machine.h"
#include "isa/lane_ids.h"
#include "isa/sem.h"

#include <string.h>

/* ---- local memory ---- */

enum { MAX_LOCAL_BYTES = 1 << 20 };

static bool local_room(struct execution *x, uint64_t at, uint32_t bytes)
{
    return at + bytes <= x->m->n_local || stop_at_fault(x, "an access beyond the thread's local memory");
}

void local_copy(struct machine *m, uint32_t from, uint32_t to, uint32_t bytes)
{
    memcpy(m->local + to, m->local + from, bytes);
    memcpy(m->local_needs + to, m->local_needs + from, bytes * sizeof *m->local_needs);
    memcpy(m->local_from + to, m->local_from + from, bytes * sizeof *m->local_from);
}

static struct value local_load(const struct machine *m, uint64_t at, uint8_t bytes)
{
    struct value v = {0};
    memcpy(&v.lo, m->local + at, bytes);
    for (unsigned i = 0; i < bytes; i++)
        v = merge(v, (struct value){.needs = m->local_needs[at + i], .from = m->local_from[at + i]});
    return v;
}

static void local_store(struct machine *m, uint64_t at, uint8_t bytes, struct value v)
{
    memcpy(m->local + at, &v.lo, bytes);
    for (unsigned i = 0; i < bytes; i++) {
        m->local_needs[at + i] = v.needs;
        m->local_from[at + i] = v.from;
    }
}

/* ---- mbarriers ---- */

/* mbarriers (PTX ISA 9.0, 9.7.13.15). An object is a word of memory (isa/sem_mbarrier.h). Its
 * initialisation is a weak write, an arrival an atomic operation that releases, a test a read that
 * acquires if the phase is complete, as by a fence behind it. So all arrivals of a phase
 * synchronize with it, each through the later ones that have read from it. A try_wait is a test:
 * whether it suspends is not observable. */

static bool has(const struct ir_insn *i, enum isa_mod mod)
{
    return isa_has(i->origin->inst, mod);
}

static bool is_count(uint64_t count)
{
    return count > 0 && count < MBARRIER_LIMIT;
}

static bool mbarrier_operand(struct execution *x, const struct ir_insn *i, struct value *v)
{
    if (i->mode == MBARRIER_INVAL)
        return refuse(x, i, "`mbarrier.inval` is not explored: leave it out");
    if (i->mode == MBARRIER_EXPECT_TX || i->mode == MBARRIER_COMPLETE_TX || has(i, MOD_expect_tx))
        return refuse(x, i, "transactions of mbarriers, and the asynchronous copies that they count, are not explored");
    if (has(i, MOD_noComplete))
        return refuse(x, i, "arrivals with `.noComplete` are not explored: leave it out");
    *v = i->b ? operand(x, i->b) : (struct value){.lo = 1};
    if (!is_count((uint32_t)v->lo))
        return stop_at_fault(x, "an mbarrier's count that is not from 1 to 2^20 - 1");
    if (i->mode == MBARRIER_INIT)
        v->lo = sem_mbarrier((uint32_t)v->lo, (uint32_t)v->lo, 0, false);
    return true;
}

static bool is_valid(struct execution *x, uint64_t object)
{
    return object & MBARRIER_VALID || stop_at_fault(x, "an mbarrier that is not initialised");
}

static bool mbarrier_arrive(struct execution *x, const struct ir_insn *i, uint64_t old, uint64_t count, uint64_t *value)
{
    uint32_t pending = sem_mbarrier_pending(old) % MBARRIER_LIMIT, expected = sem_mbarrier_expected(old);
    bool parity = sem_mbarrier_parity(old);
    if (!is_valid(x, old))
        return false;
    if ((uint32_t)count > pending)
        return stop_at_fault(x, "more arrivals at an mbarrier than it expects");
    pending -= (uint32_t)count;
    expected -= i->mode == MBARRIER_ARRIVE_DROP ? (uint32_t)count : 0;
    *value = pending ? sem_mbarrier(pending, expected, 0, parity) : sem_mbarrier(expected, expected, 0, !parity);
    return true;
}

static bool mbarrier_test(struct execution *x, const struct ir_insn *i, struct value *object)
{
    struct value phase = operand(x, i->b);
    bool asked = has(i, MOD_parity) ? phase.lo & 1 : sem_mbarrier_parity(phase.lo);
    if (!is_valid(x, object->lo))
        return false;
    object->lo = asked != sem_mbarrier_parity(object->lo);
    *object = merge(*object, phase);
    if (object->lo && i->imm == ORDER_ACQUIRE)
        run_fence(x, i, ORDER_ACQUIRE, strength_of(i).scope);
    return true;
}

/* ---- one access ---- */

static struct value address_of(struct execution *x, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    struct value at = operand(x, i->a);
    at.lo += (uint64_t)a->disp;
    if (a->disp_const)
        at.lo += operand(x, a->disp_const).lo;
    if (a->mem.frame)
        at.lo += top(x->m)->local;
    return at;
}

static struct value extended(struct value v, const struct mem_access *m)
{
    if (m->sign && m->bytes < 8) {
        unsigned shift = 64 - 8 * m->bytes;
        v.lo = (uint64_t)((int64_t)(v.lo << shift) >> shift);
    }
    return v;
}

static uint64_t cut(uint64_t v, uint8_t bytes)
{
    return bytes >= 8 ? v : v & ((1ull << 8 * bytes) - 1);
}

/* Computes what an atomic operation writes. */
static bool update(struct execution *x, const struct ir_insn *i, bool shared, uint64_t old, struct value b,
                   struct value c, uint64_t *value)
{
    const struct mem_access *m = &i->access->mem;
    lane_id lane = atom_cell_lane(mem_access_cell(m, shared));
    struct value e = {0};
    if (m->atom == ATOM_cas) {
        *value = cut(b.lo, m->bytes) == old ? cut(c.lo, m->bytes) : old;
        return true;
    }
    if (lane == LANE_none)
        return refuse(x, i, "this atomic operation is not explored");
    *value = cut(call_lane(x, lane, (struct value){.lo = old}, b, c, &e, 0).lo, m->bytes);
    return true;
}

/* The work on one element: its event, and the register's result. */
struct element {
    struct value b, c; /* the stored value, or the operands of an atomic operation */
    struct value result;
    bool pending;
};

static enum run_kind kind_of(const struct ir_insn *i)
{
    switch ((enum ir_kind)i->kind) {
    case IR_LD: return RUN_READ;
    case IR_ST: return RUN_WRITE;
    case IR_MBARRIER: return i->mode == MBARRIER_INIT ? RUN_WRITE : mbarrier_tests(i->mode) ? RUN_READ : RUN_UPDATE;
    default: return RUN_UPDATE;
    }
}

static bool finish_update(struct execution *x, const struct ir_insn *i, struct run_event *e, const struct element *t)
{
    const struct mem_access *m = &i->access->mem;
    bool shared = x->r->program->locations.at[e->location].block != GLOBAL_MEMORY;
    if (i->kind == IR_MBARRIER) {
        if (!mbarrier_arrive(x, i, e->read, t->b.lo, &e->wrote))
            return false;
        e->flags |= RUN_VALUED;
        return true;
    }
    if (m->atom == ATOM_cas && cut(t->b.lo, m->bytes) != e->read) {
        e->kind = RUN_READ;
        return true;
    }
    if (!update(x, i, shared, e->read, t->b, t->c, &e->wrote))
        return false;
    e->flags |= RUN_VALUED;
    return true;
}

/* Makes the event of a shared access. */
static bool shared_element(struct execution *x, const struct ir_insn *i, struct found found, struct value at,
                           struct value guard, struct element *t)
{
    const struct mem_access *m = &i->access->mem;
    struct strength strength = strength_with(x->r->program->changes, i);
    enum run_kind kind = kind_of(i);
    struct run_event *e = next_event(x, kind, i);
    uint16_t number = (uint16_t)(x->m->n_events - 1);
    e->order = strength.order;
    e->scope = strength.scope;
    e->flags |= strength.order != ORDER_WEAK ? RUN_STRONG : 0;
    e->flags |= i->kind == IR_ATOM && i->origin && i->origin->inst->kind == KIND_RED ? RUN_RED : 0;
    e->place_needs = at.needs | guard.needs;
    e->value_needs = t->b.needs | t->c.needs;
    e->compares_from = m->atom == ATOM_cas && i->kind == IR_ATOM ? t->b.from : 0;
    if (!e->place_needs) {
        e->location = found.location;
        e->flags |= RUN_PLACED;
    }
    if (kind == RUN_WRITE) {
        e->wrote = cut(t->b.lo, m->bytes);
        e->flags |= e->value_needs ? 0 : RUN_VALUED;
        t->pending = e->place_needs | e->value_needs;
        return true;
    }
    /* An update is one operation (8.3): it reads when all its operands are known, and can be read
     * when it has read. What it writes depends on what it reads, whether or not it uses it: a cycle
     * of reads-from through it would violate axiom No-Thin-Air (8.10.4). */
    t->pending = !(e->flags & RUN_RESOLVED);
    t->result = (struct value){.lo = e->read, .needs = t->pending ? 1ull << number % 64 : 0, .from = number + 1};
    return t->pending || kind == RUN_READ || finish_update(x, i, e, t);
}

static bool bad_access(struct execution *x, enum target target)
{
    return stop_at_fault(x, target == TARGET_READ_ONLY ? "a write to memory that can only be read"
                                                       : "an access outside all memory, or misaligned");
}

static bool one_element(struct execution *x, const struct ir_insn *i, struct value at, struct value guard,
                        struct element *t)
{
    const struct mem_access *m = &i->access->mem;
    bool known = !at.needs && !guard.needs;
    struct found found = {.target = TARGET_LOCATION, .location = NO_LOCATION};
    if (known)
        found = program_find(x->r->program, &x->r->at, m->space, at.lo, m->bytes, i->kind != IR_LD);
    else if (m->space == SPACE_LOCAL ||
             (i->kind != IR_LD && m->space == SPACE_GENERIC && at.needs == 0 &&
              program_find(x->r->program, &x->r->at, m->space, at.lo, m->bytes, true).target == TARGET_LOCAL))
        /* Local memory at an unknown place, or under an unknown guard, is waited for. */
        return stop_until(x, at.needs | guard.needs);
    switch (found.target) {
    case TARGET_LOCATION:
        if (known && found.location == NO_LOCATION) {
            x->end = RUN_REFUSED;
            return false;
        }
        return shared_element(x, i, found, at, guard, t);
    case TARGET_LOCAL:
        if (!local_room(x, found.local, m->bytes))
            return false;
        if (i->kind == IR_ST)
            local_store(x->m, found.local, m->bytes, t->b);
        else if (i->kind != IR_LD)
            return refuse(x, i, "atomic operations on local memory are not explored");
        else
            t->result = local_load(x->m, found.local, m->bytes);
        return true;
    case TARGET_CONSTANT: memcpy(&t->result.lo, found.bytes, m->bytes); return true;
    default: return bad_access(x, found.target);
    }
}

static bool step_access(struct execution *x, const struct ir_insn *i, struct value guard)
{
    const struct ir_access *a = i->access;
    struct element elements[8] = {0};
    bool pending = false;
    struct value at = address_of(x, i);
    if (!guard.needs && !guard.lo) {
        while (x->m->n_events < x->run->n_events && x->run->events[x->m->n_events].step == x->m->n_steps &&
               x->run->events[x->m->n_events].kind != RUN_FENCE)
            next_event(x, RUN_NOTHING, i); /* an event from before the address was known */
        return true;
    }
    if (a->mem.bytes > 8)
        return refuse(x, i, "elements of 16 bytes are not explored");
    for (unsigned k = 0; k < a->mem.n; k++, at.lo += a->mem.bytes) {
        struct element *t = &elements[k];
        if (i->kind == IR_ST)
            t->b = operand(x, a->regs[k]);
        else if (i->kind == IR_ATOM)
            t->b = operand(x, a->operands[k]);
        if (i->kind == IR_ATOM && a->mem.atom == ATOM_cas)
            t->c = operand(x, a->operands[1]);
        if (i->kind == IR_MBARRIER && !mbarrier_tests(i->mode) && !mbarrier_operand(x, i, &t->b))
            return false;
        if (!one_element(x, i, at, guard, t))
            return false;
        pending |= t->pending;
    }
    if (pending)
        machine_keep(x);
    /* The value that it reads may end the thread. */
    if (i->kind == IR_MBARRIER && elements[0].result.needs)
        return stop_until(x, elements[0].result.needs);
    if (i->kind == IR_MBARRIER && mbarrier_tests(i->mode) && !mbarrier_test(x, i, &elements[0].result))
        return false;
    for (unsigned k = 0; k < a->mem.n && kind_of(i) != RUN_WRITE; k++) {
        ir_ref to = i->kind == IR_MBARRIER ? i->d : a->regs[k];
        struct value v = extended(elements[k].result, &a->mem);
        if (guard.needs && to)
            v = merge(merge(v, operand(x, to)), guard);
        set_register(x, to, v);
    }
    return true;
}

bool step_memory(struct execution *x, const struct ir_insn *i, struct value guard)
{
    struct strength s = strength_with(x->r->program->changes, i);
    if (s.before)
        run_fence(x, i, s.before, s.fence_scope);
    if (!step_access(x, i, guard))
        return false;
    if (s.after)
        run_fence(x, i, s.after, s.fence_scope);
    return true;
}
