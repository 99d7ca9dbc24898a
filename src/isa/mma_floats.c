/* Products of floating point, of dense matrices; see mma_floats.h. Elements with a NaN or an
 * infinity among their terms are computed anew, one by one.
 */
#include "isa/mma_factors.h"

/* ---- one by one ---- */

static u32 element_of(const struct block *x, unsigned m, unsigned n)
{
    u32 a[MMA_MAX_K], b[MMA_MAX_K];
    for (unsigned k = 0; k < x->k; k++) {
        a[k] = x->a[k * x->m + m];
        b[k] = x->b[(x->selected ? x->selected[k * x->m + m] : k) * x->n + n];
    }
    return sem_mma_block(x->unit, x->fa, x->fb, x->k, a, b, x->c[n * x->m + m]);
}

/* All elements, or those with something special in their row, column or c. */
static void compute_singly(const struct block *x, bool all)
{
    bool row[MMA_MAX_M] = {false}, column[MMA_MAX_N] = {false};
    for (unsigned i = 0; i < x->k * x->m; i++)
        row[i % x->m] |= is_special(x->fa, x->a[i]);
    for (unsigned i = 0; i < x->b_rows * x->n; i++)
        column[i % x->n] |= is_special(x->fb, x->b[i]);
    for (unsigned n = 0; n < x->n; n++)
        for (unsigned m = 0; m < x->m; m++)
            if (all || row[m] || column[n] || is_special(x->unit.is_f16 ? mma_f16 : mma_f32, x->c[n * x->m + m]))
                x->d[n * x->m + m] = element_of(x, m, n);
}

/* ---- blocks ---- */

/* A tile is W rows of COLUMNS columns. Of fragments these are the even columns, or the odd ones, of
 * eight. */
struct tile {
    const struct block *x;
    const struct factors *a, *b;
    unsigned k_count, n, m;
    vu *c;
    vi *top; /* the exponents that terms are aligned to */
};

/* Which register has the tile's rows in place, and the one of the next eight; the first of its
 * lanes. */
struct tile_place {
    unsigned reg, next, lane;
};

INLINE struct tile_place place_of(const struct tile *t)
{
    unsigned block = t->m / 8, eight = t->n / 8, odd = t->n / COLUMNS % 2;
    const struct mma_eights *d = &t->x->places->d;
    return (struct tile_place){d->reg[block][eight][odd], W == 16 ? d->reg[block + 1][eight][odd] : 0, t->m % 8 * 4};
}

INLINE void load_c(const struct tile *t, bool in_place, bool is_f16)
{
    if (!in_place) {
        for (unsigned j = 0; j < COLUMNS; j++)
            LOAD(t->c[j], t->x->c + (t->n + j) * t->x->m + t->m);
        return;
    }
    struct tile_place p = place_of(t);
    load_columns(t->x->c_rows[p.reg] + p.lane, t->x->c_rows[p.next], t->c);
    for (unsigned j = 0; j < COLUMNS && is_f16; j++)
        t->c[j] = t->c[j] >> (t->n / COLUMNS % 2 * 16) & 0xffff;
}

/* Of two f16 in a register the odd column's comes later. */
INLINE void store_d(const struct tile *t, bool in_place, bool is_f16, const vi d[COLUMNS])
{
    vu words[COLUMNS];
    for (unsigned j = 0; j < COLUMNS && !in_place; j++)
        STORE(t->x->d + (t->n + j) * t->x->m + t->m, d[j]);
    if (!in_place)
        return;
    struct tile_place p = place_of(t);
    u32 *row = t->x->d_rows[p.reg] + p.lane, *next = t->x->d_rows[p.next];
    bool joins = is_f16 && t->n / COLUMNS % 2;
    if (joins)
        load_columns(row, next, words);
    for (unsigned j = 0; j < COLUMNS; j++)
        words[j] = joins ? words[j] | (vu)d[j] << 16 : (vu)d[j];
    store_columns(words, row, next);
}

/* Where B's factors of the tile's columns begin: of fragments those of one tile are together. */
INLINE unsigned factors_at(const struct tile *t, bool in_place, unsigned k)
{
    return in_place ? t->n * t->k_count + k * COLUMNS : k * t->x->n + t->n;
}

INLINE vi top_of_c(const struct tile *t, struct mma_unit unit, unsigned j)
{
    return MAX(take_accumulator(unit.is_f16, t->c[j]).exponent, (vi){0} + mma_least_exponent(unit));
}

/* The greatest exponents of terms. */
INLINE void find_tops(const struct tile *t, struct mma_unit unit, bool wide, bool in_place)
{
    for (unsigned j = 0; j < COLUMNS; j++)
        t->top[j] = top_of_c(t, unit, j);
    if (wide) {
        for (unsigned k = 0; k < t->k_count; k++) {
            vi e;
            LOAD(e, t->a->exponent + k * t->x->m + t->m);
            for (unsigned j = 0; j < COLUMNS; j++)
                t->top[j] = MAX(t->top[j], e + t->b->exponent[factors_at(t, in_place, k) + j]);
        }
        return;
    }
    vb all = repeat_rows(t->a->narrow + t->m) + repeat_columns(t->b->narrow + factors_at(t, in_place, 0));
    for (unsigned k = 1; k < t->k_count; k++)
        all = MAX_BYTES(all, repeat_rows(t->a->narrow + k * t->x->m + t->m) +
                                 repeat_columns(t->b->narrow + factors_at(t, in_place, k)));
    for (unsigned j = 0; j < COLUMNS; j++)
        t->top[j] = MAX(t->top[j], widen_rows(&all, j));
}

/* Without products that are 0. */
INLINE void correct_tops(const struct tile *t, struct mma_unit unit)
{
    for (unsigned j = 0; j < COLUMNS; j++)
        t->top[j] = MAX(t->top[j] - ((t->top[j] < NEAR) & NEVER), top_of_c(t, unit, j));
}

/* Adds the terms. `wide`: exponents are beyond f32's, so that terms are scaled one by one; `near`:
 * all tops are at least NEAR. Gives something else than 0 where some elements are to be computed
 * singly. An element's products have a sum of 32 bits, unless a factor is a NaN or an infinity:
 * whatever integer its sum then wraps to, compute_singly() replaces the element.
 */
INLINE vi add_tile(const struct tile *t, struct mma_unit unit, bool wide, bool near, bool in_place)
{
    vi d[COLUMNS], top[COLUMNS], none = {0}, odd = {0};
    vu sum[COLUMNS];
    vf scale[COLUMNS];
    for (unsigned j = 0; j < COLUMNS; j++) {
        top[j] = t->top[j];
        scale[j] = scale_of(unit, near, top[j]);
        sum[j] = (vu)none;
    }
    for (unsigned k = 0; k < t->k_count; k++) {
        vf v;
        vi e = none;
        LOAD(v, t->a->value + k * t->x->m + t->m);
        if (wide)
            LOAD(e, t->a->exponent + k * t->x->m + t->m);
        for (unsigned j = 0; j < COLUMNS; j++) {
            unsigned at = factors_at(t, in_place, k) + j;
            vf own = scale[j];
            if (wide)
                own = (vf)(MAX(e + (127 + unit.fraction_bits) + t->b->exponent[at] - top[j], none) << 23);
            sum[j] += (vu) __builtin_convertvector(v * t->b->value[at] * own, vi);
        }
    }
    for (unsigned j = 0; j < COLUMNS; j++) {
        struct accumulator c = take_accumulator(unit.is_f16, t->c[j]);
        vi own = __builtin_convertvector(c.value * scale[j], vi);
        odd |= near ? mma_finish_near(unit, (vi)sum[j], own, scale[j], &d[j])
                    : mma_finish(unit, wide, (vi)sum[j], own, top[j], (vi)c.value << 1, &d[j]);
    }
    store_d(t, in_place, unit.is_f16, d);
    return near ? odd & INT32_MIN : odd;
}

/* c that is a NaN or an infinity. */
INLINE vi find_special(const struct tile *t, bool is_f16)
{
    const s32 ones = is_f16 ? 0x7c00 : 0x7f800000;
    vi special = {0};
    for (unsigned j = 0; j < COLUMNS; j++)
        special |= ((vi)t->c[j] & ones) == ones;
    return special;
}

#define EACH_TILE(t)                                                                                                   \
    for ((t).n = 0; (t).n < (t).x->n; (t).n += COLUMNS)                                                                \
        for ((t).m = 0; (t).m < (t).x->m; (t).m += W, (t).c += COLUMNS, (t).top += COLUMNS)

/* False where some elements are to be computed singly. All tops first: to wait for those of each
 * tile takes longer. */
INLINE bool multiply_tiles(const struct block *x, struct mma_unit unit, bool wide, bool in_place,
                           const struct factors *a, const struct factors *b, unsigned k_count)
{
    vu c[MMA_MAX_D / W];
    vi top[MMA_MAX_D / W], odd = {0}, least = {0};
    const struct tile first = {.x = x, .a = a, .b = b, .k_count = k_count, .c = c, .top = top};
    struct tile t = first;
    EACH_TILE(t)
    {
        load_c(&t, in_place, unit.is_f16);
        odd |= find_special(&t, unit.is_f16);
        find_tops(&t, unit, wide, in_place);
        for (unsigned j = 0; j < COLUMNS; j++)
            least = MIN(least, t.top[j]);
    }
    t = first;
    if (wide || any_lane(least < NEAR)) {
        EACH_TILE(t)
        {
            if (!wide)
                correct_tops(&t, unit);
            odd |= add_tile(&t, unit, wide, false, in_place);
        }
    } else {
        EACH_TILE(t)
        odd |= add_tile(&t, unit, wide, true, in_place);
    }
    return !any_lane(odd);
}

INLINE bool multiply_block(const struct block *x, struct mma_unit unit, bool wide, const struct factors *a,
                           const struct factors *b, unsigned k_count)
{
    return multiply_tiles(x, unit, wide, false, a, b, k_count);
}

static bool run_wide(const struct block *x, const struct factors *a, const struct factors *b, unsigned k)
{
    return multiply_block(x, mma_unit_f32, true, a, b, k);
}

static bool run_narrow(const struct block *x, const struct factors *a, const struct factors *b, unsigned k)
{
    if (x->unit.fraction_bits == 25)
        return x->unit.is_f16 ? multiply_block(x, mma_unit_f16, false, a, b, k)
                              : multiply_block(x, mma_unit_f32, false, a, b, k);
    return x->unit.is_f16 ? multiply_block(x, mma_unit_fp8_f16, false, a, b, k)
                          : multiply_block(x, mma_unit_fp8_f32, false, a, b, k);
}

static bool take_factors(struct mma_format f, const u32 *code, unsigned n, struct factors *to)
{
    if (f.exponent_bits == 8)
        return f.mantissa_bits == 7 ? mma_take_apart(mma_bf16, true, code, n, to)
                                    : mma_take_apart(mma_tf32, true, code, n, to);
    if (f.exponent_bits == 4)
        return mma_take_apart(mma_e4m3, false, code, n, to);
    return f.mantissa_bits == 10 ? mma_take_apart(mma_f16, false, code, n, to)
                                 : mma_take_apart(mma_e5m2, false, code, n, to);
}

static bool has_special(struct mma_format f, const u32 *code, unsigned n)
{
    u32 found = 0, ones = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
    for (unsigned i = 0; i < n; i++)
        found |= (code[i] & ones) == ones;
    return found;
}

static void run_block(const struct block *given)
{
    struct block x = *given;
    struct factors a, b;
    u32 dense[MMA_MAX_A], c[MMA_MAX_D];
    unsigned k = x.selected ? x.b_rows : x.k;
    if (x.c == x.d) { /* which is still needed when some of it has been written */
        memcpy(c, x.c, sizeof *c * x.m * x.n);
        x.c = c;
    }
    bool distinct = !x.selected || mma_expand(&x, dense);
    bool special = take_factors(x.fa, x.selected ? dense : x.a, k * x.m, &a);
    special |= take_factors(x.fb, x.b, x.n * k, &b);
    special |= has_special(x.unit.is_f16 ? mma_f16 : mma_f32, x.c, x.m * x.n);
    bool done = x.fa.exponent_bits == 8 ? run_wide(&x, &a, &b, k) : run_narrow(&x, &a, &b, k);
    if (special || !distinct || !done)
        compute_singly(&x, !distinct || !done);
}

/* ---- 8-bit floats of mma ---- */

/* The elements of A with 4i and 4i + 1, or the others, as f16; those of B are all there, and
 * selected. */
static unsigned take_half(const struct mma_product *p, struct mma_format f, const u32 *a, const u8 *selected,
                          unsigned half, u32 *to, u8 *to_selected)
{
    unsigned n = 0;
    for (unsigned k = 0; k < p->k; k++) {
        if ((k >> 1 & 1) != half)
            continue;
        for (unsigned m = 0; m < p->m; m++) {
            to[n * p->m + m] = mma_f16_of_fp8(f, a[k * p->m + m]);
            to_selected[n * p->m + m] = selected ? selected[k * p->m + m] : (u8)k;
        }
        n++;
    }
    return n;
}

static struct mma_format format_of(enum isa_type type)
{
    switch (type) {
    case TYPE_f16: return mma_f16;
    case TYPE_bf16: return mma_bf16;
    case TYPE_tf32: return mma_tf32;
    case TYPE_e4m3: return mma_e4m3;
    default: return mma_e5m2;
    }
}

static void multiply_fp8(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d,
                         const u8 *selected)
{
    bool is_f16 = p->d_type == TYPE_f16;
    unsigned b_rows = selected ? 2 * p->k : p->k;
    u32 wide_a[MMA_MAX_A], wide_b[MMA_MAX_B], sum[MMA_MAX_D] = {0};
    u8 at[MMA_MAX_A];
    struct mma_format fa = format_of((enum isa_type)p->a_type), fb = format_of((enum isa_type)p->b_type);
    for (unsigned i = 0; i < b_rows * p->n; i++)
        wide_b[i] = mma_f16_of_fp8(fb, b[i]);
    for (unsigned half = 0; half < 2; half++) {
        unsigned k = take_half(p, fa, a, selected, half, wide_a, at);
        struct block x = {.unit = is_f16 ? mma_unit_f16 : mma_unit_f32,
                          .fa = mma_f16,
                          .fb = mma_f16,
                          .m = p->m,
                          .n = p->n,
                          .k = k,
                          .b_rows = b_rows,
                          .a = wide_a,
                          .b = wide_b,
                          .c = sum,
                          .selected = at,
                          .d = sum};
        run_block(&x);
    }
    for (unsigned i = 0; i < (unsigned)p->m * p->n; i++)
        d[i] = is_f16 ? f16_of_f32(f32_of_f16((u16)c[i]) + f32_of_f16((u16)sum[i]), RND_rn)
                      : f32_bits(f32_canonical(f32_of(c[i]) + f32_of(sum[i])));
}

/* ---- floating point ---- */

/* wmma of tf32: the first half of k, and then the second one. */
static void run_halves(struct block x)
{
    x.k = x.b_rows = x.k / 2;
    run_block(&x);
    x.a += x.k * x.m;
    x.b += x.k * x.n;
    x.c = x.d;
    run_block(&x);
}

void MMA_OF_LEVEL(mma_multiply_floats)(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d,
                                       const u8 *selected)
{
    bool is_fp8 = p->a_type == TYPE_e4m3 || p->a_type == TYPE_e5m2;
    bool narrows = p->d_type == TYPE_f16 && p->c_type != TYPE_f16,
         widens = p->d_type != TYPE_f16 && p->c_type == TYPE_f16;
    bool is_f16 = p->d_type == TYPE_f16 && !narrows;
    unsigned count = (unsigned)p->m * p->n;
    u32 wide[MMA_MAX_D];
    if (is_fp8 && !p->is_warpgroup) {
        multiply_fp8(p, a, b, c, d, selected);
        return;
    }
    for (unsigned i = 0; widens && i < count; i++)
        wide[i] = f32_bits(f32_canonical(f32_of_f16((u16)c[i])));
    struct block x = {.unit = is_fp8 ? (is_f16 ? mma_unit_fp8_f16 : mma_unit_fp8_f32)
                                     : (is_f16 ? mma_unit_f16 : mma_unit_f32),
                      .fa = format_of((enum isa_type)p->a_type),
                      .fb = format_of((enum isa_type)p->b_type),
                      .m = p->m,
                      .n = p->n,
                      .k = p->k,
                      .b_rows = selected ? 2u * p->k : p->k,
                      .a = a,
                      .b = b,
                      .c = widens ? wide : c,
                      .selected = selected,
                      .d = d};
    if (p->is_wmma && p->a_type == TYPE_tf32)
        run_halves(x);
    else
        run_block(&x);
    for (unsigned i = 0; narrows && i < count; i++)
        d[i] = f16_of_f32(f32_of(d[i]), RND_rn);
}

/* ---- in place ---- */

/* Two factors a word: the low ones to `at`, the high ones `high` further on. */
INLINE vi take_halves(struct mma_format f, bool wide, vu words, struct factors *to, unsigned at, unsigned high)
{
    if (wide)
        return take_wide(f, words & 0xffff, to, at) | take_wide(f, words >> 16, to, at + high);
    vh magnitude = (vh)(words & 0x7fff7fff), field = magnitude >> 10, one = (vh){0} + 1;
    vh exponents = MAX_HALVES(field, one) + MIN_HALVES(magnitude, one) * (-14 - NARROW_NEVER) + (NARROW_NEVER - 1);
    vf low_value = widen_f16(words), high_value = widen_f16(words >> 16);
    STORE(to->value + at, low_value);
    STORE(to->value + at + high, high_value);
    store_bytes((vi)exponents << 16 >> 16, to->narrow + at);
    store_bytes((vi)exponents >> 16, to->narrow + at + high);
    return (vi)(field == 31);
}

/* Numbers along k are taken in the order of their registers, then low halves before high ones, then
 * t. */
INLINE vi take_left(const struct block *x, struct mma_format f, bool wide, const u32 *const *rows, struct factors *to)
{
    vi special = {0};
    for (unsigned m = 0; m < x->m; m += W)
        for (unsigned k = 0; k < x->k; k += 8) {
            const struct mma_eights *of = &x->places->left;
            vu words[4];
            load_columns(rows[of->reg[m / 8][k / 8][0]] + m % 8 * 4,
                         W == 16 ? rows[of->reg[m / 8 + 1][k / 8][0]] : NULL, words);
            for (unsigned t = 0; t < 4; t++)
                special |= take_halves(f, wide, words[t], to, (k + t) * x->m + m, 4 * x->m);
        }
    return special;
}

/* As factors_at() has them. */
INLINE vi take_right(const struct block *x, struct mma_format f, bool wide, const u32 *const *rows, struct factors *to)
{
    vi special = {0};
    u32 split[2][16] __attribute__((aligned(64)));
    for (unsigned n = 0; n < x->n; n += 8)
        for (unsigned k = 0; k < x->k; k += 8) {
            split_rows(rows[x->places->right.reg[n / 8][k / 8][0]], split[0], split[1]);
            for (unsigned odd = 0; odd < 2; odd++)
                for (unsigned i = 0; i < 16; i += W) {
                    vu words;
                    LOAD(words, split[odd] + i);
                    special |= take_halves(f, wide, words, to, (n + COLUMNS * odd) * x->k + k * COLUMNS + i, 16);
                }
        }
    return special;
}

INLINE bool multiply_rows(const struct block *x, struct mma_unit unit, struct mma_format f, bool wide,
                          const u32 *const *left, const u32 *const *right)
{
    struct factors a, b;
    vi special = take_left(x, f, wide, left, &a) | take_right(x, f, wide, right, &b);
    return !any_lane(special) && multiply_tiles(x, unit, wide, true, &a, &b, x->k);
}

static bool multiply_bf16(const struct block *x, const u32 *const *left, const u32 *const *right)
{
    return multiply_rows(x, mma_unit_f32, mma_bf16, true, left, right);
}

static bool multiply_f16(const struct block *x, const u32 *const *left, const u32 *const *right)
{
    return multiply_rows(x, mma_unit_f32, mma_f16, false, left, right);
}

static bool multiply_f16_to_f16(const struct block *x, const u32 *const *left, const u32 *const *right)
{
    return multiply_rows(x, mma_unit_f16, mma_f16, false, left, right);
}

bool MMA_OF_LEVEL(mma_multiply_in_place)(const struct mma_places *p, const u32 *const *left, const u32 *const *right,
                                         const u32 *const *c, u32 *const *d)
{
    u32 rows[8][32] __attribute__((aligned(64)));
    struct block x = {.m = 8u * p->row_blocks,
                      .n = 8u * p->column_blocks,
                      .k = 8u * p->k_blocks,
                      .places = p,
                      .c_rows = c,
                      .d_rows = rows};
    unsigned regs = p->row_blocks * p->column_blocks * (p->d_type == TYPE_f16 ? 1u : 2u);
    if (!(p->type == TYPE_bf16    ? multiply_bf16(&x, left, right)
          : p->d_type == TYPE_f16 ? multiply_f16_to_f16(&x, left, right)
                                  : multiply_f16(&x, left, right)))
        return false;
    for (unsigned i = 0; i < regs; i++) /* only now: C may be in the same registers */
        for (unsigned l = 0; l < 32; l += W) {
            vu v;
            LOAD(v, rows[i] + l);
            STORE(d[i] + l, v);
        }
    return true;
}
