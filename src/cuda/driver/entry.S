/* The entry points of libcuda.so.1, as programs call them: each calls what the files of driver/
 * define, which has another name in the object file (cuda/api.h), and is counted meanwhile as a
 * call that is being made (base/calls.h). Where failed calls are watched (watch.h), what it returns
 * is seen, and the frame says which function the program has called (stack.c).
 *
 * Arguments in registers are kept. Those on the stack are copied: none of CUDA's functions has more
 * of them than WORDS (a handle of 64 bytes by value, and what is beside it).
 */
#define WORDS 12

    .text
#ifdef __x86_64__

/* A frame: where call_begin() has counted it, the registers with arguments (one of CUDA's functions
 * has two floats), the words. */
#define COUNTED (-8)
#define RDI     (-16)
#define RSI     (-24)
#define RDX     (-32)
#define RCX     (-40)
#define R8      (-48)
#define R9      (-56)
#define XMM0    (-64)
#define XMM1    (-72)
#define FRAME   (80 + 8 * WORDS)

    .type begin, @function
begin:
    .cfi_startproc
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    mov %rdi, RDI(%rbp)
    mov %rsi, RSI(%rbp)
    mov %rdx, RDX(%rbp)
    mov %rcx, RCX(%rbp)
    mov %r8, R8(%rbp)
    mov %r9, R9(%rbp)
    movsd %xmm0, XMM0(%rbp)
    movsd %xmm1, XMM1(%rbp)
    call call_begin
    mov %rax, COUNTED(%rbp)
    .set word, 0
    .rept WORDS / 2
    movups (16 + 8 * word)(%rbp), %xmm1
    movups %xmm1, (8 * word - FRAME)(%rbp)
    .set word, word + 2
    .endr
    mov RDI(%rbp), %rdi
    mov RSI(%rbp), %rsi
    mov RDX(%rbp), %rdx
    mov RCX(%rbp), %rcx
    mov R8(%rbp), %r8
    mov R9(%rbp), %r9
    movsd XMM0(%rbp), %xmm0
    movsd XMM1(%rbp), %xmm1
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size begin, . - begin

    .macro entry name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $FRAME, %rsp
    call begin
    call heddle_\name
    mov %eax, RDI(%rbp)
    mov COUNTED(%rbp), %rdi
    call call_end
    mov RDI(%rbp), %eax
    test %eax, %eax
    je 1f
    cmpb $0, watch_entries(%rip)
    je 1f
    mov %eax, %edi
    mov 8(%rbp), %rsi
    call watch_result
1:  leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

#elif defined __aarch64__ /* where failed calls are not watched */

#define COUNTED (-8)
#define LINK    (-16)
#define X6      (-32)
#define X4      (-48)
#define X2      (-64)
#define X0      (-80)
#define D0      (-88)
#define D1      (-96)
#define FRAME   (96 + 8 * WORDS)

    .type begin, %function
begin:
    .cfi_startproc
    str x30, [x29, LINK]
    stp x0, x1, [x29, X0]
    stp x2, x3, [x29, X2]
    stp x4, x5, [x29, X4]
    stp x6, x7, [x29, X6]
    str d0, [x29, D0]
    str d1, [x29, D1]
    bl call_begin
    str x0, [x29, COUNTED]
    .set word, 0
    .rept WORDS / 2
    ldp x9, x10, [x29, 16 + 8 * word]
    stp x9, x10, [sp, 8 * word]
    .set word, word + 2
    .endr
    ldp x0, x1, [x29, X0]
    ldp x2, x3, [x29, X2]
    ldp x4, x5, [x29, X4]
    ldp x6, x7, [x29, X6]
    ldr d0, [x29, D0]
    ldr d1, [x29, D1]
    ldr x30, [x29, LINK]
    ret
    .cfi_endproc
    .size begin, . - begin

    .macro entry name
    .globl \name
    .type \name, %function
    .p2align 2
\name:
    .cfi_startproc
    stp x29, x30, [sp, -16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    .cfi_def_cfa_register x29
    sub sp, sp, FRAME
    bl begin
    bl heddle_\name
    str x0, [x29, X0]
    ldr x0, [x29, COUNTED]
    bl call_end
    ldr x0, [x29, X0]
    mov sp, x29
    ldp x29, x30, [sp], 16
    .cfi_def_cfa sp, 0
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

#endif

#define ENTRY_plain(name) entry name
#define ENTRY_ptds(name)  entry name; entry name##_ptds
#define ENTRY_ptsz(name)  entry name; entry name##_ptsz
#define API(export, name, version, stream, state) ENTRY_##stream(export)
#include "cuda/api.def"

    .section .note.GNU-stack, "", %progbits
