"""Asynchronous copies (PTX ISA 9.7.9.25): what an H200 answers to single instructions is compared in tests/oracle; here is what the
machine does with them in time: nothing is done before something asks for it, and all is done in the end."""
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import fault_by_both, need_compiler, written
from tap import launch, main, run, values

LATE = [["--engine", "interp"], ["--policy", "serial"]]  # what is not done before somebody waits
COMPILED = ["--engine", "jit"]  # where cp.async is done at once
RANDOM = [["--policy", f"random:{seed}"] for seed in range(8)]
HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"


def kernel(body, directives=""):
    """%r1: the thread's number; %rd1: the input, of a word for each thread of the grid in order; %rd2: the output, the same; %r2, %rd3 and
    %rd4: the thread's word in `tile`, the input and the output; %q0: not thread 0."""
    return HEAD + f""".visible .entry k(.param .u64 in, .param .u64 out) {directives}
{{
    .reg .pred %q<9>; .reg .u32 %r<20>; .reg .u64 %rd<12>; .reg .b64 %s<9>;
    .shared .align 16 .b8 tile[4096]; .shared .align 8 .b64 bar; .shared .align 8 .b64 bar2;
    mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r1;
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
    mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd3, %rd1, %rd3;
    shl.b32 %r2, %r1, 2; mov.u32 %r6, tile; add.u32 %r2, %r2, %r6;
    setp.ne.u32 %q0, %r1, 0;
    {body}
    ret;
}}
"""


def results(text, how, threads=32, grid=1):
    n = threads * grid
    with written(text) as path:
        return values(launch(path, "--grid", grid, "--block", threads, f"u32[{n}]=range", f"u32[{n}]+print", *how), 2)


def agree(text, want, ways=None, **shape):
    need_compiler()
    for how in ways or [COMPILED] + LATE + RANDOM:
        got = results(text, how, **shape)
        assert got == want, f"{how}: {got}"


# ---- groups ----

# A word is copied, looked at, waited for, looked at again: 1000 times the first look plus the second.
LOOK = """
    st.shared.u32 [%r2], 7;
    cp.async.ca.shared.global [%r2], [%rd3], 4;
    COMMIT
    EARLY
    ld.shared.u32 %r7, [%r2];
    WAIT
    ld.shared.u32 %r8, [%r2];
    mad.lo.u32 %r8, %r7, 1000, %r8;
    st.global.u32 [%rd4], %r8;"""


def look(commit, wait, early=""):
    return kernel(LOOK.replace("COMMIT", commit).replace("WAIT", wait).replace("EARLY", early))


def a_copy_is_done_when_it_is_waited_for_and_not_before():
    done, lost = [7000 + t for t in range(32)], [7007] * 32
    for commit, wait, want in (("cp.async.commit_group;", "cp.async.wait_group 0;", done), ("", "cp.async.wait_all;", done),
                               ("", "cp.async.wait_group 0;", lost), ("cp.async.commit_group;", "cp.async.wait_group 1;", lost),
                               ("cp.async.commit_group; cp.async.commit_group;", "cp.async.wait_group 1;", done),
                               ("cp.async.commit_group;", "bar.sync 0;", lost), ("", "cp.async.bulk.wait_group 0;", lost)):
        agree(look(commit, wait), want, LATE)


def compiled_code_copies_at_once():
    """As hardware may: no wait makes a difference."""
    for commit, wait in ("cp.async.commit_group;", "cp.async.wait_group 0;"), ("", "bar.sync 0;"):
        agree(look(commit, wait), [1001 * t for t in range(32)], [COMPILED])


# Which unit of the source a thread copies, and to which of the tile: (x of the unit, in PTX; the same in Python).
UNITS = [
    ("mov.u32 %r7, %r1;", lambda t: t),
    ("xor.b32 %r7, %r1, 31;", lambda t: t ^ 31),
    ("shr.u32 %r7, %r1, 2; mul.lo.u32 %r7, %r7, 12; and.b32 %r8, %r1, 3; add.u32 %r7, %r7, %r8;", lambda t: t // 4 * 12 + t % 4),
    ("mul.lo.u32 %r7, %r1, 7; and.b32 %r7, %r7, 63;", lambda t: t * 7 % 64),
    ("shr.u32 %r7, %r1, 3;", lambda t: t // 8),
    ("mov.u32 %r7, 5;", lambda t: 5),
    ("mul.lo.u32 %r7, %r1, %r1; and.b32 %r7, %r7, 127;", lambda t: t * t % 128),
]
GUARDS = [("", lambda t: True), ("setp.lt.u32 %q1, %r1, 37;", lambda t: t < 37), ("and.b32 %r8, %r1, 5; setp.eq.u32 %q1, %r8, 1;", lambda t: t & 5 == 1)]


def copy_of(size, source, to, guard, partly):
    """A round: the tile is cleared, all threads copy (where the guard holds; of their source a part, none or all), and what came is added
    up by thread."""
    kind = "cg" if size == 16 else "ca"
    return f"""
    {source} mul.wide.u32 %rd5, %r7, {size}; add.u64 %rd5, %rd5, %rd1;
    {to} mul.lo.u32 %r9, %r7, {size}; add.u32 %r9, %r9, %r6; shl.b32 %r14, %r1, 2; rem.u32 %r14, %r14, {size + 4};
    {guard} {"@%q1 " if guard else ""}cp.async.{kind}.shared.global [%r9], [%rd5], {size}{", %r14" if partly else ""};
    cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
    add.u32 %r12, %r12, 1; mov.u32 %r10, 0;
    {"".join(f"ld.shared.u32 %r11, [%r2+{256 * k}]; mad.lo.u32 %r10, %r10, 3, %r11; st.shared.u32 [%r2+{256 * k}], %r12;" for k in range(4))}
    mad.lo.u32 %r13, %r13, 5, %r10;
    bar.sync 0;"""


def compiled_and_interpreted_copies_agree():
    """All sizes, from and to places that are consecutive, in rows, anywhere, the same; under guards, and with zero-fill. In both tiers: the
    second has gangs."""
    need_compiler()
    threads, words = 64, 4096
    for size in 4, 8, 16:
        rounds, want, tile, clear = [], [0] * threads, [0] * 256, 0
        for n, (source, at) in enumerate(UNITS):
            for to, there in UNITS[:2]:
                guard, holds = GUARDS[n % 3]
                partly = len(rounds) % 2 == 1
                rounds.append(copy_of(size, source, to, guard, partly))
                for t in filter(holds, range(threads)):
                    for k in range(size // 4):
                        is_read = not partly or 4 * k < 4 * t % (size + 4)
                        tile[there(t) * size // 4 + k] = at(t) * size // 4 + k if is_read else 0
                clear += 1
                for t in range(threads):
                    sums = 0
                    for k in range(4):
                        sums = sums * 3 + tile[t + 64 * k]
                        tile[t + 64 * k] = clear
                    want[t] = (want[t] * 5 + sums) % 2**32
        clear = "".join(f"st.shared.u32 [%r2+{256 * k}], 0;" for k in range(4))
        text = kernel(f"{clear} mov.u32 %r12, 0; mov.u32 %r13, 0; bar.sync 0; {''.join(rounds)} st.global.u32 [%rd4], %r13;")
        with written(text) as path:
            for how, tier in (COMPILED, "1"), (COMPILED, "2"), (LATE[0], "1"):
                with_tier = {**os.environ, "HEDDLE_TIER": tier}
                out = launch(path, "--grid", 1, "--block", threads, f"u32[{words}]=range", f"u32[{threads}]+print", *how,
                             env=with_tier)
                assert values(out, 2) == want, (size, how, tier)


def random_schedules_complete_copies_at_any_point():
    seen = set()
    for seed in range(24):
        first = results(look("", "cp.async.wait_all;", "bar.sync 0; " * 3), ["--policy", f"random:{seed}"], threads=64)
        assert [v % 1000 for v in first[:32]] == list(range(32))
        seen |= {v // 1000 == 7 for v in first if v % 1000 != 7}
    assert seen == {True, False}, seen


def groups_belong_to_threads():
    """Odd lanes commit once more, so that they wait for their copy, and even ones do not."""
    text = look("cp.async.commit_group; and.b32 %r9, %r1, 1; setp.eq.u32 %q1, %r9, 1; @%q1 cp.async.commit_group;",
                "cp.async.wait_group 1;")
    agree(text, [7000 + (t if t % 2 else 7) for t in range(32)], LATE)


def a_pipeline_of_two_stages_sums_up():
    """Each thread copies the words behind its own, one ahead of what it adds."""
    body = """
    mov.u32 %r7, 0; mov.u32 %r8, 0; mov.u64 %rd5, %rd1;
    cp.async.ca.shared.global [%r2], [%rd5], 4;
    cp.async.commit_group;
more:
    add.u32 %r7, %r7, 1;
    add.u64 %rd5, %rd5, 4;
    and.b32 %r9, %r7, 1; shl.b32 %r9, %r9, 10; add.u32 %r9, %r9, %r2;
    setp.lt.u32 %q1, %r7, 32;
    @%q1 cp.async.ca.shared.global [%r9], [%rd5], 4;
    cp.async.commit_group;
    cp.async.wait_group 1;
    xor.b32 %r9, %r7, 1; and.b32 %r9, %r9, 1; shl.b32 %r9, %r9, 10; add.u32 %r9, %r9, %r2;
    ld.shared.u32 %r10, [%r9];
    add.u32 %r8, %r8, %r10;
    @%q1 bra more;
    st.global.u32 [%rd4], %r8;"""
    agree(kernel(body), [sum(range(32))] * 32)


def copies_that_nobody_waits_for_take_little_memory():
    body = """
    mov.u32 %r7, 0;
more:
    cp.async.ca.shared.global [%r2], [%rd3], 4;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %q1, %r7, 20000;
    @%q1 bra more;
    cp.async.wait_all;
    ld.shared.u32 %r8, [%r2];
    st.global.u32 [%rd4], %r8;"""
    agree(kernel(body), list(range(32)), [COMPILED, *LATE, ["--memory", "16M"], RANDOM[0]])


# ---- mbarriers ----

def each_reads_another_s_word(body):
    """64 threads wait for the first phase, in both ways; then each stores the word of the one whose number is 63 less its own."""
    body += """
    wait: mbarrier.WAIT.parity.shared.b64 %q1, [bar], 0;
    @!%q1 bra wait;
    xor.b32 %r7, %r2, 252;
    ld.shared.u32 %r8, [%r7];
    st.global.u32 [%rd4], %r8;"""
    for wait in "test_wait", "try_wait":
        agree(kernel(body.replace("WAIT", wait)), [t ^ 63 for t in range(64)], threads=64)


def an_mbarrier_hears_of_copies():
    """All threads arrive by their copies; each then reads another's word."""
    body = """
    @!%q0 mbarrier.init.shared.b64 [bar], %r4;
    bar.sync 0;
    cp.async.ca.shared.global [%r2], [%rd3], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"""
    each_reads_another_s_word(body)


def bulk_copies_complete_transactions():
    """Thread 0 fetches what all read; half of the bytes by each of two copies."""
    body = """
    @!%q0 mbarrier.init.shared.b64 [bar], 1;
    bar.sync 0;
    @%q0 bra wait;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    add.u64 %rd5, %rd1, 128; mov.u32 %r7, tile; mov.u32 %r8, bar;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd1], 128, [%r8];
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7+128], [%rd5], 128, [%r8];"""
    each_reads_another_s_word(body)


def bulk_copies_to_global_memory_are_waited_for_by_groups():
    """The source may change once it has been read; the destination is there behind the whole wait, or at the end."""
    for wait, word in (("cp.async.bulk.wait_group.read 0;", 0), ("cp.async.bulk.wait_group 0;", 1), ("bar.sync 0;", 0)):
        body = f"""
    shl.b32 %r7, %r1, 1; st.shared.u32 [%r2], %r7; st.global.u32 [%rd4], 0;
    bar.sync 0;
    @%q0 bra others;
    fence.proxy.async;
    mov.u32 %r7, tile;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r7], 128;
    cp.async.bulk.commit_group;
    {wait}
    ld.global.u32 %r8, [%rd2+4];
    setp.ne.u32 %q1, %r8, 0; selp.u32 %r8, 1, 0, %q1;
    st.shared.u32 [tile+128], %r8;
    others: bar.sync 0;
    {"" if "bar.sync" in wait else "st.shared.u32 [%r2], 1000;"}
    ld.shared.u32 %r8, [tile+128];
    {"setp.ge.u32 %q2, %r1, 0; @%q2 exit;" if not word else ""}
    bar.sync 0;
    ld.global.u32 %r9, [%rd4]; mad.lo.u32 %r9, %r8, 1000, %r9; st.global.u32 [%rd4], %r9;"""
        agree(kernel(body), [1000 * word + 2 * t for t in range(32)], [COMPILED, *LATE])


def polling_for_what_a_copy_writes_ends():
    """The other block spins on global memory that a bulk copy writes for which nobody waits."""
    body = """
    setp.eq.u32 %q1, %r3, 1;
    @%q1 bra spin;
    shl.b32 %r7, %r1, 1; or.b32 %r7, %r7, 1; st.shared.u32 [%r2], %r7;
    bar.sync 0;
    @%q0 exit;
    mov.u32 %r7, tile;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r7], 128;
    hold: ld.volatile.global.u32 %r8, [%rd2+128]; setp.eq.u32 %q1, %r8, 0; @%q1 bra hold;
    exit;
    spin: ld.volatile.global.u32 %r7, [%rd2+8]; setp.eq.u32 %q1, %r7, 0; @%q1 bra spin;
    st.global.u32 [%rd4], %r7;"""
    want = [2 * t + 1 for t in range(32)] + [5] * 32
    agree(kernel(body), want, [COMPILED, *LATE, ["--workers", 1], *RANDOM[:2]], grid=2)


def an_asynchronous_store_of_a_whole_sector_arrives():
    """32 bytes (.v4.b64, sm_100): what follows the values in the machine's record stays as it is."""
    body = """
    @%q0 bra done;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;
    mov.u32 %r7, tile; mov.u32 %r8, bar;
    mov.b64 %s1, 0x100000002; mov.b64 %s2, 0x300000004; mov.b64 %s3, 0x500000006; mov.b64 %s4, 0x700000008;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%r7], {%s1, %s2, %s3, %s4}, [%r8];
    wait: mbarrier.try_wait.parity.shared.b64 %q1, [bar], 0;
    @!%q1 bra wait;
    done: bar.sync 0;
    ld.shared.u32 %r8, [%r2];
    st.global.u32 [%rd4], %r8;"""
    text = kernel(body, ".reqnctapercluster 1").replace(".version 8.6", ".version 8.8").replace("sm_90", "sm_100")
    agree(text, [2, 1, 4, 3, 6, 5, 8, 7], threads=8)


# ---- clusters ----

def one_copy_reaches_all_blocks_of_a_mask():
    """Block 0 fetches once for the blocks 0, 2 and 3; block 1 keeps what it had."""
    body = """
    mov.u32 %r11, %cluster_ctarank;
    st.shared.u32 [%r2], 1000;
    @!%q0 mbarrier.init.shared.b64 [bar], 1;
    @!%q0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
    barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
    setp.eq.u32 %q1, %r11, 1; @%q1 bra done;
    or.b32 %r7, %r11, %r1; setp.ne.u32 %q1, %r7, 0;
    mov.u32 %r7, tile; mov.u32 %r8, bar; mov.b16 mask, 13;
    @!%q1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r7], [%rd1], 128, [%r8], mask;
    wait: mbarrier.try_wait.parity.shared.b64 %q1, [bar], 0;
    @!%q1 bra wait;
    done:
    ld.shared.u32 %r8, [%r2];
    st.global.u32 [%rd4], %r8;
    barrier.cluster.arrive; barrier.cluster.wait;"""
    text = kernel(".reg .b16 mask;" + body, ".reqnctapercluster 4")
    agree(text, [t if b != 1 else 1000 for b in range(4) for t in range(32)], grid=4)


def sixteen_blocks_send_to_each_other():
    """Each block copies its memory to the next one's, and adds to the one's behind that, whose mbarriers hear of it."""
    body = """
    mov.u32 %r11, %cluster_ctarank; mov.u32 %r12, %cluster_nctarank;
    st.shared.u32 [%r2], %r5; st.shared.u32 [%r2+2048], 1;
    @!%q0 mbarrier.init.shared.b64 [bar], 1;
    @!%q0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    fence.proxy.async;
    barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
    @%q0 bra wait;
    mov.u32 %r7, tile; mov.u32 %r8, bar;
    add.u32 %r13, %r11, 1; rem.u32 %r13, %r13, %r12; mapa.shared::cluster.u32 %r14, %r7, %r13; mapa.shared::cluster.u32 %r15, %r8, %r13;
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r14+1024], [%r7], 128, [%r15];
    add.u32 %r13, %r13, 1; rem.u32 %r13, %r13, %r12; mapa.shared::cluster.u32 %r14, %r7, %r13; mapa.shared::cluster.u32 %r15, %r8, %r13;
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r14+2048], [%r7], 128, [%r15];
    wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q1, [bar], 0;
    @!%q1 bra wait;
    ld.shared.u32 %r8, [%r2+1024]; ld.shared.u32 %r9, [%r2+2048];
    mad.lo.u32 %r8, %r8, 1000, %r9;
    st.global.u32 [%rd4], %r8;"""
    n = 16
    want = [((b - 1) % n * 32 + t) * 1000 + (b - 2) % n * 32 + t + 1 for b in range(n) for t in range(32)]
    with written(kernel(body)) as path:
        for how in [COMPILED] + LATE + RANDOM[:3]:
            out = launch(path, "--grid", n, "--cluster", n, "--block", 32, "u32[512]=range", "u32[512]+print", *how)
            assert values(out, 2) == want, how


# ---- what is misused ----

MISTAKES = [
    ("cp.async.ca.shared.global [%r2+1], [%rd3], 4;", "writes 4 bytes at shared address ADDRESS, which is not a multiple of 4"),
    ("cp.async.ca.shared.global [%r2], [%rd3+2], 4;", "which is not a multiple of 4"),
    ("cp.async.cg.shared.global [%r2], [%rd3+128], 16;", "reads 16 bytes"),
    ("cp.async.ca.shared.global [%r2+65536], [%rd3], 4;", "writes 4 bytes at shared address ADDRESS; the block's shared memory has"),
    ("mov.u32 %r7, 5; cp.async.ca.shared.global [%r2], [%rd3], 4, %r7;", "reads 5 bytes in a copy of 4"),
    ("cp.async.mbarrier.arrive.shared.b64 [bar];", "uses an mbarrier that has not been initialised"),
    ("mov.u32 %r7, 24; INIT cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd3], %r7, [bar];",
     "copies 24 bytes in bulk, which is not a multiple of 16"),
    ("INIT cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+8], [%rd3], 16, [bar];",
     "writes 16 bytes at shared address ADDRESS, which is not a multiple of 16"),
    ("INIT cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd3], 256, [bar];",
     "reads 256 bytes at"),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd3], 16, [bar];",
     "uses an mbarrier that has not been initialised"),
    ("cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r2], 256;", "writes 256 bytes at"),
    ("INIT add.u32 %r8, %r2, 48; mov.u32 %r7, bar; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], [%r2], 64, [%r7];",
     "copies 64 bytes in bulk within shared memory to a destination that overlaps the source"),
    ("INIT mov.u64 %rd5, 0; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r1, %r1}], [bar];",
     "copies by a tensor map that cannot be used: these bytes were not written by cuTensorMapEncode"),
    ("INIT mov.u32 %r7, 1048575; mbarrier.expect_tx.shared.b64 [bar], %r7; mbarrier.expect_tx.shared.b64 [bar], 1;",
     "whose tx-count must stay between -1048575 and 1048575"),
    ("add.u64 %rd5, %rd3, 65536; cp.async.ca.shared.global [%r2], [%rd5], 4;", "reads 4 bytes at"),
]


def misuse_is_a_fault_with_a_reason():
    for body, words in MISTAKES:
        with written(kernel(body.replace("INIT", "mbarrier.init.shared.b64 [bar], 1;"))) as path:
            text = fault_by_both(path, "--grid", 1, "--block", 1, "u32[32]=range", "u32[32]")
            assert words in text, f"{body}: {text}"


def missing_bytes_are_a_deadlock_that_says_how_many():
    body = """
    @!%q0 mbarrier.init.shared.b64 [bar], 1;
    bar.sync 0;
    @%q0 bra wait;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 144;
    mov.u32 %r7, tile; mov.u32 %r8, bar;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd1], 128, [%r8];
    wait: mbarrier.WAIT.parity.shared.b64 %q1, [bar], 0;
    @!%q1 bra wait;"""
    for wait in "test_wait", "try_wait":
        with written(kernel(body.replace("WAIT", wait))) as path:
            for how in [COMPILED] + LATE + RANDOM[:2]:
                status, _, text = run("launch", path, "--grid", 1, "--block", 32, *how, "u32[32]", "u32[32]", "--timeout", 60)
                assert status == 1 and "[deadlock]" in text, (how, text)
                assert "is in a phase of parity 0, which still needs 0 arrivals and 16 bytes of transactions" in text, text


TEXTS = [
    ("cp.async.ca.shared.global [tile], [%rd1], 12;", 80, "7.0", "copies 4, 8 or 16 bytes"),
    ("cp.async.cg.shared.global [tile], [%rd1], 8;", 80, "7.0", "copies 16 bytes"),
    ("cp.async.ca.shared.global [tile], [%rd1], 8, 9;", 80, "7.0", "copies 8 bytes, and cannot read more"),
    ("cp.async.ca.shared.global [tile], [%rd1], 8, %q1;", 80, "7.0", None),
    ("cp.async.ca.shared.global [tile], [%rd1], 8, %r1, %rd1;", 80, "7.4", "operand"),
    ("cp.async.ca.shared.global.L2::cache_hint [tile], [%rd1], 8, %r1, %rd1;", 80, "7.4", None),
    ("cp.async.ca.shared.global.L2::128B [tile], [%rd1], 8;", 80, "7.0", ".version 7.4"),
    ("cp.async.ca.shared.global [tile], [%rd1], 8;", 75, "7.0", "sm_80"),
    ("cp.async.ca.global.shared [%rd1], [tile], 8;", 80, "7.0", "`tile` is in .shared"),
    ("cp.async.wait_group %r1;", 80, "7.0", "needs an integer constant"),
    ("cp.async.bulk.commit_group;", 80, "8.0", "sm_90"),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 24, [bar];", 90, "8.0", "a multiple of 16"),
    ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 32, [bar];", 90, "8.0", ".version 8.6"),
    ("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 32;", 90, "8.0", None),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd1], [tile], 32;", 90, "8.0", None),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.exch.b32 [%rd1], [tile], 32;", 90, "8.0", "exch"),
    ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r1, %r1}, [%r1];", 90, "8.1", None),
    ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r1, [%r1];", 90, "8.1", None),
    ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1, %r1}], [bar];", 90, "8.0", None),
    ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1}], [bar];", 90, "8.0",
     "needs 2 coordinates in braces"),
    ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], [bar];", 90, "8.0",
     "needs coordinates here"),
    ("cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1, %r1}], [bar], {1};", 90,
     "8.0", "im2col takes 3 to 5 dimensions"),
    ("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [tile];", 90, "8.0", None),
    ("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd1, {%r1}], [tile];", 90, "8.0", None),
    ("cp.async.bulk.prefetch.tensor.1d.L2.global [%rd1, {%r1}];", 90, "8.0", None),
    ("ld.global.u32 %r1, [%rd1, {%r1}];", 90, "8.0", "takes no coordinates"),
    ("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [tile], 4, %r1;", "90a", "8.3", None),
    ("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [tile], 5, %r1;", "90a", "8.3", "this field has the elements 0 to 4"),
    ("tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 4, %rd1;", "90a", "8.3", "this field has the elements 0 to 3"),
    ("tensormap.replace.tile.elemtype.b1024.b32 [%rd1], 13;", "90a", "8.3", "this field is from 0 to 12"),
    ("tensormap.replace.tile.swizzle_mode.b1024.b32 [%rd1], %r1;", "90a", "8.3", "needs an integer constant"),
    ("tensormap.replace.tile.rank.b1024.b32 [%rd1], 1;", 90, "8.3", "sm_90a"),
    ("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [tile], 128;", 90, "8.3", None),
    ("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [tile], 64;", 90, "8.3",
     "a tensor map has 128 bytes"),
]


def texts_are_held_to_the_specification():
    for line, sm, version, words in TEXTS:
        text = f""".version {version}\n.target sm_{sm}\n.address_size 64
        .visible .entry k() {{ .reg .pred %q<3>; .reg .u32 %r<3>; .reg .b64 %rd<3>; .shared .align 16 .b8 tile[64];
        .shared .align 8 .b64 bar; {line} ret; }}"""
        with written(text) as path:
            status, out, err = run("ptx", path)
        assert status == (1 if words else 0), f"{line}: {out}{err}"
        assert not words or words in err, f"{line}: {err}"


# ---- heddle check ----

CHECKED = [
    # what is waited for, and what is not
    ("cp.async.ca.shared.global [%r2], [%rd3], 4; cp.async.wait_all; ld.shared.u32 %r7, [%r2]; st.global.u32 [%rd4], %r7;", []),
    ("cp.async.ca.shared.global [%r2], [%rd3], 4; ld.shared.u32 %r7, [%r2]; cp.async.wait_all; st.global.u32 [%rd4], %r7;",
     ["unfinished-copy", "reads byte 0 of shared variable `tile`, which an asynchronous copy at PTX line", "may still write"]),
    ("cp.async.ca.shared.global [%r2], [%rd3], 4; st.global.u32 [%rd3], 5; cp.async.wait_all;",
     ["unfinished-copy", "writes byte 0 of a buffer of 128 bytes `argument 1`, which an asynchronous copy", "may still read"]),
    # the first copy reads what the second one writes
    ("st.shared.u32 [%r2], 5; @!%q0 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 128; cp.async.ca.shared.global [%r2], [%rd3], 4; "
     "ld.shared.u32 %r7, [%r2]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; cp.async.wait_all; st.global.u32 [%rd4], %r7;",
     ["unfinished-copy", "may still write"]),
    ("st.shared.u32 [%r2], 5; @!%q0 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 128; st.shared.u32 [%r2], 6; "
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", ["unfinished-copy", "may still read"]),
    ("st.shared.u32 [%r2], 5; fence.proxy.async; bar.sync 0; @!%q0 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 128; cp.async.bulk.commit_group; "
     "cp.async.bulk.wait_group.read 0; bar.sync 0; st.shared.u32 [%r2], 6;", []),
    # what has never been written stays so when it is copied, and matters to who uses it
    ("cp.async.ca.shared.global [%r2], [%rd4], 4; cp.async.wait_all;", []),
    ("cp.async.ca.shared.global [%r2], [%rd4], 4; cp.async.wait_all; ld.shared.u32 %r7, [%r2]; st.global.u32 [%rd3], %r7;",
     ["uninitialised-read"]),
    ("cp.async.ca.shared.global [%r2], [%rd4], 4, 0; cp.async.wait_all; ld.shared.u32 %r7, [%r2]; st.global.u32 [%rd3], %r7;", []),
    # a reduction reads what it adds, and what it adds to
    ("st.shared.u32 [%r2], 5; fence.proxy.async; bar.sync 0; @!%q0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 128; "
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", []),
    ("st.shared.u32 [%r2], 5; fence.proxy.async; bar.sync 0; @!%q0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r2], 128; "
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", ["uninitialised-read", "argument 2"]),
    ("@!%q0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 128; "
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", ["uninitialised-read", "shared variable `tile`"]),
    # bad addresses are left out
    ("cp.async.ca.shared.global [%r2], [%rd3+1024], 4; cp.async.wait_all;", ["illegal-address", "reads 4 bytes"]),
    ("cp.async.ca.shared.global [%r2+65536], [%rd3], 4; cp.async.wait_all;", ["illegal-address", "writes 4 bytes"]),
    # the barrier of a cluster of one block orders its threads
    ("st.shared.u32 [%r2], %r1; barrier.cluster.arrive; barrier.cluster.wait; xor.b32 %r7, %r2, 252; ld.shared.u32 %r7, [%r7]; "
     "st.global.u32 [%rd4], %r7;", []),
]


def check_finds_copies_that_nobody_has_waited_for():
    for body, words in CHECKED:
        with written(kernel(body)) as path:
            for how in [], ["--policy", "serial"]:
                n = 64 if "barrier.cluster" in body else 32
                _, _, text = run("check", path, "--grid", 1, "--block", n, *how, f"u32[{n}]=range", f"u32[{n}]=undef")
                assert ("check: no errors" in text) == (not words), f"{body}: {text}"
                assert all(w in text for w in words), f"{body}: {text}"


# ---- tensor maps ----

def copies_by_tensor_maps_are_those_of_an_h200():
    """Random copies, stores and reductions of tests/tensor_maps, as kernels."""
    for how in ["--engine", "interp", "--every", "4"], ["--engine", "jit", "--every", "150"], ["--policy", "random:7", "--every", "30"]:
        done = subprocess.run([os.path.join(os.environ["HEDDLE_BUILD"], "tests/tensor-copies"), *how], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.endswith(" agree, 0 differ\n"), done.stdout[-2000:] + done.stderr


TENSOR = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [MAP, {%r1, %r1}], [bar];"


def what_is_no_tensor_map_is_a_fault():
    init = "mbarrier.init.shared.b64 [bar], 1; "
    with written(kernel(init + TENSOR.replace("MAP", "%rd1"))) as path:
        text = fault_by_both(path, "--grid", 1, "--block", 1, "u32[32]=range", "u32[32]")
        assert "copies by a tensor map that cannot be used: these bytes were not written by cuTensorMapEncode" in text and "[tensor-map]" in text, text


def map_of_bytes(box, dims, address=0):
    """A map of bytes as the machine keeps it (isa/tensor_map.h), whatever the driver would say to it."""
    ones = [0] * 5  # less one
    return struct.pack("<8s8xQ4Q5I6B5B5B", b"TNSORMAP", address, *[16] * 4, *[d - 1 for d in dims], len(box) - 1, 0, 0, 0, 0, 0,
                       *[b - 1 for b in box], *ones).ljust(128, b"\0")


def a_box_larger_than_shared_memory_is_a_fault_at_once():
    """2^40 bytes, none of them in the tensor: neither are they walked through, nor does their number wrap."""
    text = kernel("mbarrier.init.shared.b64 [bar], 1; mov.u64 %rd5, map; mov.u32 %r9, 16; " +
                  TENSOR.replace("2d", "5d").replace("{%r1, %r1}", "{%r9, %r9, %r9, %r9, %r9}").replace("MAP", "%rd5"))
    data = ", ".join(map(str, map_of_bytes([256] * 5, [1] * 5)))
    text = text.replace(".visible", f".global .align 64 .b8 map[128] = {{{data}}};\n.visible")
    with written(text) as path:
        text = fault_by_both(path, "--grid", 1, "--block", 1, "u32[32]=range", "u32[32]", "--timeout", 20)
        assert "writes" in text and "the block's shared memory has" in text, text


REFUSED = [
    ("multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;", "multimem"),
]


def what_there_is_not_is_refused_by_name():
    for line, words in REFUSED:
        with written(kernel(line).replace("sm_90", "sm_90a")) as path:
            status, _, text = run("launch", path, "--grid", 1, "--block", 1, "u32[32]", "u32[32]")
            assert status == 1 and f"Heddle has no {words} yet" in text and "[not-supported]" in text, text


main(globals())
