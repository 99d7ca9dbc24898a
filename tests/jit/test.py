"""Compiled code beside the interpreter; see docs/JIT.md."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import AWAIT, HISTOGRAM, MATMUL, RAGGED, SAXPY, build, by_both, dump_of, environment, fault_by_both, need_compiler, written
from tap import FULL, left, launch, main, run, some, source, values


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
PART = """.global .u32 count;
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


# Rounds of warps from barrier to barrier (exec/lockstep.c), and each way out of them, chosen by the second argument: 0 none;
# 1 warp 1 ends before the second barrier; 2 warps wait at barriers of different numbers; 3 a loop of warp 2 spends its
# budget; 4 warp 1 waits for its lanes at a collective. Each thread adds up what its neighbour wrote.
LOCKSTEP = """.visible .entry rounds(.param .u64 out, .param .u32 way)
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
    dump = dump_of("llvm", *MATMUL)
    assert "\nphase:" in dump and dump.count("\narrived") >= 3  # two barriers and the end


def every_way_out_of_lockstep_gives_the_same():
    need_compiler()
    with written(LOCKSTEP) as path:
        for way in range(5):
            for block in 128, 100:
                by_both(path, "--grid", 40, "--block", block, "u32[5120]+print", way)


# Each fourth block waits for the next, so that a worker has several at a time while others come and go.
WAITING = """.visible .entry wait_for_next(.param .u64 flags)
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


# Warp 0 sleeps, which takes the block out of lockstep; then the last warp ends while the others wait.
LAST_ENDS = """.visible .entry last_ends(.param .u64 out)
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


COMPARED = """.visible .entry compared(.param .u64 out, .param .u32 n)
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


# All lanes at one cell, with results in the register of an operand; then a loop up to a number in memory.
ONE_CELL = """.visible .entry one_cell(.param .u64 cell, .param .u64 out)
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


def blocks_come_and_go_beside_those_that_wait():
    need_compiler()
    with written(AWAIT) as path:
        for workers in 1, 2, 5:
            done = launch(path, "--grid", 400, "--block", 64, "u32[1]+print", 396 * 64, "--engine", "jit", "--workers",
                          workers)
            assert done["buffers"][0]["values"] == [396 * 64]


def what_an_engine_is_called_is_checked():
    status, _, err = run("launch", *SAXPY, "--engine", "fast")
    assert status != 0 and "an engine is auto, interp or jit" in err, err


def a_schedule_is_refused_by_name():
    status, out, err = run("launch", *SAXPY, "--engine", "jit", "--policy", "serial")
    assert status != 0 and "a schedule other than fair runs in the interpreter" in out + err, out + err


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
    if not FULL:
        left.add("two thirds of the kernels of contended atomic operations")
    under_jit("contention", "--workers", "2", "--every", "1" if FULL else "3")


def masks_that_overlap_are_compiled():
    need_compiler()
    waiting = ["masks.ptx", "--grid", "1", "--block", "8,8", "u32[8192]=range", "u32[8192]=rand", "7", "1000"]
    made = ["made_masks.ptx", "--grid", "1", "--block", "1", "u64[8192]", "f32[8192]", "2"]
    for file, *args in waiting, made:
        for tier in "1", "2":
            done = subprocess.run([f"{build}/heddle", "launch", f"{source}/tests/jit/{file}", *args, "--engine", "jit"],
                                  capture_output=True, env=environment(HEDDLE_TIER=tier), timeout=60, text=True)
            assert "cannot be compiled" not in done.stdout + done.stderr, done.stderr


# A load, a sum of 16 that are alive, and a branch for every third row; where `way` says so lanes part there, and meet again.
LARGE_HEAD = """.visible .entry large(.param .u64 at, .param .u32 odd)
{{
    .reg .u64 %rd<{0}>; .reg .u32 %r<4>; .reg .f32 %f<{0}>, %s<17>; .reg .pred %p, %q;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [odd];
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, %r1;
    setp.ne.u32 %q, %r3, 0;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
"""


def large(rows):
    """A kernel of about 13 instructions for each 3 rows of 256 floats."""
    text = [LARGE_HEAD.format(rows + 4)]
    text += [f"    ld.global.f32 %s{k}, [%rd2+{4 * k}];\n" for k in range(16)]
    for k in range(rows):
        s, t = k % 16, (k + 5) % 16
        text += [f"    ld.global.f32 %f{k}, [%rd{k + 2}];\n", f"    fma.rn.f32 %s{s}, %f{k}, %s{t}, %s{s};\n"]
        if k % 3 == 0:
            text += [f"    @%q bra L{k};\n", f"    st.global.f32 [%rd{k + 2}], %s{s};\n",
                     f"    add.f32 %s{t}, %s{t}, %f{k};\n", f"L{k}:\n"]
        text += [f"    add.u64 %rd{k + 3}, %rd{k + 2}, 1024;\n"]
    text += [f"    st.global.f32 [%rd2+{1024 * k}], %s{k};\n" for k in range(16)]
    return "".join(text) + "    ret;\n}\n"


ROWS = 400  # 1,500 instructions: more blocks than a function that is large has


def a_large_kernel_gives_the_same_by_both_whether_lanes_part_or_not():
    with written(large(ROWS)) as path:
        for odd, block in some(2, [(33, 256), (0, 100), (0, 256), (33, 100)]):
            by_both(path, "--grid", 2, "--block", block, f"f32[{256 * (ROWS + 16)}]=rand+print", odd, "--workers", 1)


def a_large_kernel_has_its_faults_where_the_interpreter_has_them():
    with written(large(ROWS)) as path:
        for rows in 1, ROWS // 2:
            for odd in 0, 1:
                text = fault_by_both(path, "--grid", 1, "--block", 256, f"f32[{256 * rows + 40}]=rand", odd)
                assert "large" in text, text


def seconds_to_compile(text, *args):
    """Of the processor."""
    need_compiler()
    with written(text) as path:
        done = subprocess.run([f"{build}/heddle", "launch", path, "--grid", "1", "--block", "256", *args, "--engine", "jit"],
                              capture_output=True, text=True, env=environment(HEDDLE_DUMP="time", HEDDLE_TIER="1"), timeout=120)
    assert done.returncode == 0, done.stderr
    parts = re.search(r"shapes in ([0-9.]+) ms, emitted in ([0-9.]+) ms, passes ([0-9.]+) ms, code ([0-9.]+) ms", done.stderr)
    return sum(map(float, parts.groups()))


def the_time_of_compiling_grows_little_faster_than_the_kernel():
    """Four times as large took 15 times as long, where the register allocator was let look for the regions around all calls."""
    seen = []
    while not any(four_times < 9 * small for small, four_times in seen):
        assert len(seen) < 3, seen  # what else runs has its share in each
        seen.append([seconds_to_compile(large(rows), f"f32[{256 * (rows + 16)}]", "0") for rows in (150, 600)])


# Rounds of a shuffle and an addition, with 32 values alive at each; by the lanes that have a bit of their number in `who`.
SHUFFLES_HEAD = """.visible .entry shuffles(.param .u64 out, .param .u32 who)
{
    .reg .u64 %rd<3>; .reg .u32 %t, %who, %m, %v, %s<32>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %who, [who];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %rd2, %t, 128, %rd1;
    and.b32 %v, %t, %who;
    setp.eq.u32 %p, %v, %who;
    vote.sync.ballot.b32 %m, %p, -1;
    @!%p bra END;
"""


def shuffles(rounds):
    text = [SHUFFLES_HEAD]
    text += [f"    ld.global.u32 %s{k}, [%rd2+{4 * k}];\n" for k in range(32)]
    for k in range(rounds):
        text += [f"    shfl.sync.bfly.b32 %v, %s{k % 32}, {1 << k % 5}, 31, %m;\n",
                 f"    mad.lo.u32 %s{(k + 7) % 32}, %v, {2 * k + 3}, %s{(k + 7) % 32};\n"]
    text += [f"    st.global.u32 [%rd2+{4 * k}], %s{k};\n" for k in range(32)]
    return "".join(text) + "END:\n    ret;\n}\n"


def a_kernel_of_very_many_shuffles_gives_the_same_by_both_whether_lanes_part_or_not():
    with written(shuffles(200)) as path:
        for who in 0, 1, 18:
            by_both(path, "--grid", 1, "--block", 64, "u32[2048]=rand+print", who)


def values_alive_at_entries_are_no_more_than_instructions():
    """32 are alive behind each of the shuffles, which have an entry each while there are few of them."""
    need_compiler()
    entries = []
    for rounds in 20, 200, 400:
        with written(shuffles(rounds)) as path:
            dump = dump_of("llvm", path, "--grid", 1, "--block", 64, "u32[2048]", 0, HEDDLE_TIER="1")
        entries.append(len(re.findall(r"^entry\d*:", dump, flags=re.M)))
    assert entries[0] > 20 and 5 < entries[1] < 400 // 32 + 5 and entries[2] < 2 * entries[1] + 5, entries


# So many of them that the engine does most (jit/emit/atomic.c). Each thread has 16 cells of its own, and all have 64.
ADDITIONS_HEAD = """.visible .entry additions(.param .u64 own, .param .u64 all)
{
    .reg .u64 %rd<4>; .reg .u32 %r<9>; .reg .pred %p;
    ld.param.u64 %rd1, [own];
    ld.param.u64 %rd2, [all];
    mov.u32 %r8, %tid.x;
    setp.gt.u32 %p, %r8, 40;
    mad.wide.u32 %rd3, %r8, 4, %rd1;
"""


def additions(n):
    """Every ninth by some threads alone."""
    text = [ADDITIONS_HEAD] + [f"    ld.global.u32 %r{k}, [%rd3+{1024 * k}];\n" for k in range(8)]
    for k in range(n):
        text += [f"    {'@%p ' if k % 9 == 0 else ''}atom.global.add.u32 %r{k % 8}, [%rd3+{1024 * (k % 16)}], %r{(3 * k + 1) % 8};\n"]
        if k % 4 == 0:
            text += [f"    red.global.add.u32 [%rd2+{4 * (k % 64)}], %r{k % 8};\n"]
    return "".join(text) + "    ret;\n}\n"


def a_kernel_of_very_many_atomic_operations_gives_the_same_by_both():
    with written(additions(200)) as path:
        by_both(path, "--grid", 1, "--block", 256, "u32[4096]=range+print", "u32[64]=range+print")


def the_time_of_compiling_atomic_operations_is_bounded():
    """Eight times as many took 30 times as long, and thousands took minutes."""
    few, many = (seconds_to_compile(additions(n), "u32[4096]", "u32[64]") for n in (100, 800))
    assert many < 7 * few, (few, many)


LOADS_HEAD = """.visible .entry loads(.param .u64 table, .param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<4>;
    ld.param.u64 %rd1, [table];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd2, %rd2, %rd3;
"""


def loads(n):
    """By numbers that vary, from a table of 1,024."""
    step = """    mad.lo.u32 %r1, %r1, 1664525, 1013904223; shr.u32 %r2, %r1, 22; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
    ld.global.u32 %r3, [%rd3]; add.u32 %r1, %r1, %r3;
"""
    return LOADS_HEAD + n * step + "    st.global.u32 [%rd2], %r1;\n    ret;\n}\n"


def the_time_of_compiling_loads_is_bounded():
    """Where each is 32 loads of a lane, passes of LLVM looked through all of them for each of them."""
    few, many = (seconds_to_compile(loads(n), "u32[1024]=rand", "u32[256]") for n in (50, 400))
    assert many < 20 * few, (few, many)
    with written(loads(70)) as path:
        by_both(path, "--grid", 1, "--block", 256, "u32[1024]=rand", "u32[256]+print")


main(globals())
