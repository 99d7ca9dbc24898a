/* See run.h.
 *
 * The instruction is written into memory that can be executed, with a return behind it. Around it
 * registers, flags and the extended state (SDM, volume 1, 13: SSE, AVX and AVX-512; the x87 has no
 * operand that matters here) are those of the thread that was stopped at it, and what it makes of
 * them is put back.
 */
#include "x86/run.h"

#if defined __x86_64__

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 64, SLOT_BYTES = 32, RETURN = 0xc3, TRAP_FLAG = 0x100 };

static uint8_t (*slots)[SLOT_BYTES];
static _Atomic uint64_t taken; /* of them */

/* What the code below uses by offset. */
struct run {
    uint64_t at[16];
    uint64_t flags;
    void *extended;
    const void *code;
};
_Static_assert(offsetof(struct run, flags) == 128 && offsetof(struct run, extended) == 136 &&
                   offsetof(struct run, code) == 144,
               "as the code below has them");

/* Where struct run has the registers, but for those that hold the record when the others are read
 * or written. The stack pointer stays ours. */
#define REGISTERS(X)                                                                                                   \
    X(rcx, 8)                                                                                                          \
    X(rdx, 16)                                                                                                         \
    X(rbx, 24)                                                                                                         \
    X(rbp, 40)                                                                                                         \
    X(rsi, 48)                                                                                                         \
    X(r8, 64)                                                                                                          \
    X(r9, 72)                                                                                                          \
    X(r10, 80)                                                                                                         \
    X(r11, 88)                                                                                                         \
    X(r12, 96)                                                                                                         \
    X(r13, 104)                                                                                                        \
    X(r14, 112)                                                                                                        \
    X(r15, 120)
#define LOAD(name, at)  "    mov " #at "(%rdi), %" #name "\n"
#define STORE(name, at) "    mov %" #name ", " #at "(%rax)\n"

/* XSTATE is SSE, AVX and AVX-512's three components. */
void x86_run(struct run *r) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".hidden x86_run\n"
        ".globl x86_run\n"
        ".type x86_run, @function\n"
        ".set XSTATE, 0xe6\n"
        "x86_run:\n"
        "    .irp saved, rbx, rbp, r12, r13, r14, r15\n"
        "    push %\\saved\n"
        "    .endr\n"
        "    sub $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    push %rdi\n"
        "    mov 136(%rdi), %rcx\n"
        "    mov $XSTATE, %eax\n"
        "    xor %edx, %edx\n"
        "    xrstor64 (%rcx)\n"
        "    pushq 144(%rdi)\n"
        "    pushq 128(%rdi)\n"
        "    popfq\n"
        "    mov (%rdi), %rax\n" REGISTERS(LOAD) "    mov 56(%rdi), %rdi\n"
                                                 "    call *(%rsp)\n"
                                                 "    push %rax\n"
                                                 "    mov 16(%rsp), %rax\n" REGISTERS(
                                                     STORE) "    mov %rdi, 56(%rax)\n"
                                                            "    popq (%rax)\n"
                                                            "    pushfq\n"
                                                            "    popq 128(%rax)\n"
                                                            "    cld\n"
                                                            "    mov 136(%rax), %rcx\n"
                                                            "    mov $XSTATE, %eax\n"
                                                            "    xor %edx, %edx\n"
                                                            "    xsave64 (%rcx)\n"
                                                            "    add $16, %rsp\n"
                                                            "    ldmxcsr (%rsp)\n"
                                                            "    add $8, %rsp\n"
                                                            "    .irp saved, r15, r14, r13, r12, rbp, rbx\n"
                                                            "    pop %\\saved\n"
                                                            "    .endr\n"
                                                            "    ret\n"
                                                            ".size x86_run, . - x86_run\n"
                                                            ".previous\n");

bool x86_can_run(void)
{
    if (!slots) {
        void *p =
            mmap(NULL, SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        slots = p == MAP_FAILED ? NULL : p;
    }
    return slots;
}

static int take_slot(void)
{
    uint64_t old = atomic_load(&taken);
    while (~old)
        if (atomic_compare_exchange_weak(&taken, &old, old | (old + 1)))
            return __builtin_ctzll(~old);
    return -1;
}

bool x86_run_moved(const struct x86_moved *m, uint64_t address, struct x86_registers *r, uint64_t *flags,
                   void *extended)
{
    int slot = slots ? take_slot() : -1;
    if (slot < 0)
        return false;
    memcpy(slots[slot], m->code, m->length);
    slots[slot][m->length] = RETURN;
    struct run now = {.flags = *flags & ~(uint64_t)TRAP_FLAG, .extended = extended, .code = slots[slot]};
    memcpy(now.at, r->at, sizeof now.at);
    now.at[m->base] = address;
    x86_run(&now);
    atomic_fetch_and(&taken, ~(1ull << slot));
    now.at[m->base] = r->at[m->base];
    memcpy(r->at, now.at, sizeof now.at);
    *flags = (now.flags & ~(uint64_t)TRAP_FLAG) | (*flags & TRAP_FLAG);
    return true;
}

#endif
