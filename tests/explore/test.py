"""heddle explore and heddle litmus: all executions that the memory model allows, beside recorded sets.

litmus.tar.xz and shapes.tar.xz: tests with all outcomes, races, deadlocks, loops that spin for ever and, where there are no
loops, numbers of graphs, by an axiomatic reference of the model's text. kernels.tar.xz: lock-free algorithms, right and with planted
bugs, as nvcc compiled them, with what an independent explorer found. kernels/: algorithms whose numbers of graphs are known by a formula
or by that reference (their PTX is nvcc 13.0's, -arch=sm_90 -lineinfo -std=c++17). algorithms.tar.xz: more algorithms, with what was found
when they were recorded."""
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import graphs
from tap import SANITIZED, Skip, heddle, in_full, main, need_clang, run, source, unpack

HERE = os.path.join(source, "tests/explore")
HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"


def explore(*args, status=None):
    """What an exploration has found, as its JSON; its exit status is there as `status`."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "found.json")
        got, out, err = run("explore", *args, "--json", path)
        assert got in (0, 1, 3) and (status is None or got == status), f"{args}: status {got}\n{out}{err}"
        with open(path) as f:
            return {**json.load(f), "status": got}


def kernel(name, grid, *args, **more):
    return explore(os.path.join(HERE, "kernels", name + ".ptx"), "--grid", grid, "--block", 1, *args, **more)


def explore_text(body, *args, params="", **more):
    """A kernel of this body, with what is often wanted declared."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + ".visible .entry k(" + params + ")\n{\n.reg .pred %p<9>; .reg .u32 %r<20>; .reg .u64 %rd<20>;\n" + body + "\n}\n")
        return explore(path, *args, **more)


def litmus_differences(archive):
    """Names of the tests whose results are not the recorded ones, and the sums of what the search counts."""
    wrong, sums = [], dict.fromkeys(("graphs", "blocked", "dead", "duplicates"), 0)
    with tempfile.TemporaryDirectory() as d:
        unpack(archive, d)
        folder = os.path.join(d, "litmus")
        files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".json"))
        status, out, err = run("litmus", "--no-symmetry", "--json", os.path.join(d, "all.json"), *files)
        assert status == 0, out + err
        with open(os.path.join(d, "all.json")) as f:
            found = {r["name"]: r for r in json.load(f)}
        for path in files:
            with open(path) as f:
                want = json.load(f)
            got = found[path]
            same = (got["outcomes"] == sorted(want["outcomes"]) and got["races"] == sorted(want["races"])
                    and got["deadlock"] == want["deadlock"] and got["livelock"] == want["hang"]
                    and got["traps"] == want["assert_fails"] and want.get("graphs") in (None, got["graphs"]))
            if not same:
                wrong.append(want["name"] + " " + want["what"])
            for k in sums:
                sums[k] += got[k]
    return wrong, sums


def check_litmus(archive):
    wrong, sums = litmus_differences(archive)
    assert not wrong, wrong
    assert sums["duplicates"] == 0, sums
    assert sums["dead"] + sums["blocked"] <= 2 * sums["graphs"], sums


def litmus_tests_have_the_outcomes_of_the_model():
    check_litmus(os.path.join(HERE, "shapes.tar.xz"))


def dependencies_rings_and_chains_have_the_outcomes_of_the_model():
    check_litmus(os.path.join(HERE, "litmus.tar.xz"))


def lock_free_kernels_are_exhausted_and_their_bugs_found():
    with tempfile.TemporaryDirectory() as d:
        unpack(os.path.join(HERE, "kernels.tar.xz"), d)
        with open(os.path.join(d, "kernels/list.json")) as f:
            kernels = json.load(f)
        for k in kernels:
            observe = [a for o in k["observed"] for a in ("--observe", o.replace("g[", "1[").replace("r[", "2["))]
            got = explore(os.path.join(d, "kernels", k["file"]), k["kernel"], "--grid", k["grid"], "--block", k["block"],
                          "--no-symmetry", *observe, *k["args"])
            where = f"{k['kernel']}: {got}"
            assert got["complete"] == k["exhausted"] and got["graphs"] == k["graphs"] and got["duplicates"] == 0, where
            assert got["dead"] <= 2 * got["graphs"], where
            assert got["outcomes"] == sorted(k["outcomes"]) and got["races"] == sorted(k["races"]), where
            assert got["livelock"] == k["spins_for_ever"] and got["traps"] == k["traps"], where
            assert k["verdict"] == "bad" or got["status"] == 0, where
            assert set(k["find"]) == {"outcome"} or k["verdict"] == "clean" or got["status"] == 1, where


def check_programs(are_tried):
    """programs.tar.xz: 22 algorithms by cuda::atomic_ref, libcu++'s waits, groups and clusters, as heddle cc compiles them, 60 more by nvcc
    (more.cu, more2.cu, more3.cu); with what is wrong by construction. Retries of a reader-writer lock have no bound, and are cut off."""
    with tempfile.TemporaryDirectory() as d:
        unpack(os.path.join(HERE, "programs.tar.xz"), d)
        with open(os.path.join(d, "programs/list.json")) as f:
            programs = json.load(f)
        for p in filter(are_tried, programs):
            got = explore(os.path.join(d, "programs", p["file"]), p["kernel"], *p["args"])
            kinds = sorted({f["kind"] for f in got["findings"]})
            assert (got["complete"], kinds, got["races"], got["traps"]) == (p["complete"], p["kinds"], p["races"], p["traps"]), (p, got)
            assert got["complete"] or "--unroll" in got["bounds"][0], got
            assert not got["graphs"] or got["dead"] <= 2 * got["graphs"], (p, got)


def is_of_few_variants(program):
    return program["file"] not in ("more.ptx", "more2.ptx", "more3.ptx") or program["kernel"][-2:] in ("_0", "_1")


def programs_are_right_or_their_bugs_are_found():
    check_programs(is_of_few_variants)


@in_full
def other_variants_of_programs_are_right_or_their_bugs_are_found():
    check_programs(lambda program: not is_of_few_variants(program))


@in_full
def a_search_that_has_found_something_ends_soon():
    """A race, and an outcome that a condition excludes: of 3 threads that add to 9 words without atomics, which has 16^9 executions."""
    body = """ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;""" + "".join(
        f"ld.HOW %r2, [%rd1+{4 * i}]; add.u32 %r2, %r2, 1; st.HOW [%rd1+{4 * i}], %r2;" for i in range(9)) + "ret;"
    for how, more in (("u32", ()), ("relaxed.gpu.u32", ("--require", "1[0] == 3"))):
        got = explore_text(body.replace("HOW", how), "--grid", 3, "--block", 1, "--no-symmetry", "--workers", 2, *more, "u32[9]",
                           params=".param .u64 p", status=1)
        assert not got["complete"] and "because something was found" in got["bounds"][-1], got


def other_algorithms_are_exhausted_and_their_bugs_found():
    """algorithms.tar.xz: 18 algorithms, each right (but peterson_0, whose turns are not exchanged) and with one mistake a variant. What
    is found of the right ones is nothing; numbers of graphs and races are those found when they were recorded."""
    with tempfile.TemporaryDirectory() as d:
        unpack(os.path.join(HERE, "algorithms.tar.xz"), d)
        with open(os.path.join(d, "algorithms/list.json")) as f:
            kernels = json.load(f)
        for k in kernels:
            got = explore(os.path.join(d, "algorithms/algorithms.ptx"), k["kernel"], "--grid", k["grid"], "--block", k["block"], "--no-symmetry",
                          "u32[64]", "u32[16]+outcomes")
            where = f"{k}: {got}"
            assert all(got[m] == k[m] for m in ("complete", "graphs", "races", "livelock", "livelock_by_atomics", "deadlock")), where
            assert len(got["outcomes"]) == k["outcomes"] and got["duplicates"] == 0 and got["seconds"] < 10, where
            assert got["dead"] <= 2 * got["graphs"], where
            right = k["kernel"].endswith("_0") and k["kernel"] != "peterson_0"
            assert got["complete"] and (got["status"] == 0 if right else got["races"] or got["livelock"] or len(got["outcomes"]) > 1), where


def a_ticket_lock_has_a_graph_for_each_order_of_its_entries():
    for threads, entries in ((2, 1), (3, 1), (2, 2), (3, 2), (4, 1)):
        got = kernel("ticket", threads, "u32[96]", entries, "--observe", "1[64]", "--no-symmetry", status=0)
        orders = math.factorial(threads * entries) // math.factorial(entries) ** threads
        assert (got["graphs"], got["dead"], got["duplicates"]) == (orders, 0, 0), got
        assert got["outcomes"] == [[threads * entries]], got


def counters_have_as_many_graphs_as_their_adds_have_orders():
    """No branch is in vain, as what an add of a thread passes later ones do not read: also where they read by plain loads, and acquire nothing."""
    for threads, adds in ((2, 2), (2, 3), (3, 2), (3, 3), (2, 6)):
        got = explore_text("ld.param.u64 %rd1, [p];" + "atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;" * adds + "ret;", "--grid", threads,
                           "--block", 1, "--no-symmetry", "u32[1]+outcomes", params=".param .u64 p", status=0)
        orders = math.factorial(threads * adds) // math.factorial(adds) ** threads
        assert (got["graphs"], got["dead"], got["duplicates"], got["outcomes"]) == (orders, 0, 0, [[threads * adds]]), got
    got = explore_text("ld.param.u64 %rd1, [p];" + "atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1; ld.relaxed.gpu.global.u32 %r2, [%rd1];" * 2
                       + "ret;", "--grid", 2, "--block", 1, "--no-symmetry", "u32[1]+outcomes", params=".param .u64 p", status=0)
    assert (got["outcomes"], got["dead"]) == ([[4]], 0), got


def what_a_counting_loop_writes_is_known_round_by_round():
    """A dissemination barrier of 3 threads: no flag is written twice, so that there is nothing to decide."""
    got = explore_text("""ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, 1;
        round: mad.wide.u32 %rd2, %r2, 16, %rd1; add.u32 %r3, %r1, %r2; rem.u32 %r3, %r3, 3; mad.wide.u32 %rd3, %r3, 4, %rd2;
        st.release.gpu.global.u32 [%rd3], 1; mad.wide.u32 %rd4, %r1, 4, %rd2;
        wait: ld.acquire.gpu.global.u32 %r4, [%rd4]; setp.eq.u32 %p1, %r4, 0; @%p1 bra wait;
        shl.b32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 3; @%p2 bra round; ret;""",
                       "--grid", 3, "--block", 1, "--no-symmetry", "u32[16]", params=".param .u64 p", status=0)
    assert (got["graphs"], got["blocked"], got["dead"]) == (1, 0, 0), got


def threads_that_can_be_exchanged_are_explored_once():
    all_of_them = kernel("ticket", 3, "u32[96]", 2, "--observe", "1[64]", "--no-symmetry", status=0)
    once = kernel("ticket", 3, "u32[96]", 2, "--observe", "1[64]", status=0)
    assert all_of_them["graphs"] == math.factorial(3) * once["graphs"] and all_of_them["outcomes"] == once["outcomes"]


def a_stack_has_as_many_graphs_as_the_reference_counts():
    """Plans of pushes and pops that the reference can count: push | pop; push | push; push and pop | pop."""
    for plan, graphs in ((1 + 8, 2), (1 + 4, 4), (3 + 8, 5)):
        got = kernel("treiber", 2, "u32[96]", "u32[3]+outcomes", plan, "--no-symmetry", status=0)
        assert (got["graphs"], got["duplicates"]) == (graphs, 0), got


def graphs_are_those_that_trying_all_counts():
    """graphs.py tries everything, with code of its own. `python3 tests/explore/graphs.py treiber 63 3` and `deque 3 3 3` do not end in half an hour."""
    for plan, blocks in ((15, 2), (21, 3), (37, 3)):
        got = kernel("treiber", blocks, "u32[96]", "u32[3]+outcomes", plan, "--no-symmetry", status=0)
        assert got["graphs"] == graphs.count(graphs.treiber(plan, blocks)), (plan, got)
    for pushes, takes, thieves in ((1, 1, 1), (2, 2, 1), (1, 1, 2)):
        got = kernel("deque", 1 + thieves, "u32[96]", "u32[8]+outcomes", pushes, takes, "--no-symmetry", status=0)
        assert got["graphs"] == graphs.count(graphs.deque(pushes, takes, thieves)), (pushes, takes, thieves, got)


def check_counts(plans):
    """whole_counts.c decides one read after the other, and judges each graph anew by total orders."""
    with tempfile.TemporaryDirectory() as d:
        counter = os.path.join(d, "whole_counts")
        subprocess.run(["cc", "-O2", "-o", counter, os.path.join(HERE, "whole_counts.c")], check=True)
        for name, grid, observed, *args in plans:
            got = kernel(name, grid, "u32[96]", observed + "+outcomes", *(args[:1] if name == "treiber" else args[:2]), "--no-symmetry", status=0)
            counted = subprocess.run([counter, name, *map(str, args)], capture_output=True, text=True, check=True).stdout
            assert counted.startswith(f"graphs {got['graphs']} "), (name, args, counted, got)


def graphs_are_those_that_a_second_count_has():
    check_counts((("treiber", 2, "u32[3]", 15, 2), ("treiber", 3, "u32[3]", 21, 3), ("deque", 2, "u32[8]", 2, 2, 1), ("deque", 3, "u32[8]", 2, 2, 2)))


@in_full
def whole_counts_are_those_of_the_second_count():
    """Three threads that push and pop (25,680), three pushes and takes beside two thieves (922). Beside three thieves (35,338) it takes five minutes."""
    check_counts((("treiber", 3, "u32[3]", 63, 3), ("deque", 3, "u32[8]", 3, 3, 2)))


def a_barrier_of_the_grid_has_a_graph_for_each_order_of_arrivals():
    for blocks, rounds in ((2, 1), (3, 1), (2, 2), (3, 2)):
        got = kernel("gridbar", blocks, "u32[64]", "u32[8]", "u32[8]+outcomes", rounds, "--no-symmetry", status=0)
        assert got["graphs"] == math.factorial(blocks) ** (2 * rounds - 1), got
        assert got["outcomes"] == [[rounds * (rounds + 1) // 2 if i < blocks else 0 for i in range(8)]], got


def a_queue_lock_has_as_many_graphs_as_the_reference_counts():
    for threads, entries, graphs in ((2, 1, 6), (2, 2, 78), (3, 1, 66)):
        got = kernel("mcs", threads, "u32[128]", entries, "--observe", "1[32]", status=0)
        assert (got["graphs"], got["duplicates"]) == (graphs, 0), got
        assert got["outcomes"] == [[threads * entries]], got


def any_number_of_threads_finds_and_shows_the_same():
    """A tree of 25,680 graphs, of which threads give each other parts."""
    def said(workers, *more):
        with tempfile.TemporaryDirectory() as d:
            status, out, err = run("explore", os.path.join(HERE, "kernels/treiber.ptx"), "--grid", 3, "--block", 1, "u32[96]", "u32[3]+outcomes", 63,
                                   "--no-symmetry", "--examples", "--forbid", "2[0] == 11", "--workers", workers, "--json", os.path.join(d, "j"), *more)
            with open(os.path.join(d, "j")) as f:
                found = json.load(f)
        found.pop("seconds")
        return status, out, err, found
    alone = said(1)
    assert alone[0] == 1 and alone[3]["graphs"] == 25680, alone
    for workers in (2, 5):
        assert said(workers) == alone, workers
    limited = said(3, "--limit", 20000)
    assert limited[3]["bounds"] == ["--limit 20000: the search was ended"] and 0 < limited[3]["graphs"] < 25680, limited


def kernels_of_another_explorer_have_its_counts():
    """After GPUMC's benchmarks, of less threads; scripts/gpumc explores them whole."""
    need_clang()
    with tempfile.TemporaryDirectory() as d:
        for file in ("locks", "barrier", "rings"):
            done = subprocess.run([heddle, "cc", "-ptx", "-O2", "-lineinfo", "-o", f"{d}/{file}.ptx", f"{source}/bench/gpumc/{file}.cu"],
                                  capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        def found(file, name, grid, block, *more):
            return explore(f"{d}/{file}.ptx", name, "--grid", grid, "--block", block, "u32[256]", "--no-symmetry", *more)
        for file, name, grid, block, graphs in (("locks", "caslock", 3, 2, 720), ("locks", "ticketlock", 3, 2, 720), ("locks", "ttaslock", 2, 2, 24 * 24),
                                                ("barrier", "xf", 3, 3, 1), ("barrier", "xf", 4, 6, 1), ("rings", "lb", 10, 1, 1023), ("rings", "sb", 10, 1, 1024)):
            got = found(file, name, grid, block)
            assert (got["status"], got["graphs"], got["dead"], got["duplicates"]) == (0, graphs, 0, 0), (name, got)
        for name in ("caslock", "ticketlock", "ttaslock"):
            for without in ("acquire", "release"):
                got = found("locks", f"{name}_relaxed_{without}", 2, 2, "--limit", 1000)
                assert got["status"] == 1 and got["races"], (name, without, got)
        for without in ("acquire", "release"):
            for blocks, threads in ((2, 2), (4, 6)):
                assert found("barrier", f"xf_relaxed_{without}", blocks, threads, "--limit", 1000)["races"], without


@in_full
def large_locks_are_exhausted():
    assert kernel("ticket", 4, "u32[96]", 2, "--no-symmetry", status=0)["graphs"] == 2520
    assert kernel("mcs", 3, "u32[128]", 2, status=0)["graphs"] == 17670


def what_is_not_explored_is_refused_by_name():
    for body, name in (("fence.proxy.async; ret;", "proxies"),
                       (".shared .b64 m; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [m], 1; ret;", "transactions of mbarriers"),
                       ("cp.async.commit_group; ret;", "asynchronous copies"),
                       ("activemask.b32 %r1; ret;", "activemask"),
                       (".shared .b32 s; mov.u32 %r1, %clock; st.shared.u32 [s], %r1; ret;", "depends on a clock"),
                       (".shared .b32 s; st.shared.u32 [s], 1; ld.shared.u8 %r1, [s]; ret;", "mixed-size")):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "k.ptx")
            with open(path, "w") as f:
                f.write(HEAD + ".visible .entry k()\n{\n.reg .u32 %r<9>;\n" + body + "\n}\n")
            status, out, err = run("explore", path, "--grid", 1, "--block", 1)
            assert status == 2 and name in err, (body, status, out, err)


def errors_do_not_have_the_status_of_findings():
    with tempfile.TemporaryDirectory() as d:
        ptx = lambda name, body: (os.path.join(d, name), HEAD + ".visible .entry k(.param .u64 p)\n{\n" + body + "\n}\n")
        for path, text in (ptx("right.ptx", "ret;"), ptx("wrong.ptx", "nonsense;")):
            with open(path, "w") as f:
                f.write(text)
        right, wrong, taken = (os.path.join(d, name) for name in ("right.ptx", "wrong.ptx", "right.ptx/taken"))
        launch = ("--grid", 1, "--block", 1)
        for args, says in (((right, *launch, "u32[99999999999]"), "out of memory"), ((wrong, *launch, "u32[1]"), "nonsense"),
                           ((os.path.join(d, "none.ptx"), *launch), "none.ptx"), ((right, "--grid", 1, "--block", 9999, "u32[1]"), "9999"),
                           ((right, *launch, "--schedules", taken, "u32[1]"), "cannot make the folder"), ((right, *launch, "--json", "/dev/full", "u32[1]"), "/dev/full"),
                           (("--kernel", "k", os.path.join(d, "none")), "none")):
            status, out, err = run("explore", *args)
            assert status not in (0, 1, 3) and says in err, (args, status, out, err)


def a_swap_whose_result_nobody_looks_at_is_not_passed_by_the_value_that_it_swaps():
    """As of threads that help each other forward in a queue: whoever reads the old value again has not done it."""
    got = explore_text("""ld.param.u64 %rd1, [p];
        again: ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 0; @%p1 bra done;
        atom.cas.acq_rel.gpu.global.b32 %r2, [%rd1], 0, 1; bra again;
        done: ret;""", "--grid", 3, "--block", 1, "--no-symmetry", "u32[1]+outcomes", params=".param .u64 p", status=0)
    assert (got["outcomes"], got["complete"], got["dead"]) == ([[1]], True, 0), got


def what_is_observed_in_another_size_than_it_is_written_is_named():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\n.reg .u64 %rd<9>;\nld.param.u64 %rd1, [p]; st.global.u64 [%rd1], 5; ret;\n}\n")
        launch = ("explore", path, "--grid", 1, "--block", 1, "u32[2]")
        status, out, err = run(*launch, "--observe", "1[1]")
        assert status == 2 and "`1[1]` is observed as 4 bytes, but this writes 8" in err and "2[0]:u64" in err, err
        status, out, err = run(*launch, "--observe", "1[0]:u64")
        assert status == 0 and "\n           5\n" in out, (out, err)


def explore_mbarrier(*lines, threads=3, **more):
    """Threads write their word of shared memory each, and read the next one's; between that are the lines. Operand %r1: the thread."""
    return explore_text(""".shared .b64 m; .shared .align 8 .b32 s[6]; .reg .b64 %t;
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [m], %r2; bar.sync 0;
        mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; add.u32 %r5, %r1, 1; rem.u32 %r5, %r5, %r2; mad.lo.u32 %r5, %r5, 4, %r3;
        st.shared.u32 [%r4], 7;""" + "".join(lines) + "ld.shared.u32 %r6, [%r5]; ret;", "--grid", 1, "--block", threads, "--no-symmetry", **more)


ARRIVE, WAIT = "mbarrier.arrive.shared.b64 %t, [m];", "wait: mbarrier.try_wait.shared.b64 %p2, [m], %t; @!%p2 bra wait;"


def mbarriers_order_what_threads_do():
    """Arrivals are atomic operations: each order of them is an execution."""
    for threads, orders in (2, 2), (3, 6), (4, 24):
        got = explore_mbarrier(ARRIVE, WAIT, threads=threads, status=0)
        assert (got["graphs"], got["dead"], got["complete"]) == (orders, 0, True), got
    by_parity = explore_mbarrier(ARRIVE, WAIT.replace("try_wait", "test_wait.parity").replace("%t", "0"), status=0)
    assert by_parity["graphs"] == 6, by_parity
    dropped = explore_mbarrier("@!%p1 mbarrier.arrive_drop.shared.b64 %t, [m];", "@%p1 " + ARRIVE, WAIT, status=0)
    assert dropped["complete"], dropped


def mistakes_with_mbarriers_are_found():
    def kinds(*lines, **more):
        return {f["kind"] for f in explore_mbarrier(*lines, **more, status=1)["findings"]}
    assert kinds(ARRIVE) == {"race"}
    assert kinds(ARRIVE.replace("arrive", "arrive.relaxed.cta"), WAIT) == {"race"}
    assert kinds(ARRIVE, WAIT.replace("try_wait", "try_wait.relaxed.cta")) == {"race"}
    assert kinds(ARRIVE, "mbarrier.test_wait.shared.b64 %p2, [m], %t;") == {"race"}, "a test in vain orders nothing"
    assert kinds("@%p1 " + ARRIVE, WAIT.replace("try_wait", "test_wait.parity").replace("%t", "0")) == {"livelock"}, "one does not arrive"
    for line, fault in (("mbarrier.arrive.shared.b64 %t, [s+16];", "an mbarrier that is not initialised"),
                        ("mbarrier.arrive.shared.b64 %t, [m], 2;", "more arrivals at an mbarrier than it expects"),
                        ("sub.u32 %r7, %r1, %r1; mbarrier.arrive.shared.b64 %t, [m], %r7;", "an mbarrier's count that is not from 1")):
        faults = [str(f) for f in explore_mbarrier(line, status=1)["findings"] if f["kind"] == "fault"]
        assert faults and fault in faults[0], (line, faults)


def threads_that_know_who_they_are_are_no_images_of_each_other():
    """Each asks in the block in which it reads, and uses it in another one."""
    body = """ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; atom.relaxed.gpu.add.u32 %r2, [%rd1], 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra done;
              mov.u32 %r2, 5;
              done: mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; st.global.u32 [%rd2+4], %r2; ret;"""
    for more in (), ("--no-symmetry",):
        found = explore_text(body, "--grid", 2, "--block", 1, "u32[3]+outcomes", *more, params=".param .u64 p", status=0)
        assert found["outcomes"] == [[2, 0, 5], [2, 5, 0]], (more, found)


def words_of_outcomes_are_unsigned():
    """Also where JSON's readers and writers have signed numbers: of a PTX file, and in what a process tells of a program."""
    found = explore_text("ld.param.u64 %rd1, [p]; mov.u64 %rd2, -2; st.global.u64 [%rd1], %rd2; mov.u64 %rd2, 0x7fffffffffffffff; st.global.u64 [%rd1+8], %rd2; ret;",
                         "--grid", 1, "--block", 1, "s64[2]+outcomes", params=".param .u64 p", status=0)
    assert found["outcomes"] == [[2**64 - 2, 2**63 - 1]], found


def the_variable_that_may_be_meant_is_named():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + ".global .u32 counter;\n.visible .entry k()\n{\n.shared .u32 tile;\n.reg .u32 %r<2>;\nst.shared.u32 [tile], 1; atom.global.add.u32 %r1, [counter], 1; ret;\n}\n")
        for name, says in ("conter", "did you mean `counter`?"), ("tiles[0]", "did you mean `tile`?"), ("elsewhere", "no such parameter or variable in the PTX"):
            status, out, err = run("explore", path, "--grid", 1, "--block", 1, "--observe", name)
            assert status == 2 and f"`{name}`: there is no such parameter or variable" in err and says in err, (name, err)


def a_parameters_name_stands_for_its_number():
    """Also where a variable of the module has that name, or another name stands for the same place: a condition observes each once."""
    body = """ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [r]; atom.relaxed.gpu.add.u32 %r1, [%rd1], 1; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd3, %r2, 4;
              add.u64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r1; ret;"""
    launch = "--no-symmetry", "--grid", 2, "--block", 1
    params = ".param .u64 p, .param .u64 r"
    found = explore_text(body, *launch, "--observe", "r[1]", "--require", "2[0] + r[1] == 1 && p[0] == 2 && 1 == p[0]:s32 - 1", "u32[1]", "u32[2]", params=params,
                         status=0)
    assert found["observed"] == ["r[1]", "2[0]", "p[0]", "p[0]:s32"] and found["outcomes"] == [[0, 1, 2, 2], [1, 0, 2, 2]], found
    found = explore_text(body, *launch, "--forbid", "r[0] == 1", "u32[1]", "u32[2]+outcomes", params=params, status=1)
    assert found["observed"] == ["2[0]", "2[1]"] and len(found["findings"]) == 1, found
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/k.ptx", "w") as f:
            f.write(HEAD + ".global .u32 r;\n.visible .entry k(" + params + ")\n{\n.reg .u32 %r<9>; .reg .u64 %rd<9>;\n" + body + "\n}\n")
        status, out, err = run("explore", f"{d}/k.ptx", *launch, "--observe", "r[1]", "u32[1]", "u32[2]")
        assert status == 0 and "explored: all" in out, out + err
        for place, says in ("r[2]", "has 2 elements"), ("rr[0]", "did you mean `r`?"):
            status, out, err = run("explore", f"{d}/k.ptx", *launch, "--observe", place, "u32[1]", "u32[2]")
            assert status == 2 and says in err, err


def wrong_command_lines_say_what_is_meant():
    """Before the search begins, which may be long."""
    ticket = os.path.join(HERE, "kernels/ticket.ptx"), "--grid", 3, "--block", 1, "u32[96]", 3
    for words, says in ((("--kernel", "ticket"), "the kernel of a PTX file is named behind it"), (("--launch", 2), "a PTX file has no launches"),
                        (("--json", "/none/found.json"), "cannot write /none/found.json"), (("--graph", "/none/found.svg"), "cannot write /none/found.svg"),
                        (("--graph", "found.png"), "must end in .html or .svg")):
        status, out, err = run("explore", *ticket, "--no-symmetry", *words)
        assert status == 2 and not out and says in err, (words, status, out, err)
    status, out, err = run("explore", *ticket[:5], "u32[96]+outcome", 1)
    assert status == 2 and "and, for heddle explore, +outcomes" in err, err
    status, out, err = run("explore", *ticket[:6], 1, "--observe", "1[64]", "--outcome", 2, "--repair")
    assert status == 2 and "there is 1 outcome, number 1" in err, err


def waits_by_clocks_and_sleeps_are_explored():
    """What nvcc 13 makes of libcu++'s waits: a loop that polls, counts its rounds, and sleeps as long as clocks say."""
    with tempfile.TemporaryDirectory() as d:
        unpack(os.path.join(HERE, "waits.tar.xz"), d)
        for kernel, block, args, status, outcomes, finding in (
                ("waiter", 1, ("u32[1]", "u32[1]", "u32[1]+outcomes"), 0, [[42]], None),
                ("binsem", 1, ("u32[1]=1", "u32[1]+outcomes"), 0, [[2]], None),
                ("binsem", 1, ("u32[1]=0", "u32[1]+outcomes"), 1, [], "livelock"), # nobody has released it
                ("sem", 1, ("u64[1]=1", "u32[1]+outcomes", "u32[1]"), 0, [[2]], None),
                ("latch", 1, ("u64[1]=2", "u32[2]", "u32[2]+outcomes"), 0, [[2, 1]], None),
                ("latch", 1, ("u64[1]=3", "u32[2]", "u32[2]+outcomes"), 1, [], "livelock"),
                ("bar", 1, ("u64[1]=0x7ffffffe7ffffffe", "u32[2]", "u32[2]+outcomes"), 0, [[2, 1]], None),
                ("delayed", 1, ("u32[1]", "u32[1]", "u32[1]+outcomes"), 0, [[42]], None)):
            found = explore(f"{d}/waits/waits.ptx", kernel, "--grid", 2, "--block", block, *args, status=status)
            assert found["complete"] and found["outcomes"] == outcomes and [f["kind"] for f in found["findings"]] == ([finding] if finding else []), (kernel, args, found)
        # nvcc has written out 17 looks before the loop that looks.
        found = explore(f"{d}/waits/waits.ptx", "latch_of_many", "--grid", 3, "--block", 1, "u64[1]=3", "u32[1]", "u32[1]+outcomes", status=0)
        assert found["complete"] and found["outcomes"] == [[3]] and found["graphs"] < 500, found
        found = explore(f"{d}/waits/waits.ptx", "sem", "--grid", 3, "--block", 1, "u64[1]=2", "u32[1]+outcomes", "u32[1]", status=0)
        assert found["complete"] and found["outcomes"] == [[3]], found
        for kernel, args in ("gives_up", ("u32[1]", "u32[1]")), ("tells_time", ("u64[1]",)), ("never_ends", ("u32[1]",)):
            status, out, err = run("explore", f"{d}/waits/waits.ptx", kernel, "--grid", 2, "--block", 1, *args)
            assert status == 2 and "depends on a clock" in err, (kernel, status, out, err)


# A thread looks at a word, at most so often as it is written out, then in a loop; block 0 writes 1, 2 and 3 to it.
LOOKS = """ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, {first}; @%p1 bra look;
           st.relaxed.gpu.u32 [%rd1], 1; st.relaxed.gpu.u32 [%rd1], 2; st.relaxed.gpu.u32 [%rd1], 3; ret;
           look: {looks} behind: st.global.u32 [%rd1+4], {shown}; ret;"""


def looks_that_are_written_out_are_one():
    """Whatever the compiler calls its registers, and however it writes the condition."""
    looks = """ld.acquire.gpu.u32 %r4, [%rd1]; setp.gt.s32 %p2, %r4, 2; @%p2 bra behind;
               mov.u64 %rd2, %rd1; ld.acquire.gpu.u32 %r5, [%rd2]; setp.ge.s32 %p3, %r5, 3; @%p3 bra behind;
               ld.acquire.gpu.u32 %r6, [%rd1]; setp.lt.s32 %p4, %r6, 3; @!%p4 bra behind; nanosleep.u32 20;
               again: ld.acquire.gpu.u32 %r7, [%rd1]; setp.le.s32 %p5, %r7, 2; @%p5 bra again;"""
    found = explore_text(LOOKS.format(first=0, looks=looks, shown=7), "--grid", 2, "--block", 1, "u32[2]+outcomes", params=".param .u64 p", status=0)
    assert found["complete"] and found["outcomes"] == [[3, 7]] and found["graphs"] == 1, found
    looks = """atom.relaxed.gpu.cas.b32 %r4, [%rd1], 3, 4; setp.eq.u32 %p2, %r4, 3; @%p2 bra behind; nanosleep.u32 20;
               again: atom.relaxed.gpu.cas.b32 %r5, [%rd1], 3, 4; setp.ne.u32 %p3, %r5, 3; @%p3 bra again;"""
    found = explore_text(LOOKS.format(first=0, looks=looks, shown=7), "--grid", 2, "--block", 1, "u32[2]+outcomes", params=".param .u64 p", status=0)
    assert found["complete"] and found["outcomes"] == [[4, 7]] and found["graphs"] == 1, found


def a_loop_that_is_entered_at_two_places_waits():
    """As clang writes a wait on what may be a thread's own memory, which it asks for once."""
    looks = """setp.eq.u32 %p2, %r1, 9; @!%p2 bra strong; bra weak;
               weak: ld.weak.u32 %r4, [%rd1]; bra test;
               strong: ld.acquire.gpu.u32 %r4, [%rd1];
               test: setp.eq.u32 %p3, %r4, 3; @%p3 bra behind; nanosleep.u32 20; @!%p2 bra strong; bra weak;"""
    found = explore_text(LOOKS.format(first=0, looks=looks, shown=7), "--grid", 2, "--block", 1, "u32[2]+outcomes", params=".param .u64 p", status=0)
    assert found["complete"] and found["outcomes"] == [[3, 7]] and found["graphs"] == 1, found


def looks_that_differ_are_each_what_they_are():
    """They give up, wait for another value, or show what they have seen, or how often they have looked."""
    look = "ld.acquire.gpu.u32 %r{r}, [%rd1]; setp.{cmp}.u32 %p{p}, %r{r}, {to}; @%p{p} bra {where}; "
    one = lambda r, p, cmp="ge", to="1", where="behind": look.format(r=r, p=p, cmp=cmp, to=to, where=where)
    for looks, first, shown, outcomes in (
            (one(4, 2) + one(5, 3), 0, 7, [7]),
            (one(4, 2, "eq", 1) + "again: " + one(5, 3, "lt", 3, "again"), 0, 7, [7]),
            ("again: ld.acquire.gpu.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 1; @%p2 bra behind; ld.acquire.gpu.u32 %r2, [%rd1]; setp.ne.u32 %p2, %r2, 2; @%p2 bra again;",
             0, "%r2", [1, 2]),
            (one(4, 2, to="%r2") + "add.u32 %r2, %r2, 2;" + one(5, 3, to="%r2") + "mov.u32 %r2, 9;", 1, "%r2", [1, 3, 9]),
            (one(4, 2, "lt") + "mov.u32 %r2, 1; bra behind;", 0, "%r2", [0, 1]),
            ("ld.relaxed.gpu.u32 %r4, [%rd1]; setp.ge.u32 %p2, %r4, 1; @%p2 bra behind; again: ld.relaxed.gpu.u32 %r4, [%rd1]; setp.lt.u32 %p2, %r4, 1; @%p2 bra again;",
             0, "%r4", [1, 2, 3])):
        found = explore_text(LOOKS.format(first=first, looks=looks, shown=shown), "--grid", 2, "--block", 1, "u32[2]+outcomes", params=".param .u64 p")
        assert found["complete"] and found["outcomes"] == [[3, v] for v in outcomes], (looks, found)


def lanes_exchange_values_and_meet():
    got = explore_text("""mov.u32 %r1, %laneid;
        shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
        setp.gt.u32 %p1, %r1, 2;
        vote.sync.ballot.b32 %r3, %p1, 15;
        ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r2; st.global.u32 [%rd1+4], %r3; ret;""", "--grid", 1, "--block", 4, "u32[8]+outcomes",
                       params=".param .u64 p", status=0)
    assert got["outcomes"] == [[1, 8, 0, 8, 3, 8, 2, 8]] and got["graphs"] == 1, got


def a_barrier_orders_shared_memory():
    body = """.shared .b32 s; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;
        @!%p1 st.shared.u32 [s], 5;
        BARRIER
        ld.shared.u32 %r2, [s]; ld.param.u64 %rd1, [p]; @%p1 st.global.u32 [%rd1], %r2; ret;"""
    for barrier, outcomes in (("bar.sync 0;", [[5]]), ("", [[0], [5]])):
        got = explore_text(body.replace("BARRIER", barrier), "--grid", 1, "--block", 2, "u32[1]+outcomes", params=".param .u64 p")
        assert got["outcomes"] == outcomes and bool(got["races"]) == (not barrier), got


def a_retry_that_writes_is_cut_and_said_so():
    body = """ld.param.u64 %rd1, [p];
        again: atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again; ret;"""
    got = explore_text(body, "--grid", 2, "--block", 1, "--unroll", 2, "u32[1]", params=".param .u64 p", status=3)
    assert not got["complete"] and "--unroll 2" in got["bounds"][0], got


def conditions_hold_of_every_outcome_or_of_none():
    lock = os.path.join(HERE, "kernels/ticket.ptx")
    for option, condition, status, says in (("--require", "1[64] == 4 && 1[0] + 0 == 1[32]", 0, "0 findings"),
                                            ("--require", "!(1[64] < 4) && (1[64] == 3 || 1[0] > 4)", 1, "not of 1[64]=4 1[0]=4"),
                                            ("--forbid", "1[64] != 4", 0, "0 findings"),
                                            ("--forbid", "1[64] >= 4", 1, "--forbid `1[64] >= 4`"),
                                            ("--require", "1[64] =", 2, "`==` compares: at `=`\n  1[64] =\n        ^\n"),
                                            ("--require", "1[64] & 3", 2, "one of the operators && || == != < <= > >= + - is missing at `& 3`"),
                                            ("--require", "1[64] == 0x4uLL", 0, "0 findings"),
                                            ("--require", "1[64] < 18446744073709551616", 2, "beyond 64 bits"),
                                            ("--forbid", "-1 == 1[64]", 2, "never negative: write `:s32`"),
                                            ("--require", "2[0] == 1", 2, "argument 2 is not a buffer"),
                                            ("--require", "(1[64] == 1", 2, "`)` is missing"),
                                            ("--require", "7[0] == 1", 2, "`7[0]`: the kernel takes 2 arguments")):
        got, out, err = run("explore", lock, "--grid", 2, "--block", 1, option, condition, "u32[96]", 2)
        assert got == status and says in out + err, (condition, got, out, err)


def a_kernel_is_named_without_scopes_and_abi_tags():
    name = "_ZN3app9incrementB2v1B3abcEj"  # as numba has it: app.increment
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + f".visible .entry {name}()\n{{\nret;\n}}\n.visible .entry other()\n{{\ntrap;\n}}\n")
        for typed in "increment", name:
            assert explore(path, typed, "--grid", 1, "--block", 1)["status"] == 0, typed


def places_are_taken_as_a_type_says():
    body = """.shared .align 8 .b8 wide[16]; .shared .align 4 .b8 narrow[16]; ld.param.u64 %rd1, [p];
        st.global.u64 [%rd1], 0xfffffffe00000001; st.shared.u64 [wide+8], 7; st.shared.u32 [narrow+4], 8; ret;"""
    shape = "--grid", 1, "--block", 1
    got = explore_text(body, *shape, "--observe", "1[0]:u64", "--observe", "wide[1]", "--observe", "narrow[1]", "--observe", "narrow[1]:b32",
                       "--require", "1[0]:s64 < 0 && wide[1] == 7", "u32[4]", params=".param .u64 p", status=0)
    assert got["observed"] == ["1[0]:u64", "wide[1]", "narrow[1]", "narrow[1]:b32", "1[0]:s64"], got
    assert got["outcomes"] == [[0xfffffffe00000001, 7, 8, 8, 0xfffffffe00000001]], got
    for place, says in ("1[2]:u64", "has 2 elements"), ("1[0]:q8", "is written as"), ("0[0]", "is written as"), ("wide[2]", "2 elements of type u64"):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "k.ptx")
            with open(path, "w") as f:
                f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\n.shared .align 8 .b8 wide[16]; .reg .u64 %rd<9>;\nst.shared.u64 [wide], 0;\nret;\n}\n")
            status, out, err = run("explore", path, *shape, "--observe", place, "u32[4]")
        assert status == 2 and says in err, (place, out, err)


def _entry_of(file):
    with open(file) as f:
        return re.search(r"\.entry (\w+)", f.read())[1]


INTERLEAVINGS = os.path.join(HERE, "schedules/interleavings.ptx")


def schedules(kernel, grid, block, *args, status, file=INTERLEAVINGS):
    """What an exploration has found with --schedules, and what its files make of launches: by outcome the values of all buffers, by
    finding what was said."""
    with tempfile.TemporaryDirectory() as d:
        shape = "--grid", grid, "--block", block
        found = explore(file, kernel, *shape, "--schedules", d, *(f"{a}+outcomes" if "[" in str(a) else a for a in args), status=status)
        launched = []
        for path in found["schedules"]:
            texts = []
            for command in ("launch", "check") if path else ():
                got, out, err = run(command, file, kernel, *shape, "--policy", f"replay:{path}", "--json", *(f"{a}+print" if "[" in str(a) else a for a in args))
                assert got == 0, (path, out, err)
                texts.append([value for buffer in json.loads(out)["buffers"] for value in buffer["values"]])
            assert not texts or texts[0] == texts[1], texts
            launched.append(texts[0] if texts else [])
        said = []
        for finding in found["findings"]:
            if os.path.exists(finding["schedule"]):
                got, out, err = run("launch", file, kernel, *shape, "--policy", f"replay:{finding['schedule']}", "--timeout", 20, *args)
                said.append(out + err)
        left = [name for name in os.listdir(d) if os.path.join(d, name) not in found["schedules"] + [f["schedule"] for f in found["findings"]]]
        assert not left, left
        return found, launched, said


def an_outcome_of_an_interleaving_has_a_schedule_that_repeats_it():
    found, launched, _ = schedules("store_buffering", 2, 1, "u32[2]", "u32[2]", status=0)
    assert found["outcomes"] == [[1, 1, a, b] for a in (0, 1) for b in (0, 1)], found
    assert launched == [[]] + found["outcomes"][1:], launched  # both reads of 0: weak behaviour


def schedules_hold_what_blocks_and_warps_do():
    found, launched, _ = schedules("warps", 1, 64, "u32[2]", "u32[2]", status=0)
    assert found["outcomes"] == [[1, 1, a, b] for a in (10, 11) for b in (10, 11)], found
    assert launched == [[]] + found["outcomes"][1:], launched
    found, launched, _ = schedules("lanes", 1, 2, "u32[2]", "u32[2]", status=0)
    assert launched[1:3] == found["outcomes"][1:3], launched


def schedules_of_locks_and_queues_repeat_their_outcomes():
    for name, args in ("ticket", ("u32[96]", 2)), ("mcs", ("u32[128]", 1)):
        file = os.path.join(HERE, "kernels", name + ".ptx")
        found, launched, _ = schedules(_entry_of(file), 3, 1, *args, status=0, file=file)
        assert found["outcomes"] and launched == found["outcomes"], (name, [p for p in found["schedules"] if not p])


def traps_deadlocks_and_endless_loops_have_schedules():
    for kernel, grid, block, says in (("trapper", 2, 1, "executes trap"), ("spinner", 2, 1, "spin on a value that no thread will change"),
                                      ("parted", 1, 64, "wait for each other")):
        found, _, said = schedules(kernel, grid, block, "u32[2]", status=1)
        assert len(said) == 1 and says in said[0], (kernel, found["findings"], said)


def which_outcomes_have_no_schedule_is_said():
    with tempfile.TemporaryDirectory() as d:
        status, out, err = run("explore", INTERLEAVINGS, "store_buffering", "--grid", 2, "--block", 1, "--schedules", os.path.join(d, "new"),
                               "u32[2]", "u32[2]+outcomes", "--forbid", "2[0] == 0 && 2[1] == 1")
        assert status == 1 and re.search(r"^ +0 +0   no interleaving$", out, re.M), out
        assert re.search(r"^ +0 +1   " + re.escape(d) + "/new/outcome-2.schedule$", out, re.M), out
        assert "no schedule for 1 of 4 outcomes: no interleaving shows them, only weak memory behaviour" in out, out
        assert f"    schedule: {d}/new/outcome-2.schedule" in out, out
        status, out, err = run("explore", INTERLEAVINGS, "store_buffering", "--grid", 2, "--block", 1, "--schedules", "/proc/none", "u32[2]", "u32[2]")
        assert status == 2 and "cannot make the folder /proc/none" in err, err


def what_is_found_is_shown_with_an_execution():
    status, out, err = run("explore", os.path.join(HERE, "kernels/ticket.ptx"), "--grid", 2, "--block", 1, "--observe", "1[64]",
                           "--forbid", "1[64] == 2", "u32[96]", 1)
    assert status == 1, (status, out, err)
    for line in ("an execution with 1[64]=2:", "ticket.cu:12", "reads 0, the initial value", "reads 1 of block",
                 "outcome: --forbid `1[64] == 2`: not of 1[64]=2", "explored: all executions, 1 finding"):
        assert line in out, (line, out)


def a_barrier_that_is_not_reached_is_a_deadlock():
    got = explore_text("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra one; bar.sync 1, 64; ret; one: bar.sync 2, 64; ret;",
                       "--grid", 1, "--block", 64, status=1)
    assert got["deadlock"] and got["graphs"] == 0 and [f["kind"] for f in got["findings"]] == ["deadlock"], got


def a_signal_ends_a_search_with_what_is_known():
    command = [heddle, "explore", os.path.join(HERE, "kernels/ticket.ptx"), "--grid", "5", "--block", "1", "--no-symmetry",
               "--observe", "1[64]", "u32[96]", "3"]
    for by in signal.SIGINT, signal.SIGTERM:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(0.5)
        process.send_signal(by)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 3 and "not exhausted: the search was interrupted" in out and "explored: a part of all" in out, (out, err)


def where_nothing_completes_that_is_said():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\nbar.sync 1, 64;\nret;\n}\n")
        status, out, err = run("explore", path, "--grid", 1, "--block", 32, "u32[1]+outcomes")
    assert status == 1 and out.startswith("outcomes: none, as no execution completes\ndeadlock: "), out + err


def a_loop_that_nobody_ends_is_a_livelock():
    body = """ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra set;
        wait: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra wait; ret;
        set: STORE ret;"""
    for store, livelock in (("st.release.gpu.global.u32 [%rd1], 1;", False), ("st.release.gpu.global.u32 [%rd1+4], 1;", True),
                            ("st.release.gpu.global.u32 [%rd1], 1; st.release.gpu.global.u32 [%rd1], 0;", True)):
        got = explore_text(body.replace("STORE", store), "--grid", 2, "--block", 1, "u32[2]", params=".param .u64 p")
        assert got["livelock"] == livelock and got["status"] == livelock, got


def threads_that_need_two_last_values_of_one_place_do_not_both_wait():
    """Peterson's lock without fences: each thread waits while the other one has come and it is its turn. It is one thread's turn."""
    got = explore_text("""ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; xor.b32 %r2, %r1, 1;
                          mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
                          st.relaxed.gpu.u32 [%rd2], 1; st.relaxed.gpu.u32 [%rd1+8], %r2;
                          again: ld.relaxed.gpu.u32 %r3, [%rd3]; setp.eq.u32 %p1, %r3, 0; @%p1 bra enter;
                          ld.relaxed.gpu.u32 %r4, [%rd1+8]; setp.eq.u32 %p1, %r4, %r2; @%p1 bra again;
                          enter: st.release.gpu.u32 [%rd2], 0; ret;""", "--grid", 2, "--block", 1, "u32[3]",
                       params=".param .u64 p", status=0)
    assert not got["livelock"] and got["complete"], got


TWO_BLOCKS = "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra other;\n"


def rounds_that_wait_race_too():
    """Failing rounds of a loop that waits are left out of executions; a race of what only they read is none of them that stay."""
    wait = "wait: ld.acquire.gpu.global.u32 %r2, [%rd1];\n"
    again = "setp.ne.u32 %p2, %r2, 2;\n@%p2 bra wait; ret;\nother:\n"
    data = "ld.weak.global.u32 %r3, [%rd1+4];\n"
    publish = "st.weak.global.u32 [%rd1+4], 1;\nst.release.gpu.global.u32 [%rd1], 2;\nret;"
    for body, races in ((wait + again + "st.weak.global.u32 [%rd1], 1;\nst.release.gpu.global.u32 [%rd1], 2;\nret;", [[8, 12]]),
                        (wait + data + again + publish, [[9, 13]]),
                        (data.join(wait.split(" ", 1)).replace("wait:ld.weak", "wait: ld.weak") + again + publish, [[8, 13]]),
                        (wait + again.replace("ret;", data + "ret;") + publish, [])):
        got = explore_text(TWO_BLOCKS + body, "--grid", 2, "--block", 1, "u32[2]", params=".param .u64 p")
        assert got["races"] == races and got["complete"], (body, got)


def rounds_that_are_not_looked_at_are_said_to_be_so():
    """Three rounds leave all as before, and the third reads weakly what another thread writes. That is a race, of rounds that are left out."""
    body = """mov.u32 %r2, 0;
              again: add.u32 %r2, %r2, 1; setp.eq.u32 %p2, %r2, 3; selp.u32 %r2, 0, %r2, %p2;
              ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.ne.u32 %p3, %r3, 0; @%p3 bra done; setp.ne.u32 %p4, %r2, 0; @%p4 bra again;
              READ bra again; done: ret;
              other: st.weak.global.u32 [%rd1+4], 1; st.release.gpu.global.u32 [%rd1], 1; ret;"""
    for read, complete in (("ld.weak.global.u32 %r4, [%rd1+4];", False), ("ld.relaxed.gpu.global.u32 %r4, [%rd1];", True)):
        got = explore_text(TWO_BLOCKS + body.replace("READ", read), "--grid", 2, "--block", 1, "u32[2]", params=".param .u64 p",
                           status=0 if complete else 3)
        assert got["complete"] == complete and all("three or more iterations" in b for b in got["bounds"]), got


def loops_that_wait_carry_what_they_have_read():
    """A round is the same again if what it has read is what the round before it has, or one before that."""
    body = """mov.u32 %r3, 0;
              wait: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.ne.u32 %p2, %r2, 1; @%p2 bra skip; ld.relaxed.gpu.global.u32 %r3, [%rd1+4];
              skip: setp.ne.u32 %p2, %r2, 2; @%p2 bra wait; st.global.u32 [%rd1+8], %r3; ret;
              other: st.relaxed.gpu.global.u32 [%rd1+4], 7; st.relaxed.gpu.global.u32 [%rd1], 1; LAST ret;"""
    for last, outcomes, livelock in (("st.relaxed.gpu.global.u32 [%rd1], 2;", [[0], [7]], False), ("", [], True)):
        got = explore_text(TWO_BLOCKS + body.replace("LAST", last), "--grid", 2, "--block", 1, "u32[3]", "--observe", "1[2]",
                           params=".param .u64 p")
        assert (got["complete"], got["outcomes"], got["livelock"]) == (True, outcomes, livelock), got


def atomic_operations_that_write_what_they_read_wait():
    """The exchange of a lock that is taken, `atomicAdd(p, 0)`: rounds with them are left out where no other access could tell."""
    lock = """ld.param.u64 %rd1, [p]; mov.u32 %r9, %tid.x; INIT
              again: atom.acquire.SCOPE.exch.b32 %r1, [%rd1], 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
              ld.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1; st.u32 [%rd1+4], %r2; UNLOCK ret;"""
    unlock, hold = "atom.release.gpu.exch.b32 %r1, [%rd1], 0;", ""
    init = "setp.ne.u32 %p2, %r9, 0; @%p2 bra in; st.u32 [%rd1], 0; in: INSIDE"
    for scope, place, first, last, complete, by_atomics, races in (
            ("gpu", (3, 1), "", unlock, True, False, False), ("gpu", (2, 1), "", hold, True, True, False),
            ("cta", (2, 1), "", unlock, False, False, True),
            ("gpu", (1, 2), init.replace("INSIDE", "bar.sync 0;"), unlock, True, False, False),
            ("gpu", (1, 2), init.replace("INSIDE", ""), unlock, False, False, True),
            ("gpu", (2, 1), "", "st.u32 [%rd1], 0;", False, False, True)):
        got = explore_text(lock.replace("INIT", first).replace("SCOPE", scope).replace("UNLOCK", last), "--grid", place[0], "--block",
                           place[1], "u32[2]", "--observe", "1[1]", "--unroll", 3, "--no-symmetry", params=".param .u64 p")
        where = (scope, place, first, last, got)
        assert (got["complete"], got["livelock_by_atomics"], bool(got["races"])) == (complete, by_atomics, races), where
        assert not complete or got["outcomes"] == ([] if by_atomics else [[place[0] * place[1]]]), where
        assert not complete or by_atomics or got["graphs"] == math.factorial(place[0] * place[1]), where
    got = explore_text(TWO_BLOCKS + """wait: atom.acquire.gpu.global.add.u32 %r2, [%rd1], 0; setp.eq.u32 %p2, %r2, 0; @%p2 bra wait;
                                       ld.global.u32 %r3, [%rd1+4]; st.global.u32 [%rd1+8], %r3; ret;
                                       other: st.global.u32 [%rd1+4], 7; st.release.gpu.global.u32 [%rd1], 1; ret;""",
                       "--grid", 2, "--block", 1, "u32[3]", "--observe", "1[2]", params=".param .u64 p")
    assert (got["complete"], got["outcomes"], got["graphs"], got["status"]) == (True, [[7]], 1, 0), got


def a_round_that_others_have_seen_is_no_livelock_where_it_cannot_stay():
    """A ticket lock, twice, whose threads wait by atomic operations that write what they read: a round may be seen before its thread's ticket is
    known, and fails then; the lock goes on all the same."""
    for blocks in (2, 3):
        got = explore_text("""ld.param.u64 %rd1, [p]; mov.u32 %r5, 0; again: atom.global.add.u32 %r1, [%rd1], 1;
                              spin: atom.global.or.b32 %r2, [%rd1+4], 0; setp.ne.u32 %p1, %r2, %r1; @%p1 bra spin; membar.gl;
                              ld.global.u32 %r3, [%rd1+8]; add.u32 %r3, %r3, 1; st.global.u32 [%rd1+8], %r3; membar.gl;
                              atom.global.add.u32 %r4, [%rd1+4], 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 2; @%p2 bra again; ret;""",
                           "--grid", blocks, "--block", 1, "u32[3]", "--observe", "1[2]", params=".param .u64 p", status=0)
        assert got["complete"] and not got["findings"] and got["outcomes"] == [[2 * blocks]], got


def long_threads_take_time_in_proportion():
    """Reads with one answer are taken together: what is behind them is executed once."""
    got = explore_text("""ld.param.u64 %rd1, [p]; mov.u32 %r1, 0;
                          again: ld.relaxed.gpu.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.relaxed.gpu.u32 [%rd1], %r2;
                          atom.acq_rel.gpu.add.u32 %r3, [%rd1+4], 1; fence.acq_rel.gpu;
                          add.u64 %rd1, %rd1, 8; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 1000; @%p1 bra again; ret;""", "--grid", 1,
                       "--block", 1, "u32[2000]", "--observe", "1[1998]", "--observe", "1[1999]", params=".param .u64 p", status=0)
    assert (got["graphs"], got["outcomes"]) == (1, [[1, 1]]) and got["seconds"] < 10, got


MANY_STORES = """mov.u32 %r2, 0;
                 more: add.u32 %r2, %r2, 1; st.relaxed.gpu.u32 [%rd1], %r2; setp.lt.u32 %p1, %r2, STORES; @%p1 bra more; ret;
                 other: LOADS ret;"""


def a_place_may_be_accessed_more_often_than_a_word_has_bits():
    """Two reads beside stores of 1 to n, one after the other: the later read is of no older value. By one that waits for the last, too."""
    loads = "ld.relaxed.gpu.u32 %r3, [%rd1]; ld.relaxed.gpu.u32 %r4, [%rd1]; st.u32 [%rd1+4], %r3; st.u32 [%rd1+8], %r4;"
    for stores in (5, 61, 62, 63, 70, 124):
        got = explore_text(TWO_BLOCKS + MANY_STORES.replace("STORES", str(stores)).replace("LOADS", loads), "--grid", 2, "--block", 1, "u32[3]",
                           "--observe", "1[1]", "--observe", "1[2]", params=".param .u64 p", status=0)
        want = [[a, b] for a in range(stores + 1) for b in range(a, stores + 1)]
        assert (got["graphs"], got["outcomes"], got["dead"], got["duplicates"]) == (len(want), want, 0, 0), (stores, got)
    for stores in (100, 400):
        wait = f"wait: ld.acquire.gpu.u32 %r3, [%rd1]; setp.ne.u32 %p2, %r3, {stores}; @%p2 bra wait;{loads}"
        got = explore_text(TWO_BLOCKS + MANY_STORES.replace("STORES", str(stores)).replace("LOADS", wait), "--grid", 2, "--block", 1, "u32[3]",
                           "--observe", "1[1]", "--observe", "1[2]", params=".param .u64 p", status=0)
        assert (got["outcomes"], got["graphs"], got["livelock"]) == ([[stores, stores]], 1, False), got
    got = explore_text(TWO_BLOCKS + MANY_STORES.replace("STORES", "200").replace("LOADS", "ld.relaxed.gpu.u32 %r3, [%rd1]; st.u32 [%rd1+4], %r3;"),
                       "--grid", 2, "--block", 1, "u32[3]", "--observe", "1[1]", params=".param .u64 p", status=0)
    assert (got["graphs"], got["outcomes"]) == (201, [[n] for n in range(201)]), got


def many_writes_of_one_place_may_end_in_any_order():
    got = explore_text("ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; st.relaxed.gpu.u32 [%rd1], %r1; ret;", "--grid", 70, "--block", 1,
                       "u32[1]+outcomes", params=".param .u64 p", status=0)
    assert (got["graphs"], got["outcomes"]) == (1, [[n] for n in range(70)]), got


def races_of_late_accesses_are_found():
    """Of one behind 100 others of its place, with one behind a look that has seen the last of these."""
    text = TWO_BLOCKS + MANY_STORES.replace("STORES", "100").replace(" @%p1 bra more; ret;", "\n@%p1 bra more; st.weak.u32 [%rd1], 101;\nret;").replace(
        "LOADS", "wait: ld.relaxed.gpu.u32 %r3, [%rd1]; setp.lt.u32 %p2, %r3, 100;\n@%p2 bra wait; ld.weak.u32 %r4, [%rd1];\n")
    got = explore_text(text, "--grid", 2, "--block", 1, "u32[3]", params=".param .u64 p", status=1)
    lines = {word: next(n for n, line in enumerate((HEAD + ".visible\n{\n\n" + text).splitlines(), 1) if word in line) for word in ("st.relaxed", "st.weak", "ld.relaxed", "ld.weak")}
    assert got["races"] == sorted([[lines["st.relaxed"], lines["ld.weak"]], [lines["st.weak"], lines["ld.relaxed"]], [lines["st.weak"], lines["ld.weak"]]]), (lines, got)


def the_access_that_is_one_too_many_is_named():
    for stores, loads, named in (1024, "", "st.relaxed"), (1022, "ld.relaxed.gpu.u32 %r3, [%rd1];\nld.relaxed.gpu.u32 %r4, [%rd1];", "%r4"):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "k.ptx")
            text = (HEAD + ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .u32 %r<20>; .reg .u64 %rd<20>;\n" + TWO_BLOCKS +
                    MANY_STORES.replace("; ", ";\n").replace("STORES", str(stores)).replace("LOADS", loads) + "\n}\n")
            with open(path, "w") as f:
                f.write(text)
            status, out, err = run("explore", path, "--grid", 2, "--block", 1, "u32[3]")
        line = next(n for n, of in enumerate(text.splitlines(), 1) if named in of)
        assert status == 2 and f"k.ptx:{line}: an execution has more than 1,023 accesses to one place" in err, (status, out, err)


def a_read_with_too_many_choices_is_refused():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .u32 %r<20>; .reg .u64 %rd<20>;\n" + TWO_BLOCKS +
                    MANY_STORES.replace("STORES", "300").replace("LOADS", "ld.relaxed.gpu.u32 %r3, [%rd1];") + "\n}\n")
        status, out, err = run("explore", path, "--grid", 2, "--block", 1, "u32[3]")
        assert status == 2 and "a read may read from more than 254 writes" in err, (status, out, err)


def values_of_signed_types_have_a_sign():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\n.reg .u64 %rd1;\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], -7;\nret;\n}\n")
        for kind, holds, fails in (("s32", "1[0] == -7 && 1[0] < 0", "1[0] >= 0"), ("u32", "1[0] == 0xfffffff9 && 1[0] - 1 > -8", "1[0] == -7")):
            args = ("explore", path, "--grid", 1, "--block", 1, f"{kind}[1]+outcomes", "--require")
            status, out, err = run(*args, holds)
            assert status == 0 and ("-7" in out) == (kind == "s32"), (out, err)
            assert run(*args, fails)[0] == (1 if kind == "s32" else 2)


def a_bound_names_the_place_that_it_cut():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + """.file 1 "lock.cu"\n.visible .entry k(.param .u64 p)\n{\n.reg .u64 %rd1; .reg .u32 %r1; .reg .pred %p1;
                              ld.param.u64 %rd1, [p];\n.loc 1 12 3\nagain: atom.add.relaxed.gpu.u32 %r1, [%rd1], 1; setp.ne.u32 %p1, %r1, 0;
                              @%p1 bra again;\nret;\n}\n""")
        found = explore(path, "--grid", 2, "--block", 1, "u32[1]", "--unroll", 2, status=3)
        status, out, err = run("explore", path, "--grid", 2, "--block", 1, "u32[1]", "--unroll", 2)
    assert len(found["bounds"]) == 1 and "--unroll 2" in found["bounds"][0] and "lock.cu:12 (PTX " in found["bounds"][0], found
    assert found["bounds"][0] in out, out


def too_much_is_refused_before_it_is_begun():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\nret;\n}\n")
        for grid, block, buffer, said in (("2000", 1024, "u32[1]", "threads"), ("65536,32768,2", 1, "u32[1]", "threads"),
                                          ("2147483647,2", 1, "u32[1]", "threads"),
                                          ("1", 1, "u32[70000]+outcomes", "4096"), ("1", 1, "u32[3000000]+outcomes", "4096")):
            status, out, err = run("explore", path, "--grid", grid, "--block", block, buffer)
            assert status == 2 and said in err, (grid, buffer, status, out, err)


def memory_that_runs_out_is_an_error():
    """At each limit there is an answer or an error; where the limit is so low that nothing can begin, too."""
    if SANITIZED:
        raise Skip("sanitizers take more memory than the limits")
    for kib in range(15000, 60000, 9000):
        code = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (%d, %d)); os.execv(sys.argv[1], sys.argv[1:])" % (kib << 10, kib << 10)
        done = subprocess.run([sys.executable, "-c", code, heddle, "explore", os.path.join(HERE, "kernels/mcs.ptx"), "--grid", "6",
                               "--block", "1", "u32[128]", "3", "--limit", "3000"], capture_output=True, text=True)
        assert done.returncode in (1, 2, 3), (kib, done.returncode, done.stdout, done.stderr)
        assert done.returncode == 3 or "out of memory" in done.stderr, (kib, done.stdout, done.stderr)


def a_search_ends_where_runs_take_half_of_the_memory_that_there_may_be():
    if SANITIZED:
        raise Skip("sanitizers take more memory than the limits")
    loads = "ld.relaxed.gpu.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 77; @%p2 bra out;\n" * 12 + "out: st.u32 [%rd1+4], %r3;"
    text = MANY_STORES.replace("STORES", "20").replace("LOADS", loads)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .u32 %r<20>; .reg .u64 %rd<20>;\n" + TWO_BLOCKS + text + "\n}\n")
        for workers in 1, 2:
            code = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (80 << 20, 80 << 20)); os.execv(sys.argv[1], sys.argv[1:])"
            done = subprocess.run([sys.executable, "-c", code, heddle, "explore", path, "--grid", "2", "--block", "1", "--workers", str(workers),
                                   "--no-symmetry", "u32[2]"], capture_output=True, text=True)
            assert done.returncode == 3 and "take more than 40 MiB" in done.stdout and "a part of all executions" in done.stdout, (workers, done)


def a_trap_and_a_bad_address_are_findings():
    got = explore_text("ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 trap; ret;", "--grid", 1,
                       "--block", 1, "u32[1]", params=".param .u64 p", status=1)
    assert got["traps"] == [7], got
    got = explore_text("ld.param.u64 %rd1, [p]; st.global.u32 [%rd1+1048576], 0; ret;", "--grid", 1, "--block", 1, "u32[1]",
                       params=".param .u64 p", status=1)
    assert got["faults"] == [7], got


def load_buffering_needs_no_dependency():
    body = """ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
        xor.b32 %r2, %r1, 1; mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd1, %rd4;
        ld.relaxed.gpu.global.u32 %r3, [%rd3];
        STORE
        st.global.u32 [%rd3+8], %r3; ret;"""
    for store, allowed in (("st.relaxed.gpu.global.u32 [%rd5], 1;", True),
                           ("and.b32 %r4, %r3, 0; add.u32 %r4, %r4, 1; st.relaxed.gpu.global.u32 [%rd5], %r4;", False)):
        got = explore_text(body.replace("STORE", store), "--grid", 2, "--block", 1, "u32[4]", "--observe", "1[2]", "--observe", "1[3]",
                           params=".param .u64 p", status=0)
        assert ([1, 1] in got["outcomes"]) == allowed, got


def atomic_operations_read_in_no_circle():
    """What one writes depends on what it reads, that of an exchange, too: none reads what hangs on itself, nor through its own thread."""
    body = """ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra one;
        atom.relaxed.cta.global.exch.b32 %r2, [%rd1], 1; atom.relaxed.cta.global.exch.b32 %r3, [%rd1], 2;
        st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3; ret;
        one: atom.relaxed.gpu.global.OP.b32 %r2, [%rd1], 3; st.global.u32 [%rd1+12], %r2; ret;"""
    for op, through in (("exch.b32", 3), ("add.u32", 4)):  # `through`: what block 1 writes when it has read 1
        got = explore_text(body.replace("OP.b32", op), "--grid", 2, "--block", 1, "u32[4]+outcomes", "--no-symmetry", params=".param .u64 p", status=1)
        assert got["complete"] and (got["graphs"], got["duplicates"]) == (7, 0), got
        assert {tuple(o[1:]) for o in got["outcomes"]} == {(0, 1, 0), (0, 1, 1), (0, 1, 2), (0, 3, 0), (0, through, 1), (3, 1, 0), (3, 3, 0)}, got


main(globals())
