"""167 CUDA programs with and without a planted data race, under `heddle check`: both lines of each race, not a word of the others.

programs.tar.xz holds the programs and list.tsv: name; clean or race; the memory and the kind of race; the lines of its two accesses
("12,13;20"); why a clean one has none. The verdicts are by the memory model, not by what a run shows. All programs are compiled
together, each in a namespace of its own: one program takes longer to compile than to check. Those that need libcu++ are
compiled where nvcc is. With names, only those are checked, and what is said of them is shown.
"""
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import findings
from both import need_compiler
from tap import Skip, heddle, main, need_loadable_libraries, run, some, source

folder = tempfile.TemporaryDirectory()
with tarfile.open(os.path.join(source, "tests", "races", "programs.tar.xz")) as tar:
    tar.extractall(folder.name)


class Program:
    def __init__(self, line):
        self.name, self.verdict, self.space, self.kind, lines, self.why = line.rstrip("\n").split("\t")
        self.lines = [{int(n) for n in side.split(",")} for side in lines.split(";")] if lines != "-" else []
        with open(os.path.join(folder.name, self.name + ".cu")) as f:
            self.text = f.read()
        self.needs_libcu = "<cuda/" in self.text


with open(os.path.join(folder.name, "list.tsv")) as list_file:
    programs = [Program(line) for line in list_file]


def together(some):
    """One source of several programs, whose lines keep their numbers; the first argument chooses."""
    includes, parts, calls = set(), [], []
    for i, p in enumerate(some):
        includes.update(re.findall(r"^#include.*", p.text, re.M))
        text = re.sub(r"^#include.*", "", p.text, flags=re.M).replace("int main()", "int run()")
        macros = "".join(f"#undef {name}\n" for name in re.findall(r"^#define (\w+)", p.text, re.M))
        parts.append(f'namespace program{i} {{\n#line 1 "{p.name}.cu"\n{text}\n{macros}}}\n')
        calls.append(f'    if (!strcmp(argv[1], "{p.name}")) return program{i}::run();\n')
    return "\n".join(["#include <cstring>", *sorted(includes), *parts, '#line 1 "main.cu"', "int main(int, char **argv)", "{", *calls,
                      "    return 2;", "}\n"])


def compile(name, some, command):
    path = os.path.join(folder.name, name)
    with open(path + ".cu", "w") as f:
        f.write(together(some))
    done = subprocess.run([*command, "-g", "-lineinfo", "-arch=sm_90", "-std=c++17", "-o", path, path + ".cu"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return path


compiled = {}  # names: the program that has it


def compile_all(into):
    """All programs, in two halves at a time; by nvcc what heddle cc cannot compile."""
    if into:
        return
    need_compiler()
    plain = [p for p in programs if not p.needs_libcu]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        halves = [plain[0::2], plain[1::2]]
        for half, path in zip(halves, pool.map(lambda n: compile(f"half{n}", halves[n], [heddle, "cc"]), (0, 1))):
            into.update({p.name: path for p in half})
    if shutil.which("nvcc"):
        rest = [p for p in programs if p.needs_libcu]
        path = compile("rest", rest, ["nvcc", "-cudart", "shared"])
        into.update({p.name: path for p in rest})


def check(program, *options):
    return findings.Checked([compiled[program.name], program.name], options)


def judge(program):
    """What is wrong with what is said of a program, or ''."""
    checked = check(program)
    if checked.wrong:
        return checked.wrong
    if program.verdict == "clean":
        said = [*checked.summary(), *([checked.err] if checked.err else []), *([f"status {checked.status}"] if checked.status else [])]
        return "; ".join(said) and f"clean ({program.why}), but: {'; '.join(said)}"
    if not checked.races_between(*program.lines):
        checked = check(program, "--runs", "5")
    if not checked.races_between(*program.lines):
        return f"missed: {program.kind} between lines {program.lines}; said: {checked.summary()}"
    return "" if checked.status else "found, but the exit status is 0"


def judge_all(some):
    need_loadable_libraries()
    compile_all(compiled)
    known = [p for p in some if p.name in compiled]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [f"{p.name}: {why}" for p, why in zip(known, pool.map(judge, known)) if why]
    assert known and not wrong, f"{len(wrong)} of {len(known)}:\n" + "\n".join(wrong)


def races(space):
    judge_all([p for p in programs if p.verdict == "race" and p.space == space])


def planted_races_in_shared_memory_are_found_with_both_lines():
    races("shared")


def planted_races_in_global_memory_are_found_with_both_lines():
    races("global")


def planted_races_with_the_host_are_found_with_both_lines():
    races("host")


def not_a_word_is_said_of_clean_programs():
    judge_all([p for p in programs if p.verdict == "clean"])


ONE_LINE = """.version 8.0
.target sm_90
.address_size 64
.file 1 "race.cu"
.visible .entry race(.param .u64 p) .maxntid 128 {
    .reg .pred %q; .reg .u32 %t, %v; .reg .u64 %p;
    ld.param.u64 %p, [p];
    mov.u32 %t, %ctaid.x;
    setp.eq.u32 %q, %t, 0;
    .loc 1 3 0
    @%q bra SECOND;
    ld.global.u32 %v, [%p];
    st.global.u32 [%p], %t;
    st.global.u32 [%p+4], %t;
    bra THIRD;
SECOND:
    st.global.u32 [%p+4], %t;
    ld.global.u32 %v, [%p];
    st.global.u32 [%p], %t;
THIRD:
    .loc 1 2 0
    st.global.u32 [%p+4], %t;
    ret;
}
"""


def what_a_race_is_said_to_be_between_does_not_depend_on_the_schedule():
    path, said = os.path.join(folder.name, "one_line.ptx"), set()
    with open(path, "w") as f:
        f.write(ONE_LINE)
    for policy in ("fair", "serial", *(f"random:{seed}" for seed in range(1, 11))):
        status, out, _ = run("check", path, "--grid", 3, "--block", 128, "u64[1]", "--policy", policy, "--json")
        said.add(tuple((f["severity"], f["cuda_line"], f["line"]) if "line" in f else f["text"] for f in json.loads(out)["findings"]))
        assert status == 1, out
    also = "other instructions of these lines race, too: PTX lines "
    assert said == {(("error", 3, 12), ("note", 3, 13),
                     also + "12 and 19, 13 and 13, 13 and 18, 13 and 19, 14 and 14, 14 and 17, 17 and 17, 18 and 19, and 1 more",
                     ("error", 2, 22), ("note", 3, 14), also + "22 and 17", ("error", 2, 22))}, said


def programs_that_need_a_library_of_CUDA_are_among_them():
    need_compiler()
    if not shutil.which("nvcc"):
        raise Skip(f"{sum(p.needs_libcu for p in programs)} programs need libcu++, which comes with nvcc")


def what_a_thread_has_seen_by_an_atomic_operation_is_before_what_it_does_next():
    need_loadable_libraries()
    need_compiler()
    path = os.path.join(folder.name, "observed")
    done = subprocess.run([heddle, "cc", "-lineinfo", "-o", path, os.path.join(source, "tests", "races", "observed.cu")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = {way: findings.Checked([path, way]) for way in ("clean", "race", "another", "own_block", "other_block", "lane", "lanes", "turn", "turns", "word", "part_of_word",
                                                            "words", "part_of_words", "half", "whole_over_half")}
    for way in ("clean", "own_block", "lane", "turn", "word", "words", "half"):
        assert not said[way].summary() and not said[way].wrong, (way, said[way].summary(), said[way].wrong)
    assert said["race"].races_between({26}, {32}), said["race"].summary()
    assert said["another"].races_between({40}, {53}), said["another"].summary()
    assert said["other_block"].races_between({74}, {90}), said["other_block"].summary()
    assert said["lanes"].races_between({98}, {102}), said["lanes"].summary()
    assert said["turns"].races_between({112}, {117}), said["turns"].summary()
    for way in ("part_of_word", "part_of_words"):
        assert said[way].races_between({126}, {138}), (way, said[way].summary())
    assert said["whole_over_half"].races_between({155}, {166}), said["whole_over_half"].summary()


def one_read_stands_for_all_where_a_launch_only_reads():
    need_loadable_libraries()
    need_compiler()
    path = os.path.join(folder.name, "read_only")
    done = subprocess.run([heddle, "cc", "-lineinfo", "-o", path, os.path.join(source, "tests", "races", "read_only.cu")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    def check(way, options=()):
        return findings.Checked([path, way], options)
    for way in ("in_turn", "apart", "in_place", "stencil"):
        said = check(way)
        assert not said.summary() and not said.wrong, (way, said.summary(), said.wrong)
    for way in ("beside", "before"):
        assert check(way).races_between({12}, {17}), way
    assert check("overlapping").races_between({12}, {12})
    writes = {"first": (24, 27), "last": (24, 27), "loaded": (34, 37), "shuffled": (43, 45), "from_nothing": (51, 54), "wrapped": (61, 64)}
    for way, (read, write) in writes.items():
        for options in ((), ("--policy", "serial"), ("--policy", "random:5")): # serially the thread that writes is the first to read
            said = check(way, options)
            assert said.races_between({read}, {write}), (way, options, said.summary())
            assert "not-watched" not in str(said.summary()), (way, options, said.summary())


def checked_kernels(file, *options):
    """Each kernel of a file, its marked lines, and what is said of it. The comment behind a line says in which kernel it races."""
    need_loadable_libraries()
    need_compiler()
    path, cuda = os.path.join(folder.name, file), os.path.join(source, "tests", "races", file + ".cu")
    done = subprocess.run([heddle, "cc", "-lineinfo", *options, "-o", path, cuda], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(cuda) as f:
        lines = f.read().split("\n")
    kernels = [m[1] for m in (re.match(r"KERNEL (\w+)", text) for text in lines) if m]
    assert len(kernels) >= 8
    for n, name in enumerate(kernels):
        yield name, [i + 1 for i, text in enumerate(lines) if text.endswith(f"// race {name}")], findings.Checked([path, str(n)])


def check_kernels(file, *options):
    """Of each kernel of a file its marked lines are said, or nothing."""
    for name, marked, said in checked_kernels(file, *options):
        if marked:
            assert said.races_between({marked[0]}, {marked[-1]}), (name, said.summary())
        else:
            assert not said.summary() and not said.wrong, (name, said.summary(), said.wrong)


def bytes_of_a_word_are_told_apart():
    check_kernels("bytes")


def asynchronous_copies_are_ordered_by_who_waits_for_them():
    check_kernels("copies", "-arch=sm_90")


def check_proxies(file):
    for name, lines, said in checked_kernels(file, "-arch=sm_90a"):
        found = [f for f in said.findings if f["severity"] != "note"]
        assert len(found) == (1 if lines else 0) and not said.wrong, (name, said.summary(), said.wrong)
        for f in found:
            assert f["code"] == "missing-proxy-fence" and f["tool"] == "racecheck", (name, said.summary())
            assert f["cuda_line"] == lines[-1] and f"{file}.cu:{lines[0]} through the generic proxy" in f["text"], (name, said.summary())


def writes_that_the_async_proxy_comes_upon_without_a_fence_are_found():
    """By copies, and by wgmma; in any kernel whose lines are not marked nothing is."""
    check_proxies("proxies")


def so_are_writes_to_global_memory():
    """By threads of any block of the launch: behind its beginning, all proxies see what was before."""
    check_proxies("global_proxies")


LANES = """.version 8.0
.target sm_90
.address_size 64
.visible .entry lanes(.param .u64 p, .param .u32 differ, .param .u32 place) .maxntid 32 {
    .reg .pred %%q; .reg .u32 %%lane, %%differ, %%turn, %%v; .reg .u64 %%p, %%offset;
    ld.param.u64 %%p, [p];
    ld.param.u32 %%differ, [differ];
    ld.param.u32 %%v, [place];
    mov.u32 %%lane, %%tid.x;
    and.b32 %%v, %%v, %%lane;
    mul.wide.u32 %%offset, %%v, 4;
    add.u64 %%p, %%p, %%offset;
    mov.u32 %%turn, 0;
AGAIN:
    setp.ge.u32 %%q, %%turn, %%differ;
    selp.u32 %%v, %%lane, 7, %%q;
    %s
    bar.warp.sync 0xffffffff;
    add.u32 %%turn, %%turn, 1;
    setp.lt.u32 %%q, %%turn, 3;
    @%%q bra AGAIN;
    ret;
}
"""


def lanes_of_one_store_race_at_a_place_where_they_write_different_values():
    stores = ("st.global.u32 [%p], %v;", "st.global.u8 [%p], %v;", "st.global.v2.u32 [%p], {%turn, %v};")
    for store, place in ((s, p) for s in stores for p in (0, 15, 3, 24)):
        path = os.path.join(folder.name, "lanes.ptx")
        with open(path, "w") as f:
            f.write(LANES % store)
        if place and "v2" in store:
            continue  # lanes side by side would write in part what others do
        for differ in (0, 1, 2, 3):  # from this turn on they do
            status, out, _ = run("check", path, "--grid", 1, "--block", 32, "u32[64]", differ, place, "--json")
            found = [f["code"] for f in json.loads(out)["findings"]]
            assert found == (["data-race"] if differ < 3 else []), (store, place, differ, found)
    status, out, _ = run("check", path, "--grid", 2, "--block", 32, "u32[64]", 3, 0, "--json")
    assert [f["code"] for f in json.loads(out)["findings"]] == ["data-race"], out  # of two warps it is a race


RUNS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry runs(.param .u64 p, .param .u32 first, .param .u32 second) .maxntid 64 {
    .reg .pred %%q; .reg .u32 %%t, %%lane, %%first, %%second, %%v; .reg .u64 %%p, %%offset;
    .shared .align 16 .b8 own[512];
    ld.param.u64 %%p, [p];
    ld.param.u32 %%first, [first];
    ld.param.u32 %%second, [second];
    mov.u32 %%t, %%tid.x;
    and.b32 %%lane, %%t, 31;
    setp.lt.u32 %%q, %%t, 32;
    selp.u32 %%v, %%first, %%second, %%q;
    shr.u32 %%v, %%v, %%lane;
    and.b32 %%v, %%v, 1;
    setp.eq.u32 %%q, %%v, 1;
    mul.wide.u32 %%offset, %%lane, %d;
    %s
    add.u64 %%p, %%p, %%offset;
    @%%q %s [%%p], %s;
    ret;
}
"""


def lanes_that_take_part_race_and_no_others():
    widths = {1: ("u8", "%v"), 2: ("u16", "%v"), 4: ("u32", "%v"), 8: ("v2.u32", "{%v, %v}"), 16: ("v4.u32", "{%v, %v, %v, %v}")}
    pairs = ((0x7fff, 0xffff8000), (0x7fff, 0xffffc000), (0x0ff00ff0, 0xf00ff00f), (0x0ff00ff0, 0xf01ff00f), (0x55555555, 0xaaaaaaaa),
             (0x55555555, 0xbaaaaaaa), (0x80000001, 0x7ffffffe), (0x80000001, 0xffffffff))
    path = os.path.join(folder.name, "runs.ptx")
    for bytes, (type, value) in widths.items():
        for space, base in ("global", ""), ("shared", "mov.u64 %p, own;"):
            with open(path, "w") as f:
                f.write(RUNS % (bytes, base, f"st.{space}.{type}", value))
            for first, second in pairs:
                status, out, _ = run("check", path, "--grid", 1, "--block", 64, "u64[64]", first, second, "--json")
                found = {f["code"] for f in json.loads(out)["findings"]}
                assert found == ({"data-race"} if first & second else set()), (bytes, space, hex(first), hex(second), found)


def what_all_threads_write_by_one_line_calls_for_an_atomic_operation():
    """A barrier orders the passes of a loop, and nothing where each thread comes there once."""
    path = os.path.join(folder.name, "runs.ptx")
    with open(path, "w") as f:
        f.write(RUNS % (4, "", "st.global.u32", "%v"))
    status, out, _ = run("check", path, "--grid", 1, "--block", 64, "u64[64]", 1, 1, "--json")
    (finding,) = json.loads(out)["findings"]
    assert "use an atomic operation" in finding["help"] and "__syncthreads()" in finding["help"], finding


def judge_marked(name, least):
    """Of a file of cases: the lines that are marked with a case's name race, and nothing else is said."""
    need_loadable_libraries()
    need_compiler()
    text, path = os.path.join(source, "tests", "races", name), os.path.join(folder.name, name[:-3])
    done = subprocess.run([heddle, "cc", "-g", "-lineinfo", "-arch=sm_90", "-std=c++17", "-o", path, text], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(text) as f:
        lines = f.read().splitlines()
    cases = [case for line in lines for case in re.findall(r"^    RUN\((\w+)\)$", line)]
    marked = {case: [n for n, line in enumerate(lines, 1) if f"[{case}]" in line] for case in cases}

    def wrong(case):
        checked, places = findings.Checked([path, case]), marked[case]
        ended = [line for line in checked.summary() if line.startswith("block-ended")]
        if checked.wrong or not places:
            return checked.wrong or checked.summary()
        if case.startswith("ends_"):
            return [] if ended and all(f"{name}:{places[0]}" in line for line in ended) else checked.summary()
        return [] if checked.races_between(places[:1], places[-1:]) else checked.summary() or ["nothing"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [f"{case}: {said}" for case, said in zip(cases, pool.map(wrong, cases)) if said]
    assert len(cases) >= least and not found, "\n".join(found)


def blocks_of_a_cluster_race_on_each_others_shared_memory():
    judge_marked("clusters.cu", 19)


def blocks_hand_data_over_by_patterns_of_strong_operations():
    judge_marked("patterns.cu", 13)


def said_again(command, path, *options):
    """What is wrong with what a recorded run is said to be when its file is replayed: the same findings as JSON, or ''."""
    events = os.path.join(folder.name, path + ".events")
    recorded = findings.Checked(command, ["--record-events", events, *options])
    again = findings.Checked([], ["--replay-events", events])
    os.remove(events)
    if recorded.wrong or again.wrong:
        return f"{path}: {recorded.wrong or again.wrong}"
    differ = [f"  recorded {a}\n  replayed {b}" for a, b in itertools.zip_longest(recorded.findings, again.findings) if a != b]
    return f"{path}:\n" + "\n".join(differ) if differ else ""


def a_recorded_run_replays_to_the_same_findings():
    need_loadable_libraries()
    compile_all(compiled)
    racy = [p for p in programs if p.verdict == "race" and p.name in compiled]
    clean = [p for p in programs if p.verdict == "clean" and p.name in compiled]
    known = [p for pair in itertools.zip_longest(racy[::7] + racy, clean[::9]) for p in pair if p]
    known = some(8, dict.fromkeys([*known, *clean]))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [w for w in pool.map(lambda p: said_again([compiled[p.name], p.name], p.name), known) if w]
    assert known and not wrong, f"{len(wrong)} of {len(known)}:\n" + "\n".join(wrong)


def so_does_each_case_of_the_example_programs():
    """global_proxies.cu first, whose tests of mbarriers have copies done."""
    need_loadable_libraries()
    need_compiler()
    numbers, names = r"^KERNEL (\w+)", r"^    RUN\((\w+)\)$"
    by_file = {"global_proxies": (numbers, "sm_90a"), "bytes": (numbers, "sm_90"), "observed": (r'!strcmp\(argv\[1\], "(\w+)"', "sm_90"),
               "read_only": (r'!strcmp\(way, "(\w+)"', "sm_90"), "proxies": (numbers, "sm_90a"), "copies": (numbers, "sm_90"),
               "clusters": (names, "sm_90"), "patterns": (names, "sm_90")}
    cases = []
    for file, (pattern, arch) in by_file.items():
        with open(os.path.join(source, "tests", "races", file + ".cu")) as f:
            found = re.findall(pattern, f.read(), re.M)
        assert len(found) > 8, (file, found)
        cases.append([(file, arch, str(n) if pattern == numbers else name) for n, name in enumerate(found)])
    wrong = []
    for file, arch, case in some(6, [c for turn in itertools.zip_longest(*cases) for c in turn if c]):
        path = os.path.join(folder.name, file + "-replayed")
        if not os.path.exists(path):
            cuda = os.path.join(source, "tests", "races", file + ".cu")
            done = subprocess.run([heddle, "cc", "-lineinfo", "-std=c++17", f"-arch={arch}", "-o", path, cuda], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        wrong += [w for w in [said_again([path, case], f"{file} {case}")] if w]
    assert not wrong, "\n".join(wrong)


def show(names):
    compile_all(compiled)
    for p in programs:
        if p.name in names:
            print(f"{p.name}: {judge(p) or 'right'}", *check(p).summary(), sep="\n  ")


if set(sys.argv[1:]) & {p.name for p in programs}:
    show(sys.argv[1:])
else:
    main(globals())
