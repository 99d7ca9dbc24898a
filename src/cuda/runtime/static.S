/* The functions of libcudart_static.a: each jumps to that of libcudart.so.13, whose address stands
 * in a slot (static.c). */
    .text
    .set index, 0

    .macro entry name
    .globl \name
    .hidden \name
    .p2align 4
#ifdef __x86_64__
    .type \name, @function
\name:
    endbr64
    jmp *heddle_static_slots + 8 * index(%rip)
#elif defined __aarch64__
    .type \name, %function
\name:
    adrp x16, heddle_static_slots + 8 * index
    ldr x16, [x16, #:lo12:heddle_static_slots + 8 * index]
    br x16
#endif
    .size \name, . - \name
    .set index, index + 1
    .endm

#define STATIC(name) entry name;
#include "cuda/runtime/static.def"

    .section .note.GNU-stack, "", %progbits
