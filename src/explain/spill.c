/* See spill.h. */
#include "explain/spill.h"

#include <stdlib.h>
#include <string.h>

#include "exec/code.h"
#include "ir/shape.h"

enum {
    WORD_BYTES = 4,
    WORD_BITS = 32,
    RESERVED = 2 /* used by ptxas: a stack pointer, a descriptor */,
    NEVER = UINT32_MAX
};

/* A use of a register, in the order of operations, reads before writes. */
struct use {
    uint32_t reg, next; /* next: the next read of its value; NEVER */
    bool writes;
};

struct value {
    uint32_t next;    /* the next read */
    uint32_t held_at; /* 1 + its index among the values in registers; 0: in memory */
    uint32_t stamp;   /* 1 + the last operation that used it */
    bool computes;    /* something other than an address is computed from it */
    bool reloaded;    /* a read found it in memory: each of its definitions is stored */
};

struct allocator {
    const struct code *code;
    const struct ir_live *live;
    struct arena *arena;
    uint32_t words;      /* available registers */
    struct value *value; /* by register */
    uint32_t *held, n_held, held_words;
    VEC(struct use) uses;
    uint32_t *first_use; /* by operation of the block, and one more */
    struct spills now;
};

static uint32_t words_of(const struct allocator *a, uint32_t reg)
{
    uint32_t width = a->code->ir->regs.at[reg].width;
    return width > 1 && a->value[reg].computes ? (width + WORD_BITS - 1) / WORD_BITS : 0;
}

/* Finds registers that must be kept. Predicates have registers of their own, and addresses are
 * recomputed from parameters, which are operands. */
static void find_computing(struct allocator *a)
{
    const struct ir_func *ir = a->code->ir;
    for (uint32_t n = ir->insns.n; n-- > 0;) { /* readers before definitions */
        const struct ir_insn *i = &ir->insns.at[n];
        ir_ref refs[IR_MAX_REFS];
        bool access = i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM;
        bool of_address = i->kind == IR_LANES && ir_ref_kind(i->d) == REF_REG &&
                          ir->regs.at[ir_ref_index(i->d)].width == 2 * WORD_BITS &&
                          !a->value[ir_ref_index(i->d)].computes;
        for (unsigned r = 0, all = ir_reads(i, refs); r < all; r++) {
            bool is_address = ir_ref_kind(refs[r]) != REF_REG || (access && refs[r] == i->a) ||
                              (of_address && ir->regs.at[ir_ref_index(refs[r])].width == 2 * WORD_BITS);
            if (!is_address)
                a->value[ir_ref_index(refs[r])].computes = true;
        }
    }
}

/* ---- when values are needed again ---- */

static void list_uses(struct allocator *a, uint32_t b)
{
    const struct code_block *block = &a->code->blocks[b];
    a->uses.n = 0;
    for (uint32_t k = 0; k < block->n; k++) {
        const struct ir_insn *i = a->code->ops[block->first + k].origin;
        ir_ref refs[IR_MAX_REFS];
        a->first_use[k] = a->uses.n;
        for (unsigned way = 0; i && way < 2; way++)
            for (unsigned r = 0, n = way ? ir_writes(i, refs) : ir_reads(i, refs); r < n; r++)
                if (ir_ref_kind(refs[r]) == REF_REG && words_of(a, ir_ref_index(refs[r])))
                    *VEC_PUSH(a->arena, &a->uses) = (struct use){ir_ref_index(refs[r]), NEVER, way == 1};
    }
    a->first_use[block->n] = a->uses.n;
}

static bool is_own_loop(const struct code *code, uint32_t b)
{
    for (uint32_t k = 0; k < ir_count_from(code->ir, b); k++)
        if (ir_order_from(code->ir, b, k) == b)
            return true;
    return false;
}

/* Finds next reads, backwards from what is live behind the block; in a
 * loop, in the next iteration. */
static void find_next(struct allocator *a, uint32_t b, bool loop)
{
    uint32_t n = a->code->blocks[b].n;
    for (uint32_t r = 0; r < a->live->n; r++)
        a->value[a->live->regs[r]].next =
            ir_in_set(a->live->out + (size_t)b * a->live->words, r) ? 2 * n : (uint32_t)NEVER;
    for (unsigned round = 0; round < (loop ? 2u : 1u); round++) {
        for (uint32_t r = 0; round && r < a->live->n; r++) {
            struct value *v = &a->value[a->live->regs[r]];
            bool behind = ir_in_set(a->live->out + (size_t)b * a->live->words, r);
            v->next = !behind ? (uint32_t)NEVER : v->next < n ? v->next + n : 2 * n;
        }
        for (uint32_t k = n; k-- > 0;)
            for (uint32_t u = a->first_use[k + 1]; u-- > a->first_use[k];) {
                struct use *use = &a->uses.at[u];
                use->next = a->value[use->reg].next;
                a->value[use->reg].next = use->writes ? (uint32_t)NEVER : k;
            }
    }
}

/* ---- registers ---- */

static void let_go(struct allocator *a, uint32_t reg)
{
    struct value *v = &a->value[reg];
    uint32_t at = v->held_at - 1, last = a->held[--a->n_held];
    a->held[at] = last;
    a->value[last].held_at = at + 1;
    v->held_at = 0;
    a->held_words -= words_of(a, reg);
}

/* Spills the value whose next read is farthest, except one of this operation. Returns false if
   there is none. */
static bool spill_one(struct allocator *a, uint32_t stamp)
{
    uint32_t worst = 0;
    for (uint32_t i = 0; i < a->n_held; i++) {
        const struct value *v = &a->value[a->held[i]];
        if (v->stamp != stamp && (!worst || v->next > a->value[worst].next))
            worst = a->held[i];
    }
    if (!worst)
        return false;
    let_go(a, worst);
    return true;
}

static void hold(struct allocator *a, uint32_t reg, uint32_t stamp)
{
    struct value *v = &a->value[reg];
    v->stamp = stamp;
    if (v->held_at)
        return;
    while (a->held_words + words_of(a, reg) > a->words && spill_one(a, stamp))
        ;
    a->held[a->n_held++] = reg;
    v->held_at = a->n_held;
    a->held_words += words_of(a, reg);
}

static void run_block(struct allocator *a, uint32_t b)
{
    a->now = (struct spills){0};
    for (uint32_t k = 0; k < a->code->blocks[b].n; k++)
        for (uint32_t u = a->first_use[k]; u < a->first_use[k + 1]; u++) {
            const struct use *use = &a->uses.at[u];
            struct value *v = &a->value[use->reg];
            if (!use->writes && !v->held_at) {
                a->now.loads += (float)words_of(a, use->reg);
                v->reloaded = true;
            }
            hold(a, use->reg, k + 1);
            v->next = use->next;
            if (v->next == NEVER)
                let_go(a, use->reg);
        }
}

/* Moves next reads from the end of a loop's iteration to its beginning. */
static void next_round(struct allocator *a, uint32_t b)
{
    uint32_t n = a->code->blocks[b].n;
    for (uint32_t i = 0; i < a->n_held; i++) {
        struct value *v = &a->value[a->held[i]];
        v->next -= v->next >= n && v->next < 2 * n ? n : 0;
        v->stamp = 0;
    }
}

static int by_next(const void *x, const void *y, void *data)
{
    const struct value *values = data;
    uint32_t a = values[*(const uint32_t *)x].next, b = values[*(const uint32_t *)y].next;
    return a < b ? -1 : a > b;
}

/* Loads the block's live values, as far as they fit, those with the nearest reads first. */
static void begin_block(struct allocator *a, uint32_t b)
{
    uint32_t n = 0, *in = ARENA_ARRAY(a->arena, uint32_t, a->live->n);
    while (a->n_held)
        let_go(a, a->held[0]);
    for (uint32_t r = 0; r < a->live->n; r++) {
        uint32_t reg = a->live->regs[r];
        a->value[reg].stamp = 0;
        if (ir_in_set(a->live->in + (size_t)b * a->live->words, r) && words_of(a, reg))
            in[n++] = reg;
    }
    qsort_r(in, n, sizeof *in, by_next, a->value);
    for (uint32_t i = 0; i < n && a->held_words + words_of(a, in[i]) <= a->words; i++)
        hold(a, in[i], 0);
}

static float stores_of(struct allocator *a, uint32_t b)
{
    float stores = 0;
    list_uses(a, b);
    for (uint32_t u = 0; u < a->uses.n; u++)
        if (a->uses.at[u].writes && a->value[a->uses.at[u].reg].reloaded)
            stores += (float)words_of(a, a->uses.at[u].reg);
    return stores;
}

static struct spills *spills_of_function(const struct code *code, const struct ir_live *live, uint32_t registers,
                                         struct arena *arena)
{
    struct arena scratch = {.on_oom = arena->on_oom};
    struct spills *spills = ARENA_ARRAY(arena, struct spills, code->n_blocks);
    struct allocator a = {.code = code, .live = live, .arena = &scratch, .words = registers - RESERVED};
    a.value = ARENA_ARRAY(&scratch, struct value, code->ir->regs.n);
    a.held = ARENA_ARRAY(&scratch, uint32_t, code->ir->regs.n);
    a.first_use = ARENA_ARRAY(&scratch, uint32_t, code->n_ops + 1);
    for (uint32_t r = 0; r < code->ir->regs.n; r++)
        a.value[r].next = NEVER; /* values of this block alone are dead behind it */
    find_computing(&a);
    for (uint32_t b = 0; live && b < code->n_blocks; b++) {
        bool loop = is_own_loop(code, b);
        list_uses(&a, b);
        find_next(&a, b, loop);
        begin_block(&a, b);
        run_block(&a, b);
        if (loop) {
            next_round(&a, b);
            run_block(&a, b);
        }
        spills[b] = a.now;
    }
    for (uint32_t b = 0; live && b < code->n_blocks; b++)
        spills[b].stores = stores_of(&a, b);
    arena_free(&scratch);
    return spills;
}

/* ---- a kernel ---- */

static struct spills sum_of(const struct kernel *k, struct spills *const *spills)
{
    struct spills sum = {0};
    for (uint32_t i = 0; i < k->functions.n; i++)
        for (uint32_t b = 0; b < k->functions.at[i]->n_blocks; b++) {
            sum.loads += spills[k->functions.at[i]->index][b].loads;
            sum.stores += spills[k->functions.at[i]->index][b].stores;
        }
    return sum;
}

/* Scales the estimates to the number of spills in the machine code. */
static void scale(const struct kernel *k, struct spills **spills)
{
    struct spills all = sum_of(k, spills);
    float loads = all.loads > 0 ? (float)k->machine_code.local_loads / all.loads : 0;
    float stores = all.stores > 0 ? (float)k->machine_code.local_stores / all.stores : 0;
    for (uint32_t i = 0; i < k->functions.n; i++)
        for (uint32_t b = 0; b < k->functions.at[i]->n_blocks; b++) {
            spills[k->functions.at[i]->index][b].loads *= loads;
            spills[k->functions.at[i]->index][b].stores *= stores;
        }
}

/* Bytes of the machine code's frame beyond PTX's arrays, which may be in registers there. */
static uint32_t frame_of_spills(const struct kernel *k)
{
    return k->machine_code.frame_bytes > k->local_bytes ? k->machine_code.frame_bytes - k->local_bytes : 0;
}

static bool can_spill(const struct kernel *k, uint32_t registers, bool guessed)
{
    return guessed ? registers >= kernel_register_limit(k) : frame_of_spills(k) > 0;
}

struct spills **spills_find(const struct kernel *k, const struct ir_live *const *live, struct arena *arena)
{
    bool guessed;
    uint32_t registers = kernel_registers(k, &guessed);
    if (!can_spill(k, registers, guessed))
        return NULL;
    struct spills **spills = ARENA_ARRAY(arena, struct spills *, k->functions.n);
    for (uint32_t i = 0; i < k->functions.n; i++)
        spills[k->functions.at[i]->index] =
            spills_of_function(k->functions.at[i], live[k->functions.at[i]->index], registers, arena);
    if (!guessed && k->local_bytes == 0)
        scale(k, spills);
    return spills;
}

uint32_t spilled_bytes(const struct kernel *k, struct spills *const *spills)
{
    if (!spills)
        return 0;
    return k->machine_code.registers ? frame_of_spills(k) : WORD_BYTES * (uint32_t)sum_of(k, spills).stores;
}
