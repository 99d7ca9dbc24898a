/* Instructions of the host's as src/x86/insn.h reads them: what gcc and clang write behind calls,
 * and what accesses memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "x86/insn.h"

/* ---- results of calls ---- */

static const struct {
    const char *name;
    enum x86_result_use use;
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
    {"xchg ebx, eax", RESULT_READ, 1, {0x93}},
    {"vmovd xmm0, eax", RESULT_READ, 4, {0xc5, 0xf9, 0x6e, 0xc0}},
    {"mov ax, 1; test eax, eax", RESULT_READ, 6, {0x66, 0xb8, 1, 0, 0x85, 0xc0}},
    {"lock cmpxchg [rdi], ecx", RESULT_READ, 4, {0xf0, 0x0f, 0xb1, 0x0f}},
    {"rep stosb", RESULT_READ, 2, {0xf3, 0xaa}},
    {"syscall", RESULT_READ, 2, {0x0f, 0x05}},
    {"jmp [r8+rax*8]", RESULT_READ, 4, {0x41, 0xff, 0x24, 0xc0}},
    {"mov fs:[rax], ecx", RESULT_READ, 3, {0x64, 0x89, 0x08}},
    {"shlx ecx, eax, edx", RESULT_READ, 5, {0xc4, 0xe2, 0x69, 0xf7, 0xc8}},
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
    {"vmovdqu64 [rdi], zmm0; lzcnt eax, ecx",
     RESULT_DROPPED,
     10,
     {0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x07, 0xf3, 0x0f, 0xbd, 0xc1}},
    {"rep movsb; bswap ecx; rdrand eax", RESULT_DROPPED, 7, {0xf3, 0xa4, 0x0f, 0xc9, 0x0f, 0xc7, 0xf0}},
    {"xgetbv", RESULT_DROPPED, 3, {0x0f, 0x01, 0xd0}},
    {"mov rax, fs:[0x28]", RESULT_DROPPED, 9, {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}},
    {"xor r8d, r8d; sub rax, rax", RESULT_DROPPED, 6, {0x45, 0x31, 0xc0, 0x48, 0x29, 0xc0}},
    {"bnd jmp rcx", RESULT_DROPPED, 3, {0xf2, 0xff, 0xe1}},
    {"pop rax", RESULT_DROPPED, 1, {0x58}},
    {"pop r8; call", RESULT_DROPPED, 7, {0x41, 0x58, 0xe8, 0, 0, 0, 0}},
    {"mov r8d, 1; push r8; call", RESULT_DROPPED, 13, {0x41, 0xb8, 1, 0, 0, 0, 0x41, 0x50, 0xe8, 0, 0, 0, 0}},
    {"ud2", RESULT_DROPPED, 2, {0x0f, 0x0b}},
    {"add rsp, 8; pop rbx; ret", RESULT_RETURNED, 6, {0x48, 0x83, 0xc4, 8, 0x5b, 0xc3}},
    {"vzeroupper; fld qword [rdi]; bnd ret", RESULT_RETURNED, 7, {0xc5, 0xf8, 0x77, 0xdd, 0x07, 0xf2, 0xc3}},
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
        enum x86_result_use use = heddle_x86_reader.result_use(cases[i].code, cases[i].code + cases[i].n);
        if (use != cases[i].use)
            fail_msg("%s: %d, not %d", cases[i].name, use, cases[i].use);
    }
}

/* It reads nothing behind the end, and says that it does not know. */
static void code_that_ends_is_not_known_to_drop(void **state)
{
    (void)state;
    static const uint8_t nops[] = {0x90, 0x90};
    assert_int_equal(heddle_x86_reader.result_use(nops, nops + 2), RESULT_READ);
}

/* ---- accesses ---- */

/* rdx is AT, rsi 2, rdi and rsi addresses of their own, rax 0x105; k1 is 0x0ff6, k2 3, k3 0;
 * elements of the vectors are signs and indexes in turn: 32 bits of xmm1 are -4, 3, -2, 1, ...; 64
 * bits of xmm17 are 5, -6. */
enum { AT = 0x10000, TO = 0x20000, FROM = 0x30000 };

/* clang-format off */
#define ACCESSES(X)                                                                                                    \
    X("mov 16(%rdx), %eax", {AT + 16, 4, false})                                                                       \
    X("mov 8(%rdx,%rcx,4), %rax", {AT + 16, 8, false})                                                                 \
    X("mov %al, 0x12345678(%rdx)", {AT + 0x12345678, 1, true})                                                         \
    X("addl $1, (%rdx)", {AT, 4, true})                                                                                \
    X("cmpl $1, (%rdx)", {AT, 4, false})                                                                               \
    X("mov (%edx), %ax", {AT, 2, false})                                                                               \
    X("lock cmpxchg8b (%rdx)", {AT, 8, true})                                                                          \
    X("lock cmpxchg16b (%rdx)", {AT, 16, true})                                                                        \
    X("btsl $9, (%rdx)", {AT, 4, true})                                                                                \
    X("btsl %eax, (%rdx)", {AT + 32, 4, true})                                                                         \
    X("btw %ax, (%rdx)", {AT + 32, 2, false})                                                                          \
    X("btq %r9, (%rdx)", {AT - 8, 8, false})                                                                           \
    X("movbe %ecx, (%rdx)", {AT, 4, true})                                                                             \
    X("movnti %rcx, (%rdx)", {AT, 8, true})                                                                            \
    X("push (%rdx)", {AT, 8, false})                                                                                   \
    X("pop (%rdx)", {AT, 8, true})                                                                                     \
    X("call *(%rdx)", {AT, 8, false})                                                                                  \
    X("xlatb", {AT - 0x1000 + 5, 1, false})                                                                            \
    X("movsl", {TO, 4, true}, {FROM, 4, false})                                                                        \
    X("rep movsb", {TO, 1, true}, {FROM, 1, false})                                                                    \
    X("repe cmpsw", {FROM, 2, false}, {TO, 2, false})                                                                  \
    X("scasq", {TO, 8, false})                                                                                         \
    X("lodsb", {FROM, 1, false})                                                                                       \
    X("stosl", {TO, 4, true})                                                                                          \
    X("fldt (%rdx)", {AT, 10, false})                                                                                  \
    X("fistps (%rdx)", {AT, 2, true})                                                                                  \
    X("fxsave (%rdx)", {AT, 512, true})                                                                                \
    X("xsave (%rdx)", {AT, 576, true})                                                                                 \
    X("stmxcsr (%rdx)", {AT, 4, true})                                                                                 \
    X("movq (%rdx), %mm1", {AT, 8, false})                                                                             \
    X("movhps (%rdx), %xmm1", {AT, 8, false})                                                                          \
    X("pinsrw $3, (%rdx), %xmm1", {AT, 2, false})                                                                      \
    X("crc32b (%rdx), %eax", {AT, 1, false})                                                                           \
    X("maskmovdqu %xmm1, %xmm0", {TO, 4, true}, {TO + 8, 4, true})                                                \
    X("clflush 3(%rdx)", {AT + 3, 1, false})                                                                           \
    X("movdir64b (%rdx), %rdi", {AT, 64, false}, {TO, 64, true})                                                       \
    X("vinserti128 $1, (%rdx), %ymm1, %ymm2", {AT, 16, false})                                                         \
    X("vmaskmovps (%rdx), %ymm1, %ymm2", {AT, 4, false}, {AT + 8, 4, false}, {AT + 16, 4, false}, {AT + 24, 4, false}) \
    X("vpmaskmovq %xmm2, %xmm6, (%rdx)", {AT + 8, 8, true})                                                            \
    X("vpgatherdd %xmm1, (%rdx,%xmm2,4), %xmm3", {AT - 16, 4, false}, {AT - 8, 4, false})                              \
    X("vmovdqu32 64(%rdx), %zmm4{%k1}", {AT + 64 + 4, 8, false}, {AT + 64 + 16, 32, false})                            \
    X("vmovdqu32 64(%rdx), %zmm4{%k3}")                                                                                \
    X("vmovdqu8 %zmm4, (%rdx){%k1}", {AT + 1, 2, true}, {AT + 4, 8, true})                                             \
    X("vmovaps %zmm20, 128(%rdx)", {AT + 128, 64, true})                                                               \
    X("vpmovdb %zmm4, (%rdx){%k1}", {AT + 1, 2, true}, {AT + 4, 8, true})                                              \
    X("vpmovzxbd (%rdx), %zmm4{%k2}", {AT, 2, false})                                                                  \
    X("vpcompressd %zmm4, (%rdx){%k1}", {AT, 40, true})                                                                \
    X("vpexpandq (%rdx), %zmm4{%k2}", {AT, 16, false})                                                                 \
    X("vpcmpd $1, (%rdx), %zmm4, %k5{%k2}", {AT, 8, false})                                                            \
    X("vaddps 4(%rdx){1to16}, %zmm4, %zmm5{%k1}", {AT + 4, 4, false})                                                  \
    X("vbroadcasti32x4 (%rdx), %zmm5{%k2}", {AT, 16, false})                                                           \
    X("vpshufb (%rdx), %zmm4, %zmm5{%k2}", {AT, 64, false})                                                            \
    X("vmovss (%rdx), %xmm5{%k2}", {AT, 4, false})                                                                     \
    X("vpgatherdq (%rdx,%xmm1,8), %ymm5{%k2}", {AT - 32, 8, false}, {AT + 24, 8, false})                               \
    X("vgatherqpd (%rdx,%xmm17,8), %xmm5{%k2}", {AT + 40, 8, false}, {AT - 48, 8, false})                              \
    X("vpscatterqd %xmm5, (%rdx,%xmm17,4){%k2}", {AT + 20, 4, true}, {AT - 24, 4, true})                               \
    X("lea 16(%rdx), %rax")                                                                                            \
    X("mov %fs:16, %rax")                                                                                              \
    X("mov %eax, %ecx")

/* clang-format on */
#define CODE(text, ...) "7: " text "\n.pushsection .data.rel.ro\n.quad 7b\n.popsection\n"
__asm__(".pushsection .data.rel.ro\n.balign 8\naccesses_code:\n.popsection\n.pushsection .text\n" ACCESSES(
    CODE) ".popsection\n");
extern const uint8_t *const accesses_code[] __attribute__((visibility("hidden")));

static const struct {
    const char *text;
    struct x86_range ranges[4]; /* as many as have bytes */
} accesses[] = {
#define CASE(text_, ...) {text_, {__VA_ARGS__}},
    ACCESSES(CASE)
#undef CASE
};

static struct x86_registers registers(const uint8_t *pc)
{
    static uint8_t xmm[256], ymm[256], zmm[512], zmm_16[1024];
    static const int32_t signs_1[4] = {-4, 3, -2, 1};
    static const int64_t signs_6[2] = {7, -1}, indexes_17[2] = {5, -6};
    struct x86_registers r = {.pc = (uintptr_t)pc, .vectors = {xmm, ymm, zmm, zmm_16}};
    memcpy(xmm + 16, signs_1, 16);
    memcpy(ymm + 16, signs_1, 16);
    memcpy(xmm + 2 * 16, signs_1, 16);
    memcpy(xmm + 6 * 16, signs_6, 16);
    memcpy(zmm_16 + 64, indexes_17, 16);
    r.at[0] = 0x105, r.at[1] = 2, r.at[2] = AT, r.at[3] = AT - 0x1000, r.at[6] = FROM, r.at[7] = TO;
    r.at[9] = (uint64_t)-3;
    r.masks[1] = 0x0ff6, r.masks[2] = 3;
    return r;
}

static unsigned ranges_of(const struct x86_registers *r, struct x86_range found[X86_MOST_RANGES])
{
    struct x86_insn i;
    assert_true(heddle_x86_reader.read(&i, (const uint8_t *)(uintptr_t)r->pc));
    return heddle_x86_reader.ranges(&i, r, found);
}

static bool moved_of(const struct x86_registers *r, struct x86_moved *m)
{
    struct x86_insn i;
    assert_true(heddle_x86_reader.read(&i, (const uint8_t *)(uintptr_t)r->pc));
    return heddle_x86_reader.moved(&i, r, m);
}

static bool string_of(const uint8_t *code, struct x86_string *s)
{
    struct x86_insn i;
    assert_true(heddle_x86_reader.read(&i, code));
    return heddle_x86_reader.string(&i, s);
}

static void accesses_are_found_with_their_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
        struct x86_registers r = registers(accesses_code[i]);
        struct x86_range found[X86_MOST_RANGES];
        unsigned n = ranges_of(&r, found), expected = 0;
        while (expected < 4 && accesses[i].ranges[expected].bytes)
            expected++;
        bool same = n == expected;
        for (unsigned k = 0; k < n && same; k++)
            same = found[k].address == accesses[i].ranges[k].address && found[k].bytes == accesses[i].ranges[k].bytes &&
                   found[k].writes == accesses[i].ranges[k].writes;
        if (!same) {
            for (unsigned k = 0; k < n; k++)
                print_error("%#lx, %u bytes%s\n", (unsigned long)found[k].address, found[k].bytes,
                            found[k].writes ? ", written" : "");
            fail_msg("`%s` accesses something else", accesses[i].text);
        }
    }
}

/* ---- other places ---- */

/* What is run on another operand, and the same with the register that this is to be at. */
/* clang-format off */
#define MOVES(X) \
    X("mov 0x12345678(%r12,%rcx,4), %r9d", "mov (%rdi), %r9d") \
    X("mov 7(%rip), %rdi", "mov (%rsi), %rdi") \
    X("andn (%r8), %rdi, %rsi", "andn (%rbx), %rdi, %rsi") \
    X("lock cmpxchg16b 64(%r8)", "lock cmpxchg16b (%rdi)") \
    X("movw $0x1234, 4(%rsp)", "movw $0x1234, (%rdi)") \
    X("vmovdqu64 64(%r8,%r9,8), %zmm21{%k1}{z}", "vmovdqu64 (%rdi), %zmm21{%k1}{z}") \
    X("vfmadd231pd 4096(%r15){1to8}, %zmm3, %zmm30", "vfmadd231pd (%rdi){1to8}, %zmm3, %zmm30") \
    X("vpermilps $3, (%r11), %ymm9", "vpermilps $3, (%rdi), %ymm9") \
    X("movdqa (%rdx), %xmm1", "movdqa (%rdi), %xmm1") \
    X("ldmxcsr (%rdx)", "ldmxcsr (%rdi)") \
    X("bextr %rsi, (%rdx), %rdi", "bextr %rsi, (%rbx), %rdi")

/* Stack pointers, traps, other state, other operands. */
#define STAYS(X) \
    X("div (%rdx)") \
    X("mov (%rdx), %rsp") \
    X("pushq (%rdx)") \
    X("call *(%rdx)") \
    X("jmp *(%rdx)") \
    X("mov (%edx), %eax") \
    X("mov %fs:(%rdx), %eax") \
    X("movq (%rdx), %mm1") \
    X("fldl (%rdx)") \
    X("xsave (%rdx)") \
    X("fxsave (%rdx)") \
    X("movsl") \
    X("xlatb") \
    X("movabs 0x1122334455667788, %eax") \
    X("movdir64b (%rdx), %rcx") \
    X("vpgatherdd %xmm1, (%rdx,%xmm2,4), %xmm3") \
    X("ldtilecfg (%rdx)") \
    X("lea (%rdx), %rax") \
    X("add %eax, %ecx")

/* clang-format on */
#define MOVE_CODE(text, moved)                                                                                         \
    "7: " text "\n8: " moved "\n9:\n.pushsection .data.rel.ro\n.quad 7b, 8b, 9b\n.popsection\n"
#define STAY_CODE(text) "7: " text "\n.pushsection .data.rel.ro\n.quad 7b\n.popsection\n"
__asm__(".pushsection .data.rel.ro\n.balign 8\nmoves_code:\n.popsection\n.pushsection .text\n" MOVES(
    MOVE_CODE) ".pushsection .data.rel.ro\nstays_code:\n.popsection\n" STAYS(STAY_CODE) ".popsection\n");
extern const struct {
    const uint8_t *text, *moved, *end;
} moves_code[] __attribute__((visibility("hidden")));
extern const uint8_t *const stays_code[] __attribute__((visibility("hidden")));

#define TEXT(text, ...) text,
static const char *const moves[] = {MOVES(TEXT)}, *const stays[] = {STAYS(TEXT)};

static void operands_are_moved(void **state)
{
    (void)state;
    struct x86_moved m;
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        const uint8_t *text = moves_code[i].text, *moved = moves_code[i].moved;
        struct x86_registers r = registers(text);
        if (!moved_of(&r, &m) || m.original_length != moved - text || m.length != moves_code[i].end - moved ||
            memcmp(m.code, moved, m.length) != 0)
            fail_msg("`%s` is not moved as it should be", moves[i]);
    }
    for (size_t i = 0; i < sizeof stays / sizeof stays[0]; i++) {
        struct x86_registers r = registers(stays_code[i]);
        if (moved_of(&r, &m))
            fail_msg("`%s` is moved", stays[i]);
    }
}

static void the_place_of_a_moved_operand_is_told(void **state)
{
    (void)state;
    static const uint8_t relative[] = {0x48, 0x8b, 0x05, 16, 0, 0, 0}, wide[] = {0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x42, 1};
    struct x86_moved m;
    struct x86_registers r = registers(relative);
    assert_true(moved_of(&r, &m));
    assert_int_equal(m.address, (uintptr_t)relative + sizeof relative + 16);
    r = registers(wide); /* vmovdqu64 64(%rdx), %zmm0: a displacement of 1 vector */
    assert_true(moved_of(&r, &m));
    assert_int_equal(m.address, AT + 64);
}

static void counted_copies_and_sets_are_known(void **state)
{
    (void)state;
    static const uint8_t movsb[] = {0xf3, 0xa4}, stosq[] = {0xf3, 0x48, 0xab}, movsd_xmm[] = {0xf2, 0x0f, 0x10, 0x07},
                         movsb_once[] = {0xa4}, cmps[] = {0xf3, 0xa6}, lods[] = {0xf3, 0xac},
                         of_fs[] = {0x64, 0xf3, 0xa4}, narrow[] = {0x67, 0xf3, 0xaa};
    struct x86_string s;
    assert_true(string_of(movsb, &s) && s.copies && s.element_bytes == 1 && s.length == 2);
    assert_true(string_of(stosq, &s) && !s.copies && s.element_bytes == 8 && s.length == 3);
    assert_false(string_of(movsd_xmm, &s));
    assert_false(string_of(movsb_once, &s));
    assert_false(string_of(cmps, &s));
    assert_false(string_of(lods, &s));
    assert_false(string_of(of_fs, &s));
    assert_false(string_of(narrow, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_behind_calls_reads_drops_or_returns_the_result),
        cmocka_unit_test(code_that_ends_is_not_known_to_drop),
        cmocka_unit_test(accesses_are_found_with_their_bytes),
        cmocka_unit_test(operands_are_moved),
        cmocka_unit_test(the_place_of_a_moved_operand_is_told),
        cmocka_unit_test(counted_copies_and_sets_are_known),
    };
    return cmocka_run_group_tests_name("x86", tests, NULL, NULL);
}
