/* The entry points of libcuda.so.1, as programs call them: a jump to what the driver_*.c define, which have another name in the
 * object file (cuda/api.h). Where failed calls are watched (watch.h), a call with a frame of its own instead, so that what it
 * returns can be seen, and the stack says which function the program has called (stack.c).
 *
 * Arguments in registers stay there. Those on the stack are copied: none of CUDA's functions has more of them than WORDS (a
 * handle of 64 bytes by value, and what is beside it).
 */
#define WORDS 12

    .text
#ifdef __x86_64__

    .macro entry name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    cmpb $0, watch_entries(%rip)
    jne 1f
    jmp heddle_\name
1:  push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $(8 * WORDS), %rsp
    .set word, 0
    .rept WORDS
    mov (16 + 8 * word)(%rbp), %rax
    mov %rax, (8 * word)(%rsp)
    .set word, word + 1
    .endr
    call heddle_\name
    test %eax, %eax
    je 2f
    mov %eax, %edi
    mov 8(%rbp), %rsi
    call watch_result
2:  leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

#elif defined __aarch64__ /* where calls are not watched */

    .macro entry name
    .globl \name
    .type \name, %function
    .p2align 2
\name:
    b heddle_\name
    .size \name, . - \name
    .endm

#endif

#define ENTRY_plain(name) entry name
#define ENTRY_ptds(name)  entry name; entry name##_ptds
#define ENTRY_ptsz(name)  entry name; entry name##_ptsz
#define API(export, name, version, stream, state) ENTRY_##stream(export)
#include "cuda/api.def"

    .section .note.GNU-stack, "", %progbits
