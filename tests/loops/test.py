"""Loops whose accesses compiled code tests before they begin; see docs/JIT.md, "Memory"."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, dump_of, fault_by_both, need_compiler, written
from tap import launch, main, values

# Two loops over in[middle + i], and what stands behind that; in the first the step is known, in the second a parameter, the
# comparison's operands are the other way round, and it goes back by a branch of its own.
COUNTED = """.visible .entry counted(.param .u64 out, .param .u64 in, .param .TYPE start, .param .TYPE start_by, .param .TYPE bound,
    .param .TYPE bound_by, .param .TYPE step)
{
    .reg .u64 %rd<16>; .reg .u32 %r<16>; .reg .pred %p; .reg .TYPE %i, %j, %from, %to, %by, %c;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    cvt.TYPE.u32 %c, %r2;
    ld.param.TYPE %from, [start];
    ld.param.TYPE %by, [start_by];
    mad.lo.TYPE %from, %c, %by, %from;
    ld.param.TYPE %to, [bound];
    ld.param.TYPE %by, [bound_by];
    mad.lo.TYPE %to, %c, %by, %to;
    ld.param.TYPE %by, [step];
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd2, %rd3;
    add.u64 %rd4, %rd4, 8192;
    mov.u32 %r5, 0;
    mov.TYPE %i, %from;
FIRST:
    INDEX
    add.u64 %rd6, %rd4, %rd5;
    ld.global.u32 %r6, [%rd6];
    mad.lo.u32 %r5, %r5, 31, %r6;
    ld.global.u32 %r6, [%rd6+4];
    add.u32 %r5, %r5, %r6;
    add.TYPE %i, %i, STEP;
    setp.RELATION.TYPE %p, %i, %to;
    @%p bra FIRST;
    mov.TYPE %i, %from;
SECOND:
    add.TYPE %j, %i, %by;
    INDEX
    add.u64 %rd6, %rd5, %rd4;
    ld.global.u32 %r6, [%rd6+-4];
    mad.lo.u32 %r5, %r5, 17, %r6;
    mov.TYPE %i, %j;
    setp.MIRRORED.TYPE %p, %to, %j;
    @!%p bra DONE;
    bra SECOND;
DONE:
    mov.u32 %r7, %ntid.x;
    mad.lo.u32 %r8, %r2, %r7, %r1;
    mul.wide.u32 %rd7, %r8, 4;
    add.u64 %rd8, %rd1, %rd7;
    st.global.u32 [%rd8], %r5;
    ret;
}
"""
INDEX = {
    "s32": "mul.wide.s32 %rd5, %i, 4;",
    "u32": "cvt.u64.u32 %rd5, %i; shl.b64 %rd5, %rd5, 2;",
    "s64": "shl.b64 %rd5, %i, 2;",
    "u64": "shl.b64 %rd5, %i, 2;",
}


MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne"}


def counted(type, relation, step):
    text = COUNTED.replace("INDEX", INDEX[type]).replace("STEP", str(step)).replace("RELATION", relation)
    return text.replace("MIRRORED", MIRRORED[relation]).replace("TYPE", type)


def count(relation, ways):
    """Loops of both directions by all types; where numbers have signs, through 0."""
    for type in INDEX:
        for step, start, start_by, bound, bound_by in ways:
            least = -100 if type[0] == "s" else 100
            with written(counted(type, relation, step)) as path:
                by_both(path, "--grid", 30, "--block", 70, "u32[2100]+print", "u32[8192]=rand", start + least, start_by,
                        bound + least, bound_by, step)


def loops_up_to_a_number_are_exact():
    count("lt", [(1, 0, 3, 0, 7), (5, 3, 1, 40, 9)])
    count("le", [(1, 50, -1, 0, 3), (4, 0, 4, 0, 8)])


def loops_down_to_a_number_are_exact():
    count("gt", [(-1, 0, 7, 0, 3), (-3, 500, 1, 40, 9)])
    count("ge", [(-1, 0, 3, 50, -1), (-4, 0, 8, 0, 4)])


def loops_until_two_numbers_meet_are_exact():
    count("ne", [(1, 0, 1, 1, 9), (-2, 200, 4, 198, 2), (4, 0, 4, 4, 8)])


# Faults come in a block behind others, whose accesses have shown where the buffer is.
AFTER_OTHERS = "--grid", 8, "--workers", 1


def what_is_outside_is_found_by_the_round_that_comes_there():
    for start, start_by, bound, bound_by in (0, 0, 100, 1000), (0, -300, 10, 0), (100, 1000, 200, 1000):
        with written(counted("s32", "lt", 1)) as path:
            text = fault_by_both(path, *AFTER_OTHERS, "--block", 64, "u32[512]", "u32[8192]=rand", start, start_by, bound,
                                 bound_by, 1)
            assert "block (0,0,0)" not in text, text


# An index of 32 bits that is 2^32 - 16 first: the base is so far before the buffer.
WRAPPING = """.visible .entry wrapping(.param .u64 out, .param .u64 in, .param .u32 rounds)
{
    .reg .u64 %rd<9>; .reg .u32 %r<8>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r7, %ctaid.x;
    add.u32 %r1, %r1, %r7;
    mov.u32 %r2, %laneid;
    mul.wide.u32 %rd3, %r2, 4;
    sub.u64 %rd4, %rd2, 17179869120;
    mov.u32 %r3, 0;
    mov.u32 %r4, 0xfffffff0;
    mov.u32 %r6, 0;
L:  mul.wide.u32 %rd5, %r4, 4;
    add.u64 %rd6, %rd4, %rd3;
    add.u64 %rd7, %rd6, %rd5;
    ld.global.u32 %r5, [%rd7];
    xor.b32 %r6, %r6, %r5;
    add.u32 %r4, %r4, 1;
    add.u32 %r3, %r3, 1;
    setp.ne.u32 %p, %r3, %r1;
    @%p bra L;
    add.u64 %rd8, %rd1, %rd3;
    st.global.u32 [%rd8], %r6;
    ret;
}
"""


def an_index_that_wraps_is_where_it_wraps_to():
    with written(WRAPPING) as path:
        for rounds in 1, 9:
            by_both(path, *AFTER_OTHERS, "--block", 128, "u32[32]+print", "u32[64]=rand", rounds)
        text = fault_by_both(path, *AFTER_OTHERS, "--block", 128, "u32[32]", "u32[64]=rand", 10)
        assert "block (7,0,0)" in text, text


# A pointer that goes on by a number of bytes; and by pairs, one of shared memory.
POINTERS = """.visible .entry pointers(.param .u64 out, .param .u64 in, .param .u64 step, .param .u32 rounds)
{
    .reg .u64 %rd<8>; .reg .u32 %r<10>; .reg .pred %p;
    .shared .align 4 .b32 cells[512];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd5, [step];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r7, %ctaid.x;
    mad.lo.u32 %r1, %r7, 2, %r1;
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd2, %rd3;
    mov.u32 %r9, cells;
    shl.b32 %r3, %r2, 2;
    add.u32 %r3, %r3, %r9;
    mov.u32 %r6, 0;
L:  ld.global.u32 %r5, [%rd4];
    st.shared.u32 [%r3], %r5;
    add.u64 %rd4, %rd4, %rd5;
    xor.b32 %r6, %r6, %r5;
    add.u32 %r3, %r3, 4;
    sub.u32 %r1, %r1, 1;
    setp.gt.s32 %p, %r1, 0;
    @%p bra L;
    bar.sync 0;
    ld.shared.u32 %r8, [%r3+-4];
    add.u32 %r6, %r6, %r8;
    add.u64 %rd7, %rd1, %rd3;
    st.global.u32 [%rd7], %r6;
    ret;
}
"""


# Of three rounds the first and the last may be inside and aligned, and the second not.
def pointers_that_go_on_are_exact_and_so_are_their_faults():
    with written(POINTERS) as path:
        args = path, *AFTER_OTHERS, "--block", 32, "u32[32]+print", "u32[256]=rand"
        for step, rounds in (4, 90), (8, 80), (0, 60), (4, 1):
            by_both(*args, step, rounds)
        for step, rounds in (4, 220), (6, 1), (-4, 1), (8, 110), (0x100000000, 1), (-0x8000000000000000, 1):
            text = fault_by_both(*args, step, rounds)
            assert "block (0,0,0)" not in text, text


def such_loops_have_a_version_without_tests():
    need_compiler()
    with written(POINTERS) as pointers, written(counted("u32", "lt", 1)) as indexed, written(WRAPPING) as wrapping:
        for loops, *args in ([1, pointers, "u32[32]", "u32[256]", 4, 10], [2, indexed, "u32[32]", "u32[9000]", 0, 0, 9, 0, 1],
                             [1, wrapping, "u32[32]", "u32[64]", 9]):
            err = dump_of("llvm", args[0], "--grid", 1, "--block", 32, *args[1:])
            for label in "unchecked", "by_engine":
                assert len(re.findall(rf"^{label}\d*:", err, re.M)) == loops, (args[0], label)


# Block 0 waits for block 1 in a loop that begins with its test, where END is all that the way back has.
TEST_FIRST = """.func f(.param .u32 x)
{
    ret;
}
.visible .entry waits(.param .u64 flag)
{
    .reg .u64 %f; .reg .u32 %r<7>; .reg .pred %p, %q, %never;
    ld.param.u64 %f, [flag];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r2, %tid.x;
    setp.eq.u32 %never, %r2, 1000;
    setp.ne.u32 %p, %r0, 0;
    @%p bra OTHER;
    bra TEST;
BODY:
    add.u32 %r2, %r2, 1;
    END
TEST:
    ld.volatile.global.u32 %r1, [%f];
    setp.eq.u32 %q, %r1, 0;
    @%q bra BODY;
    ret;
OTHER:
    st.volatile.global.u32 [%f], 1;
    ret;
}
"""
ENDS = ["", "bar.sync 0;", "bar.red.or.pred %p, 0, %never;", "bar.warp.sync -1;", "shfl.sync.idx.b32 %r6, %r2, 0, 31, -1;",
        "@%never exit;", "@%never ret;", "@%never trap;", "@%never brkpt;", "nanosleep.u32 20;", "@%never bar.arrive 1, 64;",
        "{ .param .u32 a; st.param.u32 [a], %r2; call f, (a); }", "{ .param .u32 a; st.param.u32 [a], %r2; @%never call f, (a); }"]


def a_loop_that_begins_with_its_test_gives_way_to_whom_it_waits_for():
    need_compiler()
    for end in ENDS:
        with written(TEST_FIRST.replace("END", end)) as path:
            for engine, threads in ("interp", 32), ("jit", 32), ("interp", 40), ("jit", 40):
                result = launch(path, "--grid", 2, "--block", threads, "--workers", 1, "u32[1]+print", "--engine", engine)
                assert values(result, 1) == [1], (end, engine)


# Lanes leave the inner loop in different rounds, for a block that has only a branch, to the outer one.
MEET = """.visible .entry meet(.param .u64 out)
{
    .reg .u64 %out, %rd<2>; .reg .u32 %r<9>; .reg .pred %p, %q;
    ld.param.u64 %out, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %out, %out, %rd0;
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
OUTER:
    add.u32 %r1, %r1, 1;
    mad.lo.u32 %r2, %r2, 31, %r1;
    setp.gt.u32 %p, %r1, 20;
    @%p bra DONE;
    add.u32 %r3, %r0, %r1;
    and.b32 %r3, %r3, 7;
INNER:
    mad.lo.u32 %r2, %r2, 7, %r3;
    add.u32 %r3, %r3, -1;
    setp.gt.s32 %q, %r3, 0;
    @%q bra INNER;
    bra OUTER;
DONE:
    st.global.u32 [%out], %r2;
    ret;
}
"""


def lanes_meet_in_a_block_that_has_only_a_branch():
    with written(MEET) as path:
        done = by_both(path, "--grid", 1, "--block", 32, "u32[32]+print")
    most = 7 * 4 + 1 + 6  # of a round: as many as the lane has that goes around most often
    assert done["stats"]["warp_instructions"] <= 7 + 21 * most + 2, done["stats"]


main(globals())
