/* Whether code looks at what a call has returned (src/cuda/process/dropped.h): what gcc and clang write behind calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/process/dropped.h"

#ifdef __x86_64__

static const struct {
    const char *name;
    enum result_use use;
    unsigned n;
    uint8_t code[24];
} cases[] = {
    {"test eax, eax", RESULT_READ, 2, {0x85, 0xc0}},
    {"mov [rbp-4], eax", RESULT_READ, 3, {0x89, 0x45, 0xfc}},
    {"mov ebx, eax", RESULT_READ, 2, {0x89, 0xc3}},
    {"mov edi, eax by 8b", RESULT_READ, 2, {0x8b, 0xf8}},
    {"cmp eax, 700", RESULT_READ, 5, {0x3d, 0xbc, 0x02, 0, 0}},
    {"cmp eax, 2", RESULT_READ, 3, {0x83, 0xf8, 0x02}},
    {"cdqe", RESULT_READ, 2, {0x48, 0x98}},
    {"movsxd rdx, eax", RESULT_READ, 3, {0x48, 0x63, 0xd0}},
    {"mov edx, [rax]", RESULT_READ, 2, {0x8b, 0x10}},
    {"lea rdi, [rsp+rax*4]", RESULT_READ, 4, {0x48, 0x8d, 0x3c, 0x84}},
    {"push rax", RESULT_READ, 1, {0x50}},
    {"call rax", RESULT_READ, 2, {0xff, 0xd0}},
    {"cmove eax, edx", RESULT_READ, 3, {0x0f, 0x44, 0xc2}},
    {"an instruction that is not known", RESULT_READ, 4, {0x62, 0xf1, 0x7c, 0x48}},
    {"mov eax, 0", RESULT_DROPPED, 5, {0xb8, 0, 0, 0, 0}},
    {"xor eax, eax", RESULT_DROPPED, 2, {0x31, 0xc0}},
    {"mov rax, [rbp-8]", RESULT_DROPPED, 4, {0x48, 0x8b, 0x45, 0xf8}},
    {"lea rax, [rip+16]", RESULT_DROPPED, 7, {0x48, 0x8d, 0x05, 16, 0, 0, 0}},
    {"movabs rax, imm64", RESULT_DROPPED, 10, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}},
    {"mov r8, rbx; call", RESULT_DROPPED, 8, {0x49, 0x89, 0xd8, 0xe8, 0, 0, 0, 0}},
    {"mov edi, 1; mov [rsp+8], rdx; call [rip]",
     RESULT_DROPPED,
     16,
     {0xbf, 1, 0, 0, 0, 0x48, 0x89, 0x54, 0x24, 8, 0xff, 0x15, 0, 0, 0, 0}},
    {"movss xmm0, [rip]; pxor xmm1, xmm1; mov al, 1; call",
     RESULT_DROPPED,
     19,
     {0xf3, 0x0f, 0x10, 0x05, 0, 0, 0, 0, 0x66, 0x0f, 0xef, 0xc9, 0xb0, 1, 0xe8, 0, 0, 0, 0}},
    {"vxorps xmm0, xmm0, xmm0; call", RESULT_DROPPED, 9, {0xc5, 0xf8, 0x57, 0xc0, 0xe8, 0, 0, 0, 0}},
    {"pop rax", RESULT_DROPPED, 1, {0x58}},
    {"pop r8; call", RESULT_DROPPED, 7, {0x41, 0x58, 0xe8, 0, 0, 0, 0}},
    {"mov r8d, 1; push r8; call", RESULT_DROPPED, 13, {0x41, 0xb8, 1, 0, 0, 0, 0x41, 0x50, 0xe8, 0, 0, 0, 0}},
    {"ud2", RESULT_DROPPED, 2, {0x0f, 0x0b}},
    {"add rsp, 8; pop rbx; ret", RESULT_RETURNED, 6, {0x48, 0x83, 0xc4, 8, 0x5b, 0xc3}},
    {"nop; leave; ret", RESULT_RETURNED, 3, {0x90, 0xc9, 0xc3}},
    {"jmp over an int3 to mov eax, 0", RESULT_DROPPED, 8, {0xeb, 1, 0xcc, 0xb8, 0, 0, 0, 0}},
    /* A loop's end: add ebx, 1; cmp ebx, 3; jne back; what follows decides. */
    {"jne to a call, then mov eax, 0",
     RESULT_DROPPED,
     18,
     {0xeb, 5, 0xe8, 0, 0, 0, 0, 0x83, 0xfb, 3, 0x75, 0xf6, 0xb8, 0, 0, 0, 0, 0xc3}},
    {"jne to a call, then test eax, eax",
     RESULT_READ,
     14,
     {0xeb, 5, 0xe8, 0, 0, 0, 0, 0x83, 0xfb, 3, 0x75, 0xf6, 0x85, 0xc0}},
};

static void code_behind_calls_reads_drops_or_returns_the_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum result_use use = result_use(cases[i].code, cases[i].code + cases[i].n);
        if (use != cases[i].use)
            fail_msg("%s: %d, not %d", cases[i].name, use, cases[i].use);
    }
}

/* It reads nothing behind the end, and says that it does not know. */
static void code_that_ends_is_not_known_to_drop(void **state)
{
    (void)state;
    static const uint8_t nops[] = {0x90, 0x90};
    assert_int_equal(result_use(nops, nops + 2), RESULT_READ);
}

#else

static void code_behind_calls_reads_drops_or_returns_the_result(void **state)
{
    (void)state;
    assert_int_equal(result_use((const uint8_t *)"", NULL), RESULT_READ);
}

static void code_that_ends_is_not_known_to_drop(void **state)
{
    (void)state;
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_behind_calls_reads_drops_or_returns_the_result),
        cmocka_unit_test(code_that_ends_is_not_known_to_drop),
    };
    return cmocka_run_group_tests_name("dropped", tests, NULL, NULL);
}
