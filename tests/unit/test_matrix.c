/* isa/: of every product in matrix.def, the registers of a warp hold each element of each matrix
 * once (isa/matrix.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "isa/matrix.h"

enum { MAX_ELEMENTS = 16 * 256 };

/* Each element stands in `copies` registers. */
static void covers(const char *text, const struct fragment *f, unsigned m, unsigned n, unsigned k, unsigned q)
{
    const uint64_t weight[COORDINATES] = {1, m, (uint64_t)m * n, (uint64_t)m * n * k};
    uint64_t lanes[32], numbers[FRAGMENT_MAX_REGS * 8];
    unsigned all = m * n * k * q, count = f->n_regs * fragment_per_reg(f);
    uint8_t seen[MAX_ELEMENTS] = {0};
    fragment_places(f, weight, lanes, numbers);
    for (unsigned l = 0; l < 32; l++)
        for (unsigned e = 0; e < count; e++) {
            assert_true(lanes[l] + numbers[e] < all);
            seen[lanes[l] + numbers[e]]++;
        }
    for (unsigned i = 0; i < all; i++)
        if (seen[i] != 32 * count / all)
            fail_msg("%s: element %u stands in %u places, and not in %u", text, i, seen[i], 32 * count / all);
}

static void check(struct isa *isa, struct arena *arena, const char *text)
{
    struct isa_error error;
    struct matrix x;
    const char *why;
    const struct isa_inst *inst = isa_resolve(isa, str_of(text), &error);
    if (!inst)
        fail_msg("%s: %s", text, error.text);
    if (!matrix_of(inst, arena, &x, &why))
        fail_msg("%s: %s", text, why);
    bool warpgroup = x.kind == MATRIX_WARPGROUP, quad = x.m == 8 && x.k == 4 && x.a_type == TYPE_f16;
    unsigned m = warpgroup ? 16 : x.m, k = x.a_type == TYPE_b1 ? x.k / 32u : x.k, q = quad ? 4 : 1;
    covers(text, &x.a, m, 1, x.sparse ? k / 2 : k, q);
    if (!warpgroup)
        covers(text, &x.b, 1, x.n, k, q);
    covers(text, &x.c, m, x.n, 1, q);
    covers(text, &x.d, m, x.n, 1, q);
}

static void check_product(struct isa *isa, struct arena *arena, const char *op, bool sparse, unsigned m, unsigned n,
                          unsigned k, const char *d, const char *a)
{
    bool is_bits = strcmp(a, "b1") == 0, is_wmma = strcmp(op, "wmma") == 0, is_wgmma = strcmp(op, "wgmma") == 0;
    const char *dot = is_bits ? ".and.popc" : "";
    char text[160];
    if (is_wgmma)
        snprintf(text, sizeof text, "wgmma.mma_async%s.sync.aligned.m%un%uk%u.%s.%s.%s%s", sparse ? ".sp" : "", m, n, k,
                 d, a, a, dot);
    else if (is_wmma && strcmp(a, "f16") == 0)
        snprintf(text, sizeof text, "wmma.mma.sync.aligned.row.col.m%un%uk%u.%s.%s", m, n, k, d, d);
    else if (is_wmma)
        snprintf(text, sizeof text, "wmma.mma%s.sync.aligned.row.col.m%un%uk%u.%s.%s.%s.%s", dot, m, n, k, d, a, a, d);
    else
        snprintf(text, sizeof text, "mma%s.sync.aligned.m%un%uk%u.row.col.%s.%s.%s.%s%s", sparse ? ".sp" : "", m, n, k,
                 d, a, a, d, dot);
    check(isa, arena, text);
}

static const char *first_word(char *to, const char *words)
{
    snprintf(to, 8, "%.*s", (int)strcspn(words, " "), words);
    return to;
}

static void fragments_hold_each_element(void **state)
{
    struct arena arena = {0};
    struct isa isa;
    char d_type[8], a_type[8];
    (void)state;
    isa_init(&isa, &arena);
#define PRODUCT(op, sparse, m, n, k, d, a, b, ptx, sm)                                                                 \
    for (unsigned columns = n > 1 ? n : 8; columns <= (n > 1 ? n : 256); columns *= 2)                                 \
        for (const char *rest = d; *rest; rest += strcspn(rest, " ") + (strchr(rest, ' ') != NULL))                    \
            check_product(&isa, &arena, #op, sparse, m, columns, k, first_word(d_type, rest), first_word(a_type, a));
#include "isa/matrix.def"
#undef PRODUCT
    check(&isa, &arena, "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16");
    check(&isa, &arena, "mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16");
    check(&isa, &arena, "mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f32");
    arena_free(&arena);
}

/* The ISA's own formulas for one layout (9.7.14.5.8, m16n8k16 of f16). */
static void layout_is_the_isa_s(void **state)
{
    struct arena arena = {0};
    struct isa isa;
    struct isa_error error;
    struct matrix x;
    const char *why;
    const uint64_t rows[COORDINATES] = {1, 0, 0, 0}, columns[COORDINATES] = {0, 1, 1, 0};
    uint64_t lanes[2][32], numbers[2][16];
    (void)state;
    isa_init(&isa, &arena);
    assert_true(matrix_of(isa_resolve(&isa, str_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), &error),
                          &arena, &x, &why));
    fragment_places(&x.a, rows, lanes[0], numbers[0]);
    fragment_places(&x.a, columns, lanes[1], numbers[1]);
    for (unsigned l = 0; l < 32; l++)
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(lanes[0][l] + numbers[0][i], (i < 2 || (i >= 4 && i < 6)) ? l / 4 : l / 4 + 8);
            assert_int_equal(lanes[1][l] + numbers[1][i], l % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0));
        }
    fragment_places(&x.d, rows, lanes[0], numbers[0]);
    fragment_places(&x.d, columns, lanes[1], numbers[1]);
    for (unsigned l = 0; l < 32; l++)
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(lanes[0][l] + numbers[0][i], i < 2 ? l / 4 : l / 4 + 8);
            assert_int_equal(lanes[1][l] + numbers[1][i], l % 4 * 2 + (i & 1));
        }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_hold_each_element),
        cmocka_unit_test(layout_is_the_isa_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
