"""Kernels that run for long are compiled again (docs/JIT.md, "Two tiers"). Most tests have their own compiler, tiers_compiler.c."""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import MATMUL, SAXPY, build, compile_each_time, dump_of, environment, need_compiler, without_addresses, written
from tap import examples, heddle, in_full, launch, main, run, some, source, values

PLAIN, MARKED = 0x51525354, 0x61626364  # tiers_compiler.c's

# `until` goes round, 8,000 instructions each time, until its own code is marked, which the second tier's is; each thread says then
# how it went on. `rounds` ends by itself: 16 instructions a round.
KERNELS = """.visible .entry until(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r1, %r2, %r3, %r1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r4, %r1;
L:
    mov.u32 %r7, 0;
WORK:
    MADS
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p, %r7, 500;
    @%p bra WORK;
    st.volatile.global.u32 [%rd3], 0x51525354;
    ld.volatile.global.u32 %r5, [%rd3];
    xor.b32 %r4, %r4, %r5;
    shr.u32 %r6, %r5, 24;
    setp.eq.u32 %p, %r6, 0x51;
    @%p bra L;
    and.b32 %r4, %r4, 0;
    add.u32 %r5, %r5, %r4;
    st.global.u32 [%rd3], %r5;
    ret;
}
.visible .entry rounds(.param .u64 out, .param .u32 n)
{
    .reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r6, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r1, %r2, %r3, %r1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r4, %r1;
    mov.u32 %r5, 0;
L:
    MADS
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, %r6;
    @%p bra L;
    st.global.u32 [%rd3], %r4;
    ret;
}
""".replace("MADS", "mad.lo.u32 %r4, %r4, 5, 7;\n" * 13)

LONG = ["rounds", "--grid", 8, "--block", 128]
FAST = 4000000  # rounds of each warp: two thousand million instructions in all, far more than a second compilation is put off for


@contextlib.contextmanager
def compiler(second, **more):
    """An environment with tiers-compiler, and the file with what it was asked for."""
    need_compiler()
    with tempfile.TemporaryDirectory() as folder:
        asked = os.path.join(folder, "asked")
        open(asked, "w").close()
        yield environment(HEDDLE_JIT=f"{build}/tests/tiers-compiler", HEDDLE_TEST_JIT=f"{build}/heddle-jit",
                          HEDDLE_TEST_ASKED=asked, HEDDLE_TEST_SECOND=second, **more), asked


def asked_for(asked):
    return [int(line) for line in open(asked)]


def launch_with(env, *args):
    status, out, err = run("launch", *args, env=env)
    assert status == 0, out + err
    return out, err


def until(path, env, engine="jit", workers=2):
    """Ends where the second tier's code has come into use in the middle of a launch."""
    out, _ = launch_with(env, path, "until", "--grid", 3, "--block", 96, "u32[288]+print", "--engine", engine, "--workers", workers)
    assert str(MARKED) in out, out
    assert str(PLAIN) not in out, out


def expected(thread, rounds):
    """x -> 5 x + 7, so often, in 32 bits."""
    a, c, n, value = 5, 7, 13 * rounds, thread
    while n:
        if n & 1:
            value = (a * value + c) % 2**32
        a, c = a * a % 2**32, (a + 1) * c % 2**32
        n >>= 1
    return value


def long_launch(path, env, *more, rounds=FAST, engine="jit"):
    """What it says beside the right results."""
    status, out, err = run("launch", path, *LONG, "u32[1024]+print", rounds, "--engine", engine, "--json", *more, env=env)
    assert status == 0, out + err
    assert values(json.loads(out), 1) == [expected(t, rounds) for t in range(1024)]
    return err


def warps_change_over_within_a_launch():
    with written(KERNELS) as path, compiler("mark") as (env, asked):
        until(path, env)
        assert asked_for(asked) == [1, 2]


def warps_change_over_from_the_interpreter_to_the_first_tier_to_the_second():
    with written(KERNELS) as path, compiler("mark") as (env, asked):
        until(path, env, engine="auto")
        assert asked_for(asked) == [1, 2]


def one_worker_changes_over_with_blocks_that_wait_for_it():
    with written(KERNELS) as path, compiler("mark") as (env, asked):
        until(path, env, workers=1)


def short_launches_are_compiled_once():
    with written(KERNELS) as path, compiler("pass") as (env, asked):
        long_launch(path, env, rounds=1000)
        assert asked_for(asked) == [1]


def both_tiers_are_kept_and_the_second_serves_the_next_process_at_once():
    with written(KERNELS) as path, tempfile.TemporaryDirectory() as cache, compiler("mark", HEDDLE_CACHE=cache) as (env, asked):
        until(path, env)
        assert asked_for(asked) == [1, 2]
        status, out, _ = run("cache", env=env)
        assert status == 0 and "2 compiled kernels" in out, out
        for engine in "jit", "auto":
            until(path, env, engine=engine)
        assert asked_for(asked) == [1, 2]


def processes_that_share_a_cache_come_to_the_same():
    with written(KERNELS) as path, tempfile.TemporaryDirectory() as cache, compiler("mark", HEDDLE_CACHE=cache) as (env, asked):
        command = [heddle, "launch", path, "until", "--grid", "2", "--block", "64", "u32[128]+print", "--engine", "jit",
                   "--workers", "1"]
        programs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) for _ in range(3)]
        for p in programs:
            out, _ = p.communicate(timeout=300)
            assert p.returncode == 0 and str(MARKED) in out and str(PLAIN) not in out, out
        assert set(asked_for(asked)) == {1, 2}
        status, out, _ = run("cache", env=env)
        assert "2 compiled kernels" in out, out


def a_tier_can_be_asked_for_alone():
    with written(KERNELS) as path:
        for tier in 1, 2:
            with compiler("pass", HEDDLE_TIER=str(tier)) as (env, asked):
                long_launch(path, env)
                assert asked_for(asked) == [tier]


def what_is_dumped_tells_its_tier():
    with written(KERNELS) as path:
        for tier, words in (1, r"saxpy, blocks of \(\d+,1,1\)\n"), (2, r"saxpy, blocks of \(\d+,1,1\), second tier\n"):
            need_compiler()
            _, err = launch_with(environment(HEDDLE_TIER=str(tier), HEDDLE_DUMP="ir,llvm,asm,time"), f"{examples}/saxpy/saxpy.ptx",
                                 "--grid", 4, "--block", 256, 1000, 2.0, "f32[1000]=range", "f32[1000]=ones", "--engine", "jit")
            assert len(re.findall(words, err)) == 3, err
            assert len(re.findall("; saxpy" + (", second tier" if tier == 2 else "") + ": ", err)) == 1, err


def words_of_the_environment_that_are_not_known_are_named():
    for variable, word, says in (("HEDDLE_TIER", "3", "HEDDLE_TIER=3 is ignored; it may be 1, 2"),
                                 ("HEDDLE_ENGINE", "fast", "HEDDLE_ENGINE=fast is ignored; it may be auto, interp, jit"),
                                 ("HEDDLE_LOG", "api,enigne", "`enigne` in HEDDLE_LOG is ignored; it may be api, error, engine"),
                                 ("HEDDLE_DUMP", "i,,lvm", "`lvm` in HEDDLE_DUMP is ignored; it may be ir, llvm, asm, time")):
        _, err = launch_with(environment(**{variable: word}), f"{examples}/saxpy/saxpy.ptx", "--grid", 4, "--block", 256, 1000,
                             2.0, "f32[1000]=range", "f32[1000]=ones")
        assert says in err, err
        _, err = launch_with(environment(**{variable: ""}), f"{examples}/saxpy/saxpy.ptx", "--grid", 4, "--block", 256, 1000,
                             2.0, "f32[1000]=range", "f32[1000]=ones")
        assert "ignored" not in err, err


def a_second_tier_that_crashes_leaves_the_first():
    with written(KERNELS) as path, compiler("crash", HEDDLE_LOG="engine") as (env, asked):
        err = long_launch(path, env)
        assert asked_for(asked) == [1, 2]
        assert "kernel `rounds` keeps its first code: the compiler ended" in err, err


def a_program_ends_while_its_second_tier_is_being_compiled():
    with written(KERNELS) as path, compiler("hang") as (env, asked):
        long_launch(path, env)
        assert asked_for(asked) == [1, 2]
        for _ in range(200):
            if not processes_with(asked):
                return
            time.sleep(0.05)
        assert False, "the compiler goes on"


def processes_with(word):
    """Those that have it in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
            if word.encode() in f.read():
                found.append(pid)
    return found


def modules_go_and_kernels_are_compiled_while_a_second_tier_hangs():
    kernels = KERNELS + KERNELS[KERNELS.index(".visible .entry rounds"):].replace("rounds", "others")
    with written(kernels) as path, compiler("hang") as (env, asked):
        done = subprocess.run([f"{build}/tests/tiers", path, "rounds", str(FAST), "others", "1000", "unload", "rounds", "1000"],
                              capture_output=True, text=True, env=env, timeout=300)
        assert done.returncode == 0, done.stderr
        assert asked_for(asked) == [1, 2, 1, 1], asked_for(asked)


def gangs_under(tier):
    """The lines of the naive matrix product's code that begin a gang."""
    dump = dump_of("llvm", f"{source}/bench/peers/kernels.ptx", "matmul_naive", "--grid", "1,1", "--block", "16,16", "f32[16,16]=rand",
                   "f32[16,16]=rand", "f32[16,16]", 16, HEDDLE_TIER=str(tier))
    return re.findall(r"^gang\w*:", dump, re.M)


def the_second_tier_makes_gangs_where_they_save_anything():
    assert not gangs_under(1) and gangs_under(2)

# Rounds between two barriers, in which each thread reads what one of another warp wrote: what gangs of whole blocks are for
# (jit/analysis/gang_plan.c). WITHIN and BEHIND are what a test is about. %r1: thread, %r2: its number in the block, %r3: of rounds so far, %r4:
# its value, %rd3: its place in `out`, %rd4: in `in`.
ROUNDS = """.visible .entry rounds(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)
{
    .reg .u64 %rd<9>; .reg .u32 %r<20>; .reg .pred %p, %q;
    .shared .u32 values[256];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r5, [n];
    ld.param.u32 %r6, [m];
    mov.u32 %r2, %tid.x;
    mov.u32 %r7, %ctaid.x;
    mov.u32 %r8, %ntid.x;
    mad.lo.u32 %r1, %r7, %r8, %r2;
    mul.wide.u32 %rd5, %r1, 4;
    add.u64 %rd3, %rd1, %rd5;
    add.u64 %rd4, %rd2, %rd5;
    ld.global.u32 %r4, [%rd4];
    mov.u32 %r9, values;
    mad.lo.u32 %r10, %r2, 4, %r9;
    add.u32 %r11, %r2, 33;
    rem.u32 %r11, %r11, %r8;
    mad.lo.u32 %r11, %r11, 4, %r9;
    mov.u32 %r3, 0;
AGAIN:
    st.shared.u32 [%r10], %r4;
    bar.sync 0;
    ld.shared.u32 %r12, [%r11];
    mad.lo.u32 %r4, %r4, 3, %r12;
    WITHIN
    bar.sync 1;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, %r5;
    @%p bra AGAIN;
    BEHIND
    st.global.u32 [%rd3], %r4;
    ret;
}
"""

# A load of `in` that is another thread's in each round, from n numbers.
LOAD = """add.u32 %r13, %r1, %r3; rem.u32 %r13, %r13, %r6; mul.wide.u32 %rd6, %r13, 4; add.u64 %rd7, %rd2, %rd6;
    ld.global.u32 %r14, [%rd7]; xor.b32 %r4, %r4, %r14;"""


def whole_blocks(within="", behind="", n=9, m=512, blocks=(32, 64, 96, 128, 256, 100), makes="gang_phase", grid=2):
    """Compiled with all effort and interpreted: the same buffers, and the same counts."""
    need_compiler()
    with written(ROUNDS.replace("WITHIN", within).replace("BEHIND", behind)) as path:
        for block in some(3, blocks):
            args = [path, "--grid", grid, "--block", block, "u32[512]+print", "u32[512]=range+print", n, m, "--json"]
            ran = [run("launch", *args, "--engine", engine, env=environment(HEDDLE_TIER="2")) for engine in ("jit", "interp")]
            assert ran[0][0] == ran[1][0], ran
            if ran[0][0]:
                assert [without_addresses(r[1] + r[2]) for r in ran[:1]] == [without_addresses(r[1] + r[2]) for r in ran[1:]], ran
                continue
            compiled, interpreted = (json.loads(r[1]) for r in ran)
            assert compiled["buffers"] == interpreted["buffers"], block
            for count in "warp_instructions", "lane_instructions":
                assert compiled["stats"][count] == interpreted["stats"][count], (block, count)
        dump = dump_of("llvm", path, "--grid", 1, "--block", 128, "u32[512]", "u32[512]=range", 2, m, HEDDLE_TIER="2")
        assert re.search(rf"^{makes}\d*:", dump, re.M), "no gang has been planned"


def warps_of_a_gang_pass_barriers_together():
    whole_blocks()
    whole_blocks(n=1)


def a_gang_of_a_block_gives_way_after_many_rounds():
    whole_blocks(n=2600, blocks=(64, 256))


def a_gang_of_a_block_parts_where_its_budget_is_spent():
    """That of a loop is one of four warps at most, or of the block where it has no more."""
    spend = """mov.u32 %r15, 0;
LONG:
    add.u32 %r15, %r15, 1; xor.b32 %r4, %r4, %r15; setp.lt.u32 %p, %r15, 7000; @%p bra LONG;"""
    whole_blocks(spend, n=5, blocks=(64, 128, 256), makes="gang")


def a_gang_of_a_block_loads_from_other_places_in_each_round():
    whole_blocks(LOAD)


def a_gang_of_a_block_stores_and_loads_global_memory_around_barriers():
    whole_blocks("st.global.u32 [%rd3], %r4;" + LOAD + "ld.global.u32 %r15, [%rd3]; add.u32 %r4, %r4, %r15;")


def a_gang_of_a_block_has_a_fault_in_a_later_round():
    whole_blocks(LOAD, m=100000, n=400, blocks=(64, 256), grid=1)
    whole_blocks("st.global.u32 [%rd3], %r4;" + LOAD, m=100000, n=400, blocks=(128,), grid=1)


def a_gang_of_a_block_goes_the_same_way_as_a_whole():
    whole_blocks("""and.b32 %r15, %r3, 1; setp.eq.u32 %q, %r15, 0; @%q bra EVEN; mul.lo.u32 %r4, %r4, 7; bra.uni BOTH;
EVEN: add.u32 %r4, %r4, %r3;
BOTH:""")


def a_gang_of_a_block_parts_behind_its_rounds():
    """Of one block: another would find what it adds among its numbers, or not."""
    whole_blocks(behind="setp.lt.u32 %q, %r2, 40; @%q bra FEW; mul.lo.u32 %r4, %r4, 5; FEW: atom.global.add.u32 %r15, [%rd2], 1;",
                 grid=1)


def one_of_a_gang_of_a_block_may_be_masked():
    whole_blocks("setp.lt.u32 %q, %r2, 45; @%q mul.lo.u32 %r4, %r4, 5; @%q st.global.u32 [%rd3], %r3;")


def under_the_second(subject):
    need_compiler()
    done = subprocess.run([f"{source}/tests/{subject}/test.sh"], capture_output=True, text=True,
                          env=environment(HEDDLE_TIER="2"), timeout=600)
    assert done.returncode == 0, "\n".join(l for l in done.stdout.splitlines() if not l.startswith("ok"))[-3000:] + done.stderr[-500:]


@in_full
def gangs_part_in_the_second_tier_as_in_the_first():
    under_the_second("gangs")


@in_full
def loops_are_the_same_in_the_second_tier():
    under_the_second("loops")


@in_full
def large_kernels_are_compiled_when_they_have_run_as_long_as_that_takes():
    """Of 4,100 instructions: 5 times as many warp instructions as their square. Ten percent of that are not enough."""
    with written(KERNELS.replace("mad.lo.u32 %r4, %r4, 5, 7;\n" * 13, "mad.lo.u32 %r4, %r4, 5, 7;\n" * 4100)) as path:
        for rounds, tiers in (2000, []), (40000, [1]):
            with compiler("mark", HEDDLE_CACHE="off", HEDDLE_TIER="1") as (env, asked):
                launch_with(env, path, "rounds", "--grid", 1, "--block", 32, "u32[32]", rounds, "--workers", 1)
                assert asked_for(asked) == tiers, (rounds, asked_for(asked))


def a_launch_changes_over_while_it_runs():
    """Long enough to be compiled under way: 512 x 512 through tiles of 16."""
    args = [*MATMUL[:2], "--grid", "24,24", "--block", "16,16", "f32[384,384]=rand", "f32[384,384]=rand",
            "f32[384,384]+sum", 384]
    assert launch(*args, "--engine", "auto")["buffers"] == launch(*args, "--engine", "interp")["buffers"]


LOOP = """.visible .entry loop(.param .u64 out, .param .u32 n)
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


def a_kernel_that_is_launched_often_is_compiled():
    """No launch is long enough alone; one of them alone is not."""
    need_compiler()
    args = [*SAXPY[:1], "--grid", 128, "--block", 256, 32768, 2.0, "f32[32768]=range", "f32[32768]=ones"]
    status, _, err = run("launch", *args, "--repeat", 4000, env=environment(HEDDLE_DUMP="time"))
    assert status == 0 and "; saxpy: " in err, err
    status, _, err = run("launch", *args, env=environment(HEDDLE_DUMP="time"))
    assert status == 0 and "; saxpy: " not in err, err


compile_each_time()
main(globals())
