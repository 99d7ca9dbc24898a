/* Lane-serial loops: scalar code for loops that lanes run one after the other (chosen by
 * lane_serial_loops.c); see emit.h.
 *
 * The same emitter makes the code with the shapes of a warp of one lane. Other threads observe
 * nothing of such a loop, and its results are kept apart until all lanes are done. So if an
 * assumption fails, for example if an access fails its test, nothing has happened: the loop
 * restarts with vectors, which find the fault if there is one. Otherwise the lanes end as if they
 * had run together: no lane runs more iterations than the warp has budget for, and unfinished lanes
 * yield.
 *
 * Registers come from vectors through memory of the function's own, and go back once per lane. Each
 * access is tested: an index by one comparison with a bound that was computed before the loop
 * (base_index.c).
 */
#include "jit/emit/load_store.h"

/* The limits within which a load's addresses are in bounds. */
struct limits {
    struct index index;
    /* i32: the largest index in bounds; NULL: the address itself is tested. */
    value most;
    value lo, n;                 /* of the cache */
    struct induction *induction; /* the induction of its address; or NULL */
    int64_t added;               /* offset from the induction's index */
};

/* An induction: addresses of loads that advance together, by one step in each iteration. If a
 * lane's first addresses are in bounds, the number of iterations until one is not is known. */
struct induction {
    struct walk walk; /* an index, or an address */
    const struct limits *of;
    const struct access *access; /* its first load */
    int64_t from, to;            /* offsets of the first and the last load */
    /* i64: the first load's largest index; or the number of positions for an address. */
    value most;
    value now; /* i64: the index in the current iteration */
};

struct lane_serial {
    struct emit *e;
    const struct ir_block *block;
    LLVMBasicBlockRef together; /* restarts with vectors, for all lanes: nothing has happened */
    struct limits *limits;      /* by instruction */
    struct induction *inductions;
    uint32_t n_inductions;
    /* by number in `live`: memory for a register that lanes load or store; or NULL */
    value *row;
    value *number; /* the same: the value at entry that is equal in all lanes */
    /* The same: alloca of the value in lanes that have spent the budget. */
    value *last;
    value mask, budget; /* at the warp's entry */
    /* allocas: remaining lanes, and those that have spent their budget. */
    value left, spent;
    /* The same: iterations so far, of all lanes and of the current one. */
    value iterations, iteration;
    value most; /* that may follow a lane's first iteration */
};

static ir_ref reg_of(const struct lane_serial *p, uint32_t n)
{
    return ir_make_ref(REF_REG, p->e->fn->shapes->live.regs[n]);
}

static bool is_written(const struct lane_serial *p, ir_ref r)
{
    return cursor_find_writer(*p->e->here, r, p->block->n) != NO_WRITER;
}

static bool is_read(const struct lane_serial *p, ir_ref r)
{
    ir_ref refs[IR_MAX_REFS];
    for (uint32_t k = 0; k < p->block->n; k++)
        for (unsigned n = ir_reads(fn_insn_at(*p->e->here, k), refs); n > 0; n--)
            if (refs[n - 1] == r)
                return true;
    return false;
}

/* By the number in `live`: is a register live at the loop's start, and used in it? Is it written in
 * the loop, and live behind it or in the next iteration? */
static bool comes(const struct lane_serial *p, uint32_t n)
{
    return ir_in_set(live_in(p->e->fn, p->e->here->block), n) &&
           (is_read(p, reg_of(p, n)) || is_written(p, reg_of(p, n)));
}

static bool goes(const struct lane_serial *p, uint32_t n)
{
    return ir_in_set(live_out(p->e->fn, p->e->here->block), n) && is_written(p, reg_of(p, n));
}

/* ---- before the loop ---- */

static bool has_same_base(const struct limits *x, const struct limits *y)
{
    return x->index.base == y->index.base && x->index.scale == y->index.scale;
}

/* The limits of an earlier load of the same size through the same base or register, or NULL: both
 * loads can use its allocation. */
static const struct limits *find_earlier(const struct lane_serial *p, uint32_t k)
{
    struct emit *e = p->e;
    const struct ir_insn *i = fn_insn_at(*e->here, k);
    const struct limits *x = &p->limits[k];
    for (uint32_t j = 0; j < k; j++) {
        const struct ir_insn *other = fn_insn_at(*e->here, j);
        const struct limits *y = &p->limits[j];
        if (other->kind != IR_LD || other->access->mem.bytes != i->access->mem.bytes ||
            other->access->mem.n != i->access->mem.n || other->access->mem.space != i->access->mem.space ||
            !x->index.base != !y->index.base)
            continue;
        if (x->index.base ? has_same_base(x, y) && other->access->disp == i->access->disp : other->a == i->a)
            return y;
    }
    return NULL;
}

static void find_limits(struct lane_serial *p, uint32_t k)
{
    struct emit *e = p->e;
    struct limits *x = &p->limits[k];
    struct transfer t = {.a = access_new(e->fn, fn_insn_at(*e->here, k))};
    struct cursor there = *e->here;
    there.index = k;
    bool indexed =
        base_index_find(there, t.a, &x->index) && x->index.scale % t.a->all == 0 && !is_written(p, x->index.base);
    if (!indexed)
        x->index.base = REF_NONE;
    const struct limits *earlier = find_earlier(p, k);
    if (earlier) {
        x->most = earlier->most;
        x->lo = earlier->lo;
        x->n = earlier->n;
    } else if (indexed) {
        value place, places,
            base = build_add(e, reg_read_scalar(e, x->index.base), access_displacement(e, t.a, e->m->i64));
        emit_require(e, access_test_place(e, &t, base, &place, &places), p->together);
        x->most = transfer_index_largest(e, t.a, &x->index, place, places);
    } else {
        access_load_cache(e, &t, &x->lo, &x->n);
    }
}

/* Does a load's address belong to an induction? Addresses must be a whole
 * number of elements apart. */
static bool fits(const struct induction *c, const struct walk *w, const struct limits *x, int64_t added, unsigned all)
{
    return c->walk.root == w->root && c->walk.step == w->step &&
           (x->most ? c->of->most != NULL
                    : c->of->lo == x->lo && c->access->all == all && ((uint64_t)added - (uint64_t)c->from) % all == 0);
}

/* Adds a load to the induction of its address, or to a new one. For an index, the smallest limits
 * serve all loads. The offset added to an index is a sum of fewer than 2^7 32-bit constants, so it
 * and the limits are exact in 64 bits; the offset added to an address is modulo 2^64, like the
 * address. */
static void add_to_induction(struct lane_serial *p, struct limits *x, uint32_t k)
{
    struct emit *e = p->e;
    const struct access *a = access_new(e->fn, fn_insn_at(*e->here, k));
    struct walk w;
    if (!lane_serial_find_walk(*e->here, x->most ? x->index.lanes : a->i->a, k, &w) ||
        (!x->most && (w.step % a->all || fn_ref_width(e->fn, w.root) != 64)))
        return;
    int64_t added = (int64_t)((uint64_t)w.added + (x->most ? 0 : (uint64_t)a->disp));
    struct induction *c = p->inductions;
    while (c < p->inductions + p->n_inductions && !fits(c, &w, x, added, a->all))
        c++;
    value most = NULL;
    if (x->most)
        most = build_sub(e, build_zext(e, x->most, e->m->i64), const_i64(e, (uint64_t)added));
    if (c == p->inductions + p->n_inductions) {
        *c = (struct induction){.walk = w, .of = x, .access = a, .from = added, .to = added, .most = most};
        p->n_inductions++;
    } else if (most) {
        c->most = emit_intrinsic(e, "llvm.smin", c->most, most);
    }
    c->from = added < c->from ? added : c->from;
    c->to = added > c->to ? added : c->to;
    x->induction = c;
    x->added = added;
}

/* Computes the bound that each lane is compared with. For an index: below the bound, all indices of
 * the induction are between 0 and the largest in bounds, which is below 2^31, so none has wrapped.
 * For an address: the number of positions for the induction's first address that leave room for the
 * others; none if the others are too far away, up to 2^64. */
static void finish_inductions(struct lane_serial *p)
{
    struct emit *e = p->e;
    for (struct induction *c = p->inductions; c < p->inductions + p->n_inductions; c++) {
        if (c->of->most) { /* so that the first's index is not negative */
            value least = const_i64(e, c->from < 0 ? -(uint64_t)c->from : 0);
            c->most = build_sub(e, c->most, least);
            emit_require(e, build_sge(e, c->most, const_i64(e, 0)), p->together);
        } else {
            value others = const_i64(e, ((uint64_t)c->to - (uint64_t)c->from) / c->access->all);
            c->most = emit_intrinsic(e, "llvm.usub.sat", c->of->n, others);
        }
    }
}

/* Tests that a lane begins in bounds, and returns how many iterations may follow: the rest of the
 * allocation divided by the step. So the last address is in bounds like the first, and nothing
 * wraps between. */
static value start_induction(const struct lane_serial *p, const struct induction *c)
{
    struct emit *e = p->e;
    value root = reg_read_scalar(e, c->walk.root), place, last;
    int64_t step = c->walk.step;
    if (c->of->most) {
        uint64_t least = c->from < 0 ? -(uint64_t)c->from : 0;
        place = build_sub(e, build_zext(e, root, e->m->i64), const_i64(e, least));
        last = c->most;
    } else {
        value first = build_add(e, root, const_i64(e, (uint64_t)c->from));
        place = access_find_place(e, c->access, first, c->of->lo);
        last = build_sub(e, c->most, const_i64(e, 1));
        step /= c->access->all;
    }
    value inside = c->of->most ? build_ule(e, place, last) : build_ult(e, place, c->most);
    emit_require(e, inside, p->together);
    if (step == 0)
        return NULL;
    value way = step > 0 ? build_sub(e, last, place) : place;
    return build_udiv(e, way, const_i64(e, (uint64_t)(step > 0 ? step : -step)));
}

/* Allocates memory for registers, filled with the lanes' values at entry. */
static void prepare_registers(struct lane_serial *p)
{
    struct emit *e = p->e;
    for (uint32_t n = 0; n < e->fn->shapes->live.n; n++) {
        ir_ref r = reg_of(p, n);
        bool is_uniform = fn_ref_shape(e->fn, r) == SHAPE_UNIFORM;
        if (!comes(p, n) && !goes(p, n))
            continue;
        if (is_uniform) {
            p->number[n] = reg_read_scalar(e, r);
            p->last[n] = emit_keep(e, p->number[n]);
            continue;
        }
        LLVMTypeRef type = vector_of_width(e, fn_ref_width(e->fn, r));
        p->row[n] = emit_keep(e, comes(p, n) ? reg_read_lanes(e, r) : LLVMConstNull(type));
    }
}

static void prepare(struct lane_serial *p)
{
    struct emit *e = p->e;
    p->mask = emit_mask(e);
    p->budget = emit_load_i32(e, e->f->count.budget);
    for (uint32_t k = 0; k + 1 < p->block->n; k++)
        if (fn_insn_at(*e->here, k)->kind == IR_LD) {
            find_limits(p, k);
            add_to_induction(p, &p->limits[k], k);
        }
    finish_inductions(p);
    prepare_registers(p);
    p->left = emit_keep(e, p->mask);
    p->spent = emit_keep(e, const_i32(e, 0));
    p->iteration = emit_alloca(e, e->m->i32);
    p->iterations = emit_keep(e, emit_splat(e, const_i32(e, 0)));
}

/* ---- a lane ---- */

static void take_register(const struct lane_serial *p, uint32_t n)
{
    struct emit *e = p->e;
    LLVMTypeRef type = type_of_width(e, fn_ref_width(e->fn, reg_of(p, n)));
    reg_write_scalar(e, reg_of(p, n), p->number[n] ? p->number[n] : reg_load_lane(e, type, p->row[n]));
}

/* Does an earlier load belong to the same induction, through the same base? */
static bool follows_another(const struct lane_serial *p, uint32_t k)
{
    const struct limits *x = &p->limits[k];
    for (const struct limits *y = p->limits; y < x; y++)
        if (y->induction == x->induction && (!x->most || has_same_base(x, y)))
            return true;
    return false;
}

/* Threads' lists are mostly adjacent, and the next warp's follow them. If vector code begins with
 * them, such as a remainder loop before this one, it needs the first elements of 32 lists at once,
 * and waits for memory that was idle while lanes ran one by one. So each lane prefetches about one
 * warp's lists ahead. */
static void prefetch_ahead(struct lane_serial *p)
{
    struct emit *e = p->e;
    for (uint32_t k = 0; k + 1 < p->block->n; k++) {
        const struct limits *x = &p->limits[k];
        if (!x->induction || x->induction->walk.step == 0 || follows_another(p, k))
            continue;
        value at = reg_read_scalar(e, x->induction->walk.root);
        if (x->most) {
            at = build_mul(e, build_zext(e, at, e->m->i64), const_i64(e, x->index.scale));
            at = build_add(e, at, reg_read_scalar(e, x->index.base));
        }
        int64_t bytes = e->fn->target->costs->prefetch_lane, ahead = x->induction->walk.step > 0 ? bytes : -bytes;
        emit_prefetch_line(e, build_add(e, at, const_i64(e, (uint64_t)ahead)), false, FIRST_CACHE);
    }
}

/* Begins the next of the remaining lanes. */
static void start_lane(struct lane_serial *p)
{
    struct emit *e = p->e;
    value left = emit_load_i32(e, p->left);
    e->lanes.lane = build_zext(e, emit_first_lane(e, left), e->m->i64);
    build_store(e, emit_other_lanes(e, left), p->left);
    for (uint32_t n = 0; n < e->fn->shapes->live.n; n++)
        if (comes(p, n))
            take_register(p, n);
    value most = build_zext(e, p->budget, e->m->i64);
    for (const struct induction *c = p->inductions; c < p->inductions + p->n_inductions; c++) {
        value way = start_induction(p, c);
        if (way)
            most = emit_intrinsic(e, "llvm.umin", most, way);
    }
    prefetch_ahead(p);
    p->most = build_trunc(e, most, e->m->i32);
    build_store(e, const_i32(e, 0), p->iteration);
}

static void test_load(const struct lane_serial *p, const struct transfer *t, const struct limits *x)
{
    struct emit *e = p->e;
    value test = x->most ? build_ule(e, reg_read_scalar(e, x->index.lanes), x->most)
                         : build_ult(e, access_find_place(e, t->a, t->first[0], x->lo), x->n);
    emit_require(e, test, p->together);
}

/* The address of a load in an induction. No index wraps, so the offset of the index may be added to
 * the address. */
static value walking_address(const struct lane_serial *p, const struct transfer *t, const struct limits *x)
{
    struct emit *e = p->e;
    value base = reg_read_scalar(e, x->index.base),
          index = build_mul(e, x->induction->now, const_i64(e, x->index.scale));
    base = build_add(e, build_add(e, base, index), access_displacement(e, t->a, e->m->i64));
    return build_add(e, base, const_i64(e, (uint64_t)x->added * x->index.scale));
}

static void emit_own_load(struct lane_serial *p, uint32_t k)
{
    struct emit *e = p->e;
    const struct limits *x = &p->limits[k];
    const struct ir_insn *i = fn_insn_at(*e->here, k);
    struct transfer t = {.a = access_new(e->fn, i)};
    LLVMBasicBlockRef skipped = i->guard ? emit_if_guard(e, i) : NULL;
    access_find_first(e, &t);
    if (!x->induction)
        test_load(p, &t, x);
    else if (x->most)
        t.first[0] = walking_address(p, &t, x);
    access_set_pointers(e, &t);
    transfer_load_uniform(e, &t);
    emit_go_on(e, skipped);
}

/* The end of an iteration: another one, the loop's exit, or the end of the budget. */
static void emit_end(const struct lane_serial *p, LLVMBasicBlockRef again)
{
    struct emit *e = p->e;
    const struct ir_insn *branch = fn_insn_at(*e->here, p->block->n - 1);
    LLVMBasicBlockRef back = emit_new_block(e, ""), through = emit_new_block(e, ""), spent = emit_new_block(e, ""),
                      done = emit_new_block(e, "");
    bool on_true = (fn_target(e->fn, e->here->block) == e->here->block) != branch->guard_negated;
    value iteration = build_add(e, emit_load_i32(e, p->iteration), const_i32(e, 1));
    build_store(e, iteration, p->iteration);
    build_cond_br(e, reg_read_scalar(e, branch->guard), on_true ? back : through, on_true ? through : back);
    emit_at_end(e, back);
    emit_likely(e, build_ule(e, iteration, p->most), again, spent);
    emit_at_end(e, spent);
    LLVMBasicBlockRef of_budget = emit_new_block(e, "");
    build_cond_br(e, build_ult(e, p->most, p->budget), p->together, of_budget);
    emit_at_end(e, of_budget);
    build_store(e, build_or(e, emit_load_i32(e, p->spent), emit_lane_bit(e)), p->spent);
    for (uint32_t n = 0; n < e->fn->shapes->live.n; n++)
        if (p->number[n])
            build_store(e, reg_read_scalar(e, reg_of(p, n)), p->last[n]);
    build_br(e, done);
    emit_at_end(e, through);
    emit_go_on(e, done);
    for (uint32_t n = 0; n < e->fn->shapes->live.n; n++)
        if (p->row[n] && goes(p, n))
            reg_store_lane(e, reg_read_scalar(e, reg_of(p, n)), p->row[n]);
    build_store(e, iteration, build_gep(e, e->m->i32, p->iterations, e->lanes.lane));
}

static void emit_lane(struct lane_serial *p, struct cursor *here, LLVMBasicBlockRef start, LLVMBasicBlockRef behind)
{
    struct emit *e = p->e;
    LLVMBasicBlockRef iteration = emit_new_block(e, "alone");
    emit_go_on(e, start);
    start_lane(p);
    emit_go_on(e, iteration);
    for (struct induction *c = p->inductions; c < p->inductions + p->n_inductions; c++)
        c->now = c->of->most ? build_zext(e, reg_read_scalar(e, c->walk.root), e->m->i64) : NULL;
    for (here->index = 0; here->index + 1 < p->block->n; here->index++)
        if (fn_insn_at(*here, here->index)->kind == IR_LD)
            emit_own_load(p, here->index);
        else
            emit_lanes(e, fn_insn_at(*here, here->index));
    emit_end(p, iteration);
    build_cond_br(e, emit_is_zero(e, emit_load_i32(e, p->left)), behind, start);
}

/* Emits the loop for one lane at a time, with a single lane's shapes, registers and mode in place
 * of the warp's. */
static void emit_lanes_in_turn(struct lane_serial *p, LLVMBasicBlockRef behind)
{
    struct emit *e = p->e, all = *e;
    struct ir_shapes one;
    struct function of_lane = function_of_one_lane(e->fn, &one);
    e->fn = &of_lane;
    e->mode = &lane_mode;
    struct cursor here = {.fn = &of_lane, .check_groups = e->here->check_groups};
    emit_stand_at(e, &here, e->here->block);
    e->regs = ARENA_ARRAY(e->arena, value, (size_t)e->fn->ir->regs.n * MAX_PIECES);
    e->clean = ARENA_ARRAY(e->arena, uint64_t, 2 * one.live.words + 1);
    for (uint32_t k = 0; k < p->block->n; k++) {
        ir_ref refs[2 * IR_MAX_REFS];
        unsigned n = ir_reads(fn_insn_at(*e->here, k), refs);
        n += ir_writes(fn_insn_at(*e->here, k), refs + n);
        for (unsigned j = 0; j < n; j++) {
            value *reg = ir_ref_kind(refs[j]) == REF_REG ? &e->regs[(size_t)ir_ref_index(refs[j]) * MAX_PIECES] : NULL;
            if (reg && !*reg)
                *reg = emit_alloca(e, type_of_width(e, fn_ref_width(e->fn, refs[j])));
        }
    }
    emit_lane(p, &here, emit_new_block(e, "lane"), behind);
    e->fn = all.fn;
    e->mode = all.mode;
    e->here = all.here;
    e->regs = all.regs;
    e->clean = all.clean;
    e->lanes.lane = NULL;
}

/* ---- behind the loop ---- */

/* All lanes are done: sets registers, counts and budget to what they would be if lanes had run
 * together, before the branch that ends the last iteration. */
static void finish(const struct lane_serial *p)
{
    struct emit *e = p->e;
    const struct ir_insn *branch = fn_insn_at(*e->here, p->block->n - 1);
    bool on_true = (fn_target(e->fn, e->here->block) == e->here->block) != branch->guard_negated;
    value spent = emit_load_i32(e, p->spent),
          iterations = build_load(e, vector_of(e->m->i32, WARP_LANES), p->iterations);
    value longest = emit_intrinsic(e, "llvm.vector.reduce.umax", iterations, NULL);
    value sum = emit_intrinsic(e, "llvm.vector.reduce.add", iterations, NULL);
    for (uint32_t n = 0; n < e->fn->shapes->live.n; n++) {
        ir_ref r = reg_of(p, n);
        if (!goes(p, n))
            continue;
        if (p->row[n])
            reg_write_lanes(e, r, build_load(e, vector_of_width(e, fn_ref_width(e->fn, r)), p->row[n]), NULL);
        else
            reg_write_scalar(e, r, build_load(e, type_of_width(e, fn_ref_width(e->fn, r)), p->last[n]));
    }
    reg_write_lanes(e, branch->guard, on_true ? spent : build_not(e, spent), NULL);
    value operations = const_i64(e, layout_operations(p->block));
    value n = build_zext(e, longest, e->m->i64), lanes = build_zext(e, sum, e->m->i64);
    value absent = build_sub(e, build_mul(e, n, const_i64(e, WARP_LANES)), lanes);
    emit_add_to(e, e->f->count.instructions, build_mul(e, n, operations));
    emit_add_to(e, e->f->count.absent, build_mul(e, absent, operations));
    value back = build_sub(e, longest, const_i32(e, 1));
    build_store(e, build_sub(e, p->budget, back), e->f->count.budget);
}

void emit_lane_serial(struct emit *e, const struct ir_block *block, LLVMBasicBlockRef together)
{
    uint32_t n = e->fn->shapes->live.n + 1;
    struct lane_serial p = {.e = e, .block = block, .together = together};
    LLVMBasicBlockRef behind = emit_new_block(e, "");
    p.limits = ARENA_ARRAY(e->arena, struct limits, block->n);
    p.inductions = ARENA_ARRAY(e->arena, struct induction, block->n);
    p.row = ARENA_ARRAY(e->arena, value, n);
    p.number = ARENA_ARRAY(e->arena, value, n);
    p.last = ARENA_ARRAY(e->arena, value, n);
    prepare(&p);
    emit_lanes_in_turn(&p, behind);
    emit_at_end(e, behind);
    finish(&p);
}
