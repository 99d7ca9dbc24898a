/* mem/: allocations are found by every address in them and by none outside; the host's own memory
 * where it is allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/space.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void setup(struct mem *m)
{
    assert_true(mem_init(m, 1 << 30));
}

static void bounds_are_exact(void **state)
{
    (void)state;
    struct mem m;
    struct mem_block b;
    setup(&m);
    for (uint64_t size = 1; size < 1 << 20; size = size * 3 + 1) {
        uint64_t p = (uint64_t)(uintptr_t)mem_alloc(&m, size, MEM_DEVICE, "x");
        assert_true(p != 0 && p % MEM_ALIGN_BYTES == 0);
        assert_true(mem_find(&m, p, &b) && b.start == p && b.size == size);
        assert_true(mem_find(&m, p + size - 1, &b) && b.start == p);
        assert_false(mem_find(&m, p + size, &b) && b.start == p);
        assert_false(mem_find(&m, p - 1, &b) && b.start == p);
    }
    mem_destroy(&m);
}

/* Kernels may use what lies up to the next multiple, once tails are open: zeros, whoever had them
 * before. */
static void open_tails_end_with_their_unit(void **state)
{
    (void)state;
    static const struct {
        enum mem_kind kind;
        uint64_t unit;
    } kinds[] = {{MEM_DEVICE, 512}, {MEM_MANAGED_VARIABLE, 512}, {MEM_VARIABLE, 256}, {MEM_HEAP, 16}, {MEM_CONST, 1}};
    struct mem m;
    struct mem_block b;
    setup(&m);
    mem_open_tails(&m);
    for (size_t k = 0; k < 2 * sizeof kinds / sizeof kinds[0]; k++)
        for (uint64_t size = 1; size < 1 << 20; size = size * 3 + 1) {
            uint64_t unit = kinds[k / 2].unit, room = (size + unit - 1) / unit * unit;
            char *at = mem_alloc(&m, size, kinds[k / 2].kind, "x");
            uint64_t p = (uint64_t)(uintptr_t)at;
            bool in_tail;
            assert_true(mem_reach_bytes(&m, p, size, &b, &in_tail) && !in_tail && b.size == size);
            assert_true(mem_reach_bytes(&m, p, room, &b, &in_tail) && in_tail == (room > size) && b.start == p);
            assert_true(mem_reach_bytes(&m, p + room - 1, 1, &b, &in_tail) && b.start == p && b.size == size);
            assert_false(mem_reach_bytes(&m, p, room + 1, &b, &in_tail));
            assert_false(mem_reach_bytes(&m, p + 1, UINT64_MAX, &b, &in_tail));
            assert_false(mem_find(&m, p + size, &b) && b.start == p);
            for (uint64_t i = size; i < room; i++)
                assert_int_equal(at[i], 0);
            memset(at, 7, room);
            assert_true(mem_free(&m, at));
            assert_false(mem_reach_bytes(&m, p + room - 1, 1, &b, &in_tail));
        }
    mem_destroy(&m);
}

static void tails_are_closed_at_first(void **state)
{
    (void)state;
    struct mem m;
    struct mem_block b;
    bool in_tail;
    setup(&m);
    uint64_t p = (uint64_t)(uintptr_t)mem_alloc(&m, 100, MEM_DEVICE, NULL);
    assert_true(mem_reach_bytes(&m, p, 100, &b, &in_tail) && !in_tail);
    assert_false(mem_reach_bytes(&m, p, 101, &b, &in_tail) || in_tail);
    assert_false(mem_reach_bytes(&m, p + 100, 0, &b, &in_tail));
    mem_destroy(&m);
}

static void freed_memory_is_not_found(void **state)
{
    (void)state;
    struct mem m;
    struct mem_block b;
    setup(&m);
    void *small = mem_alloc(&m, 100, MEM_DEVICE, NULL), *large = mem_alloc(&m, 1 << 20, MEM_DEVICE, NULL);
    assert_true(mem_free(&m, small) && mem_free(&m, large));
    assert_false(mem_find(&m, (uint64_t)(uintptr_t)small, &b));
    assert_false(mem_find(&m, (uint64_t)(uintptr_t)large, &b));
    assert_false(mem_free(&m, small));
    assert_int_equal(m.allocated_bytes, 0);
    mem_destroy(&m);
}

/* A kernel's thread frees what another one reads. */
static void memory_that_is_freed_while_it_is_used_stays_mapped(void **state)
{
    (void)state;
    struct mem m;
    struct mem_block b;
    setup(&m);
    for (int shared = 0; shared < 2; shared++) {
        uint64_t offset;
        volatile char *p = mem_alloc(&m, 1 << 20, MEM_DEVICE, NULL);
        assert_true(!shared || mem_share(&m, (void *)p, &offset) >= 0);
        mem_begin_use(&m);
        p[5000] = 1;
        assert_true(mem_free(&m, (void *)p));
        assert_false(mem_find(&m, (uint64_t)(uintptr_t)p, &b));
        p[5000] = p[6000];
        mem_end_use(&m);
    }
    mem_destroy(&m);
}

/* What is written through the file is seen at once, and the other way round. */
static void shared_memory_is_that_of_a_file(void **state)
{
    (void)state;
    struct mem m;
    setup(&m);
    for (uint64_t size = 300; size <= 3 << 20; size *= 100) {
        uint64_t at = UINT64_MAX, again;
        char *p = mem_alloc(&m, size, MEM_DEVICE, NULL), *neighbour = mem_alloc(&m, size, MEM_DEVICE, NULL), byte = 0;
        memset(p, 7, size);
        memset(neighbour, 9, size);
        int file = mem_share(&m, p, &at);
        assert_true(file >= 0 && mem_share(&m, p, &again) == file && again == at);
        assert_true(pread(file, &byte, 1, (off_t)(at + size - 1)) == 1 && byte == 7);
        assert_true(pwrite(file, "x", 1, (off_t)at) == 1 && p[0] == 'x' && p[1] == 7);
        p[size - 1] = 'y';
        assert_true(pread(file, &byte, 1, (off_t)(at + size - 1)) == 1 && byte == 'y');
        assert_true(neighbour[0] == 9 && neighbour[size - 1] == 9);
        assert_true(mem_free(&m, p) && mem_free(&m, neighbour));
        char *q = mem_alloc(&m, size, MEM_DEVICE, NULL);
        assert_true(size < 65536 || fcntl(file, F_GETFD) < 0); /* a large one's file has gone with it */
        memset(q, 1, size);
        assert_true(mem_free(&m, q));
    }
    assert_int_equal(mem_share(&m, &m, &(uint64_t){0}), -1);
    mem_destroy(&m);
}

static void *share_and_free(void *data)
{
    struct mem *m = data;
    uint64_t at;
    for (int i = 0; i < 300; i++) {
        void *p = mem_alloc(m, MEM_UNIT_BYTES, MEM_DEVICE, NULL);
        assert_true(mem_share(m, p, &at) >= 0);
        assert_true(mem_free(m, p));
    }
    return NULL;
}

static void *use_and_free(void *data)
{
    struct mem *m = data;
    for (int i = 0; i < 3000; i++) {
        void *p = mem_alloc(m, MEM_UNIT_BYTES, MEM_DEVICE, NULL);
        mem_begin_use(m);
        *(char *)p = 1;
        mem_end_use(m);
        assert_true(mem_free(m, p));
    }
    return NULL;
}

static void memory_is_shared_used_and_freed_by_many_at_a_time(void **state)
{
    enum { N = 6 };
    struct mem m;
    pthread_t threads[N];
    (void)state;
    setup(&m);
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i % 2 ? use_and_free : share_and_free, &m), 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    mem_destroy(&m);
}

static void limit_is_kept(void **state)
{
    (void)state;
    struct mem m;
    assert_true(mem_init(&m, 1 << 20));
    assert_null(mem_alloc(&m, (1 << 20) + 1, MEM_DEVICE, NULL));
    void *p = mem_alloc(&m, 1 << 20, MEM_DEVICE, NULL);
    assert_non_null(p);
    assert_null(mem_alloc(&m, 1, MEM_DEVICE, NULL));
    assert_true(mem_free(&m, p));
    assert_non_null(mem_alloc(&m, 1, MEM_DEVICE, NULL));
    mem_destroy(&m);
}

static void runs_are_reused(void **state)
{
    (void)state;
    struct mem m;
    setup(&m);
    for (int i = 0; i < 1000; i++) {
        void *p = mem_alloc(&m, 100 << 20, MEM_DEVICE, NULL);
        assert_non_null(p);
        *(volatile char *)p = 1;
        assert_true(mem_free(&m, p));
    }
    mem_destroy(&m);
}

/* What the system has noted of the mapping that holds an address: a line of two letters each; empty
 * where it notes nothing. */
static void read_flags(const void *p, char *flags, size_t size)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long long from, to;
    bool here = false;
    *flags = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            here = (uintptr_t)p >= from && (uintptr_t)p < to;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            snprintf(flags, size, "%s", line);
    }
    if (f)
        fclose(f);
}

static void large_allocations_ask_for_large_pages(void **state)
{
    (void)state;
    struct mem m;
    char flags[512];
    setup(&m);
    void *small = mem_alloc(&m, 1 << 20, MEM_DEVICE, NULL), *large = mem_alloc(&m, 64 << 20, MEM_DEVICE, NULL);
    assert_true(small && large);
    read_flags(large, flags, sizeof flags);
    bool noted = access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0 && *flags && !getenv("UNDER_QEMU");
    if (noted)
        assert_non_null(strstr(flags, " hg"));
    read_flags(small, flags, sizeof flags);
    assert_null(strstr(flags, " hg"));
    memset(large, 1, 64 << 20);
    assert_true(mem_free(&m, large));
    large = mem_alloc(&m, 64 << 20, MEM_DEVICE, NULL);
    assert_int_equal(((char *)large)[5 << 20], 0); /* its memory was given back */
    mem_destroy(&m);
}

/* Of what has been freed, neither runs nor slots are given out again soon, and what was freed is
 * remembered. */
static void guarded_memory_is_not_used_again_soon(void **state)
{
    (void)state;
    struct mem m;
    struct mem_block b;
    setup(&m);
    mem_guard(&m);
    void *small = mem_alloc(&m, 100, MEM_DEVICE, NULL), *large = mem_alloc(&m, 1 << 20, MEM_DEVICE, NULL);
    assert_true(mem_free(&m, small) && mem_free(&m, large));
    for (int i = 0; i < 500; i++) {
        void *p = mem_alloc(&m, 100, MEM_DEVICE, NULL), *q = mem_alloc(&m, 1 << 20, MEM_DEVICE, NULL);
        assert_true(p && q && p != small && q != large);
        assert_true(mem_free(&m, p) && mem_free(&m, q));
    }
    assert_false(mem_find(&m, (uint64_t)(uintptr_t)small + 50, &b));
    assert_true(mem_was_freed(&m, (uint64_t)(uintptr_t)small + 50, &b) && b.size == 100);
    assert_true(mem_was_freed(&m, (uint64_t)(uintptr_t)large + 50, &b) && b.size == 1 << 20);
    assert_int_equal(m.charged_bytes, 0);
    mem_destroy(&m);
}

/* More than there are addresses for, or than may be held: the oldest goes first. */
static void guarded_memory_is_used_again_when_there_is_no_other(void **state)
{
    (void)state;
    struct mem m;
    setup(&m);
    mem_guard(&m);
    for (int i = 0; i < 40; i++) {
        void *p = mem_alloc(&m, 1u << 29, MEM_DEVICE, NULL);
        assert_non_null(p);
        assert_true(mem_free(&m, p));
    }
    for (int i = 0; i < 3 * MEM_HELD; i++)
        assert_true(mem_free(&m, mem_alloc(&m, 4096, MEM_DEVICE, NULL)));
    assert_true(m.n_held <= MEM_HELD && m.held_bytes <= MEM_HELD_BYTES);
    mem_destroy(&m);
}

/* What is behind one is nobody's, whatever its size. */
static void guarded_allocations_have_gaps_between(void **state)
{
    (void)state;
    struct mem m;
    struct mem_block b;
    setup(&m);
    mem_guard(&m);
    for (uint64_t size = 256; size <= 1 << 18; size *= 2) {
        uint64_t p[8];
        for (int i = 0; i < 8; i++)
            p[i] = (uint64_t)(uintptr_t)mem_alloc(&m, size, MEM_DEVICE, NULL);
        for (int i = 0; i < 8; i++)
            assert_false(mem_find(&m, p[i] + size, &b) || mem_find(&m, p[i] + size + MEM_GAP_BYTES - 1, &b));
    }
    mem_destroy(&m);
}

/* ---- the host's own memory ---- */

static hd_range allowed[2];

static size_t allowed_ranges(void *data, hd_range *ranges, size_t n)
{
    size_t *count = data;
    memcpy(ranges, allowed, (*count < n ? *count : n) * sizeof *ranges);
    return *count;
}

static void *map_page(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static bool reaches(const struct mem *m, const void *p)
{
    struct mem_block b;
    return mem_reach(m, (uint64_t)(uintptr_t)p, &b);
}

static void host_memory_is_reached_as_soon_as_it_is_mapped_and_allowed(void **state)
{
    (void)state;
    struct mem m;
    size_t count = 1;
    setup(&m);
    allowed[0] = (hd_range){map_page(), 4096};
    assert_true(mem_open_host(&m, allowed_ranges, &count));
    assert_true(reaches(&m, allowed[0].start));
    allowed[1] = (hd_range){map_page(), 1};
    assert_false(reaches(&m, allowed[1].start));
    count = 2;
    assert_true(reaches(&m, allowed[1].start));
    assert_true(reaches(&m, (const char *)allowed[1].start + 4095));
    munmap((void *)(uintptr_t)allowed[0].start, 4096);
    assert_false(reaches(&m, allowed[0].start));
    assert_true(mmap((void *)(uintptr_t)allowed[0].start, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                     0) == allowed[0].start);
    assert_true(reaches(&m, allowed[0].start));
    mem_destroy(&m);
}

/* It cannot be read here: that there is no file to be had for it is not noticed. */
static void the_list_of_mappings_is_not_read_for_what_is_not_allowed(void **state)
{
    (void)state;
    struct mem m;
    size_t count = 1;
    struct rlimit before, none;
    setup(&m);
    allowed[0] = (hd_range){map_page(), 4096};
    void *other = map_page();
    if (!host_is_there(
            (uint64_t)(uintptr_t)other)) /* where the system does not say (qemu-user), it is read each time */
        skip();
    assert_true(mem_open_host(&m, allowed_ranges, &count));
    assert_true(reaches(&m, allowed[0].start));
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    bool other_is_reached = reaches(&m, other), known_is_reached = reaches(&m, allowed[0].start);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_false(other_is_reached);
    assert_true(known_is_reached);
    mem_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_exact),
        cmocka_unit_test(guarded_memory_is_not_used_again_soon),
        cmocka_unit_test(guarded_memory_is_used_again_when_there_is_no_other),
        cmocka_unit_test(guarded_allocations_have_gaps_between),
        cmocka_unit_test(open_tails_end_with_their_unit),
        cmocka_unit_test(tails_are_closed_at_first),
        cmocka_unit_test(freed_memory_is_not_found),
        cmocka_unit_test(memory_that_is_freed_while_it_is_used_stays_mapped),
        cmocka_unit_test(shared_memory_is_that_of_a_file),
        cmocka_unit_test(memory_is_shared_used_and_freed_by_many_at_a_time),
        cmocka_unit_test(limit_is_kept),
        cmocka_unit_test(runs_are_reused),
        cmocka_unit_test(large_allocations_ask_for_large_pages),
        cmocka_unit_test(host_memory_is_reached_as_soon_as_it_is_mapped_and_allowed),
        cmocka_unit_test(the_list_of_mappings_is_not_read_for_what_is_not_allowed),
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
