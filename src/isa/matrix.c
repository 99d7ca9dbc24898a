/* See matrix.h. */
#include "isa/matrix.h"

#include "isa/needs.h"
#include "isa/opcodes.h"

enum { LANES = 32, TRANSPOSED_N = 32 };

/* ---- the tables ---- */

enum layout {
#define FRAGMENT(name, first, lanes, rest) LAYOUT_##name,
#include "isa/matrix.def"
#undef FRAGMENT
};

static const struct {
    const char *first, *lanes, *rest;
} layouts[] = {
#define FRAGMENT(name, first, lanes, rest) {first, lanes, rest},
#include "isa/matrix.def"
#undef FRAGMENT
};

static const struct product {
    isa_op op;
    bool sparse;
    uint16_t m, n, k;
    const char *d, *a, *b;
    uint8_t ptx, sm;
} products[] = {
#define PRODUCT(op, sparse, m, n, k, d, a, b, ptx, sm) {OP_##op, sparse, m, n, k, d, a, b, ptx, sm},
#include "isa/matrix.def"
#undef PRODUCT
};

enum { PRODUCT_COUNT = sizeof products / sizeof products[0], ANY_N = 0, INTEGER_N = 1 };

static bool lists(const char *types, enum isa_type type)
{
    for (struct str w; isa_next_word(&types, ' ', &w);)
        if (str_is(w, isa_type_name(type)))
            return true;
    return false;
}

static bool has_n(const struct product *p, unsigned n)
{
    if (p->n > INTEGER_N)
        return p->n == n;
    return n >= 8 && n <= 256 && n % 8 == 0 && (p->n == ANY_N || n <= 32 || n % 16 == 0);
}

/* ---- fragments ---- */

static unsigned bits_for(unsigned count)
{
    return count > 1 ? 32 - (unsigned)__builtin_clz(count - 1) : 0;
}

/* The bits of coordinates that have been named. */
struct naming {
    unsigned bits[COORDINATES]; /* there are */
    uint32_t named[COORDINATES];
};

/* The next bit that `text` names; false at its end. */
static bool next_bit(struct naming *x, const char **text, struct fragment_bit *bit)
{
    static const char letters[] = "mnkq";
    while (**text) {
        unsigned c = (unsigned)(strchr(letters, *(*text)++) - letters), b = 0;
        bool explicit = **text >= '0' && **text <= '9';
        if (explicit)
            b = (unsigned)(*(*text)++ - '0');
        else
            while (x->named[c] >> b & 1)
                b++;
        if (b >= x->bits[c])
            continue;
        x->named[c] |= 1u << b;
        *bit = (struct fragment_bit){(uint8_t)c, (uint8_t)b};
        return true;
    }
    return false;
}

static void add_number(struct fragment *f, struct fragment_bit bit)
{
    f->number[f->number_bits++] = bit;
}

/* Where the m x n, m x k or k x n elements of `type` are; least_regs: copies fill the rest. */
static struct fragment make_fragment(enum layout layout, enum isa_type type, const unsigned count[COORDINATES],
                                     unsigned least_regs)
{
    struct fragment f = {.type = (uint8_t)type, .bits = (uint8_t)isa_type_bits(type)};
    struct naming x = {0};
    struct fragment_bit bit;
    unsigned elements = 1;
    f.reg_bits = f.bits > 32 ? 64 : 32;
    for (unsigned c = 0; c < COORDINATES; c++) {
        x.bits[c] = bits_for(count[c]);
        elements *= count[c];
    }
    const char *first = layouts[layout].first, *lanes = layouts[layout].lanes, *rest = layouts[layout].rest;
    bool repeats = strchr(first, '*') != NULL;
    for (unsigned k = bits_for(fragment_per_reg(&f)); repeats && k > 0; k--) {
        const char *again = (const char[]){first[0], 0};
        if (next_bit(&x, &again, &bit))
            add_number(&f, bit);
    }
    while (!repeats && next_bit(&x, &first, &bit))
        add_number(&f, bit);
    for (unsigned l = 0; l < 5; l++)
        f.lane[l] = next_bit(&x, &lanes, &bit) ? bit : (struct fragment_bit){COORDINATES, 0};
    while (f.number_bits < FRAGMENT_NUMBER_BITS && next_bit(&x, &rest, &bit))
        add_number(&f, bit);
    unsigned regs = elements / LANES / fragment_per_reg(&f);
    f.n_regs = (uint8_t)(regs > least_regs ? regs : least_regs);
    return f;
}

static uint64_t weight_of(struct fragment_bit b, const uint64_t weight[COORDINATES])
{
    return b.coordinate < COORDINATES ? weight[b.coordinate] << b.bit : 0;
}

void fragment_places(const struct fragment *f, const uint64_t weight[COORDINATES], uint64_t lanes[32],
                     uint64_t *numbers)
{
    for (unsigned l = 0; l < LANES; l++) {
        lanes[l] = 0;
        for (unsigned b = 0; b < 5; b++)
            lanes[l] += l >> b & 1 ? weight_of(f->lane[b], weight) : 0;
    }
    for (unsigned e = 0; e < f->n_regs * fragment_per_reg(f); e++) {
        numbers[e] = 0;
        for (unsigned b = 0; b < f->number_bits; b++)
            numbers[e] += e >> b & 1 ? weight_of(f->number[b], weight) : 0;
    }
}

/* ---- products ---- */

/* Single bits are moved by registers: words of 32 along k. */
static enum isa_type unit_type(enum isa_type type)
{
    return type == TYPE_b1 ? TYPE_b32 : type;
}

static unsigned units(enum isa_type type, unsigned k)
{
    return type == TYPE_b1 ? k / 32 : k;
}

/* The types of a use, as far as its opcode says them. */
struct types {
    enum isa_type a, b, c, d;
};

static bool goes_with(const struct product *p, const struct types *t)
{
    bool same_b = p->b[0] == '=';
    return (!t->d || lists(p->d, t->d)) && (!t->c || lists(p->d, t->c)) && (!t->a || lists(p->a, t->a)) &&
           (!t->b || (same_b ? !t->a || t->a == t->b : lists(p->b, t->b)) || (same_b && !t->a && lists(p->a, t->b)));
}

static const struct product *find_product(const struct isa_inst *inst, bool sparse, const struct types *t)
{
    for (unsigned i = 0; i < PRODUCT_COUNT; i++) {
        const struct product *p = &products[i];
        if (p->op == inst->op && p->sparse == sparse && p->m == inst->shape.m && has_n(p, inst->shape.n) &&
            p->k == inst->shape.k && goes_with(p, t))
            return p;
    }
    return NULL;
}

/* The shapes that there are for these types; or that there are none. */
static const char *shapes_text(const struct isa_inst *inst, bool sparse, const struct types *t, struct arena *arena)
{
    const char *text = NULL;
    for (unsigned i = 0; i < PRODUCT_COUNT; i++) {
        const struct product *p = &products[i];
        if (p->op != inst->op || p->sparse != sparse || !goes_with(p, t))
            continue;
        const char *shape = p->n <= INTEGER_N ? arena_printf(arena, "m%un8k%u to m%un256k%u", p->m, p->k, p->m, p->k)
                                              : arena_printf(arena, "m%un%uk%u", p->m, p->n, p->k);
        if (!text || !strstr(text, shape))
            text = text ? arena_printf(arena, "%s, %s", text, shape) : shape;
    }
    return text;
}

static struct fragment make_a(const struct isa_inst *inst, const struct matrix *x, const struct types *t)
{
    bool quad = matrix_is_quad(x);
    unsigned rows = inst->op == OP_wgmma ? 16 : x->m; /* of a warp */
    const unsigned count[COORDINATES] = {rows, 1, units(t->a, x->sparse ? x->k / 2 : x->k), quad ? 4 : 1};
    return make_fragment(quad ? (x->a_by_column ? LAYOUT_A_COL_QUAD : LAYOUT_A_ROW_QUAD)
                         : x->n == TRANSPOSED_N && inst->op == OP_wmma ? LAYOUT_A_SWAPPED
                                                                       : LAYOUT_A,
                         unit_type(t->a), count, inst->op == OP_wmma && t->a == TYPE_f16 ? 8 : 0);
}

static struct fragment make_b(const struct isa_inst *inst, const struct matrix *x, const struct types *t)
{
    bool quad = matrix_is_quad(x);
    const unsigned count[COORDINATES] = {1, x->n, units(t->b, x->k), quad ? 4 : 1};
    if (inst->op == OP_wgmma) /* in shared memory */
        return (struct fragment){.type = (uint8_t)t->b, .bits = (uint8_t)isa_type_bits(t->b)};
    return make_fragment(quad ? (x->b_by_row ? LAYOUT_B_ROW_QUAD : LAYOUT_B_COL_QUAD)
                         : x->n == TRANSPOSED_N && inst->op == OP_wmma ? LAYOUT_B_SWAPPED
                                                                       : LAYOUT_B,
                         unit_type(t->b), count, inst->op == OP_wmma && t->b == TYPE_f16 ? 8 : 0);
}

static struct fragment make_c(const struct isa_inst *inst, const struct matrix *x, enum isa_type type)
{
    bool quad = matrix_is_quad(x);
    unsigned rows = inst->op == OP_wgmma ? 16 : x->m;
    const unsigned count[COORDINATES] = {rows, x->n, 1, quad ? 4 : 1};
    return make_fragment(quad ? (type == TYPE_f16 ? LAYOUT_C16_QUAD : LAYOUT_C32_QUAD)
                         : x->n == TRANSPOSED_N && inst->op == OP_wmma ? LAYOUT_C_SWAPPED
                                                                       : LAYOUT_C,
                         type, count, 0);
}

/* Layouts in the order in which they are written. */
static void take_layouts(const struct isa_inst *inst, struct matrix *x)
{
    unsigned n = 0;
    for (unsigned k = 0; k < inst->n_mods; k++) {
        if (inst->mod[k] != MOD_row && inst->mod[k] != MOD_col)
            continue;
        if (n++ == 0)
            x->a_by_column = inst->mod[k] == MOD_col;
        else
            x->b_by_row = inst->mod[k] == MOD_row;
    }
}

static struct types types_of(const struct isa_inst *inst)
{
    const uint8_t *t = inst->type;
    if (inst->op == OP_wgmma)
        return (struct types){.d = t[0], .a = t[1], .b = t[2], .c = t[0]};
    if (inst->n_types == 2) /* wmma.mma of f16 */
        return (struct types){.d = t[0], .a = TYPE_f16, .b = TYPE_f16, .c = t[1]};
    return (struct types){.d = t[0], .a = t[1], .b = t[2], .c = t[3]};
}

/* What the ISA says in words of each instruction: which layouts go with which types, and which
 * accumulators with which results. */
static const char *find_conflict(const struct isa_inst *inst, const struct matrix *x, const struct types *t)
{
    bool small = isa_type_bits(t->a) < 8, is_int = isa_type_bits(t->a) <= 8 && t->d == TYPE_s32;
    if (t->d != t->c && inst->op == OP_mma && !(matrix_is_quad(x) && t->d == TYPE_f32))
        return "the accumulator has the result's type";
    if (inst->op == OP_mma && !matrix_is_quad(x) && (x->a_by_column || x->b_by_row))
        return "this shape takes `.row.col`";
    if (inst->op == OP_wmma && small && (x->a_by_column || x->b_by_row))
        return "types of less than a byte take `.row.col`";
    if (x->saturates && (!is_int || t->a == TYPE_b1))
        return "`.satfinite` is for integers";
    if ((t->a == TYPE_b1) != (x->bit_op != MOD_none))
        return t->a == TYPE_b1 ? "`.b1` takes `.xor.popc` or `.and.popc`" : "`.popc` is for `.b1`";
    if (inst->op == OP_wgmma && x->bit_op == MOD_xor)
        return "`wgmma` has `.and.popc` alone";
    return NULL;
}

static bool product_of(const struct isa_inst *inst, struct arena *arena, struct matrix *x, const char **why)
{
    struct types t = types_of(inst);
    x->is_wmma = inst->op == OP_wmma;
    x->kind = inst->op == OP_wgmma ? MATRIX_WARPGROUP : MATRIX_PRODUCT;
    x->sparse = isa_has(inst, MOD_sp) || isa_has(inst, MOD_sp_ordered);
    x->saturates = isa_has(inst, MOD_satfinite);
    x->bit_op = isa_has(inst, MOD_and) ? MOD_and : isa_has(inst, MOD_xor) ? MOD_xor : MOD_none;
    if (!find_product(inst, x->sparse, &t)) {
        const char *shapes = shapes_text(inst, x->sparse, &t, arena);
        *why = shapes ? arena_printf(arena, "for these types the shapes are %s", shapes)
                      : "there is no product of these types";
        return false;
    }
    x->a_type = (uint8_t)t.a;
    x->b_type = (uint8_t)t.b;
    x->c_type = (uint8_t)t.c;
    x->d_type = (uint8_t)t.d;
    *why = find_conflict(inst, x, &t);
    x->a = make_a(inst, x, &t);
    x->b = make_b(inst, x, &t);
    x->c = make_c(inst, x, t.c);
    x->d = make_c(inst, x, t.d);
    return !*why;
}

/* ---- loads and stores ---- */

static bool wmma_move(const struct isa_inst *inst, struct arena *arena, struct matrix *x, const char **why)
{
    enum isa_type type = (enum isa_type)inst->type[0];
    bool loads = isa_has(inst, MOD_load);
    x->kind = loads ? MATRIX_LOAD : MATRIX_STORE;
    x->loads = isa_has(inst, MOD_a) ? 'a' : isa_has(inst, MOD_b) ? 'b' : 'c';
    struct types t = {.a = x->loads == 'a' ? type : TYPE_none,
                      .b = x->loads == 'b' ? type : TYPE_none,
                      .c = x->loads == 'c' ? type : TYPE_none};
    if (!find_product(inst, false, &t)) {
        const char *shapes = shapes_text(inst, false, &t, arena);
        *why = shapes ? arena_printf(arena, "for this type the shapes are %s", shapes)
                      : "there is no such matrix of this type";
        return false;
    }
    bool small = isa_type_bits(type) < 8, by_column = x->loads == 'b' ? !x->a_by_column : x->a_by_column;
    if (small && by_column) {
        *why = "matrices of less than a byte are loaded by `.row` for A, by `.col` for B";
        return false;
    }
    struct fragment f = x->loads == 'a'   ? make_a(inst, x, &t)
                        : x->loads == 'b' ? make_b(inst, x, &t)
                                          : make_c(inst, x, type);
    x->element_bits = (uint8_t)isa_type_bits(type);
    *(loads ? &x->d : &x->c) = f;
    return true;
}

/* ldmatrix, stmatrix, movmatrix of 8 x 8 elements of 16 bits: as A of m8k8, a matrix after the
 * other (9.7.14.5.15 to 17). */
static bool rows_of(const struct isa_inst *inst, struct matrix *x, const char **why)
{
    const unsigned count[COORDINATES] = {8, 1, 8, 1};
    x->count = isa_has(inst, MOD_x4) ? 4 : isa_has(inst, MOD_x2) ? 2 : 1;
    x->transposed = isa_has(inst, MOD_trans);
    x->kind = inst->op == OP_ldmatrix   ? MATRIX_LOAD_ROWS
              : inst->op == OP_stmatrix ? MATRIX_STORE_ROWS
                                        : MATRIX_TRANSPOSE;
    if (x->m != 8 || x->n != 8 || x->k) {
        *why = "elements of 16 bits have the shape `.m8n8`";
        return false;
    }
    x->d = x->c = make_fragment(LAYOUT_A, TYPE_b16, count, x->count);
    return true;
}

bool matrix_of(const struct isa_inst *inst, struct arena *arena, struct matrix *x, const char **why)
{
    *x = (struct matrix){.m = inst->shape.m, .n = inst->shape.n, .k = inst->shape.k};
    *why = NULL;
    take_layouts(inst, x);
    if (inst->op == OP_ldmatrix || inst->op == OP_stmatrix || inst->op == OP_movmatrix)
        return rows_of(inst, x, why);
    if (inst->op == OP_wmma && !isa_has(inst, MOD_mma))
        return wmma_move(inst, arena, x, why);
    return product_of(inst, arena, x, why);
}

struct isa_need matrix_need(const struct isa_inst *inst, const struct matrix *x)
{
    struct isa_need need = inst->need;
    struct types t = types_of(inst);
    if (x->kind == MATRIX_LOAD || x->kind == MATRIX_STORE)
        t = (struct types){.a = x->loads == 'a' ? inst->type[0] : TYPE_none,
                           .b = x->loads == 'b' ? inst->type[0] : TYPE_none,
                           .c = x->loads == 'c' ? inst->type[0] : TYPE_none};
    const struct product *p = find_product(inst, x->sparse, &t);
    if (p && p->ptx > need.ptx)
        need.ptx = p->ptx;
    if (p && p->sm > need.sm)
        need.sm = p->sm;
    if (x->bit_op == MOD_and && inst->op != OP_wgmma) {
        need.ptx = need.ptx < 71 ? 71 : need.ptx;
        need.sm = need.sm < 80 ? 80 : need.sm;
    }
    return need;
}
