"""mbarrier (PTX ISA 9.7.13.15): what an H200 answers to single instructions is compared in tests/clusters; here is what threads do with
them together, under every engine and policy."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import POLICIES, everywhere, fault_by_both, need_compiler, written
from tap import launch, main, run, values

HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
def kernel(body, parameters=".param .u64 p"):
    """%q0: not thread 0; %r1: the thread's number; %rd1: where its result goes; `bar` and `bar2` are for mbarriers."""
    return HEAD + f""".visible .entry k({parameters})
{{
    .reg .pred %q<9>; .reg .u32 %r<20>; .reg .u64 %rd<12>; .reg .b64 %s<9>;
    .shared .align 8 .b64 bar; .shared .align 8 .b64 bar2; .shared .align 8 .b64 bars[8]; .shared .align 4 .b8 data[8192];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    ld.param.u64 %rd1, [p];
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd1, %rd1, %rd2;
    setp.ne.u32 %q0, %r1, 0;
    {body}
    ret;
}}
"""


def arrivals_of_a_warp_count_one_by_one():
    """Each lane's state has what was pending before it came, be it that the phase ends with the warp, within it, or behind it."""
    body = """
    @!%q0 mbarrier.init.shared.b64 [bar], EXPECTED;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %s1, [bar]COUNT;
    mbarrier.pending_count.b64 %r5, %s1;
    st.global.u32 [%rd1], %r5;"""
    for expected, count in (32, 1), (20, 1), (33, 1), (64, 2), (40, 2), (96, 3):
        text = kernel(body.replace("EXPECTED", str(expected)).replace("COUNT", f", {count}" if count > 1 else ""))
        with written(text) as path:
            got = everywhere(path, "--grid", 1, "--block", 32, "u32[32]+print")
        assert got == [expected - lane * count % expected for lane in range(32)], (expected, count, got)


# All threads of the block meet as at __syncthreads(), each then reads what its neighbour wrote.
MEET = kernel("""
    @!%q0 mbarrier.init.shared.b64 [bar], %r3;
    mov.u32 %r9, data;
    shl.b32 %r5, %r1, 2;
    add.u32 %r5, %r5, %r9;
    add.u32 %r6, %r1, 1;
    rem.u32 %r6, %r6, %r3;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r6, %r9;
    mov.u32 %r7, %r1;
    mov.u32 %r8, 0;
    bar.sync 0;
more:
    st.shared.u32 [%r5], %r7;
    ARRIVE
    ld.shared.u32 %r7, [%r6];
    ARRIVE2
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %q3, %r8, 5;
    @%q3 bra more;
    st.global.u32 [%rd1], %r7;
""")
WAYS = {
    "by state": "mbarrier.arrive.shared.b64 %s1, [bar]; wN: mbarrier.WAIT.shared.b64 %q1, [bar], %s1; @!%q1 bra wN;",
    "with order": "mbarrier.arrive.release.cta.shared::cta.b64 %s1, [bar]; "
                  "wN: mbarrier.WAIT.acquire.cta.shared::cta.b64 %q1, [bar], %s1; @!%q1 bra wN;",
    "by parity": "mbarrier.arrive.release.cluster.shared.b64 _, [bar]; mov.u32 %r10, PARITY; "
                 "wN: mbarrier.WAIT.parity.acquire.cluster.shared.b64 %q1, [bar], %r10; @!%q1 bra wN;",
    "generic": "cvta.shared.u64 %rd3, bar; mbarrier.arrive.b64 %s1, [%rd3]; "
               "wN: mbarrier.WAIT.b64 %q1, [%rd3], %s1; @!%q1 bra wN;",
}


def all_threads_of_a_block_meet():
    for name, way in WAYS.items():
        for wait in "try_wait", "test_wait":
            text = MEET
            for number, place in enumerate(("ARRIVE2", "ARRIVE")):
                text = text.replace(place, way.replace("WAIT", wait).replace("PARITY", str(1 - number)).replace("wN", f"w{number}"))
            with written(text) as path:
                for threads in (33, 100, 256):
                    got = everywhere(path, "--grid", 3, "--block", threads, f"u32[{3 * threads}]+print")
                    assert got == [(t + 5) % threads for t in range(threads)] * 3, (name, wait, threads)


# Warp 0 fills four places in turn, the others take what is there: full[i] and empty[i] as in CUTLASS's pipelines. The producer waits
# for the phase before the first, which is over.
PIPELINE = kernel("""
    ld.param.u32 %r5, [rounds];
    sub.u32 %r6, %r3, 32;
    @%q0 bra ready;
    mov.u32 %r7, bars;
    mov.u32 %r8, 0;
init:
    mbarrier.init.shared.b64 [%r7], 32;
    mbarrier.init.shared.b64 [%r7+32], %r6;
    add.u32 %r7, %r7, 8;
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %q1, %r8, 4;
    @%q1 bra init;
    fence.mbarrier_init.release.cluster;
ready:
    bar.sync 0;
    mov.u32 %r8, 0;
    mov.u32 %r12, 0;
    and.b32 %r14, %r1, 31;
    setp.lt.u32 %q2, %r1, 32;
next:
    and.b32 %r9, %r8, 3;
    shr.u32 %r10, %r8, 2;
    and.b32 %r10, %r10, 1;
    mov.u32 %r7, bars;
    shl.b32 %r11, %r9, 3;
    add.u32 %r7, %r7, %r11;
    shl.b32 %r11, %r9, 7;
    mov.u32 %r13, data;
    add.u32 %r13, %r13, %r11;
    shl.b32 %r11, %r14, 2;
    add.u32 %r13, %r13, %r11;
    @%q2 bra produce;
consume:
    mbarrier.try_wait.parity.shared.b64 %q3, [%r7], %r10, 1000;
    @!%q3 bra consume;
    ld.shared.u32 %r15, [%r13];
    mad.lo.u32 %r12, %r12, 3, %r15;
    mbarrier.arrive.shared.b64 _, [%r7+32];
    bra on;
produce:
    xor.b32 %r11, %r10, 1;
wait:
    mbarrier.try_wait.parity.shared.b64 %q3, [%r7+32], %r11;
    @!%q3 bra wait;
    mad.lo.u32 %r12, %r8, 100, %r14;
    st.shared.u32 [%r13], %r12;
    mbarrier.arrive.shared.b64 %s1, [%r7];
on:
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %q3, %r8, %r5;
    @%q3 bra next;
    st.global.u32 [%rd1], %r12;
""", ".param .u64 p, .param .u32 rounds")


def producers_and_consumers_hand_over_a_ring():
    rounds = 37
    sums = [0] * 32
    for n in range(rounds):
        sums = [(s * 3 + 100 * n + lane) & 0xffffffff for lane, s in enumerate(sums)]
    last = [100 * (rounds - 1) + lane for lane in range(32)]
    with written(PIPELINE) as path:
        for warps in 2, 5:
            got = everywhere(path, "--grid", 2, "--block", 32 * warps, f"u32[{64 * warps}]+print", rounds)
            assert got == (last + sums * (warps - 1)) * 2


def lanes_of_one_warp_wait_for_each_other():
    """Each lane waits for the phase that the next one completes."""
    body = """
    mov.u32 %r5, data;
    shl.b32 %r6, %r1, 3;
    add.u32 %r5, %r5, %r6;
    mbarrier.init.shared.b64 [%r5], 1;
    bar.warp.sync -1;
    setp.eq.u32 %q2, %r1, 31;
    @%q2 bra last;
    wait: mbarrier.WAIT.parity.shared.b64 %q1, [%r5+8], 0;
    @!%q1 bra wait;
    last: mbarrier.arrive.shared.b64 _, [%r5];
    st.global.u32 [%rd1], 1;"""
    for wait in "try_wait", "test_wait":
        with written(kernel(body.replace("WAIT", wait))) as path:
            assert everywhere(path, "--grid", 2, "--block", 32, "u32[64]+print") == [1] * 64, wait


def threads_that_drop_out_are_not_waited_for():
    """In round n the thread of that number drops out."""
    body = """
    @!%q0 mbarrier.init.shared.b64 [bar], %r3;
    bar.sync 0;
    mov.u32 %r5, 0;
    more: setp.eq.u32 %q1, %r5, %r1;
    @%q1 bra drop;
    mbarrier.arrive.shared.b64 %s1, [bar];
    wait: mbarrier.try_wait.shared.b64 %q2, [bar], %s1;
    @!%q2 bra wait;
    add.u32 %r5, %r5, 1;
    bra more;
    drop: mbarrier.arrive_drop.shared.b64 %s1, [bar];
    mbarrier.pending_count.b64 %r6, %s1;
    setp.gt.u32 %q3, %r6, 0;
    @%q3 st.global.u32 [%rd1], %r5;"""
    with written(kernel(body)) as path:
        assert everywhere(path, "--grid", 1, "--block", 70, "u32[70]+print") == list(range(70))


def an_mbarrier_whose_threads_have_all_dropped_out_is_left_alone():
    body = "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive_drop.shared.b64 %s1, [bar]; mbarrier.pending_count.b64 %r5, %s1; st.global.u32 [%rd1], %r5;"
    with written(kernel(body)) as path:
        assert everywhere(path, "--grid", 1, "--block", 1, "u32[1]+print") == [1]
    with written(kernel(body + "mbarrier.arrive.shared.b64 _, [bar];")) as path:
        text = fault_by_both(path, "--grid", 1, "--block", 1, "u32[1]")
        assert "more often than its phase expects: 0 arrivals are pending" in text, text


def what_is_no_mbarrier_is_invalidated_in_vain():
    """As destructors of libcu++'s do, of one after the other in the same memory."""
    body = """mbarrier.init.shared.b64 [bar], 1; mbarrier.inval.shared.b64 [bar]; mov.u32 %r5, 7; st.shared.u32 [bar], %r5;
    mbarrier.inval.shared.b64 [bar]; ld.shared.u32 %r5, [bar]; st.global.u32 [%rd1], %r5;"""
    with written(kernel(body)) as path:
        assert everywhere(path, "--grid", 1, "--block", 1, "u32[1]+print") == [7]


def what_was_invalidated_goes_on_and_the_checker_says_so():
    """As on an H200. Behind another mbarrier.init nothing is said."""
    body = """mbarrier.init.shared.b64 [bar], 2; mbarrier.inval.shared.b64 [bar]; %s mbarrier.arrive.shared.b64 _, [bar], 2;
    mov.u32 %%r5, 1; mbarrier.test_wait.parity.shared.b64 %%q1, [bar], 0; @!%%q1 mov.u32 %%r5, 0; st.global.u32 [%%rd1], %%r5;"""
    for again in "", "mbarrier.init.shared.b64 [bar], 2;":
        with written(kernel(body % again)) as path:
            assert everywhere(path, "--grid", 1, "--block", 1, "u32[1]+print") == [1]
            text = run("check", path, "--grid", 1, "--block", 1, "u32[1]")[2]
            told = "uses an mbarrier that was invalidated (mbarrier.inval) [invalidated-mbarrier]"
            assert ("check: no errors" in text) if again else text.count(told) == 2, text


# What is done with an mbarrier, and what is said of it.
MISTAKES = [
    ("mbarrier.init.shared.b64 [bar], 0;", "gives an mbarrier the count 0; 1 to 1048575 are possible [mbarrier]"),
    ("mbarrier.init.shared.b64 [bar], 1048576;", "gives an mbarrier the count 1048576"),
    ("mbarrier.arrive.shared.b64 _, [bar];", "uses an mbarrier that has not been initialised"),
    ("mbarrier.test_wait.parity.shared.b64 %q1, [bar], 0;", "uses an mbarrier that has not been initialised"),
    ("mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive.shared.b64 _, [bar], 4;",
     "arrives at an mbarrier more often than its phase expects: 3 arrivals are pending"),
    ("mbarrier.init.shared.b64 [bar], 3; mov.u32 %r9, 0; mbarrier.arrive.shared.b64 _, [bar], %r9;", "gives an mbarrier the count 0"),
    ("mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.noComplete.shared.b64 %s1, [bar], 2;",
     "completes a phase of an mbarrier by an arrival with .noComplete"),
    ("mbarrier.init.b64 [%rd1], 2;", "uses an mbarrier that is not in shared memory"),
    ("mov.u32 %r9, bar; mbarrier.init.shared.b64 [%r9+4], 2;", "which is not a multiple of 8"),
    ("mov.u32 %r9, 100000; mbarrier.init.shared.b64 [%r9], 2;", "the block's shared memory has"),
]


def misuse_is_a_fault_with_a_reason():
    for body, words in MISTAKES:
        with written(kernel(body)) as path:
            text = fault_by_both(path, "--grid", 1, "--block", 1, "u64[1]")
            assert words in text, f"{body}: {text}"


def a_phase_that_can_never_complete_is_a_deadlock():
    body = """
    @!%q0 mbarrier.init.shared.b64 [bar], 65;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %s1, [bar];
    wait: mbarrier.WAIT.shared.b64 %q1, [bar], %s1;
    @!%q1 bra wait;"""
    for wait in "try_wait", "test_wait":
        with written(kernel(body.replace("WAIT", wait))) as path:
            for how in POLICIES:
                status, _, text = run("launch", path, "--grid", 2, "--block", 64, *how, "u32[128]", "--timeout", 60)
                assert status == 1 and "[deadlock]" in text, (how, text)
                assert f"spin at `mbarrier.{wait}.shared.b64`" in text, text
                assert "in a phase of parity 0, which still needs 1 arrival" in text and "help: a phase ends after the number of arrivals" in text, text


def a_test_in_vain_makes_way_for_others():
    """100 phases of 8 warps, of which all but the last ask in vain: once each."""
    body = """
    @!%q0 mbarrier.init.shared.b64 [bar], 256;
    mov.u32 %r8, 0;
    bar.sync 0;
    more: mbarrier.arrive.shared.b64 %s1, [bar];
    wait: mbarrier.WAIT.shared.b64 %q1, [bar], %s1;
    @!%q1 bra wait;
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %q3, %r8, 100;
    @%q3 bra more;"""
    for wait in "try_wait", "test_wait":
        with written(kernel(body.replace("WAIT", wait))) as path:
            status, _, text = run("launch", path, "--grid", 1, "--block", 256, "--engine", "interp", "--step-limit", 7000, "u32[1]")
            assert status == 0, (wait, text)


def others_may_wait_at_a_barrier_meanwhile():
    """Half of the threads wait at barrier 1 for those that spin."""
    body = """
    @!%q0 mbarrier.init.shared.b64 [bar], 65;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %s1, [bar];
    setp.lt.u32 %q2, %r1, 32;
    @%q2 bra meet;
    wait: mbarrier.try_wait.shared.b64 %q1, [bar], %s1;
    @!%q1 bra wait;
    meet: bar.sync 1;"""
    with written(kernel(body)) as path:
        for how in POLICIES:
            status, _, text = run("launch", path, "--grid", 1, "--block", 64, *how, "u32[64]", "--timeout", 60)
            assert status == 1 and "[deadlock]" in text and "barrier 1" in text, (how, text)


# ---- what ptxas says, too ----

TEXTS = [
    ("mbarrier.arrive.release.shared.b64 %s1, [bar];", 90, "8.6", "an order needs a scope"),
    ("mbarrier.arrive.cta.shared.b64 %s1, [bar];", 90, "8.6", "a scope needs an order"),
    ("mbarrier.arrive.release.gpu.shared.b64 %s1, [bar];", 90, "8.6", "gpu"),
    ("mbarrier.arrive.shared::cluster.b64 %s1, [bar];", 90, "8.6", "has no state as its result"),
    ("mbarrier.arrive.shared::cluster.b64 _, [bar];", 90, "8.6", None),
    ("mbarrier.arrive.shared::cluster.b64 _, [bar];", 90, "7.8", ".version 8.0"),
    ("mbarrier.arrive.shared.b64 %s1, [bar], 2;", 90, "7.8", None),
    ("mbarrier.arrive.shared.b64 %s1, [bar], 2;", 80, "7.8", "sm_90"),
    ("mbarrier.arrive.shared.b64 %s1, [bar], 0;", 90, "8.6", "an arrival counts at least 1"),
    ("mbarrier.arrive.noComplete.shared.b64 %s1, [bar], 2;", 80, "7.0", None),
    ("mbarrier.arrive.noComplete.shared.b64 %s1, [bar];", 80, "7.0", "takes 3 operands, not 2"),
    ("mbarrier.arrive.noComplete.release.cluster.shared.b64 %s1, [bar], 2;", 90, "8.6", "cluster"),
    ("mbarrier.arrive.relaxed.cluster.shared.b64 %s1, [bar];", 90, "8.0", ".version 8.6"),
    ("mbarrier.test_wait.shared.b64 _, [bar], %s1;", 90, "8.6", "cannot be dropped"),
    ("mbarrier.test_wait.parity.shared.b64 %q1, [bar], %r1;", 80, "7.0", ".version 7.1"),
    ("mbarrier.try_wait.shared.b64 %q1, [bar], %s1, 20;", 80, "7.8", "sm_90"),
    ("mbarrier.test_wait.shared.b64 %q1, [bar], %s1, 20;", 90, "7.8", "operands"),
    ("mbarrier.pending_count.b64 %r1, %s1;", 80, "7.0", None),
    ("mbarrier.init.shared::cta.b64 [bar], 5;", 80, "7.0", ".version 7.8"),
    ("mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;", 90, "8.0", None),
    ("mbarrier.arrive.expect_tx.shared.b64 _, [bar], 0;", 90, "8.0", None),
    ("mbarrier.complete_tx.shared.b64 [bar], 4;", 90, "7.8", ".version 8.0"),
    ("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [bar], 4;", 80, "8.0", "sm_90"),
]


def texts_are_held_to_the_specification():
    for line, sm, version, words in TEXTS:
        text = f""".version {version}\n.target sm_{sm}\n.address_size 64
        .visible .entry k() {{ .reg .pred %q<3>; .reg .u32 %r<3>; .reg .b64 %s<3>; .shared .align 8 .b64 bar; {line} ret; }}"""
        with written(text) as path:
            status, out, err = run("ptx", path)
        assert status == (1 if words else 0), f"{line}: {out}{err}"
        assert not words or words in err, f"{line}: {err}"


main(globals())
