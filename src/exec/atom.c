/* Atomic operations of the interpreter, and those that compiled code leaves to it (PTX ISA
 * 9.7.13.5, 9.7.13.6). isa/atoms.def says what an operation does with a location.
 *
 * In global memory, operations are atomic between the machine's workers, and with the host's own
 * atomics on the same word. If the host has an instruction for the operation, it is used;
 * otherwise a loop around a compare-and-swap. In shared and local memory they are plain
 * operations, because a block stays on one worker. Vectors and packed types are atomic for each
 * element, as the ISA says and as on an H200.
 */
#include "exec/access.h"
#include "exec/access_plan.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/worker.h"
#include "isa/sem.h"
#include "mem/local.h"

/* ---- one element ---- */

static int order_of(const struct mem_access *m)
{
    switch (m->order) {
    case ORDER_ACQUIRE: return __ATOMIC_ACQUIRE;
    case ORDER_RELEASE: return __ATOMIC_RELEASE;
    case ORDER_ACQ_REL: return __ATOMIC_ACQ_REL;
    default: return __ATOMIC_RELAXED;
    }
}

/* Of operands, which come as up to 64 bits. */
#define IN__(v, bits)
#define IN_u16(v, bits) const u16 v = (u16)(bits);
#define IN_u32(v, bits) const u32 v = (u32)(bits);
#define IN_s32(v, bits) const s32 v = (s32)(bits);
#define IN_u64(v, bits) const u64 v = (bits);
#define IN_s64(v, bits) const s64 v = (s64)(bits);
#define IN_f32(v, bits) const f32 v = f32_of((u32)(bits));
#define IN_f64(v, bits) const f64 v = f64_of(bits);
#define OUT_u16(v)      (u16)(v)
#define OUT_u32(v)      (v)
#define OUT_s32(v)      (u32)(v)
#define OUT_u64(v)      (v)
#define OUT_s64(v)      (u64)(v)
#define OUT_f32(v)      f32_bits(v)
#define OUT_f64(v)      f64_bits(v)
#define CASE(cell, T, A, B, C, expr)                                                                                   \
    case cell: {                                                                                                       \
        IN_##A(a, r) IN_##B(b, s) IN_##C(c, t) return OUT_##T(expr);                                                   \
    }

/* The new value of a cell of at most 64 bits that has r. */
static inline __attribute__((always_inline)) u64 new_value(enum atom_cell cell, u64 r, u64 s, u64 t)
{
    switch (cell) {
#define CELL(op, type, T, A, B, C, host, expr)        CASE(CELL_##op##_##type, T, A, B, C, expr)
#define SHARED(op, type, T, A, B, C, host, expr)      CASE(CELL_##op##_##type##_shared, T, A, B, C, expr)
#define INTERPRETED(op, type, T, A, B, C, host, expr) CASE(CELL_##op##_##type, T, A, B, C, expr)
#include "isa/atoms.def"
    default: return r;
    }
}

static b128 new_wide(enum atom_cell cell, b128 a, b128 b, b128 c)
{
    switch (cell) {
#define WIDE(op, expr)                                                                                                 \
    case CELL_##op##_b128: return expr;
#include "isa/atoms.def"
    default: return a;
    }
}

static u64 read_cell(const u8 *at, unsigned bytes)
{
    switch (bytes) {
    case 2: return __atomic_load_n((const u16 *)at, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((const u32 *)at, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const u64 *)at, __ATOMIC_RELAXED);
    }
}

static bool swap_cell(u8 *at, unsigned bytes, u64 *old, u64 value, int order)
{
    switch (bytes) {
    case 2: {
        u16 expected = (u16)*old;
        bool ok = __atomic_compare_exchange_n((u16 *)at, &expected, (u16)value, false, order, __ATOMIC_RELAXED);
        *old = expected;
        return ok;
    }
    case 4: {
        u32 expected = (u32)*old;
        bool ok = __atomic_compare_exchange_n((u32 *)at, &expected, (u32)value, false, order, __ATOMIC_RELAXED);
        *old = expected;
        return ok;
    }
    default: return __atomic_compare_exchange_n((u64 *)at, old, value, false, order, __ATOMIC_RELAXED);
    }
}

static void write_cell(u8 *at, unsigned bytes, u64 value)
{
    switch (bytes) {
    case 2: *(u16 *)at = (u16)value; break;
    case 4: *(u32 *)at = (u32)value; break;
    default: *(u64 *)at = value; break;
    }
}

/* Performs the operation by one instruction of the host; false if it has none. */
static bool host_atomic(enum atom_host host, unsigned bytes, u8 *at, u64 s, int order, u64 *old)
{
#define PERFORM(name, builtin)                                                                                         \
    case HOST_##name: *old = bytes == 4 ? builtin((u32 *)at, (u32)s, order) : builtin((u64 *)at, s, order); return true;
    switch (host) {
        PERFORM(And, __atomic_fetch_and)
        PERFORM(Or, __atomic_fetch_or)
        PERFORM(Xor, __atomic_fetch_xor)
        PERFORM(Xchg, __atomic_exchange_n)
        PERFORM(Add, __atomic_fetch_add)
    default: return false; /* C has no others */
    }
}

/* A failed comparison is a read: it takes no lock, and leaves the cache line to others that spin on
 * the cell. */
static bool fails(const struct mem_access *m, u8 *at, u64 s, int order, u64 *old)
{
    if (m->atom != ATOM_cas)
        return false;
    *old = read_cell(at, m->bytes);
    if (*old == s)
        return false;
    if (order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL)
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return true;
}

static inline __attribute__((always_inline)) u64 atom_cell_at(const struct mem_access *m, enum atom_cell cell, u8 *at,
                                                              bool shared, u64 s, u64 t)
{
    int order = order_of(m);
    u64 old = 0;
    if (shared) {
        old = read_cell(at, m->bytes);
        write_cell(at, m->bytes, new_value(cell, old, s, t));
        return old;
    }
    if (host_atomic(atom_cell_host(cell), m->bytes, at, s, order, &old) || fails(m, at, s, order, &old))
        return old;
    old = read_cell(at, m->bytes);
    while (!swap_cell(at, m->bytes, &old, new_value(cell, old, s, t), order))
        ;
    return old;
}

static u64 atom_element(const struct mem_access *m, u8 *at, bool shared, u64 s, u64 t)
{
    return atom_cell_at(m, mem_access_cell(m, shared), at, shared, s, t);
}

/* An asynchronous addition of .f32 keeps subnormals on global memory,
 * too (what an H200 answers). */
void atom_reduce(const struct mem_access *m, u8 *cell, bool shared, const u8 *with)
{
    struct mem_access element = *m;
    u64 v = 0;
    element.bytes = (uint8_t)(isa_type_bits((enum isa_type)m->type) / 8);
    memcpy(&v, with, element.bytes);
    atom_cell_at(&element, mem_access_cell(&element, shared || m->type == TYPE_f32), cell, shared, v, 0);
}

/* 128 bits: cas and exch. A failed cas exchanges the value for itself, which reads all of it at
 * once. */
static b128 atom_b128(const struct mem_access *m, u8 *at, bool shared, b128 s, b128 t)
{
    enum atom_cell cell = mem_access_cell(m, shared);
    unsigned __int128 *p = (unsigned __int128 *)at, seen, expected, wanted;
    b128 old, value;
    if (shared) {
        memcpy(&old, at, 16);
        value = new_wide(cell, old, s, t);
        memcpy(at, &value, 16);
        return old;
    }
    seen = __sync_val_compare_and_swap(p, 0, 0);
    do {
        expected = seen;
        memcpy(&old, &expected, 16);
        value = new_wide(cell, old, s, t);
        memcpy(&wanted, &value, 16);
        seen = __sync_val_compare_and_swap(p, expected, wanted);
    } while (seen != expected);
    return old;
}

/* ---- lanes ---- */

static u64 element(const u8 *row, unsigned bytes, unsigned lane)
{
    u64 v = 0;
    memcpy(&v, row + (size_t)lane * bytes, bytes);
    return v;
}

/* A lane's operation on n elements; results go to the destinations that exist. False: a
 * compare-and-swap has failed, and so is not a write (PTX ISA 8.3.1). */
static bool run_lane(const struct op_access *x, u8 *const base[4], u8 *at, bool shared, unsigned lane)
{
    if (x->mem.bytes == 16) {
        b128 s, t, old;
        memcpy(&s, row_at(base, x->operands[0]) + 16 * lane, 16);
        memcpy(&t, row_at(base, x->operands[1]) + 16 * lane, 16);
        old = atom_b128(&x->mem, at, shared, s, t);
        if (x->has_reg[0])
            memcpy(row_at(base, x->regs[0]) + 16 * lane, &old, 16);
        return x->mem.atom != ATOM_cas || memcmp(&old, &s, 16) == 0;
    }
    bool wrote = true;
    for (unsigned k = 0; k < x->mem.n; k++) {
        u64 s = element(row_at(base, x->operands[k]), x->mem.bytes, lane), t = 0;
        if (x->mem.atom == ATOM_cas)
            t = element(row_at(base, x->operands[1]), x->mem.bytes, lane);
        u64 old = atom_element(&x->mem, at + k * x->mem.bytes, shared, s, t);
        if (x->has_reg[k])
            memcpy(row_at(base, x->regs[k]) + lane * x->mem.bytes, &old, x->mem.bytes);
        wrote = x->mem.atom != ATOM_cas || old == s;
    }
    return wrote;
}

/* A lane's operation at its located address; in local memory, which no other lane shares, on a
 * copy. During stall detection, notes whether it changes memory, or reads memory that others may
 * change. */
static bool run_located(struct warp *w, const struct op_access *x, u8 *const base[4], const struct location *p,
                        unsigned lane)
{
    struct launch *launch = w->block->launch;
    bool watching = atomic_load_explicit(&launch->watching, memory_order_relaxed);
    u8 own[32] __attribute__((aligned(16))), before[32], *cell = p->at ? p->at : own;
    unsigned bytes = (unsigned)x->mem.bytes * x->mem.n;
    if (!p->at)
        local_read(w->local, p->address, lane, own, bytes);
    if (watching)
        memcpy(before, cell, bytes);
    bool wrote = run_lane(x, base, cell, p->space != SPACE_GLOBAL, lane);
    if (watching) {
        launch->changed |= memcmp(before, cell, bytes) != 0;
        launch->read_global |= p->space == SPACE_GLOBAL;
    }
    if (!p->at)
        local_write(w->local, p->address, lane, own, bytes);
    return wrote;
}

/* ---- warps whose cells are all in one place ---- */

struct cells {
    const struct op_access *x;
    uint64_t from; /* cell of lane l: at from + address[l], as the host has it */
    const uint64_t *address;
    u32 mask;
    const u8 *s, *t;
    u8 *d; /* or NULL */
    bool shared;
    u32 wrote; /* lanes that have not compared in vain */
};

static inline void *cell_of(const struct cells *c, unsigned lane)
{
    return (void *)(uintptr_t)(c->from + c->address[lane]);
}

/* Of 32 bits. */
static inline __attribute__((always_inline)) void shared_cells(struct cells *c, enum atom_cell cell, bool compares)
{
    const u32 *s = (const u32 *)c->s, *t = (const u32 *)c->t;
    u32 *d = (u32 *)c->d;
    for (u32 m = c->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        u32 *p = cell_of(c, l), r = *p;
        *p = (u32)new_value(cell, r, s[l], compares ? t[l] : 0);
        if (compares && r != s[l])
            c->wrote &= ~(1u << l);
        if (d)
            d[l] = r;
    }
}

/* A block stays on one worker: in its own memory a loop of plain operations, one for each that
 * cells of 32 bits have. */
static bool run_shared(struct cells *c)
{
#define IS_32_u16(cell, op)
#define IS_32_u32(cell, op)                                                                                            \
    case cell: shared_cells(c, cell, ATOM_##op == ATOM_cas); return true;
#define IS_32_s32(cell, op) IS_32_u32(cell, op)
#define IS_32_f32(cell, op) IS_32_u32(cell, op)
#define IS_32_u64(cell, op)
#define IS_32_s64(cell, op)
#define IS_32_f64(cell, op)
    switch (mem_access_cell(&c->x->mem, true)) {
#define CELL(op, type, T, A, B, C, host, expr)   IS_32_##T(CELL_##op##_##type, op)
#define SHARED(op, type, T, A, B, C, host, expr) IS_32_##T(CELL_##op##_##type##_shared, op)
#include "isa/atoms.def"
    default: return false;
    }
}

/* One cell for all lanes: their operands are added up first, and each lane gets the value that it
 * would have found in its turn. */
static void add_together(const struct cells *c, u32 *p)
{
    const u32 *s = (const u32 *)c->s;
    u32 *d = (u32 *)c->d, sum = 0;
    for (u32 m = c->mask; m; m &= m - 1)
        sum += s[__builtin_ctz(m)];
    u32 old = __atomic_fetch_add(p, sum, __ATOMIC_ACQ_REL);
    for (u32 m = d ? c->mask : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        u32 next = old + s[l]; /* d may be s */
        d[l] = old;
        old = next;
    }
}

/* One cell for all lanes: once the cell is read, the results of all lanes in order are computed and
 * stored at once. */
static void compare_together(struct cells *c, u32 *p)
{
    const u32 *s = (const u32 *)c->s, *t = (const u32 *)c->t;
    u32 *d = (u32 *)c->d, found[WARP_LANES], old = __atomic_load_n(p, __ATOMIC_RELAXED), now;
    do {
        now = old;
        for (u32 m = c->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            found[l] = now;
            now = (u32)new_value(CELL_cas_b32, now, s[l], t[l]);
        }
    } while (now != old && !__atomic_compare_exchange_n(p, &old, now, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    if (now == old)
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (u32 m = c->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (found[l] != s[l])
            c->wrote &= ~(1u << l);
        if (d) /* which may be s */
            d[l] = found[l];
    }
}

static bool run_global(struct cells *c)
{
    const u32 *s = (const u32 *)c->s;
    u32 *d = (u32 *)c->d;
    unsigned lane = (unsigned)__builtin_ctz(c->mask);
    bool one = true, sums = atom_cell_sums(mem_access_cell(&c->x->mem, false));
    if (!sums && c->x->mem.atom != ATOM_cas)
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++) /* inactive lanes have an active one's */
        one &= c->address[l] == c->address[lane];
    if (one && sums)
        add_together(c, cell_of(c, lane));
    else if (one)
        compare_together(c, cell_of(c, lane));
    if (one || !sums)
        return one;
    for (u32 m = c->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        u32 old = __atomic_fetch_add((u32 *)cell_of(c, l), s[l], __ATOMIC_ACQ_REL);
        if (d)
            d[l] = old;
    }
    return true;
}

static bool is_word(const struct mem_access *m)
{
    return m->n == 1 && m->bytes == 4;
}

static void run_cells(struct cells *c, u8 *const base[4])
{
    if (is_word(&c->x->mem) && (c->shared ? run_shared(c) : run_global(c)))
        return;
    for (u32 m = c->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (!run_lane(c->x, base, cell_of(c, l), c->shared, l))
            c->wrote &= ~(1u << l);
    }
}

/* Lanes that have written. */
static uint32_t run_together(uint8_t *const base[4], const struct op *o, uint32_t mask, const struct plan *p)
{
    const struct op_access *x = o->access;
    struct cells c = {.x = x,
                      .from = p->base,
                      .address = p->address,
                      .mask = mask,
                      .s = row_at(base, x->operands[0]),
                      .t = row_at(base, x->operands[1]),
                      .d = x->has_reg[0] ? row_at(base, x->regs[0]) : NULL,
                      .shared = p->space == SPACE_SHARED,
                      .wrote = mask};
    run_cells(&c, base);
    return c.wrote;
}

/* Lanes in order: what several lanes of a warp do to one cell happens as if one after the other. */
static bool perform_atom(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p)
{
    bool watching = atomic_load_explicit(&w->block->launch->watching, memory_order_relaxed);
    plan_fill(w, o, p);
    if (w->events) /* clients need to know which lanes have written */
        w->block->worker->wrote = mask;
    if (p->kind == PLAN_HOST && !watching) {
        uint32_t wrote = run_together(base, o, mask, p);
        if (w->events)
            w->block->worker->wrote = wrote;
        return true;
    }
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        struct location at = {.space = SPACE_LOCAL, .address = p->address[l] - p->base};
        enum fault_kind kind = p->kind == PLAN_LOCAL ? FAULT_none : access_locate_op(w, o, p->address[l], &at);
        if (kind)
            return warp_fault_at(w, kind, o, l, &at, (uint32_t)o->access->mem.bytes * o->access->mem.n);
        if (!run_located(w, o->access, base, &at, l))
            w->block->worker->wrote &= ~(1u << l);
    }
    return true;
}

bool access_atom(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    struct plan p;
    plan_access(w, a, base, o, mask, &p);
    if (access_is_watched(w))
        return access_watched(w, base, o, mask, &p, perform_atom);
    return perform_atom(w, base, o, mask, &p);
}
