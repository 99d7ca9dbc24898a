"""Blocks that a worker runs one after the other in the same records; see src/exec/lockstep.c and worker.c."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import HEAD, by_both, fault_by_both, written
from tap import main, values

# `entry` with one buffer, of a number for each thread of the grid, in order: %r9 of each, that BODY computes.
KERNEL = """.version 7.3
.target sm_75
.address_size 64
.func (.reg .u32 %s) slow(.reg .u32 %x)
{
    mad.lo.u32 %s, %x, 3, 1;
    ret;
}
.visible .entry entry(.param .u64 out)
{
    .reg .u64 %rd<8>; .reg .u32 %r<20>, %never; .reg .pred %p<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ctaid.y;
    mov.u32 %r5, %ctaid.z;
    mov.u32 %r6, %nctaid.x;
    mov.u32 %r7, %nctaid.y;
    mad.lo.u32 %r8, %r5, %r7, %r4;
    mad.lo.u32 %r8, %r8, %r6, %r3;
    mad.lo.u32 %r10, %r8, %r2, %r1;
    mul.wide.u32 %rd2, %r10, 4;
    add.u64 %rd2, %rd1, %rd2;
    BODY
    st.global.u32 [%rd2], %r9;
    ret;
}
"""

# Blocks are numbered %r8; one in four calls a function, in one warp, with some or all of its lanes.
SOME_CALL = """
    and.b32 %r9, %r8, 3;
    shr.u32 %r11, %r1, 5;
    shr.u32 %r12, %r8, 2;
    and.b32 %r12, %r12, 3;
    setp.eq.u32 %p1, %r9, 1;
    setp.eq.and.u32 %p1, %r11, %r12, %p1;
    and.b32 %r13, %r1, %r8;
    and.b32 %r13, %r13, 16;
    setp.eq.and.u32 %p1, %r13, 0, %p1;
    mov.u32 %r9, %r1;
    @!%p1 bra ON;
    call (%r9), slow, (%r8);
ON:
"""


def by_both_with(body, grid, block):
    blocks = 1
    for n in grid:
        blocks *= n
    threads = blocks * block
    with written(KERNEL.replace("BODY", body)) as path:
        done = by_both(path, "--grid", ",".join(map(str, grid)), "--block", block, f"u32[{threads}]+print")
    return values(done, 1)


def each_block_has_its_number():
    body = "mad.lo.u32 %r9, %r5, 1000, %r4; mad.lo.u32 %r9, %r9, 1000, %r3;"
    for grid in (1, 1, 1), (1500, 1, 1), (1, 700, 2), (7, 1, 211), (11, 13, 17):
        want = [(z * 1000 + y) * 1000 + x for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
        assert by_both_with(body, grid, 33) == [n for n in want for _ in range(33)], grid


def warps_may_leave_compiled_code_in_some_blocks_and_not_in_others():
    for block in 32, 100, 128:
        got = by_both_with(SOME_CALL, (40, 30, 1), block)
        for n in range(1200):
            for t in range(block):
                calls = n % 4 == 1 and t // 32 == n // 4 % 4 and not t & n & 16
                assert got[n * block + t] == (3 * n + 1 if calls else t), (block, n, t)


def a_register_that_was_never_written_is_zero_in_each_block():
    # the shuffle has the register's row written
    body = """and.b32 %r11, %r10, 1; setp.eq.u32 %p1, %r11, 1; @%p1 add.u32 %never, %never, 5;
        shfl.sync.idx.b32 %r9, %never, %r1, 31, -1;"""
    assert by_both_with(body, (3000, 1, 1), 64) == [0, 5] * 96000
    assert by_both_with(SOME_CALL + body, (1200, 1, 1), 64) == [0, 5] * 38400


def each_block_has_all_of_its_stack():
    got = by_both_with("alloca.u64 %rd3, 256; cvt.u32.u64 %r9, %rd3;", (2000, 1, 1), 64)
    assert got == got[:1] * 128000


# A function with vectors in its frame, called above a stack of some bytes, and when an odd number of them has been given back.
ABOVE = """.func (.param .b32 r) twice(.param .b32 x)
{
    .local .align 16 .b8 own[16];
    .reg .u32 %r<8>;
    ld.param.u32 %r1, [x];
    st.local.u32 [own], %r1;
    st.local.v2.u32 [own+8], {%r1, %r1};
    ld.local.u32 %r2, [own];
    ld.local.u32 %r3, [own+12];
    add.u32 %r2, %r2, %r3;
    st.param.b32 [r], %r2;
    ret;
}
.visible .entry above(.param .u64 out, .param .u64 n)
{
    .reg .u64 %rd<8>; .reg .u32 %r<8>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [n];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd4, %rd4, %rd1;
    stacksave.u64 %rd5;
    alloca.u64 %rd3, %rd2;
    CALL
    add.u64 %rd5, %rd5, 1;
    stackrestore.u64 %rd5;
    CALL
    st.global.u32 [%rd4], %r1;
    ret;
}
""".replace("CALL", """{
    .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call (b), twice, (a);
    ld.param.b32 %r1, [b];
    }""")


def what_is_called_has_its_frame_aligned():
    with written(HEAD.replace("7.0", "7.3") + ABOVE) as path:
        for n in 0, 1, 5, 16, 37:
            got = by_both(path, "--grid", 1, "--block", 40, "u32[40]+print", n)
            assert values(got, 1) == [4 * t for t in range(40)], (n, got)


def a_fault_behind_warps_that_have_ended_is_the_threads_own():
    body = "setp.eq.u32 %p1, %r10, 64197; mov.u32 %r9, 0; @%p1 add.u64 %rd2, %rd2, 1;"
    with written(KERNEL.replace("BODY", body)) as path:
        text = fault_by_both(path, "--grid", 1000, "--block", 128, "u32[128000]")
    assert "block (501,0,0)" in text and "thread (69,0,0)" in text, text


main(globals())
