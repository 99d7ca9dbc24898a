"""Addresses in compiled code whose parts are known, and what is loaded and stored there at once: by both engines."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, cpu_levels, dump_of, fault_by_both, need_compiler, written
from tap import main, run, values

# Indices of 32 bits that are widened, some of which wrap between the lanes of a warp or of a row; what comes of them is
# needed across a barrier and around a loop. %r4 = start + %tid.x + n * %tid.y.
WIDEN = """.visible .entry widen(.param .u64 out, .param .u64 in, .param .u32 start, .param .u32 n, .param .u32 times)
{
    .reg .u64 %rd<20>; .reg .u32 %r<16>; .reg .f32 %f<4>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [start];
    ld.param.u32 %r2, [n];
    ld.param.u32 %r10, [times];
    mov.u32 %r3, %tid.x;
    mov.u32 %r5, %tid.y;
    mov.u32 %r7, %ntid.x;
    mad.lo.u32 %r6, %r5, %r7, %r3;
    mul.wide.u32 %rd3, %r6, 4;
    add.u64 %rd4, %rd1, %rd3;
    mad.lo.u32 %r4, %r5, %r2, %r3;
    add.u32 %r4, %r4, %r1;
    mov.u32 %r9, 0;
    mul.wide.u32 %rd10, %r4, 4;
L:
    add.u32 %r8, %r4, %r10;
    mul.wide.u32 %rd5, %r8, 4;
    mul.wide.s32 %rd6, %r8, 12;
    cvt.s64.s32 %rd7, %r8;
    mad.wide.u32 %rd8, %r8, 8, %rd5;
    bar.sync 0;
    add.u64 %rd9, %rd5, %rd6;
    add.u64 %rd9, %rd9, %rd7;
    add.u64 %rd9, %rd9, %rd8;
    add.u64 %rd9, %rd9, %rd10;
    cvt.u32.u64 %r11, %rd9;
    shr.u64 %rd11, %rd9, 32;
    cvt.u32.u64 %r12, %rd11;
    mad.lo.u32 %r9, %r9, 31, %r11;
    mad.lo.u32 %r9, %r9, 31, %r12;
    shr.u64 %rd12, %rd5, 30;
    and.b64 %rd12, %rd12, 4;
    and.b64 %rd13, %rd5, 1020;
    add.u64 %rd13, %rd13, %rd12;
    add.u64 %rd13, %rd13, %rd2;
    ld.global.u32 %r13, [%rd13];
    xor.b32 %r9, %r9, %r13;
    sub.u32 %r10, %r10, 1;
    setp.ne.u32 %p, %r10, 0;
    @%p bra L;
    st.global.u32 [%rd4], %r9;
    ret;
}
"""

# Rows of a matrix of n columns, by blocks of any width: what is loaded is summed along the row and stored behind it.
ROWS = """.visible .entry rows(.param .u64 out, .param .u64 in, .param .u32 n)
{
    .reg .u64 %rd<20>; .reg .u32 %r<20>; .reg .f32 %f<8>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    mul.lo.u32 %r4, %r3, %r1;
    mov.f32 %f1, 0f00000000;
    mov.u32 %r5, 0;
L:
    add.u32 %r6, %r4, %r5;
    mul.wide.u32 %rd3, %r6, 4;
    add.u64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    add.u32 %r7, %r6, %r2;
    rem.u32 %r9, %r5, %r1;
    sub.u32 %r10, %r7, %r9;
    mul.wide.u32 %rd5, %r10, 4;
    add.u64 %rd6, %rd2, %rd5;
    setp.ge.u32 %p2, %r2, %r1;
    @%p2 bra SKIP;
    ld.global.f32 %f3, [%rd6];
    ld.global.f32 %f4, [%rd6+-0];
    fma.rn.f32 %f1, %f2, %f3, %f1;
    add.f32 %f1, %f1, %f4;
    st.global.f32 [%rd6], %f1;
SKIP:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, %r1;
    @%p1 bra L;
    mov.u32 %r11, %ntid.x;
    mad.lo.u32 %r12, %r3, %r11, %r2;
    mul.wide.u32 %rd7, %r12, 4;
    add.u64 %rd8, %rd1, %rd7;
    st.global.f32 [%rd8], %f1;
    ret;
}
"""

BLOCKS = "32", "16,4", "8,8", "16,3", "8,3", "4,8", "33,2"


def in_blocks(text, args):
    """By both engines, in blocks of several shapes."""
    need_compiler()
    with written(text) as path:
        for block in BLOCKS:
            by_both(path, "--grid", 1, "--block", block, *args)


def indices_that_wrap_within_a_warp_are_widened_exactly():
    for start in 5, 0xffffffea, 0x7fffffe9, 0xfffffeff:
        for n in 1, 64, 0x40000000:
            in_blocks(WIDEN, ["u32[128]+print", "u32[300]=rand", start, n, 40])


def rows_of_narrow_blocks_are_loaded_and_stored_exactly():
    for n in 16, 9, 37:
        in_blocks(ROWS, ["f32[128]+print", "f32[2000]=rand+print", n])


# Loads from a base and an index in each lane, hashed, in all lanes and in some: words and vectors, a field of 12 bytes, a base
# in the middle with negative indices, and in the last round one that may lie outside, `reach`.
INDEXED = """.visible .entry indexed(.param .u64 out, .param .u64 in, .param .s32 reach)
{
    .reg .u64 %rd<20>; .reg .u32 %r<30>; .reg .f32 %f<8>; .reg .f64 %d<2>; .reg .pred %p, %q;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [reach];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd3, %rd1, %rd3;
    mad.lo.u32 %r3, %r2, 2654435761, 99;
    mov.u32 %r20, 0;
    mov.u32 %r21, 0;
    add.u64 %rd4, %rd2, 512;
L:
    mad.lo.u32 %r3, %r3, 1664525, 1013904223;
    shr.u32 %r4, %r3, 26;
    mul.wide.u32 %rd5, %r4, 4;
    add.u64 %rd6, %rd2, %rd5;
    ld.global.u32 %r5, [%rd6+8];
    mad.wide.s32 %rd7, %r4, 16, %rd2;
    ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd7];
    mul.wide.s32 %rd8, %r4, 12;
    add.u64 %rd9, %rd8, %rd2;
    ld.global.u32 %r10, [%rd9+4];
    sub.s32 %r11, %r4, 40;
    cvt.s64.s32 %rd10, %r11;
    shl.b64 %rd10, %rd10, 3;
    add.s64 %rd11, %rd4, %rd10;
    and.b32 %r12, %r3, 0x1000000;
    setp.eq.u32 %p, %r12, 0;
    @%p ld.global.v2.u32 {%r13, %r14}, [%rd11];
    @%p xor.b32 %r21, %r13, %r14;
    mad.lo.u32 %r20, %r20, 31, %r5;
    xor.b32 %r6, %r6, %r7;
    xor.b32 %r8, %r8, %r9;
    mad.lo.u32 %r20, %r20, 31, %r6;
    mad.lo.u32 %r20, %r20, 31, %r8;
    mad.lo.u32 %r20, %r20, 31, %r10;
    xor.b32 %r20, %r20, %r21;
    and.b32 %r16, %r20, 15;
    setp.eq.u32 %p, %r2, 21;
    setp.eq.and.u32 %p, %r15, 19, %p;
    selp.b32 %r16, %r1, %r16, %p;
    mul.wide.s32 %rd12, %r16, 4;
    add.s64 %rd13, %rd2, %rd12;
    ld.global.u32 %r17, [%rd13];
    add.u32 %r20, %r20, %r17;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %q, %r15, 20;
    @%q bra L;
    st.global.u32 [%rd3], %r20;
    ret;
}
"""


def loads_by_index_are_exact_and_so_are_their_faults():
    need_compiler()
    with written(INDEXED.replace("mov.u32 %r20, 0;", "mov.u32 %r20, 0;\n    mov.u32 %r15, 0;")) as path:
        for block in 64, 45:
            by_both(path, "--grid", 1, "--block", block, "u32[64]+print", "u32[256]=rand", 255)
        for reach in 256, -1, 0x40000000, -0x80000000:
            text = fault_by_both(path, "--grid", 1, "--block", 64, "u32[64]", "u32[256]=rand", reach)
            assert "thread (21,0,0)" in text, text


def lanes_gather_where_that_does_not_hold_up_others():
    """Not on Zen 4, where 32 loads, or stores, do better."""
    need_compiler()
    scattered = INDEXED.replace("st.global.u32 [%rd3]", "st.global.u32 [%rd13]")
    for text, words in (INDEXED, ["gather"]), (scattered, ["gather", "scatter"]):
        with written(text) as path:
            for level, is_so in ("x86-64-v4", True), ("x86-64-v4+amd", False):
                err = dump_of("asm", path, "--grid", 1, "--block", 64, "u32[64]", "u32[256]=rand", 255, target=level)
                for word in words:
                    assert "vmov" in err and bool(re.search(rf"\tvp?{word}", err)) == is_so, (level, word, err[:200])


# Bytes and halves at places that vary, from both kinds of memory, up to the last byte; halves of all signs.
NARROW = """.visible .entry narrow(.param .u64 out, .param .u64 in)
{
    .reg .u64 %rd<12>; .reg .u32 %r<30>; .reg .u16 %h<4>; .reg .pred %p, %q;
    .shared .align 4 .b8 own[1000];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd3, %rd1, %rd3;
    mov.u32 %r4, own;
    mov.u32 %r5, %r2;
FILL:
    cvt.u64.u32 %rd4, %r5;
    add.u64 %rd4, %rd4, %rd2;
    ld.global.u8 %r6, [%rd4];
    add.u32 %r7, %r4, %r5;
    st.shared.u8 [%r7], %r6;
    add.u32 %r5, %r5, 50;
    setp.lt.u32 %q, %r5, 1000;
    @%q bra FILL;
    bar.sync 0;
    mad.lo.u32 %r3, %r2, 2654435761, 77;
    mov.u32 %r8, 0;
    mov.u32 %r9, 0;
L:
    mad.lo.u32 %r3, %r3, 1664525, 1013904223;
    shr.u32 %r10, %r3, 8;
    rem.u32 %r10, %r10, 1000;
    max.u32 %r10, %r10, %r9;
    cvt.u64.u32 %rd5, %r10;
    add.u64 %rd6, %rd5, %rd2;
    ld.global.u8 %r11, [%rd6];
    add.u32 %r12, %r10, %r4;
    ld.shared.s8 %r13, [%r12];
    and.b32 %r14, %r10, 0xfffffffe;
    cvt.u64.u32 %rd7, %r14;
    add.u64 %rd8, %rd7, %rd2;
    ld.global.s16 %r15, [%rd8];
    add.u32 %r16, %r14, %r4;
    setp.lt.u32 %p, %r2, 23;
    mov.u16 %h1, 7;
    @%p ld.shared.u16 %h1, [%r16];
    cvt.u32.u16 %r17, %h1;
    mad.lo.u32 %r8, %r8, 31, %r11;
    mad.lo.u32 %r8, %r8, 31, %r13;
    mad.lo.u32 %r8, %r8, 31, %r15;
    mad.lo.u32 %r8, %r8, 31, %r17;
    add.u32 %r9, %r9, 9;
    setp.lt.u32 %q, %r9, 999;
    @%q bra L;
    st.global.u32 [%rd3], %r8;
    ret;
}
"""


def bytes_and_halves_at_places_that_vary_are_loaded_exactly():
    need_compiler()
    with written(NARROW) as path:
        by_both(path, "--grid", 1, "--block", 50, "u32[50]+print", "u8[1000]=rand")


# Block 0 frees its memory while block 1 goes through it, which asked about it once, before its loop.
FREED = """.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry freed(.param .u64 cell, .param .u64 out, .param .u32 n)
{
  .reg .b64 %rd<10>; .reg .b32 %r<10>; .reg .pred %p<5>;
  ld.param.u64 %rd1, [cell]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra reader;
  mov.u64 %rd3, 4194304;
  { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd3; call (b), malloc, (a); ld.param.b64 %rd4, [b]; }
  st.volatile.global.u64 [%rd1], %rd4;
wait1:
  ld.volatile.global.u32 %r3, [%rd1+8]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait1;
  mov.u32 %r4, 0;
wait2: add.u32 %r4, %r4, 1; ld.volatile.global.u32 %r3, [%rd1+8]; setp.lt.u32 %p2, %r4, 2000; @%p2 bra wait2;
  { .param .b64 a; st.param.b64 [a], %rd4; call free, (a); }
  ret;
reader:
  ld.volatile.global.u64 %rd5, [%rd1]; setp.eq.u64 %p3, %rd5, 0; @%p3 bra reader;
  mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u64 %rd6, %rd5;
  st.volatile.global.u32 [%rd1+8], 1;
loop:
  ld.global.u32 %r7, [%rd6]; add.u32 %r6, %r6, %r7; add.u64 %rd6, %rd6, 4; add.u32 %r5, %r5, 1;
  setp.lt.u32 %p4, %r5, 1000000; @%p4 bra loop;
  st.global.u32 [%rd2], %r6;
  ret;
}
"""


def memory_that_is_freed_while_it_is_read_ends_the_kernel_and_not_the_program():
    need_compiler()
    with written(FREED) as path:
        for engine in ["jit"] * 10 + ["interp"] * 3:
            status, out, err = run("launch", path, "--grid", 2, "--block", 1, "--engine", engine, "u64[2]", "u32[1]", 5)
            assert status == 0 or (status == 1 and "was freed" in err), (status, out, err)


# Threads in reverse order, by neg: out[n - 1 - t] of each round is in[n - 1 - t] and the round's own, in a loop that goes down, too.
NEGATED = """.visible .entry negated(.param .u64 out, .param .u64 in, .param .u32 rounds)
{
    .reg .u32 %r<12>; .reg .u64 %rd<12>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ntid.x;
    neg.s32 %r4, %r2;
    mul.wide.s32 %rd3, %r4, 4;
    mul.lo.u32 %r5, %r3, %r1;
    mul.wide.u32 %rd4, %r5, 4;
    add.u64 %rd5, %rd4, %rd3;
    add.u64 %rd6, %rd1, %rd5;
    add.u64 %rd7, %rd2, %rd5;
    mul.wide.u32 %rd8, %r3, 4;
    neg.s64 %rd9, %rd8;
    mov.u32 %r6, 0;
ROUND:
    ld.global.u32 %r7, [%rd7 + -4];
    neg.s32 %r8, %r6;
    add.u32 %r7, %r7, %r8;
    st.global.u32 [%rd6 + -4], %r7;
    add.u64 %rd6, %rd6, %rd9;
    add.u64 %rd7, %rd7, %rd9;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p, %r6, %r1;
    @%p bra ROUND;
    ret;
}
"""


def negative_strides_are_exact_and_so_are_their_faults():
    with written(NEGATED) as path:
        for block, columns in ("64", 64), ("40", 40), ("16,4", 16):
            args = [path, "--grid", 1, "--block", block]
            end = columns * 20
            got = by_both(*args, "u32[1280]+print", "u32[1280]=range", 20)
            assert values(got, 1)[:end] == [k - (end - 1 - k) // columns & 0xffffffff for k in range(end)], block
            fault_by_both(*args, "u32[1000]", "u32[1280]=range", 100)


def displacements_do_not_lead_out_of_the_parameters():
    for read in ("ld.param.u64 %rd2, [out+OFF]", "@%p ld.param.u64 %rd2, [out+OFF]", "ld.param.v2.u64 {%rd2, %rd3}, [out+OFF]",
                 "mov.u64 %rd2, out; ld.param.u64 %rd2, [%rd2+OFF]"):
        text = ".visible .entry k(.param .u64 out) { .reg .u64 %rd<4>; .reg .pred %p; setp.eq.u32 %p, 1, 1; READ; ret; }"
        for offset in (16, 4096, 1 << 20, 0x7ffffff0, -16, -4096, -(1 << 20), -(1 << 31)):
            with written(text.replace("READ", read.replace("OFF", str(offset)))) as path:
                said = fault_by_both(path, "--grid", 1, "--block", 32, "u64[1]")
            assert "[illegal-address]" in said, f"{read}, {offset}: {said}"


# Variables of each thread by their generic addresses, and choices of them that differ by lane: stored and loaded, by some lanes and
# by all, whole and in part; also where a loaded value takes the place of the address, and where one choice is another array.
FRAME = """.visible .entry frame(.param .u64 out, .param .u64 in, .param .u32 times)
{
    .local .align 16 .b8 own[64];
    .reg .u64 %rd<40>; .reg .u32 %r<20>; .reg .u16 %h<4>; .reg .pred %p<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [times];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    mov.u64 %rd6, own;
    cvta.local.u64 %rd7, %rd6;
    add.u64 %rd8, %rd7, 16;
    add.u64 %rd9, %rd7, 32;
    ld.global.u32 %r3, [%rd5];
    cvt.u64.u32 %rd10, %r3;
    mul.lo.u64 %rd10, %rd10, 0x9e3779b97f4a7c15;
    not.b64 %rd11, %rd10;
    st.v2.u64 [%rd7], {%rd10, %rd11};
    st.v2.u64 [%rd8], {%rd11, %rd3};
    st.v4.u32 [%rd9], {%r2, %r3, %r2, %r3};
    mov.u64 %rd20, 0;
    mov.u32 %r4, 0;
L:
    mad.lo.u32 %r3, %r3, 1664525, 1013904223;
    and.b32 %r5, %r3, 0x10000;
    setp.eq.u32 %p1, %r5, 0;
    and.b32 %r5, %r3, 0x20000;
    setp.eq.u32 %p2, %r5, 0;
    and.b32 %r5, %r3, 0x40000;
    setp.eq.u32 %p3, %r5, 0;
    selp.b64 %rd12, %rd7, %rd8, %p1;
    mov.u64 %rd13, %rd12;
    @%p2 mov.u64 %rd13, %rd9;
    ld.u64 %rd14, [%rd13];
    ld.u64 %rd15, [%rd13+8];
    st.u64 [%rd12], %rd15;
    @%p3 st.u64 [%rd13], %rd10;
    @%p3 bra SKIP;
    st.u8 [%rd13+3], %r3;
    ld.s8 %r6, [%rd12+7];
    st.u16 [%rd12+6], %r6;
    ld.u16 %h1, [%rd13+2];
    cvt.u64.u16 %rd16, %h1;
    add.u64 %rd20, %rd20, %rd16;
SKIP:
    mov.u64 %rd17, %rd12;
    ld.v2.u64 {%rd17, %rd18}, [%rd17];
    cvta.to.local.u64 %rd19, %rd13;
    ld.local.v2.u32 {%r7, %r8}, [%rd19+8];
    @%p1 st.local.u32 [%rd19+4], %r7;
    selp.b64 %rd21, %rd13, %rd5, %p3;
    ld.u32 %r9, [%rd21];
    mad.lo.u64 %rd20, %rd20, 31, %rd14;
    mad.lo.u64 %rd20, %rd20, 31, %rd15;
    mad.lo.u64 %rd20, %rd20, 31, %rd17;
    mad.lo.u64 %rd20, %rd20, 31, %rd18;
    cvt.u64.u32 %rd22, %r8;
    mad.lo.u64 %rd20, %rd20, 31, %rd22;
    cvt.u64.u32 %rd23, %r9;
    add.u64 %rd10, %rd10, %rd23;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p4, %r4, %r1;
    @%p4 bra L;
    ld.u64 %rd24, [%rd8];
    add.u64 %rd20, %rd20, %rd24;
    shr.u64 %rd25, %rd20, 32;
    xor.b64 %rd20, %rd20, %rd25;
    cvt.u32.u64 %r10, %rd20;
    st.global.u32 [%rd4], %r10;
    ret;
}
"""


def variables_by_generic_addresses_are_exact():
    with written(FRAME) as path:
        for block in 64, 45:
            got = by_both(path, "--grid", 1, "--block", block, "u32[64]+print", "u32[64]=rand", 40)
            assert len(set(values(got, 1)[:45])) == 45, got


def variables_by_generic_addresses_take_no_calls():
    """Of the kernel's accesses only those that may be elsewhere have a way to the engine: two of arrays; then the two of registers
    that hold something else, too."""
    need_compiler()
    elsewhere = r"    selp.b64 %rd21, .*\n    ld.u32 %r9, .*\n|    ld.v2.u64 \{%rd17, %rd18\}, .*\n"
    for text, calls in (re.sub(elsewhere, "", FRAME), 2), (FRAME, 4):
        with written(text) as path:
            err = dump_of("llvm", path, "--grid", 1, "--block", 64, "u32[64]", "u32[64]=rand", 40)
            found = re.findall(r"call i1 %\d+\(ptr nonnull %warp, ptr %activation, ", err)
            assert len(found) == calls, (calls, found)


def guarded(kind, n, width, apart):
    """Threads below a number add 3 to n elements that stand together, `apart` from the next thread's; then those of them that have a
    divergent predicate add the thread's number; and what was chosen in between is stored behind them all."""
    vector = f"v{n}.u{width}" if n > 1 else f"u{width}"
    r, bits = ("rd", 64) if width == 64 else ("r", 32)
    names = [f"%{r}{20 + k}" for k in range(n)]
    list_of = "{" + ", ".join(names) + "}" if n > 1 else names[0]
    add = lambda what: "\n".join(f"    add.u{bits} {v}, {v}, {what};" for v in names)
    number = "%rd9" if width == 64 else "%r4"
    return f""".visible .entry {kind}(.param .u64 out, .param .u64 in, .param .u64 chosen, .param .u32 n)
{{
    .reg .u64 %rd<40>; .reg .u32 %r<40>; .reg .u16 %h<4>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd3, [chosen];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r4, %r2, %r3, %r5;
    cvt.u64.u32 %rd9, %r4;
    mul.wide.u32 %rd4, %r4, {apart};
    add.u64 %rd5, %rd1, %rd4;
    add.u64 %rd6, %rd2, %rd4;
    mov.u32 %r10, 7;
    mov.u64 %rd10, 7;
    mov.u16 %h1, 7;
    setp.ge.u32 %p1, %r4, %r1;
    @%p1 bra BEHIND;
    ld.global.{vector} {list_of}, [%rd6];
{add(3)}
    st.global.{vector} [%rd5], {list_of};
    and.b32 %r6, %r4, 5;
    setp.ne.u32 %p2, %r6, 4;
{add(number)}
    @%p2 st.global.{vector} [%rd5], {list_of};
    add.u32 %r10, %r4, %r4;
    mul.lo.u64 %rd10, %rd9, %rd9;
    cvt.u16.u32 %h1, %r4;
BEHIND:
    mul.wide.u32 %rd7, %r4, 16;
    add.u64 %rd8, %rd3, %rd7;
    cvt.u32.u16 %r11, %h1;
    st.global.u64 [%rd8], %rd10;
    st.global.u32 [%rd8+8], %r10;
    st.global.u32 [%rd8+12], %r11;
    ret;
}}
"""


def guarded_stores_are_exact_without_registers_of_masks():
    """Of warps all of whose threads are below the number, of one that has some, and of others: elements and vectors of each width,
    together or with gaps."""
    need_compiler()
    kinds = [(f"u{w}_{n}_{gap}", n, w, n * w // 8 + gap) for w in (8, 16, 32, 64) for n in (1, 2, 4)
             for gap in (0, w // 8) if (w > 16 or n == 1) and (n * w <= 128) and (n == 1 or not gap)]
    for kind, n, width, apart in kinds:
        with written(guarded(kind, n, width, apart)) as path:
            for threads in 200, 256:
                for level in cpu_levels("x86-64-v2", "x86-64-v3"):
                    got = by_both(path, "--grid", 4, "--block", 64, f"u{width}[{256 * apart * 8 // width}]+print",
                                  f"u{width}[{256 * apart * 8 // width}]=range", "u32[1024]+print", threads, "--cpu", level)
                    stored, chosen = values(got, 1), values(got, 3)
                    for t in range(256):
                        for k in range(n):
                            at = t * apart * 8 // width + k
                            expected = (at + 3 + (t if t & 5 != 4 else 0)) % 2 ** width if t < threads else 0
                            assert stored[at] == expected, (kind, threads, level, t, k)
                        one = [t * t, 0, 2 * t, t] if t < threads else [7, 0, 7, 7]
                        assert chosen[4 * t:4 * t + 4] == one, (kind, threads, level, t)


# Some threads store to shared memory, in rows or all together, and each shows what its neighbour's place holds then.
KEPT = """.visible .entry kept(.param .u64 out, .param .u32 n)
{
    .reg .u64 %rd<8>; .reg .u32 %r<16>; .reg .pred %p<3>;
    .shared .align 8 .b8 words[2048];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, ROW, %r2;
    mul.lo.u32 %r6, %r5, BYTES;
    mov.u32 %r7, words;
    add.u32 %r8, %r7, %r6;
    mad.lo.u32 %r9, %r3, %r4, %r2;
    cvt.u64.u32 %rd2, %r9;
    st.shared.uBITS [%r8], FIRST;
    bar.sync 0;
    and.b32 %r10, %r9, 5;
    setp.ne.u32 %p0, %r10, 4;
    setp.lt.and.u32 %p1, %r9, %r1, %p0;
    @!%p1 bra BEHIND;
    add.u32 %r12, %r9, 1;
    cvt.u64.u32 %rd3, %r12;
    st.shared.uBITS [%r8], SECOND;
BEHIND:
    bar.sync 0;
    xor.b32 %r13, %r6, BYTES;
    add.u32 %r13, %r7, %r13;
    ld.shared.uBITS THERE, [%r13];
    mul.wide.u32 %rd5, %r9, 8;
    add.u64 %rd6, %rd1, %rd5;
    st.global.u64 [%rd6], %rd4;
    ret;
}
"""


def what_other_lanes_have_in_shared_memory_is_kept():
    need_compiler()
    for bits in 8, 16, 32, 64:
        r = "rd" if bits == 64 else "r"
        text = KEPT.replace("BITS", str(bits)).replace("BYTES", str(bits // 8)).replace(
            "FIRST", f"%{r}{2 if bits == 64 else 9}").replace("SECOND", f"%{r}{3 if bits == 64 else 12}").replace(
            "THERE", f"%{r}{4 if bits == 64 else 14}")
        if bits < 64:
            text = text.replace("    mul.wide.u32 %rd5", "    cvt.u64.u32 %rd4, %r14;\n    mul.wide.u32 %rd5")
        for block, row in ("128", 0), ("16,8", 20):
            with written(text.replace("ROW", str(row))) as path:
                for level in cpu_levels("x86-64-v2", "x86-64-v3"):
                    got = values(by_both(path, "--grid", 2, "--block", block, "u64[128]+print", 70, "--cpu", level), 1)
                    for t in range(128):
                        other = t ^ 1
                        assert got[t] == other + (other < 70 and other & 5 != 4), (bits, block, level, t)


# A stack in local memory whose top differs from thread to thread: each pushes and pops by the bits of its number, %r4 words at most,
# and reads once at `far` bytes behind its top. TYPE and VALUE: what it pushes; SIZE: bytes of an element.
STACK = """.visible .entry stack(.param .u64 out, .param .u32 rounds, .param .u32 far)
{
    .reg .u64 %rd<12>; .reg .u32 %r<20>; .reg .f32 %f<4>; .reg .pred %p<4>;
    .local .align 16 .b8 own[128];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [rounds];
    ld.param.u32 %r2, [far];
    mov.u32 %r3, %tid.x;
    mov.u64 %rd2, own;
    mov.u32 %r4, 0;
    mul.lo.u32 %r5, %r3, 2654435761;
    st.local.SPACE [%rd2], VALUE;
AGAIN:
    mul.lo.u32 %r5, %r5, 1664525;
    add.u32 %r5, %r5, 1013904223;
    shr.u32 %r6, %r5, 29;
    setp.gt.u32 %p1, %r6, 4;
    setp.lt.u32 %p2, %r4, 15;
    and.pred %p1, %p1, %p2;
    @%p1 add.u32 %r4, %r4, 1;
    mul.wide.u32 %rd3, %r4, SIZE;
    add.u64 %rd4, %rd2, %rd3;
    @%p1 st.local.SPACE [%rd4], VALUE;
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra EMPTY;
    ld.local.SPACE VALUE, [%rd4+-SIZE];
    xor.b32 %r7, %r7, %r5;
    add.u32 %r4, %r4, -1;
EMPTY:
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    cvt.u64.u32 %rd5, %r2;
    add.u64 %rd5, %rd5, %rd4;
    setp.eq.u32 %p1, %r3, 40;
    @%p1 ld.local.u32 %r8, [%rd5];
    add.u32 %r7, %r7, %r8;
    mul.wide.u32 %rd6, %r3, 8;
    add.u64 %rd7, %rd1, %rd6;
    st.global.v2.u32 [%rd7], {%r7, %r5};
    ret;
}
"""


def local_memory_has_an_address_in_each_thread():
    need_compiler()
    kinds = ("u32", "%r5", 4), ("f32", "%f1", 4), ("u8", "%r5", 1), ("u16", "%r5", 2), ("u64", "%rd8", 8), ("v2.u32", "{%r5, %r9}", 8)
    for space, pushed, size in kinds:
        with written(STACK.replace("SPACE", space).replace("VALUE", pushed).replace("SIZE", str(size))) as path:
            for block in 64, 45:
                for level in cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4"):
                    by_both(path, "--grid", 2, "--block", block, "u64[64]+print", 50, 0, "--cpu", level)
    with written(STACK.replace("SPACE", "u32").replace("VALUE", "%r5").replace("SIZE", "4")) as path:
        for far in 1, 128, 0x7fffff00, 0xffffff00:  # not aligned, or behind its end
            assert "thread (40,0,0)" in fault_by_both(path, "--grid", 1, "--block", 64, "u64[64]", 50, far), far
        for level, moves in ("x86-64-v3", r"call .* @llvm\.cttz"), ("x86-64-v4", r"call .* @llvm\.masked\.(scatter|gather)"):
            dump = dump_of("llvm", path, "--grid", 1, "--block", 64, "u64[64]", 50, 0, target=level)
            assert len(re.findall(moves, dump)) >= 3, level  # compiled code moves them, lane by lane or all at once


# So many sums as a block has warps, which the first lanes of each warp load and store: the rows of all 32 are longer than shared memory.
# The first lanes that run begin at `from`, and the last is before `to`.
SUMS = """.visible .entry sums(.param .u64 out, .param .u32 from, .param .u32 to)
{
    .reg .u64 %rd<4>; .reg .u32 %r<16>; .reg .pred %p<4>;
    .shared .align 4 .u32 sums[8];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [from];
    ld.param.u32 %r2, [to];
    mov.u32 %r3, %tid.x;
    and.b32 %r4, %r3, 31;
    shl.b32 %r5, %r4, 2;
    mov.u32 %r6, sums;
    add.u32 %r7, %r6, %r5;
    mov.u32 %r8, 5;
    setp.lt.u32 %p1, %r3, 8;
    @%p1 st.shared.u32 [%r7], %r3;
    bar.sync 0;
    setp.ge.u32 %p2, %r4, %r1;
    setp.lt.u32 %p3, %r4, %r2;
    and.pred %p2, %p2, %p3;
    @!%p2 bra NONE;
    ld.shared.u32 %r8, [%r7+-8];
    mad.lo.u32 %r8, %r8, 3, %r3;
    st.shared.u32 [%r7+-8], %r8;
NONE:
    bar.sync 0;
    ld.shared.u32 %r9, [sums+4];
    add.u32 %r8, %r8, %r9;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
}
"""


def some_lanes_access_the_end_of_shared_memory():
    need_compiler()
    with written(SUMS) as path:
        for first, last in (2, 10), (3, 5), (2, 3), (9, 10), (3, 3), (0, 0):
            for level in cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4"):
                for block in 32, 13:
                    by_both(path, "--grid", 2, "--block", block, "u32[64]+print", first, last, "--cpu", level)
        for first, last, thread in (2, 11, 10), (4, 32, 10), (0, 8, 0), (1, 2, 1), (31, 32, 31):
            assert f"thread ({thread},0,0)" in fault_by_both(path, "--grid", 1, "--block", 32, "u32[64]", first, last), first


main(globals())
