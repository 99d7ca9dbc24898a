"""Compiled code beside the interpreter; see docs/JIT.md."""
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import build, by_both, environment, fault_by_both, need_compiler, written
from tap import Skip, examples, launch, main, run, source, values

SAXPY = [f"{examples}/saxpy/saxpy.ptx", "--grid", 4, "--block", 256, 1000, 2.0, "f32[1000]=range", "f32[1000]=ones+print"]
MATMUL = [f"{examples}/matmul_tiled/matmul_tiled.ptx", "matmul_tiled<16>", "--grid", "4,4", "--block", "16,16",
          "f32[64,64]=rand", "f32[64,64]=rand", "f32[64,64]+print", 64]
RAGGED = [f"{examples}/matmul_tiled/matmul_tiled.ptx", "matmul_tiled<16>", "--grid", "4,4", "--block", "16,16",
          "f32[50,50]=rand", "f32[50,50]=rand", "f32[50,50]+print", 50]
HISTOGRAM = [f"{examples}/histogram/histogram.ptx", "--grid", 8, "--block", 256, "u8[100000]=rand", 100000, "u32[256]+print"]


def a_kernel_that_ends_lanes_early_gives_the_same_by_both():
    by_both(*SAXPY)


def tiles_and_barriers_give_the_same_by_both():
    by_both(*MATMUL)


def lanes_that_part_in_a_loop_with_barriers_give_the_same_by_both():
    by_both(*RAGGED)


def atomics_give_the_same_by_both():
    by_both(*HISTOGRAM)


# Lanes 0 to 15 read shared memory that ends behind them: the test of all 32 lanes' bytes fails, and the engine does the
# access. %rd2 and %rd9 share a row.
PART = """.version 7.0
.target sm_75
.address_size 64
.global .u32 count;
.visible .entry part(.param .u64 out)
{
    .reg .u64 %rd<10>; .reg .u32 %r<6>; .reg .pred %p;
    .shared .u32 own[16];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p, %r1, 15;
    mul.wide.u32 %rd3, %r1, 4;
    mov.u64 %rd4, own;
    add.u64 %rd5, %rd4, %rd3;
    @%p bra END;
    st.shared.u32 [%rd5], %r1;
    add.u64 %rd2, %rd1, %rd3;
    ld.shared.u32 %r2, [%rd5];
    atom.global.add.u32 %r3, [%rd2], %r2;
    mov.u64 %rd9, count;
    atom.global.add.u32 %r4, [%rd9], 1;
END:
    ret;
}
"""


def the_engine_serves_lanes_whose_test_fails_for_others():
    need_compiler()
    with written(PART) as path:
        by_both(path, "--grid", 2, "--block", 64, "u32[16]+print", "--var", "count+print")


# All places within a segment of the table, and all segments: 2^24 operands, of which each thread adds up a part.
FUNCTIONS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry sums(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<16>; .reg .f32 %f<4>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r1, %r2, 256, %r1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r4, 0;
AGAIN:
    OPERAND
    FUNCTION.f32 %f2, %f1;
    mov.b32 %r5, %f2;
    mad.lo.u32 %r4, %r4, 31, %r5;
    add.u32 %r1, %r1, 4096;
    setp.lt.u32 %p, %r1, 0x1000000;
    @%p bra AGAIN;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""


def functions_that_are_looked_up_in_tables_are_the_same_by_both():
    need_compiler()
    bits = "add.u32 %r3, %r1, 0x3f000000; mov.b32 %f1, %r3;"
    turn = "cvt.rn.f32.u32 %f1, %r1; fma.rn.f32 %f1, %f1, 0f34000000, 0fBF800000;"  # from -1 up to 1
    for function, operand in ("rsqrt.approx", bits), ("sqrt.approx", bits), ("rcp.approx.ftz", bits), ("ex2.approx", turn):
        with written(FUNCTIONS.replace("OPERAND", operand).replace("FUNCTION", function)) as path:
            by_both(path, "--grid", 16, "--block", 256, "u32[4096]+print")


# Operands of all kinds, by the thread's number: any bits, next to 1, small and subnormal, and sums of which next to nothing is left.
DIRECTED = """.version 7.0
.target sm_75
.address_size 64
.visible .entry directed(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<40>; .reg .f32 %f<8>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1;
    mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;
    mad.lo.u32 %r4, %r3, 0x9E3779B1, 77;
    shr.u32 %r5, %r4, 15; xor.b32 %r6, %r4, %r5; mul.lo.u32 %r7, %r6, 0x85EBCA6B;
    shr.u32 %r8, %r7, 13; xor.b32 %r9, %r7, %r8; mul.lo.u32 %r10, %r9, 0xC2B2AE35;
    shr.u32 %r11, %r10, 16; xor.b32 %r12, %r10, %r11;
    and.b32 %r13, %r3, 3; setp.eq.u32 %p1, %r13, 1; setp.eq.u32 %p2, %r13, 2; setp.eq.u32 %p3, %r13, 3;
    and.b32 %r14, %r7, 0x81FFFFFF; selp.b32 %r15, %r14, %r7, %p1;
    and.b32 %r16, %r15, 0x80FFFFFF; or.b32 %r17, %r16, 0x3F000000; selp.b32 %r18, %r17, %r15, %p2; mov.b32 %f1, %r18;
    and.b32 %r19, %r10, 0x80FFFFFF; or.b32 %r20, %r19, 0x3F000000; selp.b32 %r21, %r20, %r10, %p2; mov.b32 %f2, %r21;
    mul.rn.f32 %f3, %f1, %f2; neg.f32 %f4, %f3; mov.b32 %r22, %f4; add.u32 %r23, %r22, %r2; sub.u32 %r24, %r23, 3;
    and.b32 %r25, %r12, 0x81FFFFFF; selp.b32 %r26, %r25, %r12, %p1; selp.b32 %r27, %r24, %r26, %p3; mov.b32 %f5, %r27;
    FUNCTION.f32 %f6, %f1, %f2, %f5;
    st.global.f32 [%rd3], %f6;
    ret;
}
"""


def multiply_adds_that_round_in_a_direction_are_the_same_by_both():
    need_compiler()
    for rounding in "rz", "rm", "rp", "rm.sat", "rp.ftz":
        with written(DIRECTED.replace("FUNCTION", "fma." + rounding)) as path:
            by_both(path, "--grid", 8, "--block", 256, "u32[2048]+print")


# Rounds of warps from barrier to barrier (exec/lockstep.c), and each way out of them, chosen by the second argument: 0 none;
# 1 warp 1 ends before the second barrier; 2 warps wait at barriers of different numbers; 3 a loop of warp 2 spends its
# budget; 4 warp 1 waits for its lanes at a collective. Each thread adds up what its neighbour wrote.
LOCKSTEP = """.version 7.0
.target sm_75
.address_size 64
.visible .entry rounds(.param .u64 out, .param .u32 way)
{
    .reg .u64 %rd<6>; .reg .u32 %r<16>; .reg .pred %p, %q, %s;
    .shared .u32 values[128];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [way];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %ctaid.x;
    shr.u32 %r5, %r2, 5;
    mad.lo.u32 %r6, %r4, %r3, %r2;
    mul.wide.u32 %rd2, %r6, 4;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r7, values;
    mad.lo.u32 %r8, %r2, 4, %r7;
    add.u32 %r9, %r2, 33;
    rem.u32 %r9, %r9, %r3;
    mad.lo.u32 %r9, %r9, 4, %r7;
    mov.u32 %r10, %r6;
    mov.u32 %r11, 0;
AGAIN:
    st.shared.u32 [%r8], %r10;
    bar.sync 0;
    ld.shared.u32 %r12, [%r9];
    mad.lo.u32 %r10, %r10, 3, %r12;
    setp.eq.u32 %p, %r1, 1;
    setp.eq.and.u32 %p, %r5, 1, %p;
    @%p bra END;
    setp.ne.u32 %p, %r1, 2;
    @%p bra SAME;
    setp.gt.u32 %p, %r5, 1;
    @%p bra UPPER;
    bar.sync 3, 64;
    bar.sync 0;
    bra.uni ON;
UPPER:
    bar.sync 0;
    bra.uni ON;
SAME:
    setp.ne.u32 %p, %r1, 3;
    setp.ne.or.u32 %p, %r5, 2, %p;
    @%p bra SHORT;
    mov.u32 %r13, 0;
LONG:
    add.u32 %r13, %r13, 1;
    xor.b32 %r10, %r10, %r13;
    setp.lt.u32 %p, %r13, 40000;
    @%p bra LONG;
SHORT:
    setp.ne.u32 %p, %r1, 4;
    setp.ne.or.u32 %p, %r5, 1, %p;
    @%p bra CLOSE;
    and.b32 %r13, %r2, 1;
    setp.eq.u32 %q, %r13, 1;
    @%q bra CLOSE_ODD;
    vote.sync.ballot.b32 %r13, %r12, 0x55555555;
    bra.uni CLOSE;
CLOSE_ODD:
    setp.gt.u32 %s, %r12, 7;
    vote.sync.ballot.b32 %r13, %s, 0xaaaaaaaa;
    add.u32 %r10, %r10, %r13;
CLOSE:
    bar.sync 0;
ON:
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p, %r11, 5;
    @%p bra AGAIN;
END:
    st.global.u32 [%rd1], %r10;
    ret;
}
""".replace("vote.sync.ballot.b32 %r13, %r12,", "setp.gt.u32 %s, %r12, 5;\n    vote.sync.ballot.b32 %r13, %s,")


def a_block_goes_from_barrier_to_barrier_in_compiled_code():
    need_compiler()
    _, _, dump = run("launch", *MATMUL, "--engine", "jit", env=environment(HEDDLE_DUMP="llvm"))
    assert "\nround:" in dump and dump.count("\nmet") >= 3  # two barriers and the end


def every_way_out_of_lockstep_gives_the_same():
    need_compiler()
    with written(LOCKSTEP) as path:
        for way in range(5):
            for block in 128, 100:
                by_both(path, "--grid", 40, "--block", block, "u32[5120]+print", way)


# Indices of 32 bits that are widened, some of which wrap between the lanes of a warp or of a row; what comes of them is
# needed across a barrier and around a loop. %r4 = start + %tid.x + n * %tid.y.
WIDEN = """.version 7.0
.target sm_75
.address_size 64
.visible .entry widen(.param .u64 out, .param .u64 in, .param .u32 start, .param .u32 n, .param .u32 times)
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
ROWS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry rows(.param .u64 out, .param .u64 in, .param .u32 n)
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


# The approximate functions of 400 numbers a thread: in turns any bits, numbers within the reach of all, of which compiled
# code has simpler functions, the least positive numbers, and the largest, infinity and NaNs. Results are hashed.
APPROXIMATE = """.version 7.0
.target sm_75
.address_size 64
.visible .entry approximate(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<12>; .reg .f32 %f<20>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mad.lo.u32 %r2, %r1, 2654435761, 12345;
    mov.u32 %r3, 0;
    mov.u32 %r8, 0;
L:
    mad.lo.u32 %r2, %r2, 1664525, 1013904223;
    shr.u32 %r4, %r2, 16;
    xor.b32 %r4, %r4, %r2;
    and.b32 %r5, %r4, 0x07ffffff;
    add.u32 %r5, %r5, 0x3c000000;
    and.b32 %r6, %r3, 3;
    setp.eq.u32 %p, %r6, 0;
    selp.b32 %r5, %r4, %r5, %p;
    and.b32 %r7, %r4, 0x00ffffff;
    setp.eq.u32 %p, %r6, 2;
    selp.b32 %r5, %r7, %r5, %p;
    and.b32 %r7, %r4, 0x01ffffff;
    add.u32 %r7, %r7, 0x7e000000;
    setp.eq.u32 %p, %r6, 3;
    selp.b32 %r5, %r7, %r5, %p;
    mov.b32 %f1, %r5;
FUNCTIONS
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, 400;
    @%p bra L;
    st.global.u32 [%rd3], %r8;
    ret;
}
"""
FUNCTION = "    {name}.f32 %f2, %f1;\n    mov.b32 %r9, %f2;\n    mad.lo.u32 %r8, %r8, 31, %r9;\n"
NAMES = [f"{f}.approx{ftz}" for f in ("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin") for ftz in ("", ".ftz")]


def approximate_functions_give_the_same_by_both():
    need_compiler()
    with written(APPROXIMATE.replace("FUNCTIONS", "".join(FUNCTION.format(name=n) for n in NAMES))) as path:
        for block in 64, 45:
            by_both(path, "--grid", 1, "--block", block, "u32[64]+print")


# Each fourth block waits for the next, so that a worker has several at a time while others come and go.
WAITING = """.version 7.0
.target sm_75
.address_size 64
.visible .entry wait_for_next(.param .u64 flags)
{
    .reg .u64 %rd<4>; .reg .u32 %r<4>; .reg .pred %p;
    ld.param.u64 %rd1, [flags];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd2, %rd1, %rd2;
    and.b32 %r2, %r1, 3;
    setp.ne.u32 %p, %r2, 0;
    @%p bra SET;
WAIT:
    ld.acquire.gpu.u32 %r3, [%rd2+4];
    setp.eq.u32 %p, %r3, 0;
    @%p bra WAIT;
SET:
    st.release.gpu.u32 [%rd2], 1;
    ret;
}
"""


def blocks_that_wait_for_others_and_those_that_do_not_all_end():
    need_compiler()
    with written(WAITING) as path:
        for _ in range(20):
            done = launch(path, "--grid", 800, "--block", 64, "u32[800]+sum", "--engine", "jit")
            assert done["buffers"][0]["mean"] == 1, done["buffers"]


# A value that goes around a loop, of no rounds, one or many, and in some rounds of some lanes stays as it is. Lanes begin with
# NaNs of many payloads, infinities and numbers; %f4 = %f4 * %f1 + %f2 makes more of them.
NANS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry nans(.param .u64 out, .param .u32 rounds)
{
    .reg .u64 %rd<4>; .reg .u32 %r<12>; .reg .f32 %f<8>; .reg .pred %p, %q;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    mad.lo.u32 %r3, %r2, 0x00234567, 0x7f7fffff;
    and.b32 %r4, %r2, 3;
    setp.eq.u32 %p, %r4, 0;
    selp.b32 %r3, 0x3f800000, %r3, %p;
    mov.b32 %f4, %r3;
    mov.b32 %f5, %r3;
    mov.f32 %f1, 0f7F000000;
    mov.f32 %f2, 0fFF000000;
    mov.u32 %r5, 0;
    setp.ge.u32 %q, %r5, %r1;
    @%q bra END;
L:
    and.b32 %r6, %r5, %r2;
    setp.eq.u32 %p, %r6, 1;
    fma.rn.f32 %f4, %f4, %f1, %f2;
    @%p fma.rn.f32 %f5, %f5, %f1, %f4;
    @%p bra NEXT;
    add.f32 %f4, %f4, %f5;
NEXT:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %q, %r5, %r1;
    @%q bra L;
END:
    mov.b32 %r7, %f4;
    mov.b32 %r8, %f5;
    mad.lo.u32 %r9, %r7, 31, %r8;
    st.global.u32 [%rd3], %r9;
    ret;
}
"""


def nans_go_around_loops_as_they_are():
    need_compiler()
    with written(NANS) as path:
        for rounds in 0, 1, 2, 9:
            by_both(path, "--grid", 1, "--block", 128, "u32[128]+print", rounds)


# Loads from a base and an index in each lane, hashed, in all lanes and in some: words and vectors, a field of 12 bytes, a base
# in the middle with negative indices, and in the last round one that may lie outside, `reach`.
INDEXED = """.version 7.0
.target sm_75
.address_size 64
.visible .entry indexed(.param .u64 out, .param .u64 in, .param .s32 reach)
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


# Bytes and halves at places that vary, from both kinds of memory, up to the last byte; halves of all signs.
NARROW = """.version 7.0
.target sm_75
.address_size 64
.visible .entry narrow(.param .u64 out, .param .u64 in)
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


# Warp 0 sleeps, which takes the block out of lockstep; then the last warp ends while the others wait.
LAST_ENDS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry last_ends(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<10>; .reg .pred %p;
    .shared .u32 values[128];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, values;
    mad.lo.u32 %r3, %r1, 4, %r2;
    st.shared.u32 [%r3], %r1;
    setp.gt.u32 %p, %r1, 95;
    @%p bra SLEEP;
    setp.gt.u32 %p, %r1, 31;
    @%p bra MEET;
    nanosleep.u32 1;
    st.shared.u32 [%r3], 7;
MEET:
    bar.sync 0;
    add.u32 %r6, %r1, 31;
    rem.u32 %r6, %r6, 96;
    mad.lo.u32 %r6, %r6, 4, %r2;
    ld.shared.u32 %r8, [%r6];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
SLEEP:
    nanosleep.u32 1;
    nanosleep.u32 1;
    nanosleep.u32 1;
    ret;
}
"""


def a_barrier_that_opens_where_a_warp_ends_gives_the_same_by_both():
    need_compiler()
    with written(LAST_ENDS) as path:
        by_both(path, "--grid", 3, "--block", 128, "u32[128]+print")


def compared(order, kind, swapped):
    """Sets a bit of %r5 where the comparison of the thread's number with the parameter holds."""
    operands = "%r2, %r3" if swapped else "%r3, %r2"
    return f"setp.{order}.{kind} %p1, {operands}; shl.b32 %r5, %r5, 1; @%p1 or.b32 %r5, %r5, 1;"


COMPARED = """.version 7.0
.target sm_70
.address_size 64
.visible .entry compared(.param .u64 out, .param .u32 n)
{
    .reg .b32 %%r<9>; .reg .b64 %%rd<4>; .reg .pred %%p1;
    ld.param.u64 %%rd1, [out];
    ld.param.u32 %%r2, [n];
    mov.u32 %%r6, %%ctaid.x;
    mov.u32 %%r7, %%ntid.x;
    mov.u32 %%r8, %%tid.x;
    mad.lo.s32 %%r3, %%r6, %%r7, %%r8;
    mov.u32 %%r5, 0;
    %s
    mul.wide.u32 %%rd2, %%r3, 4;
    add.u64 %%rd3, %%rd1, %%rd2;
    st.global.u32 [%%rd3], %%r5;
    ret;
}
""" % "\n    ".join(compared(o, k, s) for o in ("lt", "le", "gt", "ge", "eq", "ne") for k in ("u32", "s32")
                   for s in (False, True))


def numbers_of_threads_compare_as_by_the_interpreter():
    need_compiler()
    with written(COMPARED) as path:
        for n in 0, 1, 31, 32, 33, 63, 64, 95, 96, 150, 159, 160, 161, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff:
            for block in 32, 80:
                by_both(path, "--grid", 160 // block, "--block", block, "u32[160]+print", n)


def every_cpu_level_gives_the_same():
    need_compiler()
    expected = launch(*RAGGED, "--engine", "interp")["buffers"]
    for level in "x86-64-v2", "x86-64-v3", "x86-64-v4":
        status, _, _ = run("info", "--cpu", level)
        if status == 0:
            assert launch(*RAGGED, "--engine", "jit", "--cpu", level)["buffers"] == expected, level


# Each block doubles the first 64 of its 2048 words.
FAR_BLOCKS = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry far_blocks(.param .u64 p0)
{
    .reg .b32 %r<7>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r1, 11;
    add.u32 %r4, %r3, %r2;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r5, [%rd3];
    add.u32 %r6, %r5, %r5;
    st.global.u32 [%rd3], %r6;
    ret;
}
"""


def accesses_ask_for_what_will_be_wanted():
    """A loop for what its later rounds load, a row that is accessed once for what the sixteenth warp behind wants: 2 KB on, or
    where the block of the grid is that has it, one word for nothing."""
    need_compiler()
    dump = environment(HEDDLE_DUMP="asm")
    with written(AWAIT) as path, written(FAR_BLOCKS) as far:
        one_word = [path, "--grid", 5, "--block", 64, "u32[1]", 64]
        far_blocks = [[far, "--grid", 4, "--block", block, "u32[8192]=range"] for block in ("64", "32,8", "32,32")]
        for args, asks in ((HISTOGRAM, r"prefetch"), (SAXPY, r"prefetch\w*\s+2048\("), (one_word, None),
                           (far_blocks[0], r"prefetch\w*\s+65536\("), (far_blocks[1], r"prefetch\w*\s+16384\("),
                           (far_blocks[2], r"prefetch\w*\s+8192\(")):
            _, _, err = run("launch", *args, "--engine", "jit", env=dump)
            assert "heddle.0" in err and (re.search(asks, err) if asks else "prefetch" not in err), args[0]


# Each block doubles the 2048 words, of the one lot, that its ticket says.
TICKETS = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry tickets(.param .u64 p0, .param .u64 p1)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>;
    .reg .pred %p<2>;
    .shared .align 4 .u32 ticket;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra drawn;
    atom.global.add.u32 %r2, [%rd2], 1;
    st.shared.u32 [ticket], %r2;
drawn:
    bar.sync 0;
    ld.shared.u32 %r3, [ticket];
    shl.b32 %r4, %r3, 11;
    add.u32 %r5, %r4, %r1;
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd4, %rd1, %rd3;
    ld.global.u32 %r6, [%rd4];
    add.u32 %r7, %r6, %r6;
    st.global.u32 [%rd4], %r7;
    ret;
}
"""


def blocks_that_draw_tickets_ask_for_no_other_blocks_words():
    """Where the next block will be nobody knows, and what lies behind is another worker's: a warp asks for what the next one of its
    block wants, the last for what it has."""
    need_compiler()
    with written(TICKETS) as path:
        for block in 32, 100, 256:
            args = [path, "--grid", 4, "--block", block, "u32[8192]=range+print", "u32[1]+print"]
            expected = launch(*args, "--engine", "interp")["buffers"]
            for tier in "1", "2":
                dump = environment(HEDDLE_DUMP="asm", HEDDLE_TIER=tier)
                _, out, err = run("launch", *args, "--engine", "jit", "--json", env=dump)
                asks = re.findall(r"prefetch\w*\s+(\d*)\(", err)
                assert bool(asks) == (block > 32) and all(int(n or 0) < 512 for n in asks), (block, tier, asks)
                assert json.loads(out)["buffers"] == expected, (block, tier)


# Writes where its shared variables are.
PLACES = """
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 8 .b8 rest[];
.visible .entry places(.param .u64 p0)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    .shared .align 4 .u32 word;
    .shared .align 8 .b8 pairs[24];
    .shared .align 4 .b8 first[1024];
    .shared .align 1 .b8 letter;
    .shared .align 16 .b8 second[64];
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, word;
    mov.u32 %r2, pairs;
    st.global.v2.u32 [%rd1], {%r1, %r2};
    mov.u32 %r1, first;
    mov.u32 %r2, letter;
    mov.u32 %r3, second;
    mov.u32 %r4, rest;
    st.global.v2.u32 [%rd1+8], {%r1, %r2};
    st.global.v2.u32 [%rd1+16], {%r3, %r4};
    ret;
}
"""


def arrays_of_whole_lines_lie_first_in_shared_memory():
    """So that their rows lie in one line each, wherever a program declares them; but not where that would cost bytes."""
    aligned = PLACES.replace(".align 4 .u32 word", ".align 1024 .u32 word")
    with written(aligned) as path:
        args = [path, "--grid", 1, "--block", 1, "--shared", 64, "u32[6]+print", "--engine", "interp"]
        assert values(launch(*args), 1) == [0, 8, 32, 1056, 1072, 1136]
    with written(PLACES) as path:
        args = [path, "--grid", 1, "--block", 1, "--shared", 64, "u32[6]+print", "--engine", "interp"]
        word, pairs, first, letter, second, rest = values(launch(*args), 1)
        assert {first, second} in ({0, 1024}, {0, 64}), (first, second)
        sizes = (word, 4, 4), (pairs, 24, 8), (letter, 1, 1), (rest, 64, 8)
        end = 1024 + 64
        for at, size, align in sorted(sizes):
            assert at >= end and at % align == 0, (at, end)
            end = at + size


def what_warps_come_to_is_noted_in_whole_words():
    """A byte of a word is not found by the load of the word behind it, which waits until all stores before are in the cache."""
    need_compiler()
    with written(TICKETS) as path:
        for tier in "1", "2":
            dump = environment(HEDDLE_DUMP="asm", HEDDLE_TARGET="x86-64-v4", HEDDLE_TIER=tier)
            _, _, err = run("launch", path, "--grid", 4, "--block", 64, "u32[8192]=range", "u32[1]", "--engine", "jit", env=dump)
            assert re.search(r"\borl\s+\$1, \d+\(", err) and not re.search(r"\borb\s+\$1, \d+\(", err), tier


def a_launch_changes_over_while_it_runs():
    """Long enough to be compiled under way: 512 x 512 through tiles of 16."""
    args = [*MATMUL[:2], "--grid", "24,24", "--block", "16,16", "f32[384,384]=rand", "f32[384,384]=rand",
            "f32[384,384]+sum", 384]
    assert launch(*args, "--engine", "auto")["buffers"] == launch(*args, "--engine", "interp")["buffers"]


LOOP = """.version 7.0
.target sm_75
.address_size 64
.visible .entry loop(.param .u64 out, .param .u32 n)
{
    .reg .u64 %rd<4>; .reg .u32 %r<6>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
    mov.u32 %r3, %tid.x;
L:  mad.lo.u32 %r3, %r3, %r3, %r2;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, %r1;
    @%p bra L;
    mov.u32 %r4, %tid.x;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""


def a_single_block_changes_over_while_it_runs():
    need_compiler()
    with written(LOOP) as path:
        args = ["launch", path, "--grid", 1, "--block", 64, "u32[64]+print", 4000000, "--json"]
        _, interpreted, _ = run(*args, "--engine", "interp")
        _, changed, err = run(*args, "--engine", "auto", env=environment(HEDDLE_DUMP="time"))
        assert json.loads(changed)["buffers"] == json.loads(interpreted)["buffers"]
        assert "loop:" in err, err


# All lanes at one cell, with results in the register of an operand; then a loop up to a number in memory.
ONE_CELL = """.version 7.0
.target sm_75
.address_size 64
.visible .entry one_cell(.param .u64 cell, .param .u64 out)
{
    .reg .u64 %rd<6>; .reg .u32 %r<6>;
    ld.param.u64 %rd1, [cell];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd2, %rd3;
    add.u32 %r2, %r1, 1;
    atom.global.add.u32 %r2, [%rd1], %r2;
    st.global.u32 [%rd4], %r2;
    add.u32 %r3, %r1, 528;
    add.u32 %r4, %r3, 1;
    atom.global.cas.b32 %r3, [%rd1], %r3, %r4;
    st.global.u32 [%rd4+128], %r3;
    ret;
}
.visible .entry count_up(.param .u64 cell, .param .u64 out)
{
    .reg .u64 %rd<6>; .reg .u32 %r<6>; .reg .pred %p;
    ld.param.u64 %rd1, [cell];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd2, %rd3;
    add.u64 %rd5, %rd1, %rd3;
    mov.u32 %r2, 0;
L:  atom.global.add.u32 %r3, [%rd4], %r2;
    add.u32 %r2, %r2, 1;
    ld.global.u32 %r4, [%rd5];
    setp.lt.u32 %p, %r2, %r4;
    @%p bra L;
    ret;
}
"""


def of_one_cell(kernel, engine, *args):
    with written(ONE_CELL) as path:
        return launch(path, kernel, "--grid", 1, "--block", 32, *args, "--engine", engine)


def lanes_at_one_cell_find_what_those_before_them_left():
    need_compiler()
    found = [l * (l + 1) // 2 for l in range(32)] + [528 + l for l in range(32)]
    for engine in "interp", "jit":
        done = of_one_cell("one_cell", engine, "u32[1]+print", "u32[64]+print")
        values = [b["values"] for b in done["buffers"]]
        assert values == [[560], found], (engine, values)


def a_loop_that_counts_up_to_a_number_in_memory_does_not_spin():
    """A warp that spins turns to its other lanes: those that have left the loop would end on their own."""
    need_compiler()
    for engine in "interp", "jit":
        done = of_one_cell("count_up", engine, "u32[32]=range:1", "u32[32]")
        assert done["stats"]["warp_instructions"] == 7 + 32 * 5 + 1, (engine, done["stats"])


def a_kernel_that_is_launched_often_is_compiled():
    """No launch is long enough alone; one of them alone is not."""
    need_compiler()
    args = [*SAXPY[:1], "--grid", 128, "--block", 256, 32768, 2.0, "f32[32768]=range", "f32[32768]=ones"]
    status, _, err = run("launch", *args, "--repeat", 4000, env=environment(HEDDLE_DUMP="time"))
    assert status == 0 and "; saxpy: " in err, err
    status, _, err = run("launch", *args, env=environment(HEDDLE_DUMP="time"))
    assert status == 0 and "; saxpy: " not in err, err


# Blocks 0 to 3 wait for all others, which run from start to end meanwhile, in the same records one after the other.
AWAIT = """.version 7.0
.target sm_75
.address_size 64
.visible .entry await(.param .u64 cell, .param .u32 n)
{
    .reg .u64 %rd<3>; .reg .u32 %r<5>; .reg .pred %p;
    ld.param.u64 %rd1, [cell];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    setp.gt.u32 %p, %r2, 3;
    @%p bra OTHERS;
WAIT:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.ne.u32 %p, %r3, %r1;
    @%p bra WAIT;
    ret;
OTHERS:
    red.global.add.u32 [%rd1], 1;
    ret;
}
"""


def blocks_come_and_go_beside_those_that_wait():
    need_compiler()
    with written(AWAIT) as path:
        for workers in 1, 2, 5:
            done = launch(path, "--grid", 400, "--block", 64, "u32[1]+print", 396 * 64, "--engine", "jit", "--workers",
                          workers)
            assert done["buffers"][0]["values"] == [396 * 64]


def what_an_engine_is_called_is_checked():
    status, _, err = run("launch", *SAXPY, "--engine", "fast")
    assert status != 0 and "there are auto, interp and jit" in err, err


def a_schedule_is_refused_by_name():
    status, out, err = run("launch", *SAXPY, "--engine", "jit", "--policy", "serial")
    assert status != 0 and "a schedule other than fair runs in the interpreter" in out + err, out + err


def without_the_compiler_jit_is_refused_and_auto_runs():
    gone = environment(HEDDLE_JIT="/nonexistent/heddle-jit")
    status, out, err = run("launch", *SAXPY, "--engine", "jit", env=gone)
    assert status != 0 and "cannot be compiled" in out + err and "heddle-jit is not there" in out + err, out + err
    status, out, err = run("launch", *MATMUL, "--engine", "auto", env=gone)
    assert status == 0, err


def the_code_can_be_seen():
    need_compiler()
    status, _, err = run("launch", *SAXPY, "--engine", "jit", env=environment(HEDDLE_DUMP="ir,llvm,asm,time"))
    assert status == 0
    assert re.search(r"%12 = mulwide_s32 %8, 4 +; 64, lane \* 4\n", err), err
    assert re.search(r"@%9 bra\n    -> 1, 2\n", err), err
    assert "define i32 @heddle.0.saxpy" in err and "heddle.0.saxpy:" in err and "instructions, shapes in" in err, err


# An operation that the engine does for compiled code.
SHOWN = """.version 7.0
.target sm_75
.address_size 64
.visible .entry shown(.param .u64 out)
{
    .reg .u64 %rd<2>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [out];
    mov.f32 %f1, 0f3F800000;
    atom.global.add.f32 %f2, [%rd1], %f1;
    ret;
}
"""


def gdb_names_compiled_kernels_in_a_backtrace():
    need_compiler()
    if not shutil.which("gdb"):
        raise Skip("there is no gdb")
    with written(SHOWN) as path:
        commands = [x for c in ("break access_atom", "run", "bt", "kill") for x in ("-ex", c)]
        done = subprocess.run(["gdb", "-batch", "-nx", *commands, "--args", os.path.join(build, "heddle"), "launch", path,
                               "--grid", "1", "--block", "32", "f32[1]=zeros", "--engine", "jit"], capture_output=True,
                              text=True, timeout=120)
        if "ptrace" in done.stderr:
            raise Skip("gdb may not trace programs here")
        frames = re.findall(r"^#\d+ .*?\b(access_atom|heddle.{1,3}shown|machine_launch|main) ?", done.stdout, re.M)
        assert [f for f in frames if "shown" in f], done.stdout + done.stderr
        assert frames[-1] == "main", done.stdout


# %r2 varies, and is needed behind every barrier.
BARRIERS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry barriers(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mad.lo.u32 %r2, %r1, %r1, 5;
    bar.sync 0;
    bar.sync 0;
    bar.sync 0;
    bar.sync 0;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
"""


def what_is_not_written_between_barriers_is_not_stored_at_them():
    need_compiler()
    with written(BARRIERS) as path:
        args = [path, "--grid", 1, "--block", 64, "u32[64]+print"]
        by_both(*args)
        _, _, err = run("launch", *args, "--engine", "jit", env=environment(HEDDLE_DUMP="llvm"))
        stores = re.findall("store <32 x i32> [^,]*, ptr %[0-9]+, align 64", err)
        assert len(stores) <= 2, stores # at the first barrier; for an access that the engine does


def kernels_are_kept_on_disk_and_damage_is_mended():
    need_compiler()
    with tempfile.TemporaryDirectory() as folder:
        env = environment(HEDDLE_CACHE=folder)
        args = ["launch", *RAGGED, "--engine", "jit", "--json"]

        def buffers():
            status, out, err = run(*args, env=env)
            assert status == 0, err
            return json.loads(out)["buffers"]

        expected = buffers()
        (entry,) = os.listdir(folder)
        path = os.path.join(folder, entry)
        whole = open(path, "rb").read()
        assert buffers() == expected
        assert open(path, "rb").read() == whole
        for damaged in whole[:100], whole[:-1], whole[:3000] + b"x" + whole[3001:], b"", whole + b"x":
            with open(path, "wb") as f:
                f.write(damaged)
            assert buffers() == expected
            assert open(path, "rb").read()[:8] == whole[:8] and os.path.getsize(path) == len(whole), len(damaged)
        status, out, _ = run("cache", env=env)
        assert status == 0 and "1 compiled kernel," in out, out
        status, out, _ = run("cache", "--clear", env=env)
        assert status == 0 and "removed" in out and not os.listdir(folder), out


def nothing_is_kept_where_that_is_asked_for():
    need_compiler()
    with tempfile.TemporaryDirectory() as folder:
        env = environment(HEDDLE_CACHE="off", HOME=folder, XDG_CACHE_HOME=folder)
        status, _, err = run("launch", *SAXPY, "--engine", "jit", env=env)
        assert status == 0 and not os.listdir(folder), err
        status, out, _ = run("cache", env=env)
        assert status == 0 and "no compiled code is kept" in out, out


# ---- the compiler is a process of its own, of which a program notices nothing ----

SIGNALS = {"abort": -6, "kill": -9}
WAYS = ["return", "exit", "_exit", "abort", "kill", "exec", "fork"]


def compilers(token):
    """Processes that compile for programs with this token in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                ours = f.read() == "heddle-jit\n"
            with open(f"/proc/{pid}/environ", "rb") as f: # that of a zombie is empty
                if ours and f"HEDDLE_TEST={token}".encode() in f.read():
                    found.append(pid)
        except OSError:
            pass
    return found


def ends(how, microseconds, **more):
    """Runs jit-ends; the lines it has written."""
    env = environment(LD_LIBRARY_PATH=build, HEDDLE_TEST=f"{os.getpid()}", HEDDLE_DEVICES="1", **more)
    done = subprocess.run([os.path.join(build, "tests", "jit-ends"), how, str(microseconds)], capture_output=True, text=True,
                          env=env, timeout=300)
    assert done.returncode == SIGNALS.get(how, 0), (how, microseconds, done.returncode, done.stdout, done.stderr)
    assert done.stderr == "", done.stderr
    return done.stdout.split()


def all_gone(token):
    for _ in range(100):
        if not compilers(token):
            return True
        time.sleep(0.05)
    return False


def programs_end_at_any_moment_of_compiling_as_they_want_to():
    """However they end: no crash, no word, no process that stays."""
    need_compiler()
    moments = random.Random(1)
    for number in range(200):
        how = WAYS[number % len(WAYS)]
        engine = "jit" if number % 3 else "auto"
        assert ends(how, moments.randrange(100000), HEDDLE_ENGINE=engine) == ["began"], how
    assert all_gone(os.getpid())


def a_compiler_is_started_for_programs_and_ends_with_them():
    need_compiler()
    env = environment(LD_LIBRARY_PATH=build, HEDDLE_TEST=f"{os.getpid()}", HEDDLE_ENGINE="jit")
    program = subprocess.Popen([os.path.join(build, "tests", "jit-ends"), "exit", "20000000"], stdout=subprocess.PIPE, env=env)
    for _ in range(200):
        found = compilers(os.getpid())
        if found:
            break
        time.sleep(0.02)
    (compiler,) = found
    assert os.getsid(int(compiler)) == int(compiler)
    with open(f"/proc/{compiler}/stat") as f:
        assert f.read().split()[3] != str(program.pid)
    files = {fd: os.readlink(f"/proc/{compiler}/fd/{fd}") for fd in "012"}
    assert set(files.values()) == {"/dev/null"}, files
    maps = open(f"/proc/{program.pid}/maps").read()
    assert "LLVM" not in maps
    program.kill()
    program.wait()
    program.stdout.close()
    assert all_gone(os.getpid())


def a_program_that_closes_all_files_comes_to_its_end():
    need_compiler()
    for engine in "jit", "auto":
        assert ends("close", 30000, HEDDLE_ENGINE=engine) == ["began", "done"]


def a_compiler_that_is_killed_costs_speed_alone():
    need_compiler()
    env = environment(LD_LIBRARY_PATH=build, HEDDLE_TEST=f"{os.getpid()}", HEDDLE_ENGINE="auto", HEDDLE_LOG="engine")
    program = subprocess.Popen([os.path.join(build, "tests", "jit-ends"), "finish", "0"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=env)
    while program.poll() is None:
        for pid in compilers(os.getpid()):
            try:
                os.kill(int(pid), 9)
            except ProcessLookupError:
                pass
    out, err = program.communicate()
    assert out.split() == ["began", "done"] and program.returncode == 0, out + err
    assert "stays in the interpreter" in err, err


def a_compiler_waits_for_its_first_request_as_long_as_that_takes():
    need_compiler()
    ours, theirs = socket.socketpair()
    with ours:
        compiler = subprocess.Popen(["sh", "-c", f'exec "$0" 3<&{theirs.fileno()} 4<&-', os.path.join(build, "heddle-jit")],
                                    pass_fds=[theirs.fileno()])
        theirs.close()
        assert len(ours.recv(28, socket.MSG_WAITALL)) == 28  # struct wire_hello
        time.sleep(10.5)  # IDLE_MS and some more
        assert compiler.poll() is None
    assert compiler.wait(10) == 0


def a_compiler_that_cannot_be_started_is_named():
    for program, why in ("/nonexistent/heddle-jit", "is not there"), ("/bin/true", "does not start"):
        out = ends("finish", 0, HEDDLE_ENGINE="auto", HEDDLE_JIT=program)
        assert out == ["began", "done"]
        status, out, err = run("launch", *SAXPY, "--engine", "jit", env=environment(HEDDLE_JIT=program))
        assert status != 0 and why in out + err, out + err
        status, out, err = run("launch", *SAXPY, "--engine", "auto", env=environment(HEDDLE_JIT=program))
        assert status == 0, err


def under_jit(program, *args):
    need_compiler()
    done = subprocess.run([os.path.join(build, "tests", program), *args], capture_output=True, text=True,
                          env=environment(HEDDLE_ENGINE="jit"), timeout=600)
    assert done.returncode == 0, "\n".join(l for l in done.stdout.splitlines() if not l.startswith("ok"))[-3000:] + done.stderr[-500:]


def faults_are_reported_as_by_the_interpreter():
    under_jit("faults", source)


def lanes_that_wait_for_each_other_come_on():
    under_jit("fairness", source, "3")


def atomics_of_many_threads_are_atomic():
    under_jit("contention", "--workers", "2")


def masks_of_waiting_lanes_that_overlap_are_compiled():
    need_compiler()
    done = subprocess.run([f"{build}/heddle", "launch", f"{source}/tests/jit/masks.ptx", "--grid", "1", "--block", "8,8",
                           "u32[8192]=range", "u32[8192]=rand", "7", "1000", "--engine", "jit"],
                          capture_output=True, env=environment(), timeout=60, text=True)
    assert "cannot be compiled" not in done.stdout + done.stderr, done.stderr


main(globals())
