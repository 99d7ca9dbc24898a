"""Nodes of graphs of all kinds beside an H200 (nvcc 13.0, driver 580): stories that write down what each call says, each told by a process of its
own (h200.txt.gz), and programs of cases (cases.tar.xz: a source, a binary of nvcc's, lines). Prints TAP."""
import concurrent.futures
import difflib
import gzip
import lzma
import os
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

HERE = os.path.join(tap.source, "tests", "graph_nodes")
folder = tap.Folder()

# Where it is to differ: of a story the lines of ours, and why.
DIFFERS = {
    "move": ({"  cudaGraphAddNode(&n, p, nullptr, nullptr, 0, &c): 1": 1}, "a graph cannot become a node of itself"),
    "node_arguments": ({"  cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c): 0": 1, "  c.conditional.phGraph_out != nullptr = 1": 1,
                        "  cudaGraphAddNode(&n, g2, nullptr, nullptr, 0, &c): 1": 1, "  cudaGraphNodeSetParams(n, &c): 400": 1,
                        "  cudaGraphExecNodeSetParams(x, n, &c): 400": 1, "  cudaGraphChildGraphNodeGetGraph(n, &got): 400": 1},
                       "a call that has failed has not used the handle"),
    "all_kinds": ({"  cudaGraphAddNode(&m, g, nullptr, nullptr, 0, &r): 801": 2, "  count_nodes(g) = 10": 1},
                  "external semaphores are refused by name"),
    "outside": ({"  cudaGraphInstantiate(&x, g, 0): 0": 1, "  cudaGraphExecDestroy(x): 0": 1}, "making ready needs no device"),
}


def call(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder.name)
    assert status is None or done.returncode == status, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def recorded():
    """The lines of each story, by its program."""
    programs, story = {}, None
    with gzip.open(os.path.join(HERE, "h200.txt.gz"), "rt") as f:
        for line in f.read().splitlines():
            if line.startswith("program "):
                program = programs.setdefault(line.split()[1], {})
                with open(os.path.join(HERE, line.split()[1] + ".cu")) as source:
                    stories = set(re.findall(r"^STORY\((\w+)\)", source.read(), re.M))
            elif line in stories:
                story = program.setdefault(line, [])
            else:
                story.append(line)
    return programs


def built(program):
    path = folder.path(program)
    call(tap.heddle, "cc", "-arch=sm_90", "-std=c++17", "-rdc=true", "-o", path, os.path.join(HERE, program + ".cu"), "-lcudadevrt", "-lcuda")
    return path


def told(path, story):
    lines = call(tap.heddle, "run", path, story, status=None).splitlines()
    assert lines and lines[0] == story, (story, lines)
    return [line for line in lines[1:] if line]


def settled(lines):
    """Whether a launch or the wait behind it is the first to tell of a kernel's fault is left open."""
    return [re.sub(r"\d+$", "*", line) if line.startswith("  cudaGraphLaunch") and after.endswith(": 700") else line
            for line, after in zip(lines, lines[1:] + [""])]


def pictures(lines):
    """Those without flags; graphs are numbered in the order in which a picture has them, and nothing is said of addresses."""
    kept, keep, numbers = [], True, {}
    for line in lines:
        if line.startswith("  flags "):
            keep, numbers = line.startswith("  flags 0:"), {}
        if keep and not re.match("  [pdh] ", line):
            kept.append(re.sub(r"(graph|cluster)_(\d+)", lambda m: f"{m[1]}_{numbers.setdefault(m[2], len(numbers))}", line))
        keep = keep or line == "  ---"
    return kept


def compare(story, ours, theirs):
    if story == "dots":
        ours, theirs = pictures(ours), pictures(theirs)
    expected = dict(DIFFERS.get(story, ({}, ""))[0])
    wrong = []
    for line in difflib.unified_diff(settled(theirs), settled(ours), lineterm="", n=0):
        if line.startswith("+") and not line.startswith("+++"):
            if expected.get(line[1:], 0) > 0:
                expected[line[1:]] -= 1
            else:
                wrong.append(line)
        elif line.startswith("-") and not line.startswith("---") and story not in DIFFERS:
            wrong.append(line)
    wrong += [f"no longer so: {line}" for line, n in expected.items() if n]
    return [f"{story}: {line}" for line in wrong]


def tell(program):
    tap.need_loadable_libraries()
    tap.need_clang()
    path, stories, wrong = built(program), recorded()[program], []
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        ours = {story: threads.submit(told, path, story) for story in stories}
        for story, theirs in stories.items():
            wrong += compare(story, ours[story].result(), theirs)
    assert not wrong, "\n".join(wrong)


def memory_of_graphs_is_given_kept_and_freed_as_on_an_H200():
    tell("memory")


def conditional_nodes_run_their_bodies_as_on_an_H200():
    tell("conditions")


def nodes_of_all_kinds_their_edges_and_attributes_are_an_H200s():
    tell("kinds")


def limits_clones_switches_edges_copies_flags_and_children_are_an_H200s():
    tell("mixed")


def what_uses_a_graphs_memory_behind_its_free_node_is_found():
    tap.need_loadable_libraries()
    tap.need_clang()
    path = built("freed")

    def said(which):
        done = subprocess.run([tap.heddle, "check", path, which], capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr

    assert said("g")[0] == 0, said("g")
    for which, finding in (("a", "illegal-address"), ("l", "illegal-address"), ("c", "use-after-free")):
        status, text = said(which)
        assert status and f"[{finding}" in text and "freed in main" in text and "check: 1 error, 0 warnings" in text, (which, text)


def a_body_that_has_been_captured_stays_its_nodes():
    tap.need_loadable_libraries()
    tap.need_clang()
    with open(folder.path("body.cu"), "w") as f:
        f.write("""#include <cstdio>
__global__ void count(int *n) { ++*n; }
int main()
{
    int *n;
    cudaGraph_t g;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    cudaGraphExec_t x;
    cudaStream_t s;
    cudaMallocManaged(&n, sizeof *n);
    cudaStreamCreate(&s);
    cudaGraphCreate(&g, 0);
    cudaGraphConditionalHandleCreate(&handle, g, 1, cudaGraphCondAssignDefault);
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = cudaGraphCondTypeIf;
    p.conditional.size = 1;
    cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p);
    cudaStreamBeginCaptureToGraph(s, p.conditional.phGraph_out[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal);
    count<<<1, 1, 0, s>>>(n);
    printf("%d ", cudaStreamEndCapture(s, nullptr));
    printf("%d ", cudaGraphInstantiate(&x, g, 0));
    cudaGraphLaunch(x, s);
    printf("%d %d\\n", cudaStreamSynchronize(s), *n);
}
""")
    call(tap.heddle, "cc", "-o", "body", "body.cu")
    assert call(tap.heddle, "run", folder.path("body")) == "0 0 0 1\n"


# ---- graphs that kernels launch ----

def cases_of(name):
    """The lines of each case, as an H200 has them where their order is not left open."""
    with open(os.path.join(HERE, name)) as f:
        parts = re.split(r"^(\w+)\n", f.read(), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def without_early_errors(lines):
    """A launch may already report a fault that comes soon after it began: the host's next call does in any case."""
    return [line for line in lines.splitlines() if line != "  ! cudaGraphLaunch(x, 0): 700"]


def graphs_launched_by_kernels_do_and_answer_as_on_an_H200():
    tap.need_loadable_libraries()
    tap.need_clang()
    path, cases = built("device"), cases_of("device.txt")
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        ours = {case: threads.submit(call, tap.heddle, "run", path, case) for case in cases}
        wrong = [f"{case}: {line}" for case, lines in cases.items()
                 for line in difflib.unified_diff([case] + without_early_errors(lines), without_early_errors(ours[case].result()), lineterm="", n=0)]
    assert not wrong, "\n".join(wrong)


def what_kernels_may_not_launch_is_told_with_its_place():
    tap.need_loadable_libraries()
    tap.need_clang()
    path = built("device")
    for case, why in (("not_for_kernels", "was not instantiated with cudaGraphInstantiateFlagDeviceLaunch"),
                      ("child_of_a_graphs_kernel", "only a kernel that is itself a node of a graph may do")):
        done = subprocess.run([tap.heddle, "run", path, case], capture_output=True, text=True, timeout=60)
        assert why in done.stderr and "device.cu:" in done.stderr and "[nested-launch]" in done.stderr, done.stderr


def graphs_launched_by_kernels_race_with_nothing_that_they_come_after():
    tap.need_loadable_libraries()
    tap.need_clang()
    done = subprocess.run([tap.heddle, "check", built("device"), "visible"], capture_output=True, text=True, timeout=120)
    assert done.stdout.count("[2016]") == 3 and "race" not in done.stderr, done.stdout + done.stderr


# ---- programs of cases ----

def cases_agree(path, expected="graph.expected"):
    with open(folder.path(expected)) as f:
        for line in f.read().splitlines():
            done = subprocess.run([tap.heddle, "run", path, line.split(":")[0]], capture_output=True, text=True, timeout=60)
            assert done.stdout == line + "\n", (line, done.stdout, done.stderr)


def own_cases_agree(name):
    tap.need_loadable_libraries()
    tap.need_clang()
    unpack()
    call(tap.heddle, "cc", "-w", "-std=c++17", "-arch=sm_90", "-rdc=true", "-o", "own-" + name, name + ".cu", "-lcudadevrt", "-lcuda")
    cases_agree(folder.path("own-" + name), name + ".expected")


def unpack():
    with tarfile.open(os.path.join(HERE, "cases.tar.xz")) as tar:
        tar.extractall(folder.name)


def the_cases_of_nvccs_binary_print_an_H200s_lines():
    tap.need_loadable_libraries()
    unpack()
    cases_agree(folder.path("graph"))


def the_cases_of_heddle_cc_print_an_H200s_lines():
    own_cases_agree("graph")


def conditions_updates_clones_captures_and_memory_are_as_on_an_H200():
    own_cases_agree("kinds")


def trees_sorts_searches_errors_and_depths_of_launches_are_as_on_an_H200():
    own_cases_agree("nested")


def pictures_of_all_nodes_with_all_flags_are_an_h200s():
    """cudaGraphDebugDotPrint: the whole text, but for addresses and handles."""
    tap.need_clang()
    with lzma.open(os.path.join(HERE, "dots.txt.xz"), "rt") as f:
        wants = f.read().splitlines()
    got = call(tap.heddle, "run", built("dots")).splitlines()
    assert got == wants, "\n".join(difflib.unified_diff(wants, got, "an H200", "Heddle", n=3, lineterm=""))[:4000]


if __name__ == "__main__":
    tap.main(globals())
