/* Vector clocks (src/check/order/clock.h) against tables that have a frontier for every thread, and
 * what they share. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/order/clock.h"

/* Instances that are near each other and far apart, and a few warps of each. */
enum { INSTANCES = 8, WARPS = 3, LANES = 32, THREADS = INSTANCES * WARPS * LANES, CLOCKS = 24, STEPS = 6000 };
static const uint32_t incarnations[INSTANCES] = {1, 2, 15, 16, 17, 300, 4097, (1u << 28) - 1};
static const unsigned warps[WARPS] = {0, 7, 31};

struct table {
    uint32_t frontier[THREADS];
};

static uint32_t random_below(uint32_t n)
{
    static uint64_t x = 88172645463325252ull;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (uint32_t)(x >> 20) % n;
}

static void raise_frontier(struct table *t, unsigned i, unsigned w, unsigned lane, uint32_t frontier)
{
    uint32_t *at = &t->frontier[(i * WARPS + w) * LANES + lane];
    *at = frontier > *at ? frontier : *at;
}

static void add(struct clock **c, struct table *t)
{
    unsigned i = random_below(INSTANCES), w = random_below(WARPS), kind = random_below(8);
    uint32_t frontier = random_below(12), lanes = random_below(UINT32_MAX) & random_below(UINT32_MAX), frontiers[LANES];
    for (unsigned l = 0; l < LANES; l++)
        frontiers[l] = random_below(14);
    if (kind > 5)
        lanes = 1u << random_below(LANES);
    if (kind == 0) {
        assert_true(clock_add_block(c, incarnations[i], frontier));
    } else if (kind < 3) {
        assert_true(clock_add_warp(c, incarnations[i], warps[w], frontier));
    } else {
        assert_true(clock_add_lanes(c, incarnations[i], warps[w], lanes, frontiers));
    }
    for (unsigned v = 0; v < WARPS; v++)
        for (unsigned l = 0; l < LANES; l++) {
            if (kind == 0 || (kind < 3 && v == w))
                raise_frontier(t, i, v, l, frontier);
            else if (kind >= 3 && v == w && lanes >> l & 1)
                raise_frontier(t, i, v, l, frontiers[l]);
        }
}

static void join(struct table *t, const struct table *with)
{
    for (unsigned k = 0; k < THREADS; k++)
        t->frontier[k] = with->frontier[k] > t->frontier[k] ? with->frontier[k] : t->frontier[k];
}

static void check_same(const struct clock *c, const struct table *t)
{
    for (unsigned i = 0; i < INSTANCES; i++)
        for (unsigned w = 0; w < WARPS; w++) {
            uint32_t epoch = random_below(14), expected = 0;
            for (unsigned l = 0; l < LANES; l++)
                expected |= (uint32_t)(epoch < t->frontier[(i * WARPS + w) * LANES + l]) << l;
            assert_int_equal(clock_before(c, incarnations[i], warps[w], UINT32_MAX, epoch), expected);
            assert_int_equal(clock_before(c, incarnations[i], warps[w], 0xff00, epoch), expected & 0xff00);
            assert_int_equal(clock_before(c, incarnations[i], 12, 1, 13), 0);
        }
    assert_int_equal(clock_before(c, 3, 0, UINT32_MAX, 0), 0);
}

static void random_clocks_say_what_tables_say(void **state)
{
    struct clock *c[CLOCKS] = {0};
    static struct table t[CLOCKS];
    (void)state;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned to = random_below(CLOCKS), from = random_below(CLOCKS), what = random_below(20);
        if (what == 0) {
            clock_release(c[to]);
            c[to] = NULL;
            memset(&t[to], 0, sizeof t[to]);
        } else if (what < 4) { /* both go on from the same */
            struct clock *same = clock_ref(c[from]);
            clock_release(c[to]);
            c[to] = same;
            t[to] = t[from];
        } else if (what < 10) {
            assert_true(what < 7 ? clock_join(&c[to], c[from]) : clock_extend(&c[to], c[from]));
            join(&t[to], &t[from]);
        } else if (what < 12) { /* one that goes on meanwhile is joined again */
            struct clock *old = clock_ref(c[from]);
            assert_true(clock_join(&c[to], old));
            add(&c[to], &t[to]);
            if (from != to)
                add(&c[from], &t[from]);
            join(&t[to], &t[from]);
            assert_true(clock_join_since(&c[to], c[from], old));
            clock_release(old);
        } else {
            add(&c[to], &t[to]);
        }
        check_same(c[to], &t[to]);
        check_same(c[from], &t[from]);
    }
    for (unsigned i = 0; i < CLOCKS; i++)
        clock_release(c[i]);
}

static struct clock *of_thread(uint32_t incarnation, unsigned warp, unsigned lane, uint32_t frontier)
{
    struct clock *c = NULL;
    uint32_t frontiers[LANES];
    frontiers[lane] = frontier;
    assert_true(clock_add_lanes(&c, incarnation, warp, 1u << lane, frontiers));
    return c;
}

static void joining_what_is_known_already_makes_nothing_new(void **state)
{
    struct clock *big = NULL, *part = of_thread(40, 3, 5, 7), *joined = NULL;
    (void)state;
    for (uint32_t i = 1; i < 100; i++) {
        struct clock *one = of_thread(i, i % 4, i % 32, 8);
        assert_true(clock_join(&big, one));
        clock_release(one);
    }
    assert_true(clock_join(&big, part));
    struct clock *before = big;
    assert_true(clock_join(&big, part));
    assert_ptr_equal(big, before);
    assert_true(clock_join(&joined, part) && clock_join(&joined, big));
    assert_ptr_equal(joined->root, big->root);
    clock_release(big);
    clock_release(part);
    clock_release(joined);
}

static void what_says_the_same_is_built_alike(void **state)
{
    struct clock *a = NULL, *b = NULL;
    uint32_t frontiers[LANES] = {[3] = 5, [4] = 9};
    (void)state;
    assert_true(clock_add_lanes(&a, 9, 2, 1u << 3 | 1u << 4, frontiers) && clock_add_warp(&a, 9, 1, 6));
    assert_true(clock_add_block(&a, 9, 6));
    assert_true(clock_add_block(&b, 9, 6) && clock_add_lanes(&b, 9, 2, 1u << 4, frontiers));
    struct clock *joined = clock_ref(a);
    assert_true(clock_join(&joined, b));
    assert_ptr_equal(joined, a);
    assert_true(clock_join(&joined, a) && clock_add_warp(&joined, 9, 2, 6));
    assert_ptr_equal(joined, a);
    clock_release(a);
    clock_release(b);
    clock_release(joined);
}

static void a_lineage_has_one_successor(void **state)
{
    struct clock *line = NULL, *fork, *one = of_thread(1, 0, 1, 5), *two = of_thread(2, 0, 1, 5);
    struct clock *three = of_thread(3, 0, 1, 5);
    (void)state;
    assert_true(clock_extend(&line, one) && clock_extend(&line, two));
    fork = clock_ref(line);
    assert_true(clock_extend(&line, three));
    assert_true(line->lineage && line->lineage == fork->lineage && line->place > fork->place);
    struct clock *earlier = clock_ref(fork);
    assert_true(clock_join(&earlier, line));
    assert_ptr_equal(earlier, line);
    assert_true(clock_add_lanes(&fork, 4, 0, 1, (const uint32_t[]){5}));
    assert_true(clock_join(&line, fork) && clock_before(line, 4, 0, 1, 4) == 1 && clock_before(line, 3, 0, 2, 4) == 2);
    clock_release(earlier);
    clock_release(line);
    clock_release(fork);
    clock_release(one);
    clock_release(two);
    clock_release(three);
}

/* Of incarnations that have none. */
static void what_is_marked_is_said_of_marks_too(void **state)
{
    enum { MARK = 1 << 28, OTHER = 1 << 26, ROUNDS = 40 };
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct clock *c = NULL, *marked = NULL;
        struct table t = {0}, of_marked = {0};
        for (unsigned i = 0; i < round; i++)
            add(&c, &t);
        for (unsigned i = 0; i < round / 2; i++)
            assert_true(clock_add_lane(&c, incarnations[i % (INSTANCES - 1)] | OTHER, 0, i % LANES, 20));
        add(&marked, &of_marked);
        assert_true(clock_add_marked(&marked, c, MARK));
        for (unsigned i = 0; i < THREADS; i++) {
            uint32_t incarnation = incarnations[i / LANES / WARPS], lane = 1u << i % LANES;
            unsigned warp = warps[i / LANES % WARPS];
            bool has_marks = incarnation & CLOCK_MARKS;
            for (uint32_t epoch = 0; epoch < 20; epoch++) {
                bool is_before = clock_before(marked, incarnation | MARK, warp, lane, epoch);
                assert_int_equal(is_before, !has_marks && epoch < t.frontier[i]);
                assert_int_equal(clock_before(marked, incarnation, warp, lane, epoch) != 0,
                                 epoch < of_marked.frontier[i]);
                assert_false(clock_before(marked, incarnation | OTHER | MARK, warp, lane, epoch));
            }
        }
        clock_release(c);
        clock_release(marked);
    }
}

/* A lock goes through all threads of 64 blocks, twice, and every state of it is kept: were each a
 * copy, 7 GB. */
static void handing_a_lock_on_costs_a_few_nodes(void **state)
{
    enum { BLOCKS = 64, EACH = 256, ROUNDS = 2, TURNS = BLOCKS * EACH * ROUNDS, BYTES = 2048 };
    struct clock **kept = calloc(TURNS, sizeof(struct clock *)), *lock = NULL;
    size_t before = mallinfo2().uordblks;
    (void)state;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        unsigned thread = turn / BLOCKS % EACH;
        struct clock *own = of_thread(1 + turn % BLOCKS, thread / 32, thread % 32, turn + 1);
        assert_true(clock_extend(&lock, own));
        clock_release(own);
        kept[turn] = clock_ref(lock);
    }
    assert_true(mallinfo2().uordblks - before < (size_t)TURNS * BYTES);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        unsigned last = turn / BLOCKS % EACH;
        assert_int_equal(clock_before(kept[turn], 1 + turn % BLOCKS, last / 32, 1u << last % 32, turn),
                         1u << last % 32);
        assert_int_equal(clock_before(kept[turn], 1 + turn % BLOCKS, last / 32, 1u << last % 32, turn + 1), 0);
        clock_release(kept[turn]);
    }
    clock_release(lock);
    free((void *)kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_clocks_say_what_tables_say),
        cmocka_unit_test(joining_what_is_known_already_makes_nothing_new),
        cmocka_unit_test(what_says_the_same_is_built_alike),
        cmocka_unit_test(a_lineage_has_one_successor),
        cmocka_unit_test(what_is_marked_is_said_of_marks_too),
        cmocka_unit_test(handing_a_lock_on_costs_a_few_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
