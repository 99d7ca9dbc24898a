"""Warps that run together in compiled code (jit/emit/gang.c), beside the interpreter, which runs one after the other."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, cpu_levels, dump_of, environment, fault_by_both, need_compiler, written
from tap import launch, main, run, some


# A loop that keeps a warp waiting for its own results, which is what gangs are for; BODY is what a test is about. %r2: thread,
# %r5: warp, %r6: lane, %r18: row of threads, %r10: what is computed, %r11: round, %r12: the last argument; %rd5 and %rd6: the
# thread's words of out and in.
KERNEL = """.visible .entry gang(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 rounds, .param .u32 which)
{
    .reg .u64 %rd<24>; .reg .u32 %r<40>; .reg .pred %p<10>;
    .shared .u32 tile[1024];
    .local .u32 own[4];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r20, [rounds];
    ld.param.u32 %r12, [which];
    mov.u32 %r17, %tid.x;
    mov.u32 %r18, %tid.y;
    mov.u32 %r19, %ntid.x;
    mad.lo.u32 %r2, %r18, %r19, %r17;
    mov.u32 %r3, %ntid.y;
    mul.lo.u32 %r3, %r3, %r19;
    mov.u32 %r4, %ctaid.x;
    shr.u32 %r5, %r2, 5;
    and.b32 %r6, %r2, 31;
    mad.lo.u32 %r7, %r4, %r3, %r2;
    setp.ge.u32 %p1, %r7, %r1;
    @%p1 bra END;
    mul.wide.u32 %rd3, %r7, 4;
    add.u64 %rd5, %rd1, %rd3;
    add.u64 %rd6, %rd2, %rd3;
    ld.global.u32 %r10, [%rd6];
    mov.u32 %r9, tile;
    mad.lo.u32 %r8, %r2, 4, %r9;
    mul.lo.u32 %r22, %r4, %r3;
    sub.u32 %r22, %r1, %r22;
    min.u32 %r22, %r22, %r3;
    mov.u32 %r21, 0;
AGAIN:
    st.shared.u32 [%r8], %r10;
    bar.sync 0;
    mov.u32 %r11, 0;
L:
BODY
CHAIN
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p8, %r11, %r20;
    @%p8 bra L;
AFTER:
    bar.sync 0;
    add.u32 %r13, %r2, 33;
    rem.u32 %r13, %r13, %r22;
    mad.lo.u32 %r13, %r13, 4, %r9;
    ld.shared.u32 %r14, [%r13];
    xor.b32 %r10, %r10, %r14;
    bar.sync 0;
    add.u32 %r21, %r21, 1;
    setp.lt.u32 %p1, %r21, 3;
    @%p1 bra AGAIN;
    st.global.u32 [%rd5], %r10;
END:
    ret;
}
""".replace("CHAIN", "\n".join(["    mad.lo.u32 %r10, %r10, 1664525, %r11;"] * 32))

# Whole gangs, a warp or two left over, the last warp not whole, rows of threads.
BLOCKS = "96", "32,4", "160", "100", "256", "64", "16,8"  # the most telling first: tap.some()


def planned(label, path, *args, **more):
    """Is there such code in what is made of the kernel?"""
    return re.search(rf"^{label}\d*:", dump_of("llvm", path, *args, **more), re.M) is not None


def same_with(body, rounds=40, which=0, blocks=BLOCKS, n=700, makes="gang", kernel=KERNEL, more=()):
    need_compiler()
    with written(kernel.replace("BODY", body)) as path:
        args = ["u32[768]+print", "u32[768]=rand", n, rounds, which]
        for block in some(2, blocks):
            by_both(path, "--grid", 3, "--block", block, *more, *args)
        assert planned(makes, path, "--grid", 1, "--block", "32,4", *args), "no gang has been planned"


def fault_with(body, which):
    """The fault of a block whose warp `which` has one."""
    with written(KERNEL.replace("BODY", body)) as path:
        text = fault_by_both(path, "--grid", 1, "--block", "32,4", "u32[128]", "u32[128]=rand", 128, 40, which)
        assert f"thread (0,{which},0)" in text, text


def warps_that_stay_together_give_the_same():
    same_with("")
    same_with("", rounds=1)


def every_cpu_level_gives_the_same():
    need_compiler()
    with written(KERNEL.replace("BODY", "    st.global.u32 [%rd5], %r10;")) as path:
        args = [path, "--grid", 3, "--block", 128, "u32[768]+print", "u32[768]=rand", 300, 40, 0]
        expected = launch(*args, "--engine", "interp")["buffers"]
        for level in cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4"):
            assert launch(*args, "--engine", "jit", "--cpu", level)["buffers"] == expected, level


def a_budget_that_is_spent_parts_a_gang():
    same_with("", rounds=40000, blocks=["128", "96"], n=300)


def what_warps_have_in_common_is_what_each_would_have_had():
    same_with("""
    and.b32 %r13, %r11, 63;
    mul.wide.u32 %rd8, %r13, 4;
    add.u64 %rd9, %rd2, %rd8;
    ld.global.u32 %r14, [%rd9];
    mul.wide.u32 %rd10, %r17, 4;
    add.u64 %rd11, %rd9, %rd10;
    ld.global.u32 %r15, [%rd11];
    mad.lo.u32 %r13, %r13, 4, %r9;
    ld.shared.u32 %r16, [tile];
    xor.b32 %r14, %r14, %r15;
    add.u32 %r14, %r14, %r16;
    add.u32 %r10, %r10, %r14;""")


def accesses_that_are_tested_before_the_loop_are_so_for_all_warps():
    """Rows of threads load along rows of 64, of which the last ends behind the buffer from round 40 on."""
    body = """
    mad.lo.u32 %r31, %r18, 64, %r11;
    mul.wide.u32 %rd18, %r31, 4;
    add.u64 %rd19, %rd2, %rd18;
    ld.global.u32 %r33, [%rd19];
    add.u32 %r32, %r11, %r17;
    mul.wide.u32 %rd20, %r32, 4;
    add.u64 %rd21, %rd2, %rd20;
    ld.global.u32 %r34, [%rd21];
    xor.b32 %r33, %r33, %r34;
    add.u32 %r10, %r10, %r33;"""
    # An index that is known not to wrap: all blocks write to the same places, one after the other.
    kernel = KERNEL.replace("mad.lo.u32 %r7, %r4, %r3, %r2;", "mov.u32 %r7, %r2;")
    same_with(body, blocks=["32,4", "32,8", "32,3"], makes="gang_unchecked", kernel=kernel, more=["--workers", 1])
    with written(kernel.replace("BODY", body)) as path:
        text = fault_by_both(path, "--grid", 1, "--block", "32,4", "u32[128]", "u32[232]=rand", 128, 64, 0)
        assert "thread (0,3,0)" in text, text


def lanes_of_a_warp_pass_values_through_shared_memory():
    same_with("""
    st.shared.u32 [%r8], %r10;
    xor.b32 %r13, %r8, 4;
    ld.shared.u32 %r14, [%r13];
    add.u32 %r10, %r10, %r14;""", blocks=["64", "128"])


def stores_and_loads_of_each_round_keep_their_order():
    same_with("""
    st.global.u32 [%rd5], %r10;
    ld.global.u32 %r13, [%rd6];
    add.u32 %r10, %r10, %r13;
    ld.global.u32 %r14, [%rd5];
    xor.b32 %r10, %r10, %r14;
    st.local.u32 [own], %r10;
    ld.local.u32 %r15, [own];
    add.u32 %r10, %r10, %r15;""")


def warps_that_disagree_go_on_one_by_one():
    by_row = "    setp.eq.u32 %p2, %r18, 1;\n    setp.eq.and.u32 %p2, %r11, {at}, %p2;\n    @%p2 bra AFTER;"
    by_warp = by_row.replace("%r18, 1", "%r5, 1")
    odd = "    and.b32 %r13, %r5, 1;\n" + by_row.replace("%r18, 1", "%r13, 1")
    for at, body in some(4, [(17, by_row), (0, by_warp), (17, odd), (0, by_row), (17, by_warp), (0, odd)]):
        same_with(body.format(at=at))


def lanes_that_disagree_do_so_exactly():
    same_with("    setp.eq.u32 %p2, %r11, %r6;\n    @%p2 bra AFTER;")
    same_with("    setp.eq.u32 %p2, %r11, %r2;\n    @%p2 bra AFTER;", rounds=300)


def guarded_accesses_touch_the_lanes_whose_guard_holds():
    same_with("""
    and.b32 %r13, %r2, 3;
    setp.eq.u32 %p2, %r13, 1;
    setp.eq.u32 %p3, %r18, 1;
    mov.u32 %r14, 0;
    @%p2 ld.global.u32 %r14, [%rd6];
    @%p3 ld.global.u32 %r15, [%rd6];
    @%p2 st.global.u32 [%rd5], %r10;
    @!%p3 xor.b32 %r10, %r10, %r14;""")


def shuffles_stay_within_their_warp():
    same_with("    shfl.sync.down.b32 %r13, %r10, 1, 31, 0xffffffff;\n    add.u32 %r10, %r10, %r13;", blocks=["64", "128"],
              n=768)


# Counts in cells that warps share, in one cell, and in the thread's own, with results.
COUNTS = """
    and.b32 %r13, %r10, 127;
    mad.lo.u32 %r13, %r13, 4, %r9;
    atom.shared.add.u32 %r14, [%r13], %r11;
    red.shared.xor.b32 [tile+4000], %r10;
    setp.eq.u32 %p2, %r18, 1;
    @%p2 red.shared.max.u32 [%r13+16], %r2;
    red.shared.and.b32 [%r8+2048], 0;
    atom.shared.add.u32 %r15, [%r8+2048], %r10;
    atom.shared.min.u32 %r16, [%r8+2048], %r11;
    add.u32 %r15, %r15, %r16;
    add.u32 %r10, %r10, %r15;
""" + "\n".join(["    mad.lo.u32 %r10, %r10, 1664525, %r11;"] * 60)  # what makes gangs worth it


def atomics_on_shared_memory_are_each_warps():
    same_with(COUNTS)


def an_atomic_that_fails_its_test_is_the_engines():
    """In one warp, in a round behind which others have counted."""
    bad = """
    setp.eq.u32 %p3, %r18, %r12;
    setp.eq.and.u32 %p3, %r11, 5, %p3;
    selp.b32 %r13, 0xfffff0, %r13, %p3;
    red.shared.add.u32 [%r13], 1;"""
    for which in range(4):
        fault_with(COUNTS + bad, which)


def warps_that_load_bytes_share_lines_of_the_cache_in_the_second_tier():
    need_compiler()
    args = [os.path.join(os.environ["HEDDLE_SOURCE"], "bench", "peers", "kernels.ptx"), "histogram_shared", "--block", 256]
    for n in 20000, 20736, 5:
        buffers = f"u8[{n}]=rand", "u32[256]+print", n
        expected = launch(*args, "--grid", 3, *buffers, "--engine", "interp")
        for tier in "1", "2":
            status, out, err = run("launch", *args, "--grid", 3, *buffers, "--engine", "jit", "--json",
                                   env=environment(HEDDLE_TIER=tier))
            assert status == 0 and json.loads(out)["buffers"] == expected["buffers"], err
    for tier in "1", "2":
        assert planned("gang", *args, "--grid", 1, *buffers, HEDDLE_TIER=tier) == (tier == "2"), tier


# An index that wraps between the lanes of one row of threads, in round 3: it is not affine then.
WRAP = """
    setp.eq.u32 %p2, %r18, %r12;
    setp.eq.and.u32 %p2, %r11, 3, %p2;
    selp.b32 %r13, 0xfffffff0, 5, %p2;
    add.u32 %r13, %r13, %r17;
    mul.wide.u32 %rd8, %r13, 4;
    shr.u64 %rd9, %rd8, 29;
    and.b64 %rd9, %rd9, 28;
    add.u64 %rd9, %rd9, %rd2;
    ld.global.u32 %r14, [%rd9];
    add.u32 %r10, %r10, %r14;"""


def an_assumption_that_fails_for_one_warp_parts_the_gang():
    for which in range(4):
        same_with(WRAP, which=which, blocks=["32,4", "32,3"])


def a_gang_stops_in_the_middle_of_a_block_that_has_stored():
    for which in range(4):
        same_with("    st.global.u32 [%rd5], %r10;" + WRAP, which=which, blocks=["32,4", "32,3", "32,8"])


# Loads through one register, too far apart to be a run: the test of the first is for both.
GROUP = """
    and.b32 %r31, %r11, 31;
    mul.wide.u32 %rd18, %r31, 4;
    add.u64 %rd19, %rd6, %rd18;
    ld.global.u32 %r32, [%rd19];
    add.u32 %r10, %r10, %r32;
    ld.global.u32 %r33, [%rd19+1024];
    xor.b32 %r10, %r10, %r33;"""


def a_test_for_several_loads_is_each_warps():
    for store in "", "    st.global.u32 [%rd5], %r10;":
        for tier in "1", "2":
            os.environ["HEDDLE_TIER"] = tier
            same_with(store + GROUP, n=400, blocks=["128", "32,4", "256", "96", "100"])
            with written(KERNEL.replace("BODY", store + GROUP)) as path:
                fault_by_both(path, "--grid", 1, "--block", "32,4", "u32[128]", "u32[384]=rand", 128, 40, 0)
        del os.environ["HEDDLE_TIER"]


def an_access_that_changes_its_allocation_is_the_engines():
    swap = """
    and.b32 %r13, %r11, 1;
    setp.eq.u32 %p2, %r13, 1;
    setp.eq.u32 %p3, %r18, %r12;
    and.pred %p2, %p2, %p3;
    selp.b64 %rd8, %rd6, %rd5, %p2;
    ld.global.u32 %r14, [%rd8];
    add.u32 %r10, %r10, %r14;"""
    for which in 0, 2:
        same_with(swap, which=which, blocks=["32,4", "32,8"])
        same_with("    st.global.u32 [%rd5], %r10;" + swap, which=which, blocks=["32,4", "32,8"])


# Row `which` of the threads has an index far outside, in round 3.
OUTSIDE = """
    setp.eq.u32 %p2, %r18, %r12;
    setp.eq.and.u32 %p2, %r11, 3, %p2;
    selp.b32 %r13, 0x1000000, 0, %p2;
    add.u32 %r13, %r13, %r17;
    mul.wide.u32 %rd8, %r13, 4;
    add.u64 %rd9, %rd2, %rd8;
"""


def a_fault_is_that_of_the_warp_that_has_it():
    for which in range(4):
        fault_with(OUTSIDE + "    ld.global.u32 %r14, [%rd9];\n    add.u32 %r10, %r10, %r14;", which)
        fault_with("    st.global.u32 [%rd5], %r10;" + OUTSIDE + "    st.global.u32 [%rd9], %r10;", which)
        fault_with(OUTSIDE + "    cvt.u32.u64 %r15, %rd8;\n    add.u32 %r15, %r15, %r9;\n    st.shared.u32 [%r15], %r10;", which)


# What all warps load from one place behind what the block has written, or behind a fence.
BEHIND = """.visible .entry behind(.param .u64 out, .param .u64 in, .param .u32 rounds)
{
    .reg .u64 %rd<6>; .reg .u32 %r<12>; .reg .pred %p;
    .shared .u32 tile[256];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd4, [in];
    ld.param.u32 %r5, [rounds];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r9, tile;
    mad.lo.u32 %r8, %r1, 4, %r9;
    mov.u32 %r2, 0;
    mov.u32 %r3, %r1;
AGAIN:
    BEFORE
    ld.global.u32 %r6, [%rd4];
WORK    add.u32 %r3, %r3, %r6;
    add.u32 %r2, %r2, 1;
    and.b32 %r4, %r2, 1;
    mul.wide.u32 %rd5, %r4, 4;
    add.u64 %rd4, %rd4, %rd5;
    setp.lt.u32 %p, %r2, %r5;
    @%p bra AGAIN;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""


def a_load_for_all_warps_behind_what_they_write():
    work = "    mad.lo.u32 %r3, %r3, 1664525, %r2;\n" * 40
    for before in "st.global.u32 [%rd3], %r3;", "st.shared.u32 [%r8], %r3;", "membar.cta;", "st.shared.u32 [%r8], %r3; bar.sync 0;":
        with written(BEHIND.replace("BEFORE", before).replace("WORK", work)) as path:
            for tier in "1", "2":
                os.environ["HEDDLE_TIER"] = tier
                by_both(path, "--grid", 1, "--block", 128, "u32[128]+print", "u32[32]=rand", 30)
                fault_by_both(path, "--grid", 1, "--block", 128, "u32[128]", "u32[8]=rand", 30)
            del os.environ["HEDDLE_TIER"]


main(globals())
