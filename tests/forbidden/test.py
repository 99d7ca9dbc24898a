"""What CUDA refuses in captures and of graphs: programs that write down what each call says, beside what they wrote on an H200
(PROGRAM.txt; nvcc 13.0, driver 580.159). Prints TAP."""
import difflib
import gzip
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

HERE = os.path.join(tap.source, "tests", "forbidden")
LIBRARIES = os.path.join(os.path.abspath(os.environ["HEDDLE_BUILD"]), "lib")

# Heddle refuses it by name, which in a capture invalidates that: no graph lacks a node.
UNSUPPORTED = re.compile(r"\b801(/2/901(/801)?)?\b")
# Where else it is to differ: the line, how often, and why.
DIFFERS = {
    "capture_calls": {"cuMemsetD32Async(0x10, 0, 16, s)": (1, "what is no memory is refused before the graph runs")},
    "capture_stories": {
        "  cuMemsetD32Async(memory, 0, (size_t)1 << 40, a)": (1, "what is no memory is refused before the graph runs"),
        "  8 bytes": (1, "8 of 12 bytes of parameters: the last would be anything"),
        "  11 bytes": (1, "so"),
    },
    "runtime_calls": {},
    "graphrules": {},
    "random_captures": {},
    "random_graphs": {},
    "graph_rules": {
        "  cuGraphAddKernelNode(&n2, g, NULL, 0, &k)": (1, "11 of 12 bytes of parameters: the last would be anything"),
        "  cuGraphKernelNodeSetParams(n1, &k)": (1, "so"),
        "  cuGraphExecKernelNodeSetParams(x, n1, &k)": (1, "so"),
        "  cuGraphReleaseUserObject(g, o, 1)": (1, "references that nobody holds are not released"),
        "  cuGraphReleaseUserObject(new_graph(), o, 1)": (1, "so"),
        "  cuUserObjectRelease(o, 100)": (1, "so"),
    },
}


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def lines_of(program, *compiler):
    """What the program writes by Heddle's libraries."""
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, program)
        call(*compiler, "-o", binary)
        return call(tap.heddle, "run", binary).splitlines()


def in_c(program, *source):
    return lines_of(program, "cc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Wno-unused", "-I",
                    os.path.join(tap.source, "include", "cuda"), *source, "-L", LIBRARIES, "-lcudart", "-lcuda", "-lpthread")


def expected(program):
    path = os.path.join(HERE, program + ".txt")
    with open(path, encoding="utf-8") if os.path.exists(path) else gzip.open(path + ".gz", "rt", encoding="utf-8") as f:
        return f.read().splitlines()


def name(line):
    return re.split(r"(?::| =) ", line)[0]


def compare(program, ours):
    """Each line is the H200's, but for those that are to differ, or are refused by name."""
    theirs, wrong, differ = expected(program), [], {}
    for mine, line in zip(ours, theirs):
        if mine == line or UNSUPPORTED.search(mine):
            continue
        if name(line) in DIFFERS.get(program, {}):
            differ[name(line)] = differ.get(name(line), 0) + 1
        else:
            wrong.append(f"  {mine}\n  {line}   (an H200)")
    if len(ours) != len(theirs):
        wrong += difflib.unified_diff(theirs, ours, "an H200", "Heddle", lineterm="", n=1)
    assert not wrong, "\n".join(wrong)
    assert differ == {line: n for line, (n, why) in DIFFERS.get(program, {}).items()}, differ


def of_driver(program):
    tap.need_loadable_libraries()
    compare(program, in_c(program, os.path.join(HERE, program + ".c")))


def each_call_in_a_capture_says_what_it_does_on_an_H200():
    of_driver("capture_calls")


def captures_begin_end_and_meet_as_on_an_H200():
    of_driver("capture_stories")


def each_call_of_the_runtime_in_a_capture_says_what_it_does_on_an_H200():
    tap.need_loadable_libraries()
    compare("runtime_calls", in_c("runtime_calls", f'-DPROGRAM_PTX="{HERE}/runtime_calls.ptx"', "-x", "c",
                                  os.path.join(HERE, "runtime_calls.cu")))


def graphs_refuse_what_they_do_on_an_H200():
    of_driver("graph_rules")


def random_calls_in_and_beside_captures_say_what_they_do_on_an_H200():
    """18,000 calls of 600 seeds."""
    of_driver("random_captures")


def random_graphs_are_changed_and_updated_as_on_an_H200():
    """Two updates, eight changes of edges, a clone, a node less, of 800 seeds."""
    of_driver("random_graphs")


def a_program_of_captures_and_graphs_writes_what_it_does_on_an_H200():
    tap.need_loadable_libraries()
    tap.need_clang()
    compare("graphrules", lines_of("graphrules", tap.heddle, "cc", "-arch=sm_90", os.path.join(HERE, "graphrules.cu")))


def batches_of_copies_say_what_an_H200_says():
    """And of CUDA arrays, which it takes, that they are not supported."""
    tap.need_loadable_libraries()
    tap.need_clang()
    ours = lines_of("batches", tap.heddle, "cc", "-arch=sm_90", "-std=c++17", os.path.join(HERE, "batches.cu"), "-lcuda")
    assert "0 1 2 3 0 8 9 10 11 0 16 17 18 19 0 32 33 34 35 0 40 41 42 43 0 48 49 50 51 0" in " ".join(ours)
    compare("batches", [line for line in ours if ": " in line])


if __name__ == "__main__":
    tap.main(globals())
