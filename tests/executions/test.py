"""heddle explore --repair and --graph: single executions, what would forbid them, and how they are drawn."""
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import examples, main, need_clang, run, source

folder = tempfile.mkdtemp()
with tarfile.open(os.path.join(source, "tests/explore/kernels.tar.xz")) as t:
    t.extractall(folder, filter="data")
with open(os.path.join(folder, "kernels/list.json")) as f:
    KERNELS = {k["kernel"]: k for k in json.load(f)}
HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"


def explore(*args):
    path = os.path.join(folder, "found.json")
    status, out, err = run("explore", *args, "--json", path)
    assert status in (0, 1, 3), f"{args}: status {status}\n{out}{err}"
    with open(path) as f:
        return {**json.load(f), "status": status, "text": out}


def arguments(k, ptx=None):
    """How a kernel with a planted bug is explored, with the outcomes that its author forbids."""
    observed = [o.replace("g[", "1[").replace("r[", "2[") for o in k["observed"]]
    args = [ptx or os.path.join(folder, "kernels", k["file"]), k["kernel"], "--grid", k["grid"], "--block", k["block"]]
    for values in k["forbidden"]:
        args += ["--forbid", " && ".join(f"{o} == {v}" for o, v in zip(observed, values))]
    return [*args, *(a for o in observed for a in ("--observe", o)), *k["args"]]


def changed(path, changes):
    """The PTX with the lines that a repair gives in place of its own, in a file of its own."""
    with open(path) as f:
        lines = f.read().split("\n")
    for c in changes:
        lines[c["line"] - 1] = " ".join(c["ptx"])
    to = os.path.join(folder, "changed.ptx")
    with open(to, "w") as f:
        f.write("\n".join(lines))
    return to


# The planted bugs that orders, scopes or fences mend: what a repair changes.
REPAIRS = {
    "spinlock_1": ["atom.relaxed.gpu, fence.acq_rel.gpu behind it"],
    "spinlock_2": ["atom.relaxed.gpu, fence.acq_rel.gpu before it"],
    "spinlock_3": ["atom.relaxed.cta -> atom.relaxed.gpu"],
    "spinlock_4": ["fence.sc.cta -> fence.sc.gpu"] * 2,
    "msqueue_1": ["atom.relaxed.gpu -> atom.release.gpu"],
    "msqueue_2": ["ld.relaxed.gpu -> ld.acquire.gpu"],
    "barrier_1": ["atom.relaxed.gpu -> atom.acq_rel.gpu"],
    "barrier_2": ["st.relaxed.gpu -> st.release.gpu"],
    "barrier_4": ["ld.acquire.cta -> ld.acquire.gpu"] * 2,
    "deque_1": ["fence.acq_rel.gpu -> fence.sc.gpu"] * 2,
    "deque_2": ["fence.sc.cta -> fence.sc.gpu"] * 2,
    "deque_3": ["atom.acq_rel.cta -> atom.acq_rel.gpu"] * 2,
}


def planted_bugs_of_order_and_scope_are_repaired():
    for name, want in REPAIRS.items():
        found = explore(*arguments(KERNELS[name]), "--repair")
        got = found["repair"]
        assert [c["change"] for c in got["changes"]] == want, (name, got)
        assert got["verified"] and got["minimal"] and not got["remaining"] and got["reason"] is None, (name, got)
        assert "verified: all executions of the changed kernel explored" in found["text"], found["text"]


def a_repair_written_into_the_ptx_is_one():
    """The text with the changed lines has no finding; with any of them left out, or a part of one, it has."""
    for name in REPAIRS:
        k = KERNELS[name]
        path = os.path.join(folder, "kernels", k["file"])
        changes = explore(*arguments(k), "--repair")["repair"]["changes"]
        assert explore(*arguments(k, changed(path, changes)))["status"] == 0, (name, changes)
        for left_out in range(len(changes)):
            less = changes[:left_out] + changes[left_out + 1 :]
            assert explore(*arguments(k, changed(path, less)))["status"] == 1, (name, less)


def what_no_order_forbids_is_said_to_remain():
    for name, what in (("barrier_3", "the livelock at barrier.cu:58"), ("deque_4", "the outcome ")):
        found = explore(*arguments(KERNELS[name]), "--repair")
        got = found["repair"]
        assert not got["changes"] and not got["verified"] and got["remaining"][0].startswith(what), (name, got)
        assert "repair: no order, scope or fence forbids " + what in found["text"], found["text"]


def repair(body, *args):
    path = os.path.join(folder, "k.ptx")
    with open(path, "w") as f:
        f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .u32 %r<20>; .reg .u64 %rd<20>;\n"
                "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra other;\n" + body + "\n}\n")
    return explore(path, "--grid", 2, "--block", 1, "u32[8]", "--repair", *args)


MESSAGE = """st{0}.u32 [%rd1], 1;
st{1}.u32 [%rd1+4], 1;
ret;
other:
ld{2}.u32 %r2, [%rd1+4];
ld{3}.u32 %r3, [%rd1];
st.u32 [%rd1+8], %r2;
st.u32 [%rd1+12], %r3;
ret;"""


def changes_of(found):
    assert found["repair"]["verified"] and found["repair"]["minimal"], found["repair"]
    return [c["change"] for c in found["repair"]["changes"]]


def a_repair_strengthens_what_is_too_weak_and_nothing_else():
    stale = ("--forbid", "1[2] == 1 && 1[3] == 0")
    relaxed, cta = ".relaxed.gpu", ".relaxed.cta"
    pair = ["st.relaxed.gpu -> st.release.gpu", "ld.relaxed.gpu -> ld.acquire.gpu"]
    assert changes_of(repair(MESSAGE.format(relaxed, relaxed, relaxed, relaxed), *stale)) == pair
    assert changes_of(repair(MESSAGE.format(relaxed, ".release.gpu", relaxed, relaxed), *stale)) == pair[1:]
    assert changes_of(repair(MESSAGE.format(relaxed, ".release.cta", ".acquire.gpu", relaxed), *stale)) == ["st.release.cta -> st.release.gpu"]
    # volatile has no word for an order: fences stand beside it
    assert changes_of(repair(MESSAGE.format(".volatile", ".volatile", ".volatile", ".volatile"), *stale)) == [
        "st.volatile, fence.acq_rel.gpu before it", "ld.volatile, fence.acq_rel.gpu behind it"]
    # a race of plain accesses alone: they become atomic ones, and no more
    assert changes_of(repair(MESSAGE.format("", relaxed, relaxed, ""))) == ["st.weak -> st.relaxed.gpu", "ld.weak -> ld.relaxed.gpu"]
    # atomic already, in a scope that does not reach
    assert changes_of(repair(MESSAGE.format(cta, relaxed, relaxed, relaxed))) == ["st.relaxed.cta -> st.relaxed.gpu"]


STORE_BUFFERING = """st.relaxed.gpu.u32 [%rd1], 1;
ld.relaxed.gpu.u32 %r2, [%rd1+4];
st.u32 [%rd1+8], %r2;
ret;
other:
st.relaxed.gpu.u32 [%rd1+4], 1;
ld.relaxed.gpu.u32 %r3, [%rd1];
st.u32 [%rd1+12], %r3;
ret;"""


def store_buffering_takes_two_fences():
    got = repair(STORE_BUFFERING, "--forbid", "1[2] == 0 && 1[3] == 0")
    assert changes_of(got) == ["ld.relaxed.gpu, fence.sc.gpu before it"] * 2, got
    assert [c["cuda"] for c in got["repair"]["changes"]] == ["cuda::memory_order_seq_cst, or __threadfence() before it"] * 2, got


def an_outcome_by_its_number_is_what_is_forbidden():
    observed = ("--observe", "1[2]", "--observe", "1[3]")
    assert changes_of(repair(STORE_BUFFERING, *observed, "--outcome", 1)) == ["ld.relaxed.gpu, fence.sc.gpu before it"] * 2
    remains = repair(STORE_BUFFERING, *observed, "--outcome", 4)["repair"]
    assert remains["remaining"] == ["the outcome 1[2]=1 1[3]=1"] and not remains["changes"], remains
    path = os.path.join(folder, "k.ptx")
    for number in (0, 5):
        status, out, err = run("explore", path, "--grid", 2, "--block", 1, "u32[8]", *observed, "--outcome", number)
        assert status == 2 and "there are 4 outcomes" in err, (number, out, err)
    status, out, err = run("explore", path, "--grid", 2, "--block", 1, "u32[8]", *observed, "--outcome", 4)
    assert re.search(r"^ +4: +1 +1$", out, re.M), out


def what_a_search_cannot_exhaust_is_not_verified():
    k = KERNELS["deque_1"]
    found = explore(*arguments(k), "--repair", "--limit", 40)
    assert not found["repair"]["verified"] and "--limit 40" in found["repair"]["reason"], found["repair"]
    assert "repair: none is verified: --limit 40" in found["text"], found["text"]


def nothing_is_repaired_where_nothing_is_wrong():
    found = explore(*arguments(KERNELS["spinlock_0"]), "--repair")
    assert not found["repair"]["changes"] and "repair: nothing has to go" in found["text"], found["text"]


def litmus_tests_are_repaired_for_their_condition():
    path = os.path.join(folder, "MP.litmus")
    with open(path, "w") as f:
        f.write("PTX MP\n{ x=0; flag=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | ld.acquire.gpu r0, flag ;\n"
                " st.relaxed.gpu flag, 1 | ld.weak r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n")
    status, out, err = run("litmus", path, "--repair")
    assert status == 0 and "MP.litmus:5 (PTX" in out and "st.relaxed.gpu -> st.release.gpu\n" in out, out + err


# Of the course: a program, a kernel, its launch, what is forbidden ("": races alone are wrong); for each change the line of the program, by a
# part of it, and what is to be written there.
COURSE = [
    ("01_message_passing", "relaxed", "2 u32[1] u32[1] u32[2]", "3[0] == 1 && 3[1] == 0",
     [("store(1", "cuda::memory_order_release"), ("(*flag).load", "cuda::memory_order_acquire")]),
    ("01_message_passing", "acquire_alone", "2 u32[1] u32[1] u32[2]", "3[0] == 1 && 3[1] == 0", [("store(1", "cuda::memory_order_release")]),
    ("01_message_passing", "block_scope", "2 u32[1] u32[1] u32[2]", "",
     [("store(1", "cuda::memory_order_release, cuda::thread_scope_device"), ("(*flag).load", "cuda::memory_order_acquire, cuda::thread_scope_device")]),
    ("02_store_buffering", "release_acquire", "2 u32[2] u32[2]", "2[0] == 0 && 2[1] == 0",
     [(".load(", "cuda::memory_order_seq_cst, or __threadfence() before it")]),
    ("02_store_buffering", "one_fence", "2 u32[2] u32[2]", "2[0] == 0 && 2[1] == 0",
     [(".load(", "cuda::memory_order_seq_cst, or __threadfence() before it")]),
    ("03_load_buffering", "independent", "2 u32[2] u32[2]", "2[0] == 1 && 2[1] == 1",
     [(".load(", "cuda::memory_order_acquire"), ("store(1", "cuda::memory_order_release")]),
    ("04_iriw", "acquire", "4 u32[1] u32[1] u32[4]", "3[0] == 1 && 3[1] == 0 && 3[2] == 1 && 3[3] == 0",
     [(".load(", "cuda::memory_order_seq_cst, or __threadfence() before it")] * 2),
    ("05_spin_lock", "relaxed", "2 u32[1] u32[1]", "2[0] != 2",
     [("atomicCAS", "__threadfence() behind it"), ("atomicExch", "__threadfence() before it")]),
    ("05_spin_lock", "fence_too_late", "2 u32[1] u32[1]", "2[0] != 2", [("atomicExch", "__threadfence() before it")]),
    ("05_spin_lock", "block_scope", "2 u32[1] u32[1]", "2[0] != 2",
     [("compare_exchange", "cuda::memory_order_acquire, cuda::thread_scope_device"), ("store(0", "cuda::memory_order_release, cuda::thread_scope_device")]),
    ("06_ticket_lock", "acquires_ticket", "2 u32[2] u32[1]", "2[0] != 2", [(".load(", "cuda::memory_order_acquire")]),
    ("07_last_block", "no_fence", "3 u32[3] u32[1] u32[1]", "3[0] != 6", [("atomicInc", "__threadfence() before it, __threadfence() behind it")]),
    ("07_last_block", "one_fence", "2 u32[2] u32[1] u32[1]", "3[0] != 3", [("atomicInc", "__threadfence() behind it")]),
    ("08_look_back", "volatile_flag", "3 u32[3] u32[3]", "1[0] != 1 || 1[1] != 3 || 1[2] != 6",
     [("!ready", "__threadfence() behind it"), ("ready[b] = 1", "__threadfence() before it")]),
    ("09_treiber_stack", "relaxed_push", "2 u32[1] u32[3] u32[3] u32[2]", "", [("compare_exchange", "cuda::memory_order_release")]),
    ("10_barriers", "relaxed_grid", "2 u32[1] u32[2] u32[2]", "3[0] != 2 || 3[1] != 1",
     [("atomicAdd", "__threadfence() before it"), (".load(", "cuda::memory_order_acquire")]),
    ("11_atomics_and_scopes", "block", "2 u32[1]", "1[0] != 2", [("atomicAdd_block", "cuda::memory_order_relaxed, cuda::thread_scope_device")]),
]


def wrong_programs_of_the_course_are_repaired():
    need_clang()
    programs, wrong = {}, []
    for name in sorted({c[0] for c in COURSE}):
        path = os.path.join(examples, "memory-model", name + ".cu")
        status, out, err = run("cc", "-ptx", "-lineinfo", path, "-o", os.path.join(folder, name + ".ptx"), cwd=folder)
        assert status == 0, out + err
        with open(path) as f:
            programs[name] = f.read().split("\n")
    for name, kernel, launch, forbidden, want in COURSE:
        grid, *args = launch.split()
        got = explore(os.path.join(folder, name + ".ptx"), kernel, "--grid", grid, "--block", 1, *args, "--repair",
                      *(("--forbid", forbidden) if forbidden else ()))["repair"]
        there = sorted((programs[name][int(c["place"].split(":")[1].split()[0]) - 1], c["cuda"]) for c in got["changes"])
        same = len(there) == len(want) and all(any(part in line and how == cuda for line, cuda in there) for part, how in want)
        if not (same and got["verified"] and got["minimal"] and not got["remaining"]):
            wrong.append((name, kernel, there, got["remaining"], got["reason"]))
    assert not wrong, wrong


main(globals())
