"""heddle explore --repair and --graph: single executions, what would forbid them, and how they are drawn."""
import json
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path[:0] = [os.path.join(os.environ["HEDDLE_SOURCE"], "tests"), os.path.join(os.environ["HEDDLE_SOURCE"], "tests/explain_page")]
import browser
from tap import examples, main, need_clang, run, some, source, unpack

folder = tempfile.mkdtemp()
unpack(os.path.join(source, "tests/explore/kernels.tar.xz"), folder)
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


def a_change_is_of_a_statement_with_all_its_words():
    stale = ("--forbid", "1[2] == 1 && 1[3] == 0")
    sites = "st.global.wb.u32 [%rd1], 1; {} ret;\nother:\nld.acquire.gpu.u32 %r2, [%rd1+4]; ld.global.nc.u32 %r3, [%rd1];" \
            "st.u32 [%rd1+8], %r2; st.u32 [%rd1+12], %r3; ret;"
    for store, want in (("@!%p1 st.volatile.global.u32 [%rd1+4], 1;", ["fence.acq_rel.gpu;", "@!%p1 st.volatile.global.u32 [%rd1+4], 1;"]),
                        ("red.global.add.u32 [%rd1+4], 1;", ["fence.acq_rel.gpu;", "red.global.add.u32 [%rd1+4], 1;"]),
                        ("red.gpu.global.relaxed.add.u32 [%rd1+4], 1;", ["red.release.gpu.global.add.u32 [%rd1+4], 1;"])):
        got = repair(sites.format(store), *stale)["repair"]
        assert got["verified"] and [c["ptx"] for c in got["changes"]] == [
            ["st.relaxed.gpu.global.u32 [%rd1], 1;"], want, ["ld.relaxed.gpu.global.u32 %r3, [%rd1];"]], got


def arrivals_at_a_cluster_are_released():
    path = os.path.join(folder, "cluster.ptx")
    with open(path, "w") as f:
        f.write(HEAD + """.shared .align 4 .u32 s;
.visible .entry k(.param .u64 p)
{
.reg .pred %p<9>; .reg .u32 %r<20>; .reg .u64 %rd<20>;
mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, s; setp.eq.u32 %p1, %r1, 1; @%p1 bra other;
mapa.shared::cluster.u32 %r3, %r2, 1; st.shared::cluster.u32 [%r3], 7;
barrier.cluster.arrive.relaxed; barrier.cluster.wait; ret;
other: barrier.cluster.arrive.relaxed; barrier.cluster.wait;
ld.shared.u32 %r4, [s]; ld.param.u64 %rd1, [p]; st.u32 [%rd1], %r4; ret;
}
""")
    got = explore(path, "--grid", 2, "--block", 1, "--cluster", 2, "u32[4]", "--repair")
    assert changes_of(got) == ["barrier.cluster.arrive.relaxed -> barrier.cluster.arrive.release"], got
    assert got["repair"]["changes"][0]["line"] == 10 and got["repair"]["changes"][0]["ptx"] == ["barrier.cluster.arrive;"], got


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
    assert not found["repair"]["changes"] and "repair: there are no findings to remove" in found["text"], found["text"]


PROGRAM = """#include <cuda/atomic>
using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;
__device__ int flag;
__global__ void pass(int *data, int *r)
{
    if (blockIdx.x == 0) {
        *data = 42;
        device_int(flag).store(1, cuda::memory_order_relaxed);
    } else if (device_int(flag).load(cuda::memory_order_acquire)) {
        r[0] = *data;
    }
}
int main()
{
    int *data, *r;
    cudaMalloc(&data, 4);
    cudaMalloc(&r, 4);
    pass<<<2, 1>>>(data, r);
    return cudaDeviceSynchronize();
}
"""


def a_launch_of_a_program_is_repaired_and_drawn():
    need_clang()
    path, program = os.path.join(folder, "pass.cu"), os.path.join(folder, "pass")
    with open(path, "w") as f:
        f.write(PROGRAM)
    status, out, err = run("cc", "-lineinfo", path, "-o", program)
    assert status == 0, out + err
    save, graph = os.path.join(folder, "pass.json"), os.path.join(folder, "pass.svg")
    status, out, err = run("explore", "--kernel", "pass", "--repair", "--graph", graph, "--json", save, program)
    assert status == 1 and "st.relaxed.gpu -> st.release.gpu" in err and f"is in {graph}" in err, out + err
    with open(save) as f:
        got = json.load(f)["repair"]
    assert [c["cuda"] for c in got["changes"]] == ["cuda::memory_order_release"] and got["verified"] and got["minimal"], got
    assert {("rf", "W flag = 1", "R flag = 1"), ("race", "W 1[0] = 42", "R 1[0] = 0")} <= Picture(graph).named(), Picture(graph).named()
    assert any("*data = 42;" in line for lines in Picture(graph).events.values() for line in lines)
    for option, says in (("--outcome=7", "there is 1 outcome, number 1"), ("--graph=x.png", "must end in .html or .svg")):
        status, out, err = run("explore", "--kernel", "pass", option, program)
        assert status == 2 and says in err, (option, status, out, err)


def litmus_tests_are_repaired_for_their_condition():
    path = os.path.join(folder, "MP.litmus")
    with open(path, "w") as f:
        f.write("PTX MP\n{ x=0; flag=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | ld.acquire.gpu r0, flag ;\n"
                " st.relaxed.gpu flag, 1 | ld.weak r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n")
    status, out, err = run("litmus", path, "--repair")
    assert status == 0 and "MP.litmus:5 (PTX" in out and "st.relaxed.gpu -> st.release.gpu\n" in out, out + err


def litmus(path, *args):
    save = os.path.join(folder, "litmus.json")
    status, out, err = run("litmus", path, "--json", save, *args)
    assert status == 0, out + err
    with open(save) as f:
        return json.load(f)[0]


def fenced(line):
    access = re.match(r"\s*(ld|st|atom|red)\.(?!param)", line)
    return "fence.sc.sys; " + line if access else line


def outcomes_of_litmus_tests_are_forbidden_or_remain():
    """Each outcome of tests of all shapes: with the repair written into the text it is gone, nothing new has come, and with any change less it
    is there; what is said to remain is there with a fence.sc before each access."""
    unpack(os.path.join(source, "tests/explore/shapes.tar.xz"), folder)
    tests = sorted(f for f in os.listdir(os.path.join(folder, "litmus")) if f.endswith(".json"))
    for name in some(12, tests[7::53] + [t for i, t in enumerate(tests) if i % 53 != 7]):
        path, other = os.path.join(folder, "litmus", name), os.path.join(folder, "other.json")
        shutil.copy(path, other)
        with open(path[:-5] + ".ptx") as f:
            text = f.read().split("\n")

        def outcomes_with(lines):
            with open(other[:-5] + ".ptx", "w") as f:
                f.write("\n".join(lines))
            return litmus(other)["outcomes"]

        def with_changes(changes):
            return outcomes_with([*({c["line"] - 1: " ".join(c["ptx"]) for c in changes}.get(i, line) for i, line in enumerate(text))])

        found = litmus(path)
        for number, outcome in enumerate(found["outcomes"], 1):
            got = litmus(path, "--repair", "--outcome", number)["repair"]
            if got["reason"] and not found["complete"]:
                continue
            if got["remaining"]:
                assert not got["changes"] and outcome in outcomes_with(map(fenced, text)), (name, outcome, got)
                continue
            assert got["verified"] and got["minimal"], (name, outcome, got)
            left = with_changes(got["changes"])
            assert outcome not in left and all(o in found["outcomes"] for o in left), (name, outcome, got, left)
            for i in range(len(got["changes"])):
                assert outcome in with_changes(got["changes"][:i] + got["changes"][i + 1 :]), (name, outcome, got)


def scopes_of_several_gpus_are_said_to_be_shifted():
    path = os.path.join(folder, "MPsys.litmus")
    with open(path, "w") as f:
        f.write("PTX MPsys\n{ x=0; flag=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;\n st.relaxed.sys x, 1 | ld.acquire.sys r0, flag ;\n"
                " st.release.gpu flag, 1 | ld.relaxed.sys r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n")
    status, out, err = run("litmus", path, "--repair")
    assert status == 0 and "st.release.cluster -> st.release.gpu\n" in out and "its scope .gpu becomes .cluster, its scope .sys becomes .gpu" in out, out + err


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


# ---- pictures ----

SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    """An SVG file as data: events by number with their texts, edges with what is said of them, all texts and lines with their places."""

    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.events, self.edges, self.texts, self.lines = {}, [], [], []
        for g in root.iter(SVG + "g"):
            kinds = g.get("class").split()
            if kinds[0] == "event":
                self.events[g.get("id")] = [t.text for t in g.iter(SVG + "text")]
                self.events[g.get("id")].append(g.get("data-thread"))
            elif kinds[0] == "edge" and "legend" not in kinds:
                self.edges.append((kinds[1], g.get("data-from"), g.get("data-to"), g.find(SVG + "title").text))
        above = {child: parent for parent in root.iter() for child in parent}
        for t in root.iter(SVG + "text"):
            wide = len(t.text) * (5.75 if above[t].get("class", "").startswith("edge") else 7.25)
            left = float(t.get("x")) - {"end": wide, "middle": wide / 2}.get(t.get("text-anchor"), 0)
            self.texts.append((left, float(t.get("y")) - 9, left + wide, float(t.get("y")) + 3, t.text))
        for path in root.iter(SVG + "path"):
            if path.get("class") == "line" and " L" in path.get("d"):
                points = [tuple(map(float, p.split())) for p in path.get("d")[1:].split(" L")]
                self.lines += list(zip(points, points[1:]))

    def named(self):
        """Edges by what the boxes say: {(kind, what, what)}."""
        what = {**{k: v[0] for k, v in self.events.items()}, "initially": "initially"}
        return {(kind, what[a], what[b]) for kind, a, b, _ in self.edges}

    def overlaps(self):
        found = []
        for i, a in enumerate(self.texts):
            found += [(a[4], b[4]) for b in self.texts[i + 1 :] if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]]
            found += [(a[4], line) for line in self.lines
                      if min(p[0] for p in line) < a[2] and a[0] < max(p[0] for p in line) and min(p[1] for p in line) < a[3]
                      and a[1] < max(p[1] for p in line)]
        return found


def draw(*args, name="graph.svg"):
    path = os.path.join(folder, name)
    status, out, err = run("explore", *args, "--graph", path)
    assert status in (0, 1) and f"is in {path}\n" in out, out + err
    return Picture(path) if name.endswith(".svg") else path


def two_blocks(body):
    path = os.path.join(folder, "two.ptx")
    with open(path, "w") as f:
        f.write(HEAD + ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .u32 %r<20>; .reg .u64 %rd<20>;\n"
                "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra other;\n" + body + "\n}\n")
    return (path, "--grid", 2, "--block", 1, "u32[8]")


def all_edges_of_an_execution_are_drawn():
    relaxed = ".relaxed.gpu"
    got = draw(*two_blocks(MESSAGE.format(relaxed, relaxed, relaxed, relaxed)), "--forbid", "1[2] == 1 && 1[3] == 0")
    assert got.named() == {
        ("po", "W 1[0] = 1", "W 1[1] = 1"), ("po", "R 1[1] = 1", "R 1[0] = 0"), ("po", "R 1[0] = 0", "W 1[2] = 1"), ("po", "W 1[2] = 1", "W 1[3] = 0"),
        ("rf", "W 1[1] = 1", "R 1[1] = 1"), ("rf", "initially", "R 1[0] = 0"), ("fr", "R 1[0] = 0", "W 1[0] = 1")}, got.named()
    got = draw(*two_blocks(MESSAGE.format("", ".release.gpu", ".acquire.gpu", "")), "--observe", "1[2]", "--observe", "1[3]", "--outcome", 3)
    assert {e for e in got.named() if e[0] not in ("po", "rf")} == {
        ("sync", "W 1[1] = 1", "R 1[1] = 1"), ("causality", "W 1[0] = 1", "R 1[0] = 1"), ("causality", "W 1[1] = 1", "R 1[1] = 1")}, got.named()
    got = draw(*two_blocks(STORE_BUFFERING.replace("ld.relaxed", "fence.sc.gpu; ld.relaxed")), "--observe", "1[2]", "--observe", "1[3]", "--outcome", 1)
    assert [e[0] for e in got.edges].count("fence-sc") == 1 and ("fr", "R 1[1] = 0", "W 1[1] = 1") in got.named(), got.named()


def edges_of_large_executions_are_complete():
    got = draw(os.path.join(source, "tests/explore/kernels/ticket.ptx"), "--grid", 3, "--block", 1, "u32[96]", 4, "--observe", "1[64]")
    reads = [k for k, v in got.events.items() if v[0][0] in "RU"]
    writes = [k for k, v in got.events.items() if v[0][0] in "WU"]
    kinds = {kind: [e for e in got.edges if e[0] == kind] for kind in ("po", "rf", "co", "fr", "sync")}
    assert len(got.events) == 60 and len(kinds["po"]) == 57, got.events
    assert sorted(e[2] for e in kinds["rf"]) == sorted(reads)
    # three places, each written twelve times, one write after the other: each but the first follows one, each read but the last ones
    # precedes one
    assert len(writes) == 36 and len(kinds["co"]) == 33, [(k, len(v)) for k, v in kinds.items()]
    assert kinds["sync"] and all(got.events[a][-1] != got.events[b][-1] for _, a, b, _ in kinds["sync"])
    for kind, a, b, _ in kinds["rf"]:
        value = got.events[b][0].split(" = ")[-1].split(": ")[-1].split(" -> ")[0]
        assert a == "initially" or got.events[a][0].split(" = ")[-1].split(" -> ")[-1] == value, (got.events[a], got.events[b])
    assert {e[1] for e in kinds["fr"]} <= set(reads) and len(kinds["fr"]) >= len(reads) - 3


def no_text_covers_another_one_or_a_line():
    ticket = os.path.join(source, "tests/explore/kernels/ticket.ptx")
    mcs = os.path.join(source, "tests/explore/kernels/mcs.ptx")
    for args in ((ticket, "--grid", 3, "--block", 1, "u32[96]", 4), (mcs, "--grid", 3, "--block", 1, "u32[128]", 2), arguments(KERNELS["deque_1"]),
                 arguments(KERNELS["barrier_2"]), two_blocks(MESSAGE.format("", "", "", ""))):
        got = draw(*args)
        assert got.events and not got.overlaps(), (args, got.overlaps()[:4])


def edges_say_what_would_have_forbidden_them():
    def said(kind, args):
        return [title for k, _, _, title in draw(*args).edges if k == kind]

    stale = ("--forbid", "1[2] == 1 && 1[3] == 0")
    relaxed = ".relaxed.gpu"
    (text,) = said("fr", (*two_blocks(MESSAGE.format(relaxed, relaxed, relaxed, relaxed)), *stale))
    assert "Allowed: that write does not precede the read in causality order" in text, text
    assert re.search(r"st.relaxed.gpu -> st.release.gpu at \S+:9 and ld.relaxed.gpu -> ld.acquire.gpu at \S+:12 would have forbidden it "
                     r"\(Causality, PTX ISA 8.10.6\)", text), text
    # half of it is there already
    (text,) = said("fr", (*two_blocks(MESSAGE.format(relaxed, ".release.gpu", relaxed, relaxed)), *stale))
    assert re.search(r" ld.relaxed.gpu -> ld.acquire.gpu at \S+:12 would have forbidden it", text) and "st.relaxed" not in text, text
    # two fences, of which either order is against one of the reads
    for text in said("fr", (*two_blocks(STORE_BUFFERING), "--forbid", "1[2] == 0 && 1[3] == 0")):
        assert text.count("fence.sc.gpu before it") >= 2 and "Causality, PTX ISA 8.10.6" in text, text
    # a lost update
    lost = two_blocks("atom.relaxed.cta.add.u32 %r2, [%rd1], 1;\nret;\nother:\natom.relaxed.cta.add.u32 %r2, [%rd1], 1;\nret;")
    texts = said("fr", (*lost, "--forbid", "1[0] == 1", "--outcome", 1, "--observe", "1[0]"))
    assert texts and all("atom.relaxed.cta -> atom.relaxed.gpu" in t and "Atomicity, PTX ISA 8.10.3" in t for t in texts), texts
    # writes in an order that causality would turn round
    crossed = two_blocks("st.relaxed.gpu.u32 [%rd1], 1;\nst.relaxed.gpu.u32 [%rd1+4], 2;\nret;\nother:\n"
                         "st.relaxed.gpu.u32 [%rd1+4], 1;\nst.relaxed.gpu.u32 [%rd1], 2;\nret;")
    texts = said("co", (*crossed, "--forbid", "1[0] == 1 && 1[1] == 1"))
    assert len(texts) == 2 and all("fence.sc.gpu before it" in t and "Coherence, PTX ISA 8.10.1" in t for t in texts), texts
    # a write that an update has read from, and is the last one all the same
    mixed = two_blocks("atom.relaxed.gpu.add.u32 %r2, [%rd1], 1;\nst.u32 [%rd1+8], %r2;\nret;\nother:\nst.u32 [%rd1], 5;\nret;")
    (text,) = said("co", (*mixed, "--forbid", "1[0] == 5 && 1[2] == 5", "--observe", "1[0]", "--observe", "1[2]"))
    assert "because its value is the final one" in text and "st.weak -> st.relaxed.gpu" in text, text
    assert "Sequential Consistency per Location, PTX ISA 8.10.5" in text, text
    (text,) = said("race", two_blocks(MESSAGE.format("", relaxed, relaxed, "")))
    assert "Conflict and Data-races, PTX ISA 8.7.1" in text and "ld.weak -> ld.relaxed.gpu" in text, text
    # sequentially consistent: nothing would
    (text,) = said("fr", (*two_blocks(MESSAGE.format(relaxed, relaxed, relaxed, relaxed)), "--observe", "1[2]", "--observe", "1[3]", "--forbid",
                          "1[2] == 0 && 1[3] == 0"))[:1]
    assert "No order, scope or fence forbids it" in text, text


def what_is_drawn_without_a_finding_is_no_interleaving():
    body = MESSAGE.format(*[".relaxed.gpu"] * 4)
    got = draw(*two_blocks(body), "--observe", "1[2]", "--observe", "1[3]")
    assert ("rf", "initially", "R 1[0] = 0") in got.named() and ("rf", "W 1[1] = 1", "R 1[1] = 1") in got.named(), got.named()


def graphs_that_cannot_be_written_are_refused():
    args = two_blocks(STORE_BUFFERING)
    for name, says in (("graph.png", "must end in .html or .svg"), ("no/such/folder/graph.svg", "folder")):
        status, out, err = run("explore", *args, "--graph", os.path.join(folder, name))
        assert status in (1, 2) and says in err, (name, status, out, err)
    path = os.path.join(folder, "SB.litmus")
    with open(path, "w") as f:
        f.write("PTX SB\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n"
                " ld.relaxed.gpu r0, y | ld.relaxed.gpu r1, x ;\nexists (P0:r0 == 0 /\\ P1:r1 == 0)\n")
    status, out, err = run("litmus", path, path, "--graph", "x.svg")
    assert status == 2 and "one test" in err, err
    status, out, err = run("litmus", path, "--graph", os.path.join(folder, "sb.svg"))
    assert status == 0 and ("fr", "R y = 0", "W y = 1") in Picture(os.path.join(folder, "sb.svg")).named(), out + err


def the_page_asks_for_nothing_and_is_well_formed():
    page = draw(*arguments(KERNELS["deque_1"]), name="page.html")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    assert not re.search(r"\bsrc=|@import|url\((?!#)|fetch\(|XMLHttpRequest|import\(|<link(?! rel=\"icon\" href=\"data:,\">)", text)
    assert set(re.findall(r"https?://[^\"'` ]+", text)) <= {"http://www.w3.org/2000/svg"}
    ElementTree.fromstring(re.search(r"<svg.*</svg>", text, re.S).group(0))


def the_page_says_what_is_pointed_at():
    w = browser.window(folder)
    w.open(draw(*two_blocks(MESSAGE.format(*[".relaxed.gpu"] * 4)), "--forbid", "1[2] == 1 && 1[3] == 0", name="page.html"))
    said = "document.getElementById('said').textContent"
    w.do("document.querySelector('.edge.fr').focus()")
    assert "would have forbidden it (Causality, PTX ISA 8.10.6)" in w.do(said), w.do(said)
    assert w.do("document.querySelectorAll('.event.hot').length") == 2
    w.do("document.querySelector('.edge.fr').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
    w.do("document.querySelector('.event').focus()")
    assert "would have forbidden it" in w.do(said), "what is kept stays"
    w.do("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    w.do("document.querySelector('.event').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))")
    assert w.do("document.activeElement.id") == "e1", w.do("document.activeElement.outerHTML")
    w.do("document.querySelector('.kinds input[value=po]').click()")
    assert w.do("getComputedStyle(document.querySelector('.edge.po')).display") == "none"
    for width, scheme in ((380, "dark"), (1280, "light")):
        w.size(width)
        w.scheme(scheme)
        assert w.do("document.documentElement.scrollWidth <= window.innerWidth"), width
    assert w.problems == [], w.problems


try:
    main(globals())
finally:
    browser.close()
    shutil.rmtree(folder, ignore_errors=True)
