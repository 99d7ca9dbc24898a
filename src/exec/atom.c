/* Atomic operations: the only place that performs them (PTX ISA 9.7.13.5, 9.7.13.6; isa/atoms.def).
 *
 * On global memory they are atomic between the machine's workers and with the host's own atomics on the same
 * word: what the host has as an instruction is one, the rest is a loop around its compare-and-swap. A block
 * stays on one worker, so on shared memory they are plain operations. Vectors and packed types are atomic per
 * element, as the ISA says and the H200 does; a packed pair is done as one word here.
 *
 * atom.add.f32 on global memory flushes subnormal inputs and results to zeros of their sign; on shared
 * memory, through a generic address too, it does not (the ISA's note, and what an H200 answers). atom.add.f64 keeps
 * a signaling NaN on global memory, and makes it quiet on shared memory (what an H200 answers).
 */
#include "exec/access.h"
#include "isa/sem.h"

/* ---- one element ---- */

static int order_of(const struct op_access *x)
{
    switch (x->order) {
    case ORDER_ACQUIRE: return __ATOMIC_ACQUIRE;
    case ORDER_RELEASE: return __ATOMIC_RELEASE;
    case ORDER_ACQ_REL: return __ATOMIC_ACQ_REL;
    default: return __ATOMIC_RELAXED;
    }
}

static u32 new_u32(enum atom_op op, u32 r, u32 s, u32 t)
{
    switch (op) {
    case ATOM_and: return r & s;
    case ATOM_or: return r | s;
    case ATOM_xor: return r ^ s;
    case ATOM_cas: return r == s ? t : r;
    case ATOM_exch: return s;
    case ATOM_add: return r + s;
    case ATOM_inc: return sem_atom_inc(r, s);
    case ATOM_dec: return sem_atom_dec(r, s);
    case ATOM_min: return r < s ? r : s;
    default: return r > s ? r : s;
    }
}

static u64 new_u64(enum atom_op op, u64 r, u64 s, u64 t)
{
    switch (op) {
    case ATOM_and: return r & s;
    case ATOM_or: return r | s;
    case ATOM_xor: return r ^ s;
    case ATOM_cas: return r == s ? t : r;
    case ATOM_exch: return s;
    case ATOM_add: return r + s;
    case ATOM_min: return r < s ? r : s;
    default: return r > s ? r : s;
    }
}

static u16 new_half(enum atom_op op, enum half type, u16 r, u16 s)
{
    return op == ATOM_add ? sem_add_half(r, s, type, 0)
                          : sem_minmax_half(r, s, type, op == ATOM_max, false, false, false);
}

static u32 new_halves(enum atom_op op, enum half type, u32 r, u32 s)
{
    return (u32)new_half(op, type, (u16)(r >> 16), (u16)(s >> 16)) << 16 | new_half(op, type, (u16)r, (u16)s);
}

/* The new value of a cell of at most 64 bits. */
static u64 new_value(const struct op_access *x, bool shared, u64 r, u64 s, u64 t)
{
    enum atom_op op = (enum atom_op)x->atom;
    switch ((enum isa_type)x->type) {
    case TYPE_s32:
        if (op == ATOM_min || op == ATOM_max)
            return ((s32)r < (s32)s) == (op == ATOM_min) ? (u32)r : (u32)s;
        return new_u32(op, (u32)r, (u32)s, (u32)t);
    case TYPE_s64:
        if (op == ATOM_min || op == ATOM_max)
            return ((s64)r < (s64)s) == (op == ATOM_min) ? r : s;
        return new_u64(op, r, s, t);
    case TYPE_f32:
        if (op != ATOM_add)
            return new_u32(op, (u32)r, (u32)s, (u32)t);
        return f32_bits(sem_add_f32(f32_of((u32)r), f32_of((u32)s), RND_rn, !shared, false));
    case TYPE_f64:
        if (op != ATOM_add)
            return new_u64(op, r, s, t);
        return f64_bits(shared ? sem_add_f64(f64_of(r), f64_of(s), RND_rn) : sem_atom_add_f64(f64_of(r), f64_of(s)));
    case TYPE_f16: return new_half(op, F16, (u16)r, (u16)s);
    case TYPE_bf16: return new_half(op, BF16, (u16)r, (u16)s);
    case TYPE_f16x2: return new_halves(op, F16, (u32)r, (u32)s);
    case TYPE_bf16x2: return new_halves(op, BF16, (u32)r, (u32)s);
    case TYPE_b16: return (u16)r == (u16)s ? t : r; /* cas */
    default: return x->bytes == 8 ? new_u64(op, r, s, t) : new_u32(op, (u32)r, (u32)s, (u32)t);
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

/* What the host does with one instruction; false where it has none. */
static bool host_atomic(const struct op_access *x, u8 *at, u64 s, int order, u64 *old)
{
    bool whole = x->type != TYPE_f32 && x->type != TYPE_f64 && x->bytes >= 4;
    u32 *p32 = (u32 *)at;
    u64 *p64 = (u64 *)at;
    if (x->atom == ATOM_exch && x->bytes >= 4) {
        *old = x->bytes == 4 ? __atomic_exchange_n(p32, (u32)s, order) : __atomic_exchange_n(p64, s, order);
        return true;
    }
    if (x->atom == ATOM_add && whole && x->type != TYPE_f16x2 && x->type != TYPE_bf16x2) {
        *old = x->bytes == 4 ? __atomic_fetch_add(p32, (u32)s, order) : __atomic_fetch_add(p64, s, order);
        return true;
    }
    return false;
}

/* A comparison that fails is a read: it takes no lock, and does not take the cell from others that spin on it. */
static bool fails(const struct op_access *x, u8 *at, u64 s, int order, u64 *old)
{
    if (x->atom != ATOM_cas)
        return false;
    *old = read_cell(at, x->bytes);
    if (*old == s)
        return false;
    if (order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL)
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return true;
}

static u64 atom_element(const struct op_access *x, u8 *at, bool shared, u64 s, u64 t)
{
    int order = order_of(x);
    u64 old = 0;
    if (shared) {
        old = read_cell(at, x->bytes);
        write_cell(at, x->bytes, new_value(x, true, old, s, t));
        return old;
    }
    if (host_atomic(x, at, s, order, &old) || fails(x, at, s, order, &old))
        return old;
    old = read_cell(at, x->bytes);
    while (!swap_cell(at, x->bytes, &old, new_value(x, false, old, s, t), order))
        ;
    return old;
}

/* 128 bits: cas and exch. */
static b128 atom_b128(const struct op_access *x, u8 *at, bool shared, b128 s, b128 t)
{
    b128 old;
    if (shared) {
        memcpy(&old, at, 16);
        bool equal = old.lo == s.lo && old.hi == s.hi;
        b128 value = x->atom == ATOM_exch ? s : equal ? t : old;
        memcpy(at, &value, 16);
        return old;
    }
    unsigned __int128 *p = (unsigned __int128 *)at, expected, wanted, first;
    memcpy(&first, &s, 16);
    memcpy(&wanted, x->atom == ATOM_exch ? &s : &t, 16);
    if (x->atom == ATOM_cas) {
        expected = __sync_val_compare_and_swap(p, first, wanted);
    } else {
        unsigned __int128 seen = 0;
        do {
            expected = seen;
            seen = __sync_val_compare_and_swap(p, expected, wanted);
        } while (seen != expected);
    }
    memcpy(&old, &expected, 16);
    return old;
}

/* ---- lanes ---- */

static u64 element(const u8 *row, unsigned bytes, unsigned lane)
{
    u64 v = 0;
    memcpy(&v, row + (size_t)lane * bytes, bytes);
    return v;
}

/* A lane's operation on n elements; results go to the destinations that there are. False where it has compared in vain: then it is
 * no write (PTX ISA 8.3.1). */
static bool run_lane(const struct op_access *x, u8 *const base[4], u8 *at, bool shared, unsigned lane)
{
    if (x->bytes == 16) {
        b128 s, t, old;
        memcpy(&s, row_at(base, x->operands[0]) + 16 * lane, 16);
        memcpy(&t, row_at(base, x->operands[1]) + 16 * lane, 16);
        old = atom_b128(x, at, shared, s, t);
        if (x->has_reg[0])
            memcpy(row_at(base, x->regs[0]) + 16 * lane, &old, 16);
        return x->atom != ATOM_cas || memcmp(&old, &s, 16) == 0;
    }
    bool wrote = true;
    for (unsigned k = 0; k < x->n; k++) {
        u64 s = element(row_at(base, x->operands[k]), x->bytes, lane), t = 0;
        if (x->atom == ATOM_cas)
            t = element(row_at(base, x->operands[1]), x->bytes, lane);
        u64 old = atom_element(x, at + k * x->bytes, shared, s, t);
        if (x->has_reg[k])
            memcpy(row_at(base, x->regs[k]) + lane * x->bytes, &old, x->bytes);
        wrote = x->atom != ATOM_cas || old == s;
    }
    return wrote;
}

/* While a stall is looked into: does the operation change anything, or read what others may change? */
static bool watch_lane(struct launch *launch, const struct op_access *x, u8 *const base[4], const struct location *p,
                       unsigned lane)
{
    u8 before[32];
    size_t bytes = (size_t)x->bytes * x->n;
    memcpy(before, p->at, bytes);
    bool wrote = run_lane(x, base, p->at, p->space == SPACE_SHARED, lane);
    launch->changed |= memcmp(before, p->at, bytes) != 0;
    launch->read_global |= p->space != SPACE_SHARED;
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

static inline void *cell(const struct cells *c, unsigned lane)
{
    return (void *)(uintptr_t)(c->from + c->address[lane]);
}

static inline __attribute__((always_inline)) void shared_cells(struct cells *c, enum atom_op op)
{
    const u32 *s = (const u32 *)c->s, *t = (const u32 *)c->t;
    u32 *d = (u32 *)c->d;
    for (u32 m = c->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        u32 *p = cell(c, l), r = *p;
        *p = new_u32(op, r, s[l], op == ATOM_cas ? t[l] : 0);
        if (op == ATOM_cas && r != s[l])
            c->wrote &= ~(1u << l);
        if (d)
            d[l] = r;
    }
}

/* A block stays on one worker: in its own memory a loop of plain operations. */
static bool run_shared(struct cells *c)
{
    switch ((enum atom_op)c->x->atom) {
    case ATOM_add: shared_cells(c, ATOM_add); return true;
    case ATOM_and: shared_cells(c, ATOM_and); return true;
    case ATOM_or: shared_cells(c, ATOM_or); return true;
    case ATOM_xor: shared_cells(c, ATOM_xor); return true;
    case ATOM_exch: shared_cells(c, ATOM_exch); return true;
    case ATOM_cas: shared_cells(c, ATOM_cas); return true;
    case ATOM_inc: shared_cells(c, ATOM_inc); return true;
    case ATOM_dec: shared_cells(c, ATOM_dec); return true;
    default: return false; /* min and max depend on the sign */
    }
}

/* One cell for all lanes: they add what they have together, and each gets what it would have found in its turn. */
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

/* One cell for all lanes: what they do one after the other is known when the cell has been read, and is done at once. */
static void compare_together(struct cells *c, u32 *p)
{
    const u32 *s = (const u32 *)c->s, *t = (const u32 *)c->t;
    u32 *d = (u32 *)c->d, found[WARP_LANES], old = __atomic_load_n(p, __ATOMIC_RELAXED), now;
    do {
        now = old;
        for (u32 m = c->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            found[l] = now;
            now = new_u32(ATOM_cas, now, s[l], t[l]);
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
    bool one = true;
    if (c->x->atom != ATOM_add && c->x->atom != ATOM_cas)
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++) /* inactive lanes have an active one's */
        one &= c->address[l] == c->address[lane];
    if (one && c->x->atom == ATOM_add)
        add_together(c, cell(c, lane));
    else if (one)
        compare_together(c, cell(c, lane));
    if (one || c->x->atom == ATOM_cas)
        return one;
    for (u32 m = c->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        u32 old = __atomic_fetch_add((u32 *)cell(c, l), s[l], __ATOMIC_ACQ_REL);
        if (d)
            d[l] = old;
    }
    return true;
}

static bool is_word(const struct op_access *x)
{
    return x->n == 1 && x->bytes == 4 && (x->type == TYPE_u32 || x->type == TYPE_s32 || x->type == TYPE_b32);
}

static void run_cells(struct cells *c, u8 *const base[4])
{
    if (is_word(c->x) && (c->shared ? run_shared(c) : run_global(c)))
        return;
    for (u32 m = c->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (!run_lane(c->x, base, cell(c, l), c->shared, l))
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
    if (w->hooks) /* who watches wants to know which lanes have written */
        w->block->worker->wrote = mask;
    if (p->kind == PLAN_HOST && !watching) {
        uint32_t wrote = run_together(base, o, mask, p);
        if (w->hooks)
            w->block->worker->wrote = wrote;
        return true;
    }
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        struct location at;
        enum fault_kind kind = access_locate_op(w, o, p->address[l], &at);
        if (kind)
            return warp_fault_at(w, kind, o, l, &at, (uint32_t)o->access->bytes * o->access->n);
        bool wrote = watching ? watch_lane(w->block->launch, o->access, base, &at, l)
                              : run_lane(o->access, base, at.at, at.space == SPACE_SHARED, l);
        if (!wrote)
            w->block->worker->wrote &= ~(1u << l);
    }
    return true;
}

bool access_atom(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    struct plan p;
    plan_access(w, a, base, o, mask, &p);
    if (p.kind == PLAN_LOCAL) /* where there are none */
        p.kind = PLAN_BY_LANE;
    if (access_is_watched(w))
        return access_watched(w, base, o, mask, &p, perform_atom);
    return perform_atom(w, base, o, mask, &p);
}
