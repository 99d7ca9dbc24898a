"""Clusters, which are of one block; larger ones are refused by name. The barrier of a cluster (PTX ISA 9.7.13.3): an H200 gives
the same answers, but for the two kernels in which a thread spins between its arrival and its wait; see docs/H200.md."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, fault_by_both, written
from tap import launch, main, run, values

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

# Each thread stores 100 + `flag` where it comes to the end. %q1: not thread 0; %q3: an odd thread.
KERNEL = HEAD + """.visible .entry entry(.param .u64 p)
{
    .reg .pred %q<6>; .reg .u32 %r<12>; .reg .u64 %rd<6>;
    .shared .align 4 .b8 flag[4];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %q1, %r1, 0;
    @!%q1 st.shared.u32 [flag], 0;
    bar.sync 0;
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %q3, %r4, 1;
    BODY
done:
    ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.volatile.shared.u32 %r5, [flag];
    add.u32 %r5, %r5, 100;
    st.global.u32 [%rd1], %r5;
    ret;
}
"""
SPIN = "spin: ld.volatile.shared.u32 %r3, [flag]; setp.eq.u32 %q2, %r3, 0; @%q2 bra spin;"
MEET = "barrier.cluster.arrive; barrier.cluster.wait;"
SET = "st.volatile.shared.u32 [flag], 7;"

# Each thread passes its number on to the left, behind a barrier of the cluster, `times` times.
TURN = HEAD + """.visible .entry turn(.param .u64 p, .param .u32 times)
{
    .reg .pred %q<3>; .reg .u32 %r<10>; .reg .u64 %rd<6>;
    .shared .align 4 .b8 s[4096];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ntid.x;
    ld.param.u32 %r3, [times];
    mul.wide.u32 %rd1, %r1, 4;
    mov.u64 %rd2, s;
    add.u64 %rd3, %rd2, %rd1;
    add.u32 %r5, %r1, 1;
    rem.u32 %r5, %r5, %r2;
    mul.wide.u32 %rd4, %r5, 4;
    add.u64 %rd4, %rd2, %rd4;
    mov.u32 %r6, %r1;
more:
    st.shared.u32 [%rd3], %r6;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ld.shared.u32 %r6, [%rd4];
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %q2, %r3, 0;
    @%q2 bra more;
    ld.param.u64 %rd5, [p];
    add.u64 %rd5, %rd5, %rd1;
    st.global.u32 [%rd5], %r6;
    ret;
}
"""


def ends(body, odd=107):
    """Both engines, and random schedules: all even threads end with 107."""
    with written(KERNEL.replace("BODY", body)) as path:
        for threads in 32, 100:
            args = (path, "--grid", 2, "--block", threads, f"u32[{threads}]+print")
            want = ([107, odd] * threads)[:threads]
            assert values(by_both(*args), 1) == want
            for seed in range(5):
                assert values(launch(*args, "--policy", f"random:{seed}"), 1) == want, seed


def all_threads_meet():
    with written(TURN) as path:
        for threads in 7, 100, 1024:
            got = values(by_both(path, "--grid", 3, "--block", threads, f"u32[{threads}]+print", 5), 1)
            assert got == [(t + 5) % threads for t in range(threads)], threads


def lanes_of_a_warp_meet_in_two_branches():
    ends(f"@%q3 bra odd; {MEET} {SET} bra done; odd: {MEET} {SET}")


def threads_that_have_exited_are_not_waited_for():
    ends(f"@%q3 ret; {MEET} {SET} {MEET}", odd=0)


def threads_exit_while_others_wait():
    ends(f"@%q3 bra odd; {MEET} {SET} {MEET} bra done; odd: nanosleep.u32 1000; ret;", odd=0)


def a_thread_may_arrive_and_exit():
    ends(f"barrier.cluster.arrive; @%q3 ret; barrier.cluster.wait; {SET} {MEET}", odd=0)


def a_thread_works_between_arrival_and_wait():
    ends(f"@%q1 bra others; barrier.cluster.arrive; {SPIN} barrier.cluster.wait; bra done; others: {SET} {MEET}")


def others_go_on_while_a_thread_has_not_waited():
    ends(f"@%q1 bra others; barrier.cluster.arrive; {SPIN} barrier.cluster.wait; bra done; others: {MEET} {SET}")


def a_deadlock_names_who_has_not_arrived():
    body = f"setp.lt.u32 %q3, %r1, 8; @%q3 bra few; {MEET} bra done; few: bar.sync 2;"
    with written(KERNEL.replace("BODY", body)) as path:
        text = fault_by_both(path, "--grid", 1, "--block", 32, "u32[32]")
    assert "wait for the cluster's barrier in `barrier.cluster.wait`; lanes 0-7 of warp 0 have not arrived" in text, text
    assert "[deadlock]" in text, text


# Heads of a kernel, and words of what is said of a launch, or nothing.
HEADS = [
    ("", ""),
    (".maxclusterrank 8", ""),
    (".reqnctapercluster 1", ""),
    (".explicitcluster .reqnctapercluster 1, 1, 1", ""),
    (".blocksareclusters .reqntid 32 .reqnctapercluster 1", ""),
    (".reqnctapercluster 2", "`.reqnctapercluster` of 2 blocks is not supported: Heddle has no clusters of more than one block"),
    (".reqnctapercluster 1, 2", "`.reqnctapercluster` of 2 blocks"),
    (".reqnctapercluster 2, 2, 2", "`.reqnctapercluster` of 8 blocks"),
    (".reqnctapercluster 65536, 65536, 65536", "`.reqnctapercluster` of 4294967295 blocks"),
    (".explicitcluster .reqnctapercluster 2", "`.reqnctapercluster` of 2 blocks"),
    (".blocksareclusters .reqntid 32 .reqnctapercluster 4", "`.reqnctapercluster` of 4 blocks"),
    (".explicitcluster", "Heddle has clusters of one block [launch-config]"),
    (".explicitcluster .maxclusterrank 8", "Heddle has clusters of one block [launch-config]"),
    (".blocksareclusters", "`.blocksareclusters` needs .reqntid and .reqnctapercluster"),
    (".blocksareclusters .reqntid 32", "`.blocksareclusters` needs .reqntid and .reqnctapercluster"),
]
EACH = """.version 9.0\n.target sm_90\n.address_size 64
.visible .entry each(.param .u64 p) HEAD
{
    .reg .u32 %r<4>; .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r2, %cluster_nctaid.x;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry other() { ret; }
"""


def larger_clusters_are_refused_by_name():
    for head, words in HEADS:
        with written(EACH.replace("HEAD", head)) as path:
            status, out, err = run("launch", path, "each", "--grid", 4, "--block", 32, "u32[4]+print")
            assert status == (1 if words else 0) and words in err, f"{head}: {out}{err}"
            assert words or "= 1 1 1 1" in out, f"{head}: {out}"
            if "of one block" not in words and "needs" not in words:
                assert run("launch", path, "other", "--grid", 1, "--block", 1)[0] == 0, head


def ptx_says_which_kernels_cannot_be_launched():
    with written(EACH.replace("HEAD", ".reqnctapercluster 2")) as path:
        status, out, err = run("ptx", path)
    assert status == 0 and "`each` cannot be launched: Heddle has no clusters of more than one block yet" in err, out + err


main(globals())
