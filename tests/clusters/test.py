"""Clusters: their sizes, the places of their blocks, and their barrier (PTX ISA 9.7.13.3). For clusters of one block an H200
gives the same answers, but for the two kernels in which a thread spins between its arrival and its wait; see docs/H200.md."""
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, everywhere, fault_by_both, need_compiler, written
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


# ---- sizes ----

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

# Heads of a kernel, the grid, the launch's size of clusters, and how many blocks a cluster has then, or words of the error. An
# H200 gives the same answers: error 912, CUDA_ERROR_INVALID_CLUSTER_SIZE, for each that has [cluster-size].
SIZES = [
    ("", 4, None, 1),
    ("", 4, 1, 1),
    ("", 4, 2, 2),
    ("", 4, "2,1,1", 2),
    ("", 32, 16, 16),
    ("", 3, 2, "grid.x is 3, which is not a multiple of the cluster's 2 [cluster-size]"),
    ("", 4, "2,2", "grid.y is 1, which is not a multiple of the cluster's 2 [cluster-size]"),
    ("", 32, 32, "the cluster has more than 16 blocks [cluster-size]"),
    ("", 4, 4294967295, "the cluster has more than 16 blocks"),
    (".maxclusterrank 8", 4, None, 1),
    (".maxclusterrank 8", 4, 4, 4),
    (".maxclusterrank 2", 4, 4, "the cluster has 4 blocks; the kernel allows 2 (.maxclusterrank) [cluster-size]"),
    (".reqnctapercluster 1", 4, None, 1),
    (".explicitcluster .reqnctapercluster 1, 1, 1", 4, None, 1),
    (".reqnctapercluster 2", 4, None, 2),
    (".reqnctapercluster 2", 4, 2, 2),
    (".explicitcluster .reqnctapercluster 2", 4, None, 2),
    (".reqnctapercluster 8", 16, None, 8),
    (".reqnctapercluster 16", 16, None, 16),
    (".reqnctapercluster 2", 3, None, "grid.x is 3, which is not a multiple of the cluster's 2 [cluster-size]"),
    (".reqnctapercluster 2", 4, 4, "cluster.x is 4; the kernel requires 2 (.reqnctapercluster) [cluster-size]"),
    (".reqnctapercluster 1, 2", 4, None, "grid.y is 1, which is not a multiple of the cluster's 2"),
    (".reqnctapercluster 65536, 65536, 65536", 4, None, "the cluster has more than 16 blocks"),
    (".explicitcluster", 4, None, "the launch has no cluster size"),
    (".explicitcluster .maxclusterrank 8", 4, None, "[cluster-size]"),
    (".explicitcluster", 4, 2, 2),
    (".blocksareclusters .reqntid 32 .reqnctapercluster 1", 4, None, 1),
    (".blocksareclusters .reqntid 32 .reqnctapercluster 4", 4, None,
     "`.blocksareclusters` is not supported for clusters of more than one block [not-supported]"),
    (".blocksareclusters", 4, None, "`.blocksareclusters` needs .reqntid and .reqnctapercluster"),
    (".blocksareclusters .reqntid 32", 4, None, "`.blocksareclusters` needs .reqntid and .reqnctapercluster"),
]


def sizes_are_what_kernel_launch_and_device_allow():
    for head, grid, cluster, want in SIZES:
        case = f"{head} {grid} {cluster}"
        option = ["--cluster", cluster] if cluster else []
        with written(EACH.replace("HEAD", head)) as path:
            status, out, err = run("launch", path, "each", "--grid", grid, "--block", 32, *option, f"u32[{grid}]+print")
            if isinstance(want, int):
                assert status == 0 and " ".join(["=", *[str(want)] * grid]) in " ".join(out.split()), f"{case}: {out}{err}"
            else:
                assert status == 1 and want in err, f"{case}: {out}{err}"
            if not isinstance(want, str) or "needs" not in want:
                assert run("launch", path, "other", "--grid", 1, "--block", 1)[0] == 0, case


# ---- special registers ----

# Each block stores its cluster's number, its own place, its rank, sizes, and whether somebody has said one.
PLACES = HEAD + """.visible .entry places(.param .u64 p) DIRECTIVE
{
    .reg .u32 %r<24>; .reg .u64 %rd<4>; .reg .pred %q;
    .shared .align 4 .b8 s[4];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
    mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
    mad.lo.u32 %r6, %r3, %r5, %r2;
    mad.lo.u32 %r6, %r6, %r4, %r1;
    mul.wide.u32 %rd2, %r6, 64;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r7, %clusterid.x; mov.u32 %r8, %clusterid.y; mov.u32 %r9, %clusterid.z;
    mov.u32 %r10, %cluster_ctaid.x; mov.u32 %r11, %cluster_ctaid.y; mov.u32 %r12, %cluster_ctaid.z;
    mov.u32 %r13, %cluster_ctarank;
    mov.u32 %r14, %nclusterid.x; mov.u32 %r15, %nclusterid.y; mov.u32 %r16, %nclusterid.z;
    mov.u32 %r17, %cluster_nctaid.x; mov.u32 %r18, %cluster_nctaid.y; mov.u32 %r19, %cluster_nctaid.z;
    mov.u32 %r20, %cluster_nctarank;
    mov.pred %q, %is_explicit_cluster;
    selp.u32 %r21, 1, 0, %q;
    mov.u32 %r1, s;
    getctarank.shared::cluster.u32 %r22, %r1;
    st.global.v4.u32 [%rd1], {%r7, %r8, %r9, %r10};
    st.global.v4.u32 [%rd1+16], {%r11, %r12, %r13, %r14};
    st.global.v4.u32 [%rd1+32], {%r15, %r16, %r17, %r18};
    st.global.v4.u32 [%rd1+48], {%r19, %r20, %r21, %r22};
    ret;
}
"""


# The same by moves of whole vectors; fourth elements are 0, of counts 1 (isa/sregs.def).
VECTORS = PLACES[:PLACES.index("    mov.u32 %r7")] + """    .reg .v4 .u32 %n, %own;
    mov.v4.u32 {%r7, %r8, %r9, %r10}, %clusterid;
    mov.v4.u32 {%r14, %r15, %r16, _}, %nclusterid;
    mov.v4.u32 %n, %cluster_nctaid;
    mov.v4.u32 %own, %cluster_ctaid;
    mov.v2.u32 {%r14, %r15}, {%r15, %r14};
    mov.v4.b32 {%r14, %r15, %r16, %r17}, {%r15, %r14, %r16, %n.x};
    add.u32 %r13, %own.w, %r10;
    st.global.v4.u32 [%rd1], {%r7, %r8, %r9, %own.x};
    st.global.v4.u32 [%rd1+16], {%own.y, %own.z, %r13, %r14};
    st.global.v4.u32 [%rd1+32], {%r15, %r16, %r17, %n.y};
    st.global.v4.u32 [%rd1+48], {%n.z, %n.w, 1, 2};
    ret;
}
"""


def places_of(grid, cluster, explicit):
    """What each block has to find, in the order of the blocks' numbers."""
    want = []
    clusters = [g // c for g, c in zip(grid, cluster)]
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                own = [at % c for at, c in zip((x, y, z), cluster)]
                rank = own[0] + cluster[0] * (own[1] + cluster[1] * own[2])
                of = [at // c for at, c in zip((x, y, z), cluster)]
                blocks = cluster[0] * cluster[1] * cluster[2]
                want += [*of, *own, rank, *clusters, *cluster, blocks, int(explicit), rank]
    return want


def special_registers_say_where_a_block_is():
    for grid, cluster in ((6, 2, 2), (2, 1, 1)), ((4, 6, 2), (2, 3, 1)), ((2, 4, 4), (1, 2, 4)), ((5, 3, 2), (1, 1, 1)):
        blocks, text = grid[0] * grid[1] * grid[2], ",".join(map(str, cluster))
        args = "--grid", ",".join(map(str, grid)), "--block", 32, f"u32[{16 * blocks}]+print"
        with written(PLACES.replace("DIRECTIVE", "")) as path:
            assert values(by_both(path, "--cluster", text, *args), 1) == places_of(grid, cluster, True), cluster
            assert values(by_both(path, *args), 1) == places_of(grid, (1, 1, 1), False)
        with written(VECTORS.replace("DIRECTIVE", "")) as path:
            got = values(by_both(path, "--cluster", text, *args), 1)
            want = places_of(grid, cluster, True)
            want[6::16], want[13::16], want[14::16], want[15::16] = ([n] * blocks for n in (0, 1, 1, 2))
            assert got == want, cluster
        with written(PLACES.replace("DIRECTIVE", f".reqnctapercluster {text}")) as path:
            assert values(by_both(path, *args), 1) == places_of(grid, cluster, True), cluster


# What the system keeps of a block's shared memory, which cooperative groups of several warps use: each thread adds 1 to its first word by a
# generic address, and reads it and its own word of the kernel's shared memory; the last word can be written, too. All write another word, which
# is a race, but not the program's: nvcc's groups order lanes by shfl.sync alone.
RESERVED = HEAD + """.visible .entry reserved(.param .u64 p, .param .u32 beyond)
{
    .reg .u32 %r<16>; .reg .u64 %rd<8>; .reg .pred %q;
    .shared .align 4 .b8 own[256];
    .extern .shared .align 4 .b8 dynamic[];
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r9, [beyond];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r2, %r2, 64, %r1;
    mul.wide.u32 %rd2, %r2, 16;
    add.u64 %rd1, %rd1, %rd2;
    shl.b32 %r3, %r1, 2;
    mov.u32 %r4, own;
    add.u32 %r4, %r4, %r3;
    mov.u32 %r5, dynamic;
    add.u32 %r5, %r5, %r3;
    st.shared.u32 [%r4], %r1;
    st.shared.u32 [%r5], %r3;
    mov.u32 %r6, %reserved_smem_offset_1;
    cvt.u64.u32 %rd3, %r6;
    cvta.shared.u64 %rd4, %rd3;
    red.release.cta.add.u32 [%rd4], 1;
    bar.sync 0;
    ld.u32 %r10, [%rd4];
    ld.shared.u32 %r11, [%r4];
    ld.shared.u32 %r12, [%r5];
    mov.u32 %r7, %reserved_smem_offset_end;
    mov.u32 %r8, %reserved_smem_offset_begin;
    mov.u32 %r14, %reserved_smem_offset_cap;
    sub.u32 %r13, %r7, %r8;
    sub.u32 %r13, %r13, %r14;
    st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};
    st.shared.u32 [%r8+4], %r1;
    bar.sync 0;
    add.u32 %r7, %r7, %r9;
    setp.eq.u32 %q, %r1, 0;
    @%q st.shared.u32 [%r7+-4], %r9;
    ret;
}
"""


def shared_memory_of_the_system_is_nobody_else_s():
    want = [n for _ in range(2) for i in range(64) for n in (64, i, 4 * i, 0)]
    args = "--grid", 2, "--block", 64, "--shared", 256, "u32[512]+print"
    with written(RESERVED) as path:
        for cluster in (), ("--cluster", 2):
            assert values(by_both(path, *cluster, *args, 0), 1) == want, cluster
            _, _, err = run("check", path, *cluster, *args, 0)
            assert "check: no errors" in err, err
            status, _, err = run("launch", path, *cluster, *args, 4)
            assert status == 1 and "illegal-address" in err, err


# ---- the barrier of several blocks ----

# Threads pass a number on through global memory to the block behind them in the cluster, behind a barrier of the cluster, `times` times;
# %q3: the block has an odd rank.
RING = HEAD + """.visible .entry ring(.param .u64 p, .param .u32 times)
{
    .reg .pred %q<6>; .reg .u32 %r<20>; .reg .u64 %rd<10>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r3, [times];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %cluster_ctarank;
    mov.u32 %r6, %cluster_nctarank;
    mad.lo.u32 %r7, %r4, %r2, %r1;
    mul.wide.u32 %rd2, %r7, 4;
    add.u64 %rd2, %rd1, %rd2;
    sub.u32 %r8, %r4, %r5;
    add.u32 %r9, %r5, 1;
    rem.u32 %r9, %r9, %r6;
    add.u32 %r8, %r8, %r9;
    mad.lo.u32 %r8, %r8, %r2, %r1;
    mul.wide.u32 %rd3, %r8, 4;
    add.u64 %rd3, %rd1, %rd3;
    and.b32 %r10, %r5, 1;
    setp.eq.u32 %q3, %r10, 1;
    mov.u32 %r11, %r4;
    st.global.u32 [%rd2], %r11;
    BODY
more:
    st.global.u32 [%rd2], %r11;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ld.global.u32 %r11, [%rd3];
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %q2, %r3, 0;
    @%q2 bra more;
    st.global.u32 [%rd2], %r11;
    ret;
}
"""
def all_blocks_of_a_cluster_meet():
    with written(RING.replace("BODY", "")) as path:
        for size, threads in (2, 7), (3, 100), (4, 64), (8, 33), (16, 32), (8, 1024):
            blocks, times = 3 * size, 5
            got = everywhere(path, "--grid", blocks, "--cluster", size, "--block", threads,
                             f"u32[{blocks * threads}]+print", times)
            want = [b - b % size + (b + times) % size for b in range(blocks) for _ in range(threads)]
            assert got == want, (size, threads)


def clusters_of_many_blocks_take_turns():
    """More clusters than the device holds at once."""
    with written(RING.replace("BODY", "")) as path:
        got = values(by_both(path, "--grid", 4800, "--cluster", 4, "--block", 32, "u32[153600]+print", 1), 1)
        assert got[::32] == [b - b % 4 + (b + 1) % 4 for b in range(4800)]


def blocks_that_have_exited_are_not_waited_for():
    with written(RING.replace("BODY", "@%q3 ret;")) as path: # the odd blocks' values stay
        got = everywhere(path, "--grid", 8, "--cluster", 2, "--block", 40, "u32[320]+print", 2)
    assert got[::40] == [1, 1, 3, 3, 5, 5, 7, 7], got[::40]


def threads_of_several_blocks_exit_while_others_wait():
    body = "and.b32 %r12, %r1, 3; setp.eq.u32 %q4, %r12, %r5; @%q4 bra late; bra more; late: nanosleep.u32 100; ret;"
    with written(RING.replace("BODY", body)) as path:
        got = everywhere(path, "--grid", 4, "--cluster", 4, "--block", 64, "u32[256]+print", 4)
    # a thread whose successor is gone reads that one's first value for ever: its own block's number plus one
    want = []
    for b in range(4):
        for t in range(64):
            value = {k: k for k in range(4)}
            gone = {t % 4}
            for _ in range(4):
                value = {k: value[k] if k in gone else value[(k + 1) % 4] for k in range(4)}
            want.append(value[b])
    assert got == want


def work_between_arrival_and_wait_reaches_nobody_before_the_next():
    body = """barrier.cluster.arrive.release; mov.u32 %r12, 0;
    work: add.u32 %r12, %r12, 1; setp.lt.u32 %q4, %r12, %r5; @%q4 bra work; bar.sync 0; barrier.cluster.wait;"""
    with written(RING.replace("BODY", body)) as path:
        got = everywhere(path, "--grid", 8, "--cluster", 8, "--block", 96, "u32[768]+print", 3)
    assert got == [(b + 3) % 8 for b in range(8) for _ in range(96)]


# Each block of a cluster waits for the next one, the last for none: so none may have to end before another begins.
CHAIN = HEAD + """.visible .entry chain(.param .u64 p, .param .u32 backwards)
{
    .reg .pred %q<4>; .reg .u32 %r<12>; .reg .u64 %rd<6>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r8, [backwards];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, %cluster_nctarank;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %q3, %r8, 0;
    @%q3 bra back;
    setp.eq.u32 %q1, %r2, %r3;
    @%q1 bra last;
spin:
    ld.acquire.cluster.global.u32 %r4, [%rd1+4];
    setp.eq.u32 %q2, %r4, 0;
    @%q2 bra spin;
last:
    st.release.cluster.global.u32 [%rd1], 1;
    ret;
back:
    setp.eq.u32 %q1, %r2, 0;
    @%q1 bra last;
spin2:
    ld.acquire.cluster.global.u32 %r4, [%rd1+-4];
    setp.eq.u32 %q2, %r4, 0;
    @%q2 bra spin2;
    bra last;
}
"""


def blocks_of_a_cluster_are_resident_together():
    with written(CHAIN) as path:
        for backwards in 0, 1:
            assert everywhere(path, "--grid", 64, "--cluster", 16, "--block", 1, "u32[65]+print", backwards) == [1] * 64 + [0]


def a_deadlock_names_the_block_that_has_not_come():
    with written(RING.replace("BODY", "@!%q3 bra more; bar.sync 1, 64;")) as path:
        text = fault_by_both(path, "--grid", 2, "--cluster", 2, "--block", 32, "u32[64]", 1)
        assert "[deadlock]" in text and "all threads of a" in text, text
        assert "of warp 0 of block (1,0,0) have not arrived" in text or "32 of 64 threads are there" in text, text
        for policy in "serial", "random:3":
            status, _, text = run("launch", path, "--grid", 2, "--cluster", 2, "--block", 32, "--policy", policy, "u32[64]", 1)
            assert status == 1 and "[deadlock]" in text, text


# ---- shared memory of other blocks ----

# Every thread of every block adds to the next block's words, reads them by a generic address, and hears of the last by a message that
# holds an address of the sender's own memory.
FAR = HEAD + """.visible .entry far(.param .u64 p) DIRECTIVE
{
    .reg .u32 %r<20>; .reg .u64 %rd<8>; .reg .pred %q<3>;
    .shared .align 4 .b8 words[128];
    .shared .align 8 .b64 message;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, %cluster_nctarank;
    add.u32 %r4, %r2, 1;
    rem.u32 %r4, %r4, %r3;
    shl.b32 %r5, %r1, 2;
    mov.u32 %r6, words;
    add.u32 %r6, %r6, %r5;
    st.shared.u32 [%r6], %r1;
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    mapa.shared::cluster.u32 %r7, %r6, %r4;
    mad.lo.u32 %r8, %r2, 1000, 1000;
    atom.relaxed.cluster.shared::cluster.add.u32 %r9, [%r7], %r8;
    red.relaxed.cluster.shared::cluster.add.u32 [%r7], %r9;
    getctarank.shared::cluster.u32 %r10, %r7;
    cvt.u64.u32 %rd1, %r6;
    cvta.shared::cta.u64 %rd1, %rd1;
    mapa.u64 %rd2, %rd1, %r4;
    isspacep.shared::cta %q1, %rd2;
    isspacep.shared::cluster %q2, %rd2;
    selp.u32 %r11, 1, 0, %q1;
    selp.u32 %r12, 1, 0, %q2;
    mov.u32 %r13, message;
    mapa.shared::cluster.u32 %r13, %r13, %r4;
    setp.eq.u32 %q1, %r1, 0;
    @%q1 st.shared::cluster.u64 [%r13], %rd1;
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    ld.u32 %r14, [%rd2];
    ld.shared.u64 %rd3, [message];
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd3, %rd3, %rd4;
    ld.u32 %r15, [%rd3];
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ld.param.u64 %rd5, [p];
    mov.u32 %r16, %ctaid.x; mov.u32 %r17, %ntid.x;
    mad.lo.u32 %r16, %r16, %r17, %r1;
    mul.wide.u32 %rd6, %r16, 32;
    add.u64 %rd5, %rd5, %rd6;
    st.global.v4.u32 [%rd5], {%r9, %r10, %r11, %r12};
    st.global.v4.u32 [%rd5+16], {%r14, %r15, %r2, %r4};
    ret;
}
"""


def far(n):
    """What the threads of a cluster of n blocks have to find."""
    want = []
    for rank in range(n):
        after, before = (rank + 1) % n, (rank - 1) % n
        for t in range(32):
            word = lambda r: t + ((r - 1) % n + 1) * 1000 + t  # the word itself is added once more
            want += [t, after, int(after == rank), 1, word(after), word(before), rank, after]
    return want


def blocks_reach_each_others_shared_memory():
    with written(FAR.replace("DIRECTIVE", "")) as path:
        for n in 1, 2, 3, 8:
            args = "--grid", n, "--cluster", n, "--block", 32, f"u32[{8 * 32 * n}]+print"
            assert values(by_both(path, *args), 1) == far(n), n
            for policy in "serial", "random:5":
                assert values(launch(path, *args, "--policy", policy), 1) == far(n), (n, policy)
        assert values(by_both(path, "--grid", 1, "--block", 32, "u32[256]+print"), 1) == far(1)
    with written(FAR.replace("DIRECTIVE", ".reqnctapercluster 2")) as path:
        assert values(by_both(path, "--grid", 4, "--block", 32, "u32[1024]+print"), 1) == 2 * far(2)


LATE = HEAD + """.visible .entry late(.param .u64 p)
{
    .reg .u32 %r<6>; .reg .pred %q;
    .shared .align 4 .b8 s[64];
    mov.u32 %r1, s;
    mov.u32 %r2, %cluster_ctarank;
    setp.eq.u32 %q, %r2, 0;
    @%q ret;
    mapa.shared::cluster.u32 %r3, %r1, 0;
    ld.shared::cluster.u32 %r4, [%r3OFFSET];
    ret;
}
"""


def a_bad_access_to_another_block_is_a_fault():
    for offset, words in (("+64", "reads 4 bytes at shared address 0x40; the block's shared memory has 64 bytes"),
                          ("", "accesses the shared memory of block 0 of its cluster, which has ended")):
        text = LATE.replace("OFFSET", offset)
        if offset:
            text = text.replace("    @%q ret;\n", "").replace("    ret;\n}", "    barrier.cluster.arrive; barrier.cluster.wait; ret;\n}")
        with written(text) as path:
            for engine in "interp", "jit":
                status, _, err = run("launch", path, "--grid", 2, "--cluster", 2, "--block", 1, "--engine", engine, "u32[1]")
                assert status == 1 and words in err, err


# ---- an H200's answers ----

# A thread initialises an mbarrier, another one uses it behind the cluster's barrier, at which nobody releases by arriving.
FENCED = HEAD + """.visible .entry k(.param .u64 p) .reqnctapercluster 2, 1, 1 .maxntid 64
{
    .reg .pred %q; .reg .u32 %t; .reg .u64 %rd, %s;
    .shared .align 8 .b8 bar[8];
    .shared .align 4 .b8 data[4];
    mov.u32 %t, %tid.x;
    setp.ne.u32 %q, %t, 0;
    @%q bra meet;
    st.shared.u32 [data], 7;
    mbarrier.init.shared.b64 [bar], 1;
    FENCE
meet:
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.acquire.aligned;
    setp.ne.u32 %q, %t, 32;
    @%q bra done;
    mbarrier.arrive.shared.b64 %s, [bar];
    ld.shared.u32 %t, [data];
done:
    ret;
}
"""


def fences_order_who_arrives_relaxed_at_the_barrier():
    """9.7.13.4: fence.mbarrier_init is for mbarrier.init alone, others for all that their thread has done."""
    ways = {"": 2, "fence.mbarrier_init.release.cluster;": 1, "fence.acq_rel.cluster;": 0, "fence.sc.gpu;": 0,
            "fence.acq_rel.cluster; fence.mbarrier_init.release.cluster;": 0}
    for fence, races in ways.items():
        with written(FENCED.replace("FENCE", fence)) as path:
            _, _, text = run("check", path, "--grid", 4, "--block", 64, "u32[1]")
            assert text.count("error: ") == races and ("`data`" in text) == (races > 0), (fence, text)


def an_h200_gives_the_same_answers():
    """Special registers of clusters of one and two blocks, and mbarrier: tests/oracle/README.md."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.environ["HEDDLE_SOURCE"]
        subprocess.run(["tar", "-xJf", f"{source}/tests/oracle/clusters-h200.tar.xz", "-C", folder], check=True)
        for engine in "interp", "jit":
            done = subprocess.run([os.path.join(os.environ["HEDDLE_BUILD"], "tests/oracle-forms"), "--engine", engine,
                                   os.path.join(folder, "clusters")], capture_output=True, text=True)
            assert done.stdout.endswith("forms 16: 16 agree, 0 differ\n"), done.stdout + done.stderr


# Grid, cluster, crc32 of all that places.ptx wrote there.
SHAPES = [
    ("8,4,2", "2,2,1", "4ddf507f"),
    ("8,4,2", "4,1,2", "bd273b42"),
    ("8,4,2", "1,4,2", "4f49e271"),
    ("8,4,2", "8,1,1", "6be7c3c4"),
    ("8,4,2", "8,2,1", "e79f0cdf"),
    ("8,4,2", "4,2,2", "d1730c24"),
    ("8,4,2", "1,1,2", "ffb3fc3f"),
    ("6,6,2", "3,1,1", "64111448"),
    ("6,6,2", "3,3,1", "d63f6c1a"),
    ("6,6,2", "1,6,2", "d29c352d"),
    ("10,3,1", "5,3,1", "3b49b720"),
    ("16,1,1", "16,1,1", "28c997a3"),
    ("1,16,2", "1,16,1", "50dda487"),
    ("1,1,16", "1,1,16", "0a4e6fed"),
    ("4,2,1", "1,1,1", "d33c7fae"),
    ("4,2,1", None, "23e16fa9"),
]


def clusters_of_up_to_16_blocks_are_an_h200s():
    """Where blocks are, whom a mask of multicast reaches, and mapa and getctarank, by shape of the cluster."""
    path = os.path.join(os.environ["HEDDLE_SOURCE"], "tests/clusters/places.ptx")
    for grid, cluster, crc in SHAPES:
        words = 52 * math.prod(map(int, grid.split(",")))
        for engine in "interp", "jit":
            shape = ["--cluster", cluster] if cluster else []
            out = launch(path, "--grid", grid, *shape, "--block", 1, "--engine", engine, f"u32[{words}]+sum", 1)
            assert out["buffers"][0]["crc32"] == crc, (grid, cluster, engine)


main(globals())
