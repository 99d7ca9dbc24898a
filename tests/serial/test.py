"""Serial parts: see src/ir/serial_parts.c and docs/JIT.md. What the kernels do stands in serial.cu."""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import dump_of, without_addresses, written
from tap import FULL, Skip, launch, left, main, run, source

KERNELS = os.path.join(source, "tests/serial/serial.ptx")
COMPILED = os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "heddle-jit"))


def need_compiler(there=COMPILED):
    if not there:
        raise Skip("built without LLVM 19")


def by_all(kernel, grid, block, *args, workers=(1, 2, 5)):
    """The buffers that a kernel leaves, by each engine and number of workers."""
    for engine in ["interp"] + ["jit"] * COMPILED:
        for n in workers:
            done = launch(KERNELS, kernel, "--grid", grid, "--block", block, *args, "--engine", engine, "--workers", n)
            yield [b["values"] for b in done["buffers"]]


def ends_with(kernel, grid, block, n, expected, **more):
    """Cells as they are at the end: the number of the cell, and its value."""
    for (cells,) in by_all(kernel, grid, block, "u32[128]+print", n, **more):
        assert {k: v for k, v in enumerate(cells) if v} == expected, cells


def a_lock_is_held_by_one_thread_at_a_time():
    ends_with("one_lock", 6, 96, 570, {32: 570})


def so_it_is_by_many_threads():
    ends_with("one_lock", 40, 256, 10240, {32: 10240})


def a_lane_that_holds_one_lock_takes_another():
    ends_with("two_locks", 6, 96, 570, {32: 570, 33: 570})


def exchanges_bits_and_attempts_are_locks_too():
    each = [sum(t % 3 == k for i in range(570) for t in [i % 96]) for k in range(3)]
    ends_with("other_locks", 6, 96, 570, {32: 570, 33: each[0], 34: each[1], 35: each[2], 36: 570})


def behind_a_barrier_all_critical_sections_have_run():
    for (out,) in by_all("lock_and_barrier", 5, 200, "u32[1000]+print", 1000):
        assert out == [100 + 200 + 300] * 1000, out


def threads_wait_for_those_behind_them_in_their_warp():
    ends_with("handed_on", 1, 32, 32, {0: 32, 32: 32})


def and_in_other_warps_and_blocks():
    ends_with("handed_on", 6, 96, 570, {0: 570, 32: 570})


def a_warp_gives_way_within_a_critical_section():
    ends_with("long_section", 2, 40, 75, {32: 75 * 20000})


def retries_sleep_and_sections_have_arrays_of_their_own():
    ends_with("sleeps_and_arrays", 3, 64, 190, {32 + i: i * 190 * 4 for i in range(1, 8)})


def as_bits(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def numbers_that_lanes_compare_and_swap_add_up():
    each = [sum(i % 8 == k for i in range(570)) for k in range(8)]
    ends_with("compared", 6, 96, 570,
              {0: as_bits(285.0), 64: 569} | {32 + k: as_bits(n / 2) for k, n in enumerate(each)})


def each_lane_finds_what_another_has_left():
    for count, out in by_all("tickets", 6, 96, "u64[1]+print", "u32[570]+print", 570):
        assert count == [3 * 570] and sorted(out) == list(range(570)), (count, out)


def so_it_does_where_many_compete_for_long():
    for count, out in by_all("tickets", 200, 256, "u64[1]+print", "u32[51200]+print", 51200):
        assert count == [3 * 51200] and sorted(out) == list(range(51200)), count


def each_waits_for_its_turn_at_one_cell():
    ends_with("in_turn", 1, 32, 32, {0: 32})
    ends_with("in_turn", 6, 96, 570, {0: 570})


# Block after block has its turn, ROUNDS times; each thread of it looks for that by itself, and adds to a cell that no atomic
# operation is made on.
IN_TURN = """.visible .entry in_turn(.param .u64 out)
{
    .reg .u64 %rd1; .reg .u32 %r<12>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, 0;
    setp.ne.u32 %p1, %r3, 0;
ROUND:
    mad.lo.u32 %r6, %r5, %r2, %r1;
LOOK:
    ld.volatile.global.u32 %r7, [%rd1];
    setp.ne.u32 %p2, %r7, %r6;
    @%p2 bra LOOK;
    membar.gl;
    bar.sync 0;
    @%p1 bra LAST;
    ld.volatile.global.u32 %r8, [%rd1+128];
    add.u32 %r8, %r8, %r4;
    st.volatile.global.u32 [%rd1+128], %r8;
    membar.gl;
    add.u32 %r9, %r6, 1;
    st.volatile.global.u32 [%rd1], %r9;
LAST:
    bar.sync 0;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, ROUNDS;
    @%p3 bra ROUND;
    ret;
}
"""


def blocks_that_look_for_their_turn_have_it():
    """None is found to hang, however many turns its warps sit out while the others have theirs."""
    with written(IN_TURN.replace("ROUNDS", "200")) as path:
        for grid, block in (2, 32), (2, 80), (7, 33):
            for engine in ["interp"] + ["jit"] * COMPILED:
                for workers in 1, 2, 3:
                    done = launch(path, "in_turn", "--grid", grid, "--block", block, "u32[64]+print", "--engine", engine,
                                  "--workers", workers)
                    cells = {k: v for k, v in enumerate(done["buffers"][0]["values"]) if v}
                    assert cells == {0: 200 * grid, 32: 200 * grid * block}, (grid, block, engine, workers, cells)


# All take the lock at 192, and within it the one at 164; then twice the one at 56, sleeping between tries, and within it that at 164.
NESTED = """.visible .entry nested(.param .u64 out)
{
    .reg .u64 %rd1; .reg .u32 %r<8>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r4, 0;
FIRST:
    atom.global.exch.b32 %r1, [%rd1+192], 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra FIRST;
INNER:
    atom.global.cas.b32 %r2, [%rd1+164], 0, 1;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra INNER;
    atom.global.exch.b32 %r2, [%rd1+164], 0;
    st.volatile.global.u32 [%rd1+192], 0;
AGAIN:
    atom.global.cas.b32 %r1, [%rd1+56], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 bra TAKEN;
    nanosleep.u32 20;
    bra AGAIN;
TAKEN:
    atom.global.cas.b32 %r2, [%rd1+164], 0, 1;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra TAKEN;
    red.global.add.u32 [%rd1], 1;
    atom.global.exch.b32 %r2, [%rd1+164], 0;
    atom.global.and.b32 %r1, [%rd1+56], 0;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, 2;
    @%p3 bra AGAIN;
    ret;
}
"""


def lanes_that_stay_where_they_are_have_their_turn_beside_one_that_sleeps():
    """Not a deadlock: whoever holds an inner lock comes on, though another lane is ready whenever others spin."""
    with written(NESTED) as path:
        for block in 4, 32, 80:
            for engine in ["interp"] + ["jit"] * COMPILED:
                for workers in 1, 2:
                    done = launch(path, "--grid", 2, "--block", block, "u32[64]=zeros+print", "--engine", engine, "--workers", workers)
                    assert done["buffers"][0]["values"] == [2 * 2 * block] + [0] * 63, (block, engine, workers)


def lanes_compete_in_groups():
    """In shared memory each finds what the one before it in its group has left; the first finds nothing."""
    threads = {at: [t for t in range(64) if t % 32 // 3 == at] for at in range(11)}
    for cells, out in by_all("spread", 5, 64, "u64[11]+print", "u32[320]+print", 320):
        assert cells == [2 * 5 * len(threads[at]) for at in range(11)], cells
        for block in range(5):
            found = out[64 * block:64 * block + 64]
            for at, of_group in threads.items():
                left = [1000 * at + t + 1 for t in of_group]
                seen = [found[t] for t in of_group]
                assert len(set(seen)) == len(seen) and len(set(seen) - {0} - set(left)) == 0, (at, seen)


def lanes_that_go_around_one_contest_meet_the_others_in_the_next():
    for cells, wide in by_all("skipped", 6, 96, "u32[16]+print", "u64[16]+print", 570):
        count = lambda mask, k: sum(i % 96 & mask == k for i in range(570))
        assert wide == [2 * 3 * count(3, k - 2) if 2 <= k < 6 else 0 for k in range(16)], wide
        assert cells == [as_bits(9.0 * count(7, k - 3)) if 3 <= k < 11 and k % 2 == 0 else 0 for k in range(16)], cells


def locks_are_taken_in_functions_that_are_called():
    ends_with("called", 6, 96, 570, {32: 570, 33: 570, 34: 570})


def a_lock_is_taken_again_and_again():
    for (cells,) in by_all("rounds", 3, 96, "u32[128]+print", 50):
        assert {k: v for k, v in enumerate(cells) if v} == {32: 3 * 96 * 50}, cells
    if COMPILED:
        assert dumped("rounds", "ir")[0].count("loop, spins") == 1


def work_is_handed_out_once():
    def rest(item):
        s = 0
        for k in range(item % 40):
            s = s + ((k * item) ^ (s >> 3)) & 0xffffffff
        return s % 2 + 1
    ends_with("handed_out", 3, 64, 500, {0: 692, 32: sum(map(rest, range(500))), 33: 500})
    ends_with("added_up", 3, 64, 500, {0: 692, 32: 500})


def dumped(kernel, what):
    """What the compiler says of a kernel, and the blocks of code in which lanes go one after the other."""
    err = dump_of(what, KERNELS, kernel, "--grid", 1, "--block", 64, "u32[128]", 64)
    return err, [int(n) for n in re.findall(r"^block (\d+):.*lane after lane", err, re.M)]


def lanes_do_work_together():
    need_compiler()
    assert dumped("handed_out", "ir")[1] == [2]
    assert dumped("added_up", "ir")[1] == []
    assert dumped("lock_and_barrier", "ir")[1] != []


# Threads take the cells that the words of their rows name. Thread t's row begins at word in[t], and has in[t + 64] more, each of five
# bits; thread 21's is longer by `more`. Words go on by STEP.
ROWS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry rows(.param .u64 cells, .param .u64 in, .param .u64 count, .param .u32 more)
{
    .reg .u64 %rd<10>; .reg .u32 %r<14>; .reg .pred %p, %q;
    ld.param.u64 %rd1, [cells];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd3, [count];
    ld.param.u32 %r1, [more];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    mul.wide.u32 %rd4, %r5, 4;
    add.u64 %rd5, %rd2, %rd4;
    ld.global.u32 %r6, [%rd5];
    ld.global.u32 %r7, [%rd5+256];
    and.b32 %r12, %r6, 31;
    and.b32 %r7, %r7, 31;
    setp.eq.u32 %p, %r4, 21;
    @%p add.u32 %r7, %r7, %r1;
    setp.eq.u32 %p, %r7, 0;
    @%p bra DONE;
    mul.wide.u32 %rd6, %r12, 4;
    add.u64 %rd7, %rd2, %rd6;
    mov.u32 %r8, 0;
L:
    ld.global.u32 %r9, [%rd7];
    and.b32 %r13, %r9, 127;
    mul.wide.u32 %rd8, %r13, 4;
    add.u64 %rd9, %rd1, %rd8;
    atom.global.cas.b32 %r10, [%rd9], 0, 1;
    setp.ne.u32 %q, %r10, 0;
    @%q bra NEXT;
    atom.global.add.u32 %r11, [%rd3], 1;
NEXT:
    add.u32 %r8, %r8, 1;
    add.u64 %rd7, %rd7, STEP;
    setp.lt.u32 %p, %r8, %r7;
    @%p bra L;
DONE:
    ret;
}
"""


def rows_of(path, more, engine):
    return ["launch", path, "--grid", 3, "--block", 45, "u32[128]+print", "u32[300]=rand", "u32[1]+print", more, "--engine", engine]


def threads_try_for_what_stands_in_rows_of_their_own():
    """All cells that are named have been taken, each by one thread; where a row is too long, its thread has the fault."""
    with written(ROWS.replace("STEP", "4")) as path:
        found, faults = [], []
        for engine in ["interp"] + ["jit"] * COMPILED:
            cells, _, count = (b["values"] for b in launch(*rows_of(path, 0, engine)[1:])["buffers"])
            assert set(cells) == {0, 1} and count == [sum(cells)], (cells, count)
            found.append(cells)
            faults.append(run(*rows_of(path, 40000, engine), "--workers", 1))  # of both blocks the first, each time
        assert found[0] == found[-1]
        texts = [without_addresses(f[2]) for f in faults]
        assert faults[0][0] == faults[-1][0] == 1 and texts[0] == texts[-1] and "thread (21,0,0)" in texts[0], texts


def a_row_may_be_longer_than_a_lanes_turn():
    with written(ROWS.replace("STEP", "4")) as path:
        for engine in ["interp"] + ["jit"] * COMPILED:
            args = rows_of(path, 50000, engine)
            args[args.index("u32[300]=rand")] = "u32[51000]=rand"
            cells, _, count = (b["values"] for b in launch(*args[1:])["buffers"])
            assert cells == [1] * 128 and count == [128]


def so_lanes_go_one_by_one_where_the_cpu_gathers_no_better():
    need_compiler()
    for step, level, alone in (4, "x86-64-v4+amd", True), (4, "x86-64-v3", True), (4, "x86-64-v4", False), (256, "x86-64-v4+amd", False):
        with written(ROWS.replace("STEP", str(step))) as path:
            _, _, err = run(*rows_of(path, 0, "jit"), env={**os.environ, "HEDDLE_DUMP": "ir", "HEDDLE_TARGET": level})
            assert "block 1:" in err and ("lane after lane" in err) == alone, (step, level)


# A lock that is given back, another loop, and a store through the register that has the lock's address.
SPACES = """.visible .entry spaces(.param .u64 out, .param .u64 at)
{
    .reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p, %q;
    .shared .align 4 .b32 lock[4];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [at];
    mov.u64 %rd3, lock;
    add.u64 %rd2, %rd2, %rd3;
    mov.u32 %r3, %tid.x;
    st.shared.u32 [%rd2], 0;
    bar.sync 0;
TRY:
    atom.shared.cas.b32 %r1, [%rd2], 0, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra TRY;
    atom.shared.exch.b32 %r1, [%rd2], 0;
COUNT:
    sub.u32 %r3, %r3, 1;
    setp.gt.s32 %p, %r3, 0;
    @%p bra COUNT;
    setp.ne.u32 %q, %r3, 77;
    @%q bra DONE;
    st.WHERE [%rd2], %r3;
DONE:
    st.global.u32 [%rd1], %r3;
    ret;
}
"""


def what_has_the_number_of_a_lock_in_another_state_space_is_not_the_lock():
    need_compiler()
    for space, last in ("shared.u32", 5), ("global.u32", 2), ("u32", 2):
        with written(SPACES.replace("WHERE", space)) as path:
            err = dump_of("ir", path, "--grid", 1, "--block", 64, "u32[4]", 0)
            serial = [int(n) for n in re.findall(r"^block (\d+):.*lane after lane", err, re.M)]
            assert serial == list(range(1, last + 1)), (space, serial)


# A lock that is given back in the block of code that ends with ENDING.
ENDINGS = """.visible .entry endings(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r4, %tid.x;
    setp.gt.u32 %p2, %r4, 40;
TRY:
    atom.global.cas.b32 %r1, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra TRY;
    membar.gl;
    ld.volatile.global.u32 %r2, [%rd1+128];
    add.u32 %r3, %r2, 1;
    st.volatile.global.u32 [%rd1+128], %r3;
    membar.gl;
    GIVE;
    ENDING
}
"""


def a_part_ends_where_a_barrier_or_the_thread_does_with_what_gives_back():
    need_compiler()
    endings = {
        "ret;": 0, "exit;": 0, "@%p2 exit; red.global.add.u32 [%rd1+132], 1; ret;": 41,
        "bar.sync 0; red.global.add.u32 [%rd1+132], %r4; ret;": 64 * 63 // 2,
        "shfl.sync.idx.b32 %r5, %r4, 3, 31, -1; red.global.add.u32 [%rd1+132], %r5; ret;": 32 * 3 + 32 * 35,
        "bar.warp.sync -1; @%p2 bra AWAY; red.global.add.u32 [%rd1+132], 1; AWAY: ret;": 41,
    }
    for give in "atom.global.exch.b32 %r1, [%rd1], 0", "st.volatile.global.u32 [%rd1], 0":
        for ending, more in endings.items():
            with written(ENDINGS.replace("GIVE", give).replace("ENDING", ending)) as path:
                for engine, workers in [("interp", 1), ("interp", 3), ("jit", 1), ("jit", 3)]:
                    done = launch(path, "endings", "--grid", 5, "--block", 64, "u32[64]+print", "--engine", engine,
                                  "--workers", workers)
                    cells = {k: v for k, v in enumerate(done["buffers"][0]["values"]) if v}
                    assert cells == {k: v for k, v in {32: 5 * 64, 33: 5 * more}.items() if v}, (ending, engine, cells)
                    if (engine, workers) == ("jit", 1):  # 9 of trying and of the section, for each thread once
                        count = done["stats"]["lane_instructions"]
                        assert 5 * 64 * (3 + 9 + 1) <= count <= 5 * 64 * (3 + 9 + 4), (ending, count)
                        assert done["stats"]["warp_instructions"] > 5 * 64 * 9, ending
                err = dump_of("ir", path, "--grid", 1, "--block", 64, "u32[64]")
                serial = re.findall(r"^block (\d+):.*lane after lane", err, re.M)
                assert serial == ["1", "2"], (ending, serial)


def fences_keep_what_is_stored_before_them_before_what_is_loaded_behind():
    """Thousands of times, on two workers: not both of two threads miss what the other has stored."""
    rounds = 20000
    if not FULL:
        left.add("two further launches with fences by compiled code")
    for exchanges in 0, 1:
        for engine in ["interp"] + ["jit"] * (3 if FULL else 1) * COMPILED:
            done = launch(KERNELS, "ordered", "--grid", 100000, "--block", 1, "u32[192]", f"u32[{2 * rounds}]",
                          f"u32[{2 * rounds}]=fill:7+print", rounds, exchanges, "--engine", engine, "--workers", 2)
            found = done["buffers"][-1]["values"]
            both = list(zip(found[::2], found[1::2]))
            if 7 in found:
                raise Skip("one worker has had all blocks")
            assert (0, 0) not in both, (engine, exchanges, both.count((0, 0)))


def each_lane_comes_through_at_its_first_try():
    """Lanes run one after the other: each counts its own instructions, of the loop once and of the section once."""
    need_compiler()
    done = launch(KERNELS, "one_lock", "--grid", 1, "--block", 64, "u32[128]", 64, "--engine", "jit", "--workers", 1)
    err, serial = dumped("one_lock", "ir,asm")
    assert ".one_lock.serial:" in err and serial == [1, 2], err
    blocks = re.findall(r"^block (\d+):.*\n((?:    .*\n)*)", err, re.M)
    sizes = [sum(not line.startswith("    ->") for line in body.splitlines()) for _, body in blocks]
    expected = 2 * (sizes[0] + sizes[3]) + 64 * (sizes[1] + sizes[2])
    assert done["stats"]["warp_instructions"] == expected, (done["stats"], sizes)


def a_fault_in_a_critical_section_is_told_as_ever():
    said = []
    for engine in ["interp"] + ["jit"] * COMPILED:
        status, out, err = run("launch", KERNELS, "bad_section", "--grid", 2, "--block", 64, "u32[128]", 100, "--engine",
                               engine)
        assert status != 0 and "thread (37,0,0)" in out + err and "serial.cu" in out + err, out + err
        said.append(without_addresses(out + err))
    assert len(set(said)) == 1, said


def a_lock_that_nobody_gives_back_is_a_deadlock():
    for engine in ["interp"] + ["jit"] * COMPILED:
        status, out, err = run("launch", KERNELS, "never_given", "--grid", 3, "--block", 64, "u32[192]", 192, "--engine",
                               engine)
        assert status != 0 and "can never finish" in out + err, out + err


main(globals())
