/* Values of expressions, for all lanes of a warp; see expression.h. */
#include <string.h>

#include "debug/expression.h"
#include "exec/access.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "mem/local.h"

/* All lanes in a loop without a condition, which compilers vectorise; results of lanes without a
 * value are ignored. */
#define ALL_LANES(l)        for (unsigned l = 0; l < WARP_LANES; l++)
#define EACH_LANE(l, lanes) for (uint32_t m_ = (lanes), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

/* ---- memory ---- */

/* How many bytes exist from an address on, and where they are in this process. */
static uint64_t reach(const struct frame *f, uint64_t address, uint64_t bytes, struct location *p)
{
    for (; bytes; bytes /= 2)
        if (bytes <= UINT32_MAX && !access_locate(f->warp, SPACE_GENERIC, address, (uint32_t)bytes, false, p))
            return bytes;
    return 0;
}

static void move(const struct frame *f, unsigned lane, const struct location *p, void *to, const void *from, uint64_t n)
{
    for (uint64_t i = 0; !p->at && i < n; i++) {
        uint8_t *byte = local_word(f->warp->local, p->address + i, lane);
        if (to)
            ((uint8_t *)to)[i] = *byte;
        else
            *byte = ((const uint8_t *)from)[i];
    }
    if (p->at)
        memcpy(to ? to : p->at, to ? p->at : from, n);
}

uint64_t memory_read(const struct frame *f, unsigned lane, uint64_t address, void *to, uint64_t bytes)
{
    uint64_t done = 0, n;
    struct location p;
    while (done < bytes && (n = reach(f, address + done, bytes - done, &p))) {
        move(f, lane, &p, (uint8_t *)to + done, NULL, n);
        done += n;
    }
    return done;
}

bool memory_write(const struct frame *f, unsigned lane, uint64_t address, const void *from, uint64_t bytes)
{
    struct location p;
    if (bytes > UINT32_MAX || access_locate(f->warp, SPACE_GENERIC, address, (uint32_t)bytes, true, &p))
        return false;
    move(f, lane, &p, NULL, from, bytes);
    return true;
}

/* ---- rows ---- */

static const char no_memory[] = "no memory";

/* Lanes in which an operand has no value get none either. */
static void take_why(struct lanes_value *v, const struct lanes_value *other)
{
    if (other->why) {
        v->why = other->why;
        v->address = other->address;
    }
}

static uint8_t *row_of(const struct node *n, const struct frame *f)
{
    uint8_t *base[4];
    warp_bases(f->warp, f->act, base);
    return row_at(base, n->row);
}

static void eval_row(const struct node *n, const struct frame *f, uint32_t lanes, struct lanes_value *v)
{
    const uint8_t *row = row_of(n, f);
    v->lanes = lanes;
    if (n->width == 1) {
        uint32_t mask;
        memcpy(&mask, row, 4);
        for (unsigned l = 0; l < WARP_LANES; l++)
            v->at[l].i = mask >> l & 1;
        return;
    }
    bool whole = n->width == 8 * n->type->bytes, integer = c_is_integer(n->type) || n->type->kind == C_POINTER;
    if (whole && n->width == 32 && integer && !c_is_signed(n->type)) {
        ALL_LANES(l) v->at[l].i = ((const uint32_t *)row)[l];
    } else if (whole && n->width == 32 && integer) {
        ALL_LANES(l) v->at[l].i = ((const int32_t *)row)[l];
    } else if (whole && n->width == 32 && n->type->kind == C_FLOAT) {
        ALL_LANES(l) v->at[l].f = ((const float *)row)[l];
    } else if (whole && n->width == 64) {
        memcpy(v->at, row, sizeof v->at);
    } else {
        EACH_LANE(l, lanes)
        {
            uint64_t bits[2] = {0};
            memcpy(bits, row + l * n->width / 8, n->width / 8);
            v->at[l] = c_load(n->type, bits);
        }
    }
}

/* ---- memory as a value ---- */

/* A pointer to shared or local memory may hold an address of that space instead of a generic one,
 * as in PTX. */
static uint64_t generic(const struct node *address, const struct frame *f, uint64_t value)
{
    const struct mem *m = &f->warp->block->launch->machine->mem;
    enum c_space space = address->type->kind == C_POINTER ? address->type->space : C_GENERIC;
    if (space == C_SHARED && value < MEM_CLUSTER_WINDOW_BYTES)
        return value + mem_shared_window(m) + f->warp->block->shared_start;
    return space == C_LOCAL && value < MEM_LOCAL_WINDOW_BYTES ? value + mem_local_window(m) : value;
}

/* The words of local memory that all lanes have at one generic address: a row of the 32 lanes'
 * (mem/local.h). NULL: they are no such words. */
static const uint32_t *words_at(const struct node *n, const struct frame *f, uint64_t at)
{
    struct location p;
    if ((n->type->bytes != 4 && n->type->bytes != 8) || at % 4 ||
        at - mem_local_window(&f->warp->block->launch->machine->mem) >= MEM_LOCAL_WINDOW_BYTES ||
        access_locate(f->warp, SPACE_GENERIC, at, (uint32_t)n->type->bytes, false, &p) || p.at)
        return NULL;
    return (const uint32_t *)local_word(f->warp->local, p.address, 0);
}

/* The same of these lanes, if they have one address. */
static const uint32_t *local_words(const struct node *n, const struct frame *f, const struct lanes_value *address)
{
    unsigned first = (unsigned)__builtin_ctz(address->lanes | 1u << (WARP_LANES - 1));
    uint64_t at = (uint64_t)address->at[first].i, all = 0;
    EACH_LANE(l, address->lanes)
    all |= (uint64_t)address->at[l].i ^ at;
    return all || !address->lanes ? NULL : words_at(n, f, generic(n->a, f, at));
}

/* The lanes' values from their bits. */
static void load_bits(const struct c_type *t, const uint64_t *bits, struct lanes_value *v)
{
    bool is_integer = t->kind != C_FLOAT && t->kind != C_HALF && t->kind != C_BFLOAT;
    if (is_integer && t->bytes == 8) {
        ALL_LANES(l) v->at[l].i = (int64_t)bits[l];
    } else if (is_integer && t->bytes == 4 && c_is_signed(t)) {
        ALL_LANES(l) v->at[l].i = (int32_t)(uint32_t)bits[l];
    } else if (is_integer && t->bytes == 4) {
        ALL_LANES(l) v->at[l].i = (uint32_t)bits[l];
    } else {
        EACH_LANE(l, v->lanes) v->at[l] = c_load(t, &bits[l]);
    }
}

static void load_words(const struct c_type *t, const uint32_t *words, struct lanes_value *v)
{
    uint64_t bits[WARP_LANES];
    if (t->bytes == 8) {
        ALL_LANES(l) bits[l] = words[l] | (uint64_t)words[WARP_LANES + l] << 32;
    } else {
        ALL_LANES(l) bits[l] = words[l];
    }
    load_bits(t, bits, v);
}

/* Reads the memory of all lanes at once. False: not all that lies between their addresses is
 * there, or it is local memory. */
static bool read_at_once(const struct node *n, const struct frame *f, const struct lanes_value *v, uint64_t *bits)
{
    enum { FARTHEST = 1 << 20 };
    uint64_t low = UINT64_MAX, high = 0, at[WARP_LANES] = {0};
    struct location p;
    EACH_LANE(l, v->lanes)
    {
        at[l] = generic(n->a, f, (uint64_t)v->at[l].i);
        low = at[l] < low ? at[l] : low;
        high = at[l] > high ? at[l] : high;
    }
    uint32_t bytes = (uint32_t)n->type->bytes;
    if (!v->lanes || n->type->bytes > 8 || high - low > FARTHEST ||
        access_locate(f->warp, SPACE_GENERIC, low, (uint32_t)(high - low) + bytes, false, &p) || !p.at)
        return false;
    EACH_LANE(l, v->lanes)
    {
        bits[l] = 0;
        if (bytes == 4)
            memcpy(&bits[l], (const uint8_t *)p.at + (at[l] - low), 4);
        else
            memcpy(&bits[l], (const uint8_t *)p.at + (at[l] - low), bytes);
    }
    return true;
}

/* The words of a variable in the thread's frame, whose address needs no evaluation. NULL: it is
 * none, or has no whole words. */
static const uint32_t *frame_words(const struct node *n, const struct frame *f)
{
    const struct node *a = n->a;
    uint64_t offset = 0;
    if (a->kind == NODE_BINARY && a->binary == B_ADD && a->b->kind == NODE_CONST) {
        offset = (uint64_t)a->b->value.i;
        a = a->a;
    }
    if (a->kind != NODE_LOCAL || !f->act || n->bits || !c_is_scalar(n->type))
        return NULL;
    return words_at(n, f, mem_local_window(&f->warp->block->launch->machine->mem) + f->act->frame + offset);
}

static void eval_memory(const struct node *n, const struct frame *f, uint32_t lanes, struct lanes_value *v)
{
    const uint32_t *own = frame_words(n, f);
    if (own) {
        v->lanes = lanes;
        v->why = NULL;
        load_words(n->type, own, v);
        return;
    }
    expression_eval(n->a, f, lanes, v);
    lanes = v->lanes;
    if (!c_is_scalar(n->type)) {
        EACH_LANE(l, lanes)
        v->at[l].i = (int64_t)generic(n->a, f, (uint64_t)v->at[l].i);
        return;
    }
    uint64_t bits[WARP_LANES] = {0};
    const uint32_t *words = n->bits ? NULL : local_words(n, f, v);
    if (words) {
        load_words(n->type, words, v);
        return;
    }
    if (!n->bits && read_at_once(n, f, v, bits)) {
        load_bits(n->type, bits, v);
        return;
    }
    EACH_LANE(l, lanes)
    {
        uint64_t address = generic(n->a, f, (uint64_t)v->at[l].i);
        bits[l] = 0;
        if (n->type->bytes > 8 || memory_read(f, l, address, &bits[l], n->type->bytes) < n->type->bytes) {
            v->lanes &= ~(1u << l);
            v->why = no_memory;
            v->address = address;
            continue;
        }
        v->at[l] = c_load(n->type, &bits[l]);
        if (n->bits) {
            int64_t field = (int64_t)((bits[l] >> n->bit_at) << (64 - n->bits));
            v->at[l].i = c_is_signed(n->type) ? field >> (64 - n->bits) : (int64_t)((uint64_t)field >> (64 - n->bits));
        }
    }
}

/* ---- arithmetic ---- */

#define INTEGERS(result)                                                                                               \
    ALL_LANES(l)                                                                                                       \
    {                                                                                                                  \
        int64_t x = v->at[l].i, y = right->at[l].i;                                                                    \
        uint64_t ux = (uint64_t)x, uy = (uint64_t)y;                                                                   \
        (void)ux, (void)uy;                                                                                            \
        v->at[l].i = (int64_t)(result);                                                                                \
    }                                                                                                                  \
    break
#define FLOATS(result)                                                                                                 \
    ALL_LANES(l)                                                                                                       \
    {                                                                                                                  \
        double x = v->at[l].f, y = right->at[l].f;                                                                     \
        v->at[l].f = (result);                                                                                         \
    }                                                                                                                  \
    break
#define TESTS(result)                                                                                                  \
    ALL_LANES(l)                                                                                                       \
    {                                                                                                                  \
        double x = v->at[l].f, y = right->at[l].f;                                                                     \
        v->at[l].i = (result);                                                                                         \
    }                                                                                                                  \
    break

/* Values of one type become those of another. */
static void convert(const struct c_type *to, const struct c_type *from, struct lanes_value *v)
{
    bool integers = !c_is_float(to) && !c_is_float(from) && to->kind != C_BOOL;
    if (integers && to->bytes == 8)
        return;
    if (integers && to->bytes == 4 && c_is_signed(to)) {
        ALL_LANES(l) v->at[l].i = (int32_t)v->at[l].i;
    } else if (integers && to->bytes == 4) {
        ALL_LANES(l) v->at[l].i = (uint32_t)v->at[l].i;
    } else if (to->kind == C_FLOAT && to->bytes == 4 && c_is_float(from)) {
        ALL_LANES(l) v->at[l].f = (float)v->at[l].f;
    } else if (to->kind == C_FLOAT && c_is_float(from)) {
        ;
    } else {
        EACH_LANE(l, v->lanes)
        v->at[l] = c_convert(to, from, v->at[l]);
    }
}

/* What divides by 0 has no value. */
static void drop_zeroes(struct lanes_value *v, struct lanes_value *b)
{
    uint32_t before = v->lanes;
    ALL_LANES(l)
    {
        v->lanes &= ~((uint32_t)(b->at[l].i == 0) << l);
        b->at[l].i += b->at[l].i == 0;
    }
    if (v->lanes != before)
        v->why = "division by zero";
}

static void binary_floats(const struct node *n, struct lanes_value *v, const struct lanes_value *right)
{
    switch (n->binary) {
    case B_MUL: FLOATS(x * y);
    case B_DIV: FLOATS(x / y);
    case B_ADD: FLOATS(x + y);
    case B_SUB: FLOATS(x - y);
    case B_LT: TESTS(x < y);
    case B_LE: TESTS(x <= y);
    case B_GT: TESTS(x > y);
    case B_GE: TESTS(x >= y);
    case B_EQ: TESTS(x == y);
    default: TESTS(x != y);
    }
}

static void binary_integers(const struct node *n, bool is_signed, struct lanes_value *v, struct lanes_value *right)
{
    switch (n->binary) {
    case B_MUL: INTEGERS(ux * uy);
    case B_DIV: drop_zeroes(v, right); INTEGERS(is_signed ? (y == -1 ? (int64_t)(0 - ux) : x / y) : (int64_t)(ux / uy));
    case B_MOD: drop_zeroes(v, right); INTEGERS(is_signed ? (y == -1 ? 0 : x % y) : (int64_t)(ux % uy));
    case B_ADD: INTEGERS(ux + uy);
    case B_SUB: INTEGERS(ux - uy);
    case B_SHL: INTEGERS(uy < 64 ? ux << (uy & 63) : 0);
    case B_SHR: INTEGERS(is_signed ? x >> (uy < 64 ? uy : 63) : (int64_t)(uy < 64 ? ux >> (uy & 63) : 0));
    case B_LT: INTEGERS(is_signed ? x < y : ux < uy);
    case B_LE: INTEGERS(is_signed ? x <= y : ux <= uy);
    case B_GT: INTEGERS(is_signed ? x > y : ux > uy);
    case B_GE: INTEGERS(is_signed ? x >= y : ux >= uy);
    case B_EQ: INTEGERS(x == y);
    case B_NE: INTEGERS(x != y);
    case B_AND: INTEGERS(ux & uy);
    case B_XOR: INTEGERS(ux ^ uy);
    default: INTEGERS(ux | uy);
    }
}

/* 32 bytes of 0 or 1 become 32 bits. */
static uint32_t mask_of(const uint8_t is[WARP_LANES])
{
    uint32_t lanes = 0;
    for (unsigned i = 0; i < WARP_LANES / 8; i++) {
        uint64_t eight;
        memcpy(&eight, is + 8 * i, 8);
        lanes |= (uint32_t)(eight * 0x0102040810204080u >> 56) << 8 * i;
    }
    return lanes;
}

static uint32_t truths(const struct c_type *t, const struct lanes_value *v)
{
    uint8_t is[WARP_LANES];
    if (c_is_float(t)) {
        ALL_LANES(l) is[l] = v->at[l].f != 0;
    } else {
        ALL_LANES(l) is[l] = v->at[l].i != 0;
    }
    return mask_of(is) & v->lanes;
}

static void set_truths(uint32_t lanes, struct lanes_value *v)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        v->at[l].i = lanes >> l & 1;
}

/* && and ||: the right side is evaluated only in the lanes in which it matters. */
static void eval_logical(const struct node *n, const struct frame *f, struct lanes_value *v)
{
    bool is_and = n->binary == B_LAND;
    uint32_t left = truths(n->a->type, v), asked = v->lanes & (is_and ? left : ~left), known = v->lanes & ~asked;
    struct lanes_value b = {0};
    if (asked)
        expression_eval(n->b, f, asked, &b);
    uint32_t right = truths(n->b->type, &b);
    take_why(v, &b);
    v->lanes = known | b.lanes;
    set_truths(is_and ? right : (left | right), v);
}

static void eval_binary(const struct node *n, const struct frame *f, uint32_t lanes, struct lanes_value *v)
{
    struct lanes_value b, *right = &b;
    bool divides = n->binary == B_DIV || n->binary == B_MOD;
    expression_eval(n->a, f, lanes, v);
    if (n->binary == B_LAND || n->binary == B_LOR) {
        eval_logical(n, f, v);
        return;
    }
    if (n->all && !divides)
        right = n->all;
    else
        expression_eval(n->b, f, v->lanes, right);
    v->lanes &= right->lanes;
    take_why(v, right);
    const struct c_type *t = n->a->type;
    if (c_is_float(t))
        binary_floats(n, v, right);
    else
        binary_integers(n, c_is_signed(t), v, right);
    if (n->binary <= B_SHR || n->binary >= B_AND)
        convert(n->type, n->type, v);
}

static void eval_choose(const struct node *n, const struct frame *f, uint32_t lanes, struct lanes_value *v)
{
    struct lanes_value test, other = {0};
    expression_eval(n->a, f, lanes, &test);
    uint32_t yes = truths(n->a->type, &test);
    *v = (struct lanes_value){0};
    take_why(v, &test);
    if (yes)
        expression_eval(n->b, f, yes, v);
    if (test.lanes & ~yes)
        expression_eval(n->c, f, test.lanes & ~yes, &other);
    EACH_LANE(l, other.lanes)
    v->at[l] = other.at[l];
    v->lanes |= other.lanes;
    take_why(v, &other);
}

static void eval_unary(const struct node *n, const struct frame *f, uint32_t lanes, struct lanes_value *v)
{
    expression_eval(n->a, f, lanes, v);
    if (n->kind == NODE_NOT) {
        set_truths(~truths(n->a->type, v), v);
        return;
    }
    if (n->kind == NODE_CAST) {
        convert(n->type, n->a->type, v);
        return;
    }
    if (n->kind == NODE_INVERT) {
        ALL_LANES(l) v->at[l].i = ~v->at[l].i;
    } else if (c_is_float(n->type)) {
        ALL_LANES(l) v->at[l].f = -v->at[l].f;
    } else {
        ALL_LANES(l) v->at[l].i = (int64_t)(0 - (uint64_t)v->at[l].i);
    }
    convert(n->type, n->type, v);
}

static uint32_t place_value(const struct block *b, int64_t sreg)
{
    const struct launch_dims *d = &b->launch->request->dims;
    const uint32_t *of = sreg / 4 == SREG_ctaid ? b->ctaid : sreg / 4 == SREG_ntid ? d->block : d->grid;
    return of[sreg % 4];
}

static void fill(struct lanes_value *v, uint32_t lanes, union c_value value)
{
    v->lanes = lanes;
    for (unsigned l = 0; l < WARP_LANES; l++)
        v->at[l] = value;
}

void expression_fill(struct lanes_value *v, union c_value value)
{
    v->why = NULL;
    fill(v, UINT32_MAX, value);
}

void expression_eval(const struct node *n, const struct frame *f, uint32_t lanes, struct lanes_value *v)
{
    const struct launch *launch = f->warp->block->launch;
    const struct mem *m = &launch->machine->mem;
    v->why = NULL;
    switch (n->kind) {
    case NODE_CONST: fill(v, lanes, n->value); break;
    case NODE_ROW:
        if (f->act || (n->row & 3) == ROW_WARP)
            eval_row(n, f, lanes, v);
        else
            v->lanes = 0;
        break;
    case NODE_PLACE: fill(v, lanes, (union c_value){.i = place_value(f->warp->block, n->value.i)}); break;
    case NODE_LANE:
        v->lanes = lanes;
        for (unsigned l = 0; l < WARP_LANES; l++)
            v->at[l].i = l;
        break;
    case NODE_WARP: fill(v, lanes, (union c_value){.i = f->warp->index}); break;
    case NODE_LOCAL:
        fill(v, f->act ? lanes : 0, (union c_value){.i = f->act ? (int64_t)(mem_local_window(m) + f->act->frame) : 0});
        break;
    case NODE_SHARED:
        fill(v, lanes, (union c_value){.i = (int64_t)(mem_shared_window(m) + f->warp->block->shared_start)});
        break;
    case NODE_PARAM: fill(v, lanes, (union c_value){.i = (int64_t)(uintptr_t)launch->params}); break;
    case NODE_MEMORY: eval_memory(n, f, lanes, v); break;
    case NODE_BINARY: eval_binary(n, f, lanes, v); break;
    case NODE_CHOOSE: eval_choose(n, f, lanes, v); break;
    case NODE_PLACES:
    case NODE_GONE: v->lanes = 0; break;
    default: eval_unary(n, f, lanes, v);
    }
}

/* ---- conditions ---- */

static bool is_word(const struct c_type *t)
{
    return t->bytes == 4 && c_is_integer(t) && t->kind != C_BOOL;
}

/* The 32-bit integers of all lanes as they lie in a row; NULL: they do not. */
static const uint32_t *words_of(const struct node *n, const struct frame *f, uint32_t lanes)
{
    struct lanes_value address;
    if (!is_word(n->type))
        return NULL;
    switch (n->kind) {
    case NODE_CONST: return n->words;
    case NODE_CAST: return words_of(n->a, f, lanes);
    case NODE_ROW:
        return n->width == 32 && (f->act || (n->row & 3) == ROW_WARP) ? (const uint32_t *)row_of(n, f) : NULL;
    case NODE_MEMORY:
        if (n->bits)
            return NULL;
        expression_eval(n->a, f, lanes, &address);
        return address.lanes == lanes ? local_words(n, f, &address) : NULL;
    default: return NULL;
    }
}

#define COMPARE(op)                                                                                                    \
    if (is_signed) {                                                                                                   \
        ALL_LANES(l) is[l] = (int32_t)a[l] op(int32_t) b[l];                                                           \
    } else {                                                                                                           \
        ALL_LANES(l) is[l] = a[l] op b[l];                                                                             \
    }                                                                                                                  \
    break

/* A comparison of 32-bit integers, as most conditions are; false: it is another one. */
static bool compare_words(const struct node *n, const struct frame *f, uint32_t lanes, uint32_t *mask)
{
    uint8_t is[WARP_LANES];
    if (n->kind != NODE_BINARY || n->binary < B_LT || n->binary > B_NE)
        return false;
    const uint32_t *a = words_of(n->a, f, lanes), *b = a ? words_of(n->b, f, lanes) : NULL;
    bool is_signed = c_is_signed(n->a->type);
    if (!b)
        return false;
    switch (n->binary) {
    case B_LT: COMPARE(<);
    case B_LE: COMPARE(<=);
    case B_GT: COMPARE(>);
    case B_GE: COMPARE(>=);
    case B_EQ: COMPARE(==);
    default: COMPARE(!=);
    }
    *mask = mask_of(is) & lanes;
    return true;
}

uint32_t expression_true(const struct node *n, const struct frame *f, uint32_t lanes)
{
    struct lanes_value v;
    uint32_t mask;
    if (compare_words(n, f, lanes, &mask))
        return mask;
    if (n->kind == NODE_BINARY && n->binary == B_LAND) {
        mask = expression_true(n->a, f, lanes);
        return mask ? expression_true(n->b, f, mask) : 0;
    }
    expression_eval(n, f, lanes, &v);
    return truths(n->type, &v);
}

/* ---- assignment ---- */

static bool assign_row(const struct node *to, const struct frame *f, uint32_t lane, union c_value value)
{
    uint8_t *row = row_of(to, f);
    if (to->width == 1) {
        uint32_t mask;
        memcpy(&mask, row, 4);
        mask = (mask & ~(1u << lane)) | (uint32_t)(value.i != 0) << lane;
        memcpy(row, &mask, 4);
        return true;
    }
    c_store(to->type, value, row + lane * to->width / 8);
    return true;
}

static bool assign_memory(const struct node *to, const struct frame *f, uint32_t lane, union c_value value)
{
    struct lanes_value address;
    uint64_t bits = 0;
    expression_eval(to->a, f, 1u << lane, &address);
    uint64_t at = generic(to->a, f, (uint64_t)address.at[lane].i);
    if (!address.lanes || memory_read(f, lane, at, &bits, to->type->bytes) < to->type->bytes)
        return false;
    if (to->bits) {
        uint64_t mask = (to->bits < 64 ? (1ull << to->bits) - 1 : UINT64_MAX) << to->bit_at;
        bits = (bits & ~mask) | ((uint64_t)value.i << to->bit_at & mask);
    } else {
        c_store(to->type, value, &bits);
    }
    return memory_write(f, lane, at, &bits, to->type->bytes);
}

bool expression_assign(const struct node *to, const struct node *from, const struct frame *f, uint32_t lanes,
                       const char **wrong)
{
    struct lanes_value v;
    bool is_row = to->kind == NODE_ROW && (to->row & 3) == ROW_FRAME;
    *wrong = "only a variable, a register or memory can be set";
    if (!is_row && to->kind != NODE_MEMORY)
        return false;
    *wrong = "only numbers and pointers can be set, not whole arrays and structs: name a member or an element";
    if (!c_is_scalar(to->type) || !c_is_scalar(from->type))
        return false;
    expression_eval(from, f, lanes, &v);
    *wrong = "the value is in memory that cannot be read";
    if (v.lanes != lanes)
        return false;
    *wrong = "it is in memory that cannot be written";
    EACH_LANE(l, lanes)
    {
        union c_value value = c_convert(to->type, from->type, v.at[l]);
        if (!(is_row ? assign_row(to, f, l, value) : assign_memory(to, f, l, value)))
            return false;
    }
    return true;
}
