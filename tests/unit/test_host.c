/* Accesses of the host that are seen one by one (src/check/host/host.h): which bytes, in what
 * order, and nothing else changes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/host/host.h"

#if defined __x86_64__

#include <immintrin.h>

enum { BYTES = 1 << 16, MOST = 4096 };

struct fixture {
    struct mem mem;
    struct host_watch *watch;
    uint8_t *p; /* zeros */
    struct host_access seen[MOST];
    volatile unsigned n, done; /* the handler counts */
};

static void on_access(void *data, const struct host_access *a, bool done)
{
    struct fixture *f = data;
    if (!done)
        f->seen[f->n++ % MOST] = *a;
    else if (f->n > 0 && f->seen[(f->n - 1) % MOST].address == a->address)
        f->done++;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_true(mem_init(&f->mem, 64 << 20));
    f->watch = host_watch_new(&f->mem, on_access, f);
    assert_non_null(f->watch);
    f->p = mem_alloc_zero(&f->mem, BYTES, MEM_HOST, NULL);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    host_watch_free(f->watch);
    mem_destroy(&f->mem);
    free(f);
    return 0;
}

static void expect(struct fixture *f, const void *p, uint64_t bytes, bool write)
{
    assert_int_equal(f->n, 1);
    assert_int_equal(f->seen[0].address, (uintptr_t)p);
    assert_int_equal(f->seen[0].bytes, bytes);
    assert_int_equal(f->seen[0].write, write);
    assert_int_equal(f->done, 1);
    f->n = f->done = 0;
}

static void nothing_is_seen_while_nobody_watches(void **state)
{
    struct fixture *f = *state;
    memset(f->p, 1, BYTES);
    host_watch_set(f->watch, true);
    host_watch_set(f->watch, false);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(f->p[i], 1);
    assert_int_equal(f->n, 0);
}

#define SIZE(type, whole_is)                                                                                           \
    do {                                                                                                               \
        volatile type *at = (volatile type *)(f->p + 3 * sizeof(type));                                                \
        *at = (type)42;                                                                                                \
        assert_int_equal(f->seen[0].whole, whole_is);                                                                  \
        expect(f, (const void *)at, sizeof(type), true);                                                               \
        type v = *at;                                                                                                  \
        expect(f, (const void *)at, sizeof(type), false);                                                              \
        assert_true(v == (type)42);                                                                                    \
        *at += 1;                                                                                                      \
        assert_true(f->n >= 1);                                                                                        \
        f->n = f->done = 0;                                                                                            \
    } while (0)

static void loads_and_stores_are_seen_with_their_bytes(void **state)
{
    struct fixture *f = *state;
    host_watch_set(f->watch, true);
    SIZE(uint8_t, true);
    SIZE(int16_t, true);
    SIZE(uint32_t, true);
    SIZE(int64_t, true);
    SIZE(float, true);
    SIZE(double, true);
}

static void every_access_is_seen(void **state)
{
    struct fixture *f = *state;
    host_watch_set(f->watch, true);
    volatile uint32_t *p = (volatile uint32_t *)f->p;
    for (uint32_t i = 0; i < 1000; i++)
        p[7 * i % 1024] = i;
    assert_int_equal(f->n, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(f->seen[i].address, (uintptr_t)&p[7 * i % 1024]);
    f->n = f->done = 0;
    while (f->n < 500)
        (void)p[0];
    host_watch_set(f->watch, false);
    assert_int_equal(p[7], 1);
    assert_int_equal(f->n, 500);
}

static void vectors_and_locked_instructions_are_seen(void **state)
{
    struct fixture *f = *state;
    host_watch_set(f->watch, true);
    __m128i v = _mm_loadu_si128((const __m128i *)(f->p + 17));
    expect(f, f->p + 17, 16, false);
    _mm_storeu_si128((__m128i *)(f->p + 33), v);
    expect(f, f->p + 33, 16, true);
    __atomic_fetch_add((uint32_t *)(f->p + 64), 5, __ATOMIC_SEQ_CST);
    expect(f, f->p + 64, 4, true);
    uint64_t old = 0;
    __atomic_compare_exchange_n((uint64_t *)(f->p + 72), &old, 9, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    expect(f, f->p + 72, 8, true);
}

__attribute__((target("avx2"))) static void with_avx(struct fixture *f)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(f->p + 5));
    expect(f, f->p + 5, 32, false);
    _mm256_storeu_si256((__m256i *)(f->p + 50), v);
    expect(f, f->p + 50, 32, true);
    _mm256_storeu_ps((float *)(f->p + 200), _mm256_broadcast_ss((const float *)(f->p + 100)));
    assert_int_equal(f->n, 2);
    assert_int_equal(f->seen[0].bytes, 4);
    assert_int_equal(f->seen[1].bytes, 32);
    f->n = f->done = 0;
}

static void wide_vectors_are_seen(void **state)
{
    struct fixture *f = *state;
    if (!__builtin_cpu_supports("avx2"))
        skip();
    host_watch_set(f->watch, true);
    with_avx(f);
}

__attribute__((target("avx2"))) static void gather(struct fixture *f)
{
    static const int at[8] = {1, 5, 1021, 1024, 1027, 7000, 3, 9};
    const __m256i mask = _mm256_set_epi32(-1, 0, -1, -1, -1, -1, -1, -1);
    __m256i v = _mm256_mask_i32gather_epi32(_mm256_set1_epi32(77), (const int *)(f->p + 4),
                                            _mm256_loadu_si256((const __m256i *)at), mask, 4);
    __asm__ volatile("" ::"x"(v) : "memory");
    int values[8];
    _mm256_storeu_si256((__m256i *)values, v);
    assert_int_equal(f->n, 7);
    for (int i = 0, seen = 0; i < 8; i++) {
        assert_int_equal(values[i], i == 6 ? 77 : at[i] * 3);
        if (i == 6)
            continue;
        assert_int_equal(f->seen[seen].address, (uintptr_t)(f->p + 4 + 4 * at[i]));
        assert_int_equal(f->seen[seen].bytes, 4);
        assert_false(f->seen[seen++].write);
    }
}

static void elements_that_are_gathered_are_seen(void **state)
{
    struct fixture *f = *state;
    if (!__builtin_cpu_supports("avx2"))
        skip();
    for (int i = 0; i < 8000; i++)
        ((int *)(f->p + 4))[i] = i * 3;
    host_watch_set(f->watch, true);
    gather(f);
}

__attribute__((target("avx512f,avx512vl"))) static void with_masks(struct fixture *f)
{
    __m512i v = _mm512_mask_loadu_epi32(_mm512_set1_epi32(1), 0x0f0c, f->p + 60);
    __asm__ volatile("" ::"v"(v) : "memory");
    assert_int_equal(f->n, 2);
    assert_int_equal(f->seen[0].address, (uintptr_t)(f->p + 68));
    assert_int_equal(f->seen[0].bytes, 8);
    assert_int_equal(f->seen[1].address, (uintptr_t)(f->p + 92));
    assert_int_equal(f->seen[1].bytes, 16);
    f->n = f->done = 0;
    __m512i at = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 100, 2, 1, 50);
    _mm512_mask_i32scatter_epi32(f->p, 9, at, v, 4);
    __asm__ volatile("" ::: "memory");
    assert_int_equal(f->n, 2);
    assert_true(f->seen[1].address == (uintptr_t)(f->p + 400) && f->seen[1].bytes == 4 && f->seen[1].write);
    f->n = f->done = 0;
    _mm512_mask_compressstoreu_epi32(f->p + 4096 - 8, 0x8421, v);
    expect(f, f->p + 4096 - 8, 16, true);
}

static void what_masks_leave_out_is_not_seen(void **state)
{
    struct fixture *f = *state;
    if (!__builtin_cpu_supports("avx512vl"))
        skip();
    host_watch_set(f->watch, true);
    with_masks(f);
}

static void an_access_of_two_pages_is_one(void **state)
{
    typedef uint64_t unaligned __attribute__((aligned(1)));
    struct fixture *f = *state;
    host_watch_set(f->watch, true);
    *(volatile unaligned *)(f->p + 4096 - 3) = 0x0102030405060708;
    expect(f, f->p + 4096 - 3, 8, true);
    host_watch_set(f->watch, false);
    assert_int_equal(f->p[4096], 5);
}

static bool covers(const struct fixture *f, const uint8_t *p, size_t bytes, bool write)
{
    uint8_t *told = calloc(1, bytes);
    for (unsigned i = 0; i < f->n; i++)
        for (uint64_t k = 0; k < f->seen[i].bytes && f->seen[i].write == write; k++)
            if (f->seen[i].address + k - (uintptr_t)p < bytes)
                told[f->seen[i].address + k - (uintptr_t)p] = 1;
    bool all = memchr(told, 0, bytes) == NULL;
    free(told);
    return all;
}

static void the_c_librarys_copies_are_seen(void **state)
{
    struct fixture *f = *state;
    uint8_t *own = malloc(BYTES);
    memset(own, 7, BYTES);
    host_watch_set(f->watch, true);
    for (size_t n = 1; n < 20000; n = 3 * n + 1) {
        memcpy(f->p + 100, own, n);
        assert_true(covers(f, f->p + 100, n, true));
        f->n = f->done = 0;
        memcpy(own + 1, f->p + 100, n);
        assert_true(covers(f, f->p + 100, n, false));
        f->n = f->done = 0;
        memset(f->p + 9, (int)n, n);
        assert_true(covers(f, f->p + 9, n, true));
        f->n = f->done = 0;
    }
    host_watch_set(f->watch, false);
    assert_int_equal(own[1], 7);
    free(own);
}

static void strings_are_done_at_once(void **state)
{
    struct fixture *f = *state;
    static uint32_t own[1000];
    void *to = f->p + 8, *from = own;
    size_t n = 1000;
    own[999] = 12;
    host_watch_set(f->watch, true);
    __asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(n)::"memory");
    expect(f, f->p + 8, 4000, true);
    assert_true(to == f->p + 4008 && from == own + 1000 && n == 0);
    n = 3000, to = f->p + 5000;
    __asm__ volatile("rep stosw" : "+D"(to), "+c"(n) : "a"(0x1234) : "memory");
    expect(f, f->p + 5000, 6000, true);
    assert_true(to == f->p + 11000 && n == 0);
    host_watch_set(f->watch, false);
    assert_int_equal(*(uint32_t *)(f->p + 8 + 4 * 999), 12);
    assert_int_equal(*(uint16_t *)(f->p + 10998), 0x1234);
    assert_int_equal(*(uint16_t *)(f->p + 11000), 0);
}

/* ---- an instruction does to watched memory what it does elsewhere ---- */

struct state {
    uint64_t a, b, c, s, d, r8, r12, flags;
    __m128i x, y;
};

/* rdx and r12 are the address, rsi is 2, others are values. */
/* clang-format off */
#define INSNS(X)                                                                                                       \
    X("addl %%ecx, 16(%%rdx)") X("addw %%cx, 16(%%rdx)") X("adcq 16(%%rdx), %%rax") X("sbbb %%cl, 16(%%rdx)")          \
    X("xorw $0x1234, 16(%%rdx)") X("movw $77, 16(%%rdx)") X("testl $0x10203, 16(%%rdx)") X("testw $0x203, 16(%%rdx)")  \
    X("sarq %%cl, 16(%%rdx)") X("imulw $1000, 16(%%rdx), %%ax") X("movl %%r8d, 16(%%r12)") X("andl $9, 16(%%rdx)")     \
    X("addl $5, 16(%%rdx)") X("subl $0x12345678, 16(%%rdx)") X("orb $0x81, 16(%%rdx)") X("andq $-7, 16(%%r12)")        \
    X("cmpl $5, 16(%%rdx)") X("cmpb 16(%%rdx), %%ah") X("addb %%bh, 16(%%rdx)") X("movb %%ch, 16(%%rdx)")              \
    X("movl $77, 16(%%rdx)") X("movb $77, 16(%%rdx)") X("movq $-77, 16(%%rdx)") X("movq 16(%%rdx), %%rdi")             \
    X("movl 16(%%rdx), %%edi") X("movb %%dil, 16(%%rdx)") X("movq %%rdi, 16(%%rdx)")                                   \
    X("movl 8(%%rdx,%%rsi,4), %%eax") X("movzbl 16(%%rdx), %%eax") X("movswq 16(%%rdx), %%rax")                        \
    X("movslq 16(%%rdx), %%rax") X("testl %%ecx, 16(%%rdx)") X("testb $3, 16(%%rdx)") X("notl 16(%%rdx)")              \
    X("negq 16(%%rdx)") X("incl 16(%%rdx)") X("decb 16(%%rdx)") X("lock incl 16(%%rdx)") X("shll $3, 16(%%rdx)")       \
    X("rorl 16(%%rdx)") X("imull 16(%%rdx), %%eax") X("imull $1000, 16(%%rdx), %%eax")                                 \
    X("imulq $3, 16(%%rdx), %%rax") X("xchgl %%ecx, 16(%%rdx)") X("lock xaddl %%eax, 16(%%rdx)")                       \
    X("lock xaddq %%r8, 16(%%r12)") X("lock cmpxchgl %%ecx, 16(%%rdx)") X("lock cmpxchgq %%rdi, 16(%%rdx)")            \
    X("lock orl %%ecx, 16(%%rdx)") X("cmovnel 16(%%rdx), %%eax") X("setc 16(%%rdx)") X("bsfl 16(%%rdx), %%eax")        \
    X("movnti %%rcx, 16(%%rdx)") X("movd 16(%%rdx), %%xmm0") X("movd %%xmm0, 16(%%rdx)") X("movq %%xmm1, 16(%%rdx)")   \
    X("movss 16(%%rdx), %%xmm1") X("movsd %%xmm0, 16(%%rdx)") X("movdqu 16(%%rdx), %%xmm1")                            \
    X("movups %%xmm1, 16(%%rdx)") X("addps 16(%%rdx), %%xmm0") X("addsd 16(%%rdx), %%xmm1")                            \
    X("shufps $0x1b, 16(%%rdx), %%xmm0") X("paddd 16(%%rdx), %%xmm0") X("cvtsi2sdl 16(%%rdx), %%xmm1")                 \
    X("ucomiss 16(%%rdx), %%xmm0") X("push 16(%%rdx); pop %%rax") X("mulq 16(%%rdx)")                                  \
    X("lock cmpxchg16b 16(%%r12)") X("mov $37, %%ecx; btsl %%ecx, 16(%%rdx)") X("crc32l 16(%%rdx), %%eax")             \
    X("pinsrd $1, 16(%%rdx), %%xmm0") X("pcmpistri $8, 16(%%rdx), %%xmm0") X("popcntl 16(%%rdx), %%eax")               \
    X("movq 16(%%rdx), %%mm3; movq %%mm3, %%rax; emms") X("movq %%rcx, %%mm7; movq %%mm7, 16(%%rdx); emms")             \
    X("fildl 16(%%rdx); push %%rax; fistpll (%%rsp); pop %%rax") X("fldz; fld1; faddp; fstpl 16(%%rdx)")

#define VEX_INSNS(X)                                                                                                   \
    X("vmovdqu 16(%%rdx), %%xmm1") X("vmovdqu %%xmm1, 16(%%r12)") X("vaddss 16(%%rdx), %%xmm0, %%xmm1")                \
    X("vpaddd 16(%%rdx), %%xmm0, %%xmm0") X("vbroadcastss 16(%%r12), %%xmm0") X("vmovd %%xmm0, 8(%%rdx,%%rsi,4)")
/* clang-format on */

#define RUN(text)                                                                                                      \
    {                                                                                                                  \
        register uint64_t r8 __asm__("r8") = s->r8, r12 __asm__("r12") = at;                                           \
        register __m128i x __asm__("xmm0") = s->x, y __asm__("xmm1") = s->y;                                           \
        uint64_t d = at;                                                                                               \
        __asm__ volatile("mov $-1, %%r10d; add $3, %%r10d\n" text "\npushf\npop %[flags]"                              \
                         : "+a"(s->a), "+b"(s->b), "+c"(s->c), "+S"(s->s), "+D"(s->d), "+r"(r8), "+r"(r12), "+x"(x),   \
                           "+x"(y), "+d"(d), [flags] "=r"(s->flags)                                                    \
                         :                                                                                             \
                         : "memory", "cc", "r10");                                                                     \
        s->r8 = r8, s->r12 = r12 - at, s->x = x, s->y = y;                                                             \
        return text;                                                                                                   \
    }
#define CASE(text)                                                                                                     \
    case __COUNTER__ - FIRST: RUN(text)

__attribute__((noinline)) static const char *run_insn(unsigned n, uint64_t at, struct state *s)
{
    enum { FIRST = __COUNTER__ + 1 };
    switch (n) {
        INSNS(CASE)
    default: return NULL;
    }
}

__attribute__((noinline)) static const char *run_vex_insn(unsigned n, uint64_t at, struct state *s)
{
    enum { FIRST = __COUNTER__ + 1 };
    switch (n) {
        VEX_INSNS(CASE)
    default: return NULL;
    }
}

static const char *state_after(const char *(*insns)(unsigned, uint64_t, struct state *), unsigned n, uint8_t *at,
                               struct state *s)
{
    *s = (struct state){.a = 0x123456789a,
                        .b = 0x8877665544332211,
                        .c = 0xf0e1d2c3b4a5,
                        .s = 2,
                        .d = 0x7172737475767778,
                        .r8 = 0x8182838485868788};
    s->x = _mm_set_epi32(0x40490fdb, 0x3f800000, 0x42280000, 0x41200000);
    s->y = _mm_set_epi32(4, 3, 0x41200001, 0x40a00000);
    return insns(n, (uintptr_t)at, s);
}

static void compare_insns(struct fixture *f, const char *(*insns)(unsigned, uint64_t, struct state *))
{
    static uint8_t own[64] __attribute__((aligned(16)));
    const char *text;
    struct state here, there;
    for (unsigned n = 0;; n++) {
        for (unsigned i = 0; i < 64; i++)
            own[i] = (uint8_t)(i * 37 + 1);
        memcpy(f->p, own, sizeof own);
        host_watch_set(f->watch, false);
        text = state_after(insns, n, own, &here);
        if (!text)
            return;
        host_watch_set(f->watch, true);
        state_after(insns, n, f->p, &there);
        host_watch_set(f->watch, false);
        if (memcmp(&here, &there, sizeof here) != 0 || memcmp(own, f->p, sizeof own) != 0)
            fail_msg("%s does something else to watched memory", text);
        if (f->n != 1 || f->done != 1)
            fail_msg("%s is seen %u times", text, f->n);
        f->n = f->done = 0;
    }
}

static void an_instruction_does_the_same_as_elsewhere(void **state)
{
    struct fixture *f = *state;
    compare_insns(f, run_insn);
    if (__builtin_cpu_supports("avx2"))
        compare_insns(f, run_vex_insn);
}

static void the_machine_sees_the_same_memory_elsewhere(void **state)
{
    struct fixture *f = *state;
    struct mem_block b;
    host_watch_set(f->watch, true);
    assert_true(mem_find(&f->mem, (uintptr_t)f->p, &b));
    volatile uint32_t *own = (volatile uint32_t *)(f->p + mem_shift(&f->mem, &b));
    own[5] = 77;
    assert_int_equal(f->n, 0);
    assert_int_equal(((volatile uint32_t *)f->p)[5], 77);
    assert_int_equal(f->n, 1);
}

static void memory_that_is_freed_and_taken_again_is_watched(void **state)
{
    struct fixture *f = *state;
    host_watch_set(f->watch, true);
    for (int i = 0; i < 50; i++) {
        size_t bytes = (size_t)1 << (6 + i % 14);
        volatile uint8_t *p = mem_alloc_zero(&f->mem, bytes, MEM_HOST, NULL);
        f->n = f->done = 0;
        assert_int_equal(p[bytes - 1], 0);
        p[bytes - 1] = 1;
        assert_int_equal(f->n, 2);
        assert_true(mem_free(&f->mem, (void *)p));
    }
}

/* ---- the program's own handlers ---- */

static sigjmp_buf landing;
static volatile sig_atomic_t caught;

static void on_own(int signal)
{
    caught = signal;
    siglongjmp(landing, 1);
}

static void faults_of_the_programs_own_reach_its_handler(void **state)
{
    struct fixture *f = *state;
    volatile int *volatile nowhere = (volatile int *)64; /* not NULL, which sanitizers see before */
    signal(SIGSEGV, on_own);
    host_watch_set(f->watch, true);
    if (sigsetjmp(landing, 1) == 0)
        *nowhere = 1;
    assert_int_equal(caught, SIGSEGV);
    *(volatile int *)f->p = 1;
    expect(f, f->p, 4, true);
    host_watch_set(f->watch, false);
    signal(SIGSEGV, SIG_DFL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_seen_while_nobody_watches),
        TEST(loads_and_stores_are_seen_with_their_bytes),
        TEST(every_access_is_seen),
        TEST(vectors_and_locked_instructions_are_seen),
        TEST(wide_vectors_are_seen),
        TEST(elements_that_are_gathered_are_seen),
        TEST(what_masks_leave_out_is_not_seen),
        TEST(an_access_of_two_pages_is_one),
        TEST(the_c_librarys_copies_are_seen),
        TEST(strings_are_done_at_once),
        TEST(an_instruction_does_the_same_as_elsewhere),
        TEST(the_machine_sees_the_same_memory_elsewhere),
        TEST(memory_that_is_freed_and_taken_again_is_watched),
        TEST(faults_of_the_programs_own_reach_its_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0;
}

#endif
