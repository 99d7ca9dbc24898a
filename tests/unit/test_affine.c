/* ir/: who defines registers, what instructions are as products and sums, how values change over
 * lanes, iterations and blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "ir/affine.h"

enum { THREADS = 64 };

static struct arena arena;
static struct ir_func *ir;
static struct ir_shapes shapes;

/* A kernel of these instructions, in blocks of 64 threads; %p is a parameter, an address, and %n
 * one of 32 bits. */
static void make(const char *body)
{
    struct diags diags = {.arena = &arena};
    struct text t = {.arena = &arena};
    text_printf(
        &t,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 b)\n{\n"
        ".reg .b64 %%p, %%x, %%y, %%z, %%d<8>;\n.reg .b32 %%n, %%i, %%r<8>;\n.reg .b16 %%h<4>;\n.reg .pred %%q, %%v;\n"
        "ld.param.u64 %%p, [a];\nld.param.u32 %%n, [b];\n%s\nret;\n}\n",
        body);
    struct ptx_module *m = ptx_parse(&arena, source_new(&arena, "test", (struct str){t.p, t.n}), &diags);
    for (uint32_t k = 0; k < diags.list.n; k++)
        print_message("%s\n", diags.list.at[k].text);
    assert_non_null(m);
    struct ptx_image *image = ptx_link(&arena, &m, 1, &diags);
    ir = ir_build(&arena, ptx_find_kernel(image, (struct str){"k", 1}), false, false, &diags);
    assert_int_equal(diags.errors, 0);
    assert_true(ir_find_shapes(ir, (uint32_t[]){THREADS, 1, 1}, &arena, &shapes));
}

/* The n-th instruction of a kind, from 0. */
static const struct ir_insn *nth(enum ir_kind kind, unsigned n)
{
    for (uint32_t k = 0; k < ir->insns.n; k++)
        if (ir->insns.at[k].kind == kind && n-- == 0)
            return &ir->insns.at[k];
    fail();
    return NULL;
}

/* The one instruction that defines a register. */
static const struct ir_insn *def_of(ir_ref r)
{
    struct ir_def_list all = ir_defs_within(shapes.defs, r, 0, ir->n_ordered);
    assert_int_equal(all.n, 1);
    return &ir->insns.at[all.at->insn];
}

/* What defines the value that the n-th store writes. */
static const struct ir_insn *stored(unsigned n)
{
    return def_of(nth(IR_ST, n)->access->regs[0]);
}

/* The address of the n-th store, over the iterations of the one loop. */
static const struct ir_affine *address(unsigned n)
{
    uint32_t head = 0, *ends = ir_find_loop_ends(ir, &arena);
    while (!ir->blocks.at[ir->order[head]].loop_header)
        head++;
    struct ir_loop *l = ARENA_NEW(&arena, struct ir_loop);
    *l = ir_loop_of(ir, &shapes, shapes.defs, head, ends[head] + 1, &arena);
    const struct ir_insn *st = nth(IR_ST, n);
    return ir_affine_of(l, st->a, (uint32_t)(st - ir->insns.at));
}

static void a_definition_dominates_where_it_is_the_only_one(void **state)
{
    (void)state;
    make("mov.u32 %r0, %n;\n"
         "mov.u32 %r1, %n;\nadd.u32 %r1, %r1, 1;\n"
         "setp.eq.u32 %q, %n, 7;\n@%q mov.u32 %r2, 5;\n"
         "st.global.u32 [%p], %r0;\nst.global.u32 [%p], %r1;\nst.global.u32 [%p], %r2;\n");
    const struct ir_insn *st = nth(IR_ST, 1);
    ir_ref once = nth(IR_ST, 0)->access->regs[0], twice = st->access->regs[0], guarded = nth(IR_ST, 2)->access->regs[0];
    assert_true(ir_is_only_def(shapes.defs, once, def_of(once)));
    assert_int_equal(ir_defs_within(shapes.defs, twice, 0, ir->n_ordered).n, 2);
    const struct ir_def *last = ir_def_before(shapes.defs, twice, 0, (uint32_t)(st - ir->insns.at));
    assert_int_equal(ir_is(&ir->insns.at[last->insn]), IS_ADD);
    assert_int_equal(ir_is(&ir->insns.at[ir_def_before(shapes.defs, twice, 0, last->insn)->insn]), IS_COPY);
    assert_false(ir_is_only_def(shapes.defs, twice, &ir->insns.at[last->insn]));
    assert_false(ir_is_only_def(shapes.defs, guarded, def_of(guarded))); /* nor in all lanes */
    assert_null(ir_def_before(shapes.defs, once, 0, 0));
}

static void what_may_be_read_before_has_no_definition_that_dominates(void **state)
{
    (void)state;
    make("setp.eq.u32 %q, %n, 7;\n@%q bra DONE;\nmov.u32 %r0, 5;\nDONE:\nst.global.u32 [%p], %r0;\n");
    ir_ref r = nth(IR_ST, 0)->access->regs[0];
    assert_false(ir_is_only_def(shapes.defs, r, def_of(r)));
    assert_int_equal(ir_range_of(ir, &shapes, r).lo, 0);
    assert_int_equal(ir_range_of(ir, &shapes, r).hi, 5);
}

struct expected {
    int64_t factor;
    bool has_b, has_c, subtracts;
    int extend;
};

static void instructions_are_products_and_sums(void **state)
{
    (void)state;
    make("mul.lo.u32 %r0, 12, %n;\nst.global.u32 [%p], %r0;\n"
         "mad.lo.s32 %r1, %n, -3, %r0;\nst.global.u32 [%p], %r1;\n"
         "sub.u64 %d0, %p, %p;\nst.global.u64 [%p], %d0;\n"
         "shl.b64 %d1, %d0, 63;\nst.global.u64 [%p], %d1;\n"
         "mad.wide.u32 %d2, %n, -16, %d0;\nst.global.u64 [%p], %d2;\n"
         "mad.wide.s32 %d3, %n, -16, %d0;\nst.global.u64 [%p], %d3;\n"
         "mul.wide.s32 %d4, %n, %r0;\nst.global.u64 [%p], %d4;\n"
         "cvt.s64.s32 %d5, %n;\nst.global.u64 [%p], %d5;\n"
         "cvt.u32.u64 %r2, %p;\nst.global.u32 [%p], %r2;\n");
    static const struct expected expected[] = {
        {12, false, false, false, EXTEND_NONE},        {-3, false, true, false, EXTEND_NONE},
        {1, false, true, true, EXTEND_NONE},           {INT64_MIN, false, false, false, EXTEND_NONE},
        {4294967280, false, true, false, EXTEND_ZERO}, {-16, false, true, false, EXTEND_SIGN},
        {1, true, false, false, EXTEND_SIGN},          {1, false, false, false, EXTEND_SIGN},
        {1, false, false, false, EXTEND_TRUNC},
    };
    for (unsigned n = 0; n < sizeof expected / sizeof expected[0]; n++) {
        struct ir_mad m;
        assert_true(ir_mad_of(ir, &shapes, stored(n), &m));
        assert_true(m.factor == expected[n].factor);
        assert_int_equal(m.b != REF_NONE, expected[n].has_b);
        assert_int_equal(m.c != REF_NONE, expected[n].has_c);
        assert_int_equal(m.subtracts, expected[n].subtracts);
        assert_int_equal(m.extend, expected[n].extend);
    }
}

static void what_shifts_by_its_width_or_is_no_sum_is_none(void **state)
{
    (void)state;
    make("shl.b32 %r0, %n, 32;\nst.global.u32 [%p], %r0;\nshl.b32 %r1, %n, %n;\nst.global.u32 [%p], %r1;\n"
         "and.b32 %r2, %n, 3;\nst.global.u32 [%p], %r2;\n");
    struct ir_mad m;
    for (unsigned n = 0; n < 3; n++)
        assert_false(ir_mad_of(ir, &shapes, stored(n), &m));
}

static void an_address_has_lanes_and_a_step_over_blocks(void **state)
{
    (void)state;
    make("mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nmad.lo.s32 %r2, %r0, 64, %r1;\n"
         "mul.wide.u32 %x, %r2, 4;\nadd.u64 %y, %p, %x;\nst.global.u32 [%y], %n;\n");
    ir_ref y = nth(IR_ST, 0)->a;
    assert_int_equal(shapes.steps[ir_ref_index(y)], 4 * THREADS);
    const struct lane_offsets *at = &shapes.lane_offsets.at[ir_shape(&shapes, y)];
    for (unsigned l = 0; l < WARP_LANES; l++)
        assert_int_equal(at->at[l], 4 * l);
}

/* An index that may wrap between its lanes is affine by an assumption alone, and none follows from
 * what has no such range. */
static void what_may_wrap_is_assumed(void **state)
{
    (void)state;
    make("mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, %n;\nmul.wide.u32 %x, %r2, 4;\nst.global.u64 [%p], %x;\n"
         "add.u32 %r3, %r1, 5;\nmul.wide.u32 %y, %r3, 4;\nst.global.u64 [%p], %y;\n"
         "add.u32 %r4, %r1, 0x7fffffff;\nst.global.u32 [%p], %r4;\n"
         "cvt.u16.u32 %h0, %r1;\nadd.u16 %h1, %h0, 0x7ff0;\nst.global.u16 [%p], %h1;\n");
    const struct ir_insn *wraps = stored(0), *fits = stored(1), *beyond = stored(2), *narrow = stored(3);
    assert_int_equal(shapes.assumptions[wraps - ir->insns.at], NO_WRAP_UNSIGNED);
    assert_true(shapes.assumed[ir_ref_index(wraps->d)]);
    assert_int_equal(shapes.assumptions[fits - ir->insns.at], NO_WRAP_NOT_ASSUMED);
    struct ir_range r = ir_range_of(ir, &shapes, fits->d);
    assert_int_equal(r.lo, 20);
    assert_int_equal(r.hi, 4 * (THREADS - 1 + 5));
    struct ir_range four = ir_range_of(ir, &shapes, beyond->a);
    assert_int_equal(four.hi, THREADS - 1);
    r = ir_range_of(ir, &shapes, narrow->d); /* known thread by thread: as numbers of 16 bits */
    assert_true(r.lo >= INT16_MIN && r.hi <= INT16_MAX);
}

static void sums_that_may_wrap_have_no_range(void **state)
{
    (void)state;
    make("mov.u32 %r0, %ctaid.x;\nadd.s32 %r1, %r0, 0x7fffffff;\nst.global.u32 [%p], %r1;\n"
         "cvt.u16.u32 %h0, %r0;\nadd.u16 %h1, %h0, 1;\nst.global.u16 [%p], %h1;\n"
         "ld.global.u8 %h2, [%p];\nadd.u16 %h3, %h2, 0x7f80;\nst.global.u16 [%p], %h3;\n"
         "shr.u32 %r2, %n, 4;\nadd.s32 %r3, %r2, 1;\nst.global.u32 [%p], %r3;\n");
    for (unsigned n = 0; n < 3; n++) {
        struct ir_range r = ir_range_of(ir, &shapes, stored(n)->d);
        assert_true(r.lo > r.hi);
    }
    struct ir_range r = ir_range_of(ir, &shapes, stored(3)->d);
    assert_int_equal(r.lo, 1);
    assert_int_equal(r.hi, (UINT32_MAX >> 4) + 1);
}

#define LOOP(body)                                                                                                     \
    "mov.u32 %i, 0;\nmov.u64 %x, %p;\nmov.u64 %y, %p;\ncvt.u64.u32 %z, %n;\nL:\n" body                                 \
    "add.u32 %i, %i, 1;\nsetp.lt.u32 %v, %i, %n;\n@%v bra L;\n"

static void an_address_steps_from_iteration_to_iteration(void **state)
{
    (void)state;
    make(LOOP("add.u64 %d0, %x, 24;\nst.global.u32 [%d0], %n;\n" /* base and 24, before it steps */
              "add.u64 %x, %x, 16;\nst.global.u32 [%x + 4], %n;\n"
              "sub.u64 %x, %x, 20;\n"
              "mad.wide.u32 %d1, %i, 12, %p;\nst.global.u32 [%d1], %n;\n"));
    const struct ir_affine *x = address(0);
    assert_int_equal(x->over, EVOLVES_BY_STEP);
    assert_int_equal(x->step, -4);
    assert_int_equal(x->added, 24);
    assert_int_equal(x->base, address(1)->base);
    assert_int_equal(address(1)->added, 16);
    x = address(2);
    assert_int_equal(x->over, EVOLVES_BY_STEP);
    assert_int_equal(x->step, 12);
    assert_int_equal(x->base, REF_NONE);
    assert_int_equal(x->made, AFFINE_MAD);
    assert_int_equal(x->a->made, AFFINE_BASE);
    assert_int_equal(x->c->over, EVOLVES_NOT);
}

static void steps_are_modulo_the_width(void **state)
{
    (void)state;
    make(LOOP("st.shared.u32 [%r0], %n;\ncvt.u64.u32 %d0, %r0;\nst.global.u32 [%d0], %n;\n"
              "add.u32 %r0, %r0, 0x7fffffff;\nadd.u32 %r0, %r0, 0x7fffffff;\n"));
    assert_int_equal(address(0)->over, EVOLVES_BY_STEP);
    assert_true(address(0)->step == -2);
    assert_true(address(1)->step == -2);
    assert_int_equal(address(1)->mad.extend, EXTEND_ZERO);
}

static void copies_go_around_like_what_they_copy(void **state)
{
    (void)state;
    make(LOOP("st.global.u32 [%x], %n;\nadd.u64 %d0, %x, 8;\nmov.u64 %x, %d0;\n"));
    assert_int_equal(address(0)->over, EVOLVES_BY_STEP);
    assert_int_equal(address(0)->step, 8);
}

static void what_is_added_may_be_no_number(void **state)
{
    (void)state;
    make(LOOP("st.global.u32 [%x], %n;\nadd.u64 %x, %z, %x;\nsub.u64 %x, %x, 8;\n"
              "mul.lo.u32 %r0, %i, %n;\ncvt.u64.u32 %d1, %r0;\nst.global.u32 [%d1], %n;\n"));
    const struct ir_affine *x = address(0);
    assert_int_equal(x->over, EVOLVES_BY_ADDENDS);
    assert_int_equal(x->n_addends, 2);
    assert_true(x->addends[0].negative);
    assert_false(x->addends[1].negative);
    assert_int_equal(address(1)->over, EVOLVES_BY_ADDENDS);
}

static void what_is_loaded_or_squared_does_not_step(void **state)
{
    (void)state;
    make(LOOP("ld.global.u64 %d0, [%x];\nadd.u64 %d0, %d0, 8;\nst.global.u32 [%d0], %n;\n"
              "mul.wide.u32 %d1, %i, %i;\nst.global.u32 [%d1], %n;\n"
              "and.b64 %d2, %x, -16;\nst.global.u32 [%d2], %n;\n"
              "and.b64 %d3, %p, -16;\nst.global.u32 [%d3], %n;\n"
              "setp.eq.u32 %q, %i, 3;\n@%q add.u64 %y, %y, 8;\nst.global.u32 [%y], %n;\nadd.u64 %x, %x, 8;\n"));
    assert_int_equal(address(0)->over, EVOLVES_LOADED);
    assert_int_equal(address(1)->over, EVOLVES_OTHERWISE);
    assert_int_equal(address(2)->over, EVOLVES_OTHERWISE);
    assert_int_equal(address(3)->over, EVOLVES_NOT);
    assert_int_equal(address(4)->over, EVOLVES_OTHERWISE); /* in some lanes */
}

static void registers_of_a_loop_of_several_blocks_are_known_where_they_are_written_once(void **state)
{
    (void)state;
    make(LOOP("st.global.u32 [%x], %n;\nst.global.u32 [%y], %n;\nsetp.eq.u32 %q, %i, 3;\n@%q bra ON;\n"
              "st.global.u32 [%p], %n;\nadd.u64 %y, %y, 4;\nON:\nadd.u64 %x, %x, 8;\nadd.u64 %y, %y, 4;\n"));
    assert_int_equal(address(0)->over, EVOLVES_BY_STEP);
    assert_int_equal(address(0)->step, 8);
    assert_int_equal(address(1)->over, EVOLVES_OTHERWISE);
    assert_int_equal(address(2)->over, EVOLVES_NOT);
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    arena = (struct arena){0};
    return 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_definition_dominates_where_it_is_the_only_one),
        TEST(what_may_be_read_before_has_no_definition_that_dominates),
        TEST(instructions_are_products_and_sums),
        TEST(what_shifts_by_its_width_or_is_no_sum_is_none),
        TEST(an_address_has_lanes_and_a_step_over_blocks),
        TEST(what_may_wrap_is_assumed),
        TEST(sums_that_may_wrap_have_no_range),
        TEST(an_address_steps_from_iteration_to_iteration),
        TEST(steps_are_modulo_the_width),
        TEST(copies_go_around_like_what_they_copy),
        TEST(what_is_added_may_be_no_number),
        TEST(what_is_loaded_or_squared_does_not_step),
        TEST(registers_of_a_loop_of_several_blocks_are_known_where_they_are_written_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
