"""What compiled code looks like, in its dumps and in gdb: docs/JIT.md."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import AWAIT, HISTOGRAM, SAXPY, build, by_both, dump_of, environment, need_compiler, written
from tap import Skip, launch, main, run, values

# Each block doubles the first 64 of its 2048 words.
FAR_BLOCKS = """.visible .entry far_blocks(.param .u64 p0)
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
TICKETS = """.visible .entry tickets(.param .u64 p0, .param .u64 p1)
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


def blocks_that_draw_tickets_ask_for_the_next_tickets_words():
    """What lies behind a block may be another worker's: a warp asks for what is as far ahead as its worker's last block is behind."""
    need_compiler()
    with written(TICKETS) as path:
        for block in 32, 100, 256:
            args = [path, "--grid", 4, "--block", block, "u32[8192]=range+print", "u32[1]+print"]
            expected = launch(*args, "--engine", "interp")["buffers"]
            for tier in "1", "2":
                dump = environment(HEDDLE_DUMP="asm", HEDDLE_TIER=tier)
                _, out, err = run("launch", *args, "--engine", "jit", "--json", env=dump)
                asks = re.findall(r"prefetch\w*\s+(\d*)\(%\w+,%\w+\)", err.replace(" ", ""))
                assert asks and len(asks) == err.count("prefetch") and all(int(n or 0) < 512 for n in asks), (block, tier, asks)
                assert json.loads(out)["buffers"] == expected, (block, tier)


# The same with a lock, which the lanes of a warp take one after the other.
CLAIMS_AND_LOCK = """.visible .entry claims(.param .u64 out, .param .u64 in, .param .u64 ticket)
{
    .reg .u64 %rd<8>; .reg .u32 %r<12>; .reg .f32 %f<4>; .reg .pred %p<4>;
    .shared .u32 mine;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd3, [ticket];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra CLAIMED;
    atom.global.add.u32 %r2, [%rd3], 1;
    st.shared.u32 [mine], %r2;
CLAIMED:
    bar.sync 0;
    ld.shared.u32 %r3, [mine];
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r1;
    mul.wide.u32 %rd4, %r5, 4;
    add.u64 %rd5, %rd2, %rd4;
    ld.global.f32 %f1, [%rd5];
    add.u64 %rd6, %rd1, %rd4;
    st.global.f32 [%rd6], %f1;
TAKE:
    atom.global.cas.b32 %r6, [%rd3+4], 0, 1;
    setp.ne.u32 %p2, %r6, 0;
    @%p2 bra TAKE;
    membar.gl;
    ld.volatile.global.u32 %r7, [%rd3+8];
    add.u32 %r7, %r7, 1;
    st.volatile.global.u32 [%rd3+8], %r7;
    membar.gl;
    atom.global.exch.b32 %r8, [%rd3+4], 0;
    ret;
}
"""


def what_blocks_claim_has_room_beside_serial_parts():
    need_compiler()
    with written(CLAIMS_AND_LOCK) as path:
        args = [path, "--grid", 8, "--block", 64, "f32[512]+print", "f32[512]=rand", "u32[3]+print"]
        expected = launch(*args, "--engine", "interp")["buffers"]
        assert expected[2]["values"] == [8, 0, 512], expected[2]
        for tier in "1", "2":
            _, out, err = run("launch", *args, "--engine", "jit", "--json", env=environment(HEDDLE_TIER=tier))
            assert out and json.loads(out)["buffers"] == expected, (tier, err)


def prefetches_go_to_the_cache_that_suits_the_cpu():
    need_compiler()
    for target, where in ("x86-64-v3", "prefetcht1"), ("x86-64-v3+zen5", "prefetcht0"), ("x86-64-v4+zen5", "prefetcht0"):
        assert set(re.findall(r"prefetch\w+", dump_of("asm", *SAXPY, target=target))) == {where}, target


# Writes where its shared variables are.
PLACES = """.extern .shared .align 8 .b8 rest[];
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
            err = dump_of("asm", path, "--grid", 4, "--block", 64, "u32[8192]=range", "u32[1]", target="x86-64-v4", HEDDLE_TIER=tier)
            assert re.search(r"\borl\s+\$1, \d+\(", err) and not re.search(r"\borb\s+\$1, \d+\(", err), tier


def the_code_can_be_seen():
    need_compiler()
    status, _, err = run("launch", *SAXPY, "--engine", "jit", env=environment(HEDDLE_DUMP="ir,llvm,asm,time"))
    assert status == 0
    assert re.search(r"%12:64 = mulwide_s32 %8, 4 +; lane \* 4\n", err), err
    assert re.search(r"@%9 bra 2\n    -> 1\n", err), err
    assert "define i32 @heddle.0.saxpy" in err and "heddle.0.saxpy:" in err and "instructions, shapes in" in err, err


# An operation that the engine does for compiled code.
SHOWN = """.visible .entry shown(.param .u64 out)
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
BARRIERS = """.visible .entry barriers(.param .u64 out)
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
        err = dump_of("llvm", *args)
        stores = re.findall("store <32 x i32> [^,]*, ptr %[0-9]+, align 64", err)
        assert len(stores) <= 2, stores # at the first barrier; for an access that the engine does


def masks_become_vectors_by_comparison():
    """On a CPU without registers of masks: a lane's bit is compared in the lane's element, and none is inserted by itself. A store of
    all lanes is a plain one."""
    need_compiler()
    for target, inserts, masked in ("x86-64-v3", "vpinsr", "vpmaskmov"), ("x86-64-v2", "pinsr", None):
        err = dump_of("asm", *SAXPY, target=target)
        code = err[err.index("heddle.0"):]
        assert inserts not in code, (target, re.findall(".*" + inserts + ".*", code))
        assert re.search(r"vmovups\s+%ymm\d+, 96\(%r\w+\)" if masked else r"mov(?:ups|dqu)\s+%xmm\d+, 112\(%r\w+\)", code), target
        assert not masked or masked in code, target


# A function of 32 words.
FUNCTION = """.visible .entry function(.param .u64 p0)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<3>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    NAME.f32 %f2, %f1;
    st.global.f32 [%rd3], %f2;
    ret;
}
"""


def approximate_functions_are_in_the_code_where_vectors_are_long():
    """With a call beside, for lanes that are out of reach; elsewhere there is the call alone."""
    need_compiler()
    for name in "rcp.approx", "sqrt.approx", "rsqrt.approx", "ex2.approx", "lg2.approx", "sin.approx", "cos.approx.ftz":
        with written(FUNCTION.replace("NAME", name)) as path:
            length = {}
            for target in "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+amd":
                err = dump_of("asm", path, "--grid", 1, "--block", 32, "f32[32]=ones", target=target)
                length[target] = len(re.findall(r"\bv?pmadd(?:wd|ubsw)\s", err))
            assert not length.pop("x86-64-v2") and all(n >= 7 for n in length.values()), (name, length)


main(globals())
