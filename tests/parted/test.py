"""What `heddle check` says of divergent, skipped and early-left barriers (patterns.cu), beside what an H200 and its compute-sanitizer
did (patterns.tsv: ends, hangs or an error; `warp` and `block`: the threads that synccheck 2025.3 calls divergent).

Errors are what the ISA calls undefined: an aligned barrier that not all threads of a warp that have not exited execute, together. A
warning is what PTX lets whole warps do, and CUDA C++ does not. Nothing is said of threads that have left the kernel, nor of barriers
without .aligned."""
import json
import lzma
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import main, run, source

here = os.path.join(source, "tests", "parted")
folder = tempfile.TemporaryDirectory()
ptx = os.path.join(folder.name, "patterns.ptx")
with lzma.open(os.path.join(here, "patterns.ptx.xz")) as packed, open(ptx, "wb") as f:
    f.write(packed.read())
with open(os.path.join(here, "patterns.tsv")) as f:
    patterns = [line.rstrip("\n").split("\t") for line in f][1:]


def said(kernel, threads, n, *options):
    """Code, severity and line of each finding, and of what ended the launch."""
    status, out, err = run("check", ptx, kernel, "--tool", "synccheck", "--grid", 1, "--block", threads, "s32[65]=range", n, "--json", *options,
                           cwd=folder.name)
    result = json.loads(out)
    diagnostics = result.get("findings", []) + [d for d in result.get("diagnostics", []) if d["severity"] != "note"]
    return [(d["code"], d["severity"], d.get("cuda_line")) for d in diagnostics if d["severity"] != "note"], status


def each_pattern_gets_its_verdict():
    for kernel, threads, n, h200, sanitizer, expected in patterns:
        found, status = said(kernel, threads, n)
        assert {code for code, *_ in found} == (set(expected.split()) if expected != "-" else set()), (kernel, expected, found)
        severity = "warning" if expected == "divergent-block" else "error"
        assert all(s == severity for _, s, _ in found), (kernel, found)
        assert status == (1 if found and severity == "error" else 0), (kernel, status)


def what_hangs_on_a_gpu_is_an_error():
    for kernel, threads, n, h200, sanitizer, expected in patterns:
        assert h200 == "ends" or expected not in ("-", "divergent-block"), kernel


def what_the_sanitizer_says_is_said():
    for kernel, threads, n, h200, sanitizer, expected in patterns:
        assert sanitizer in ("-", "hangs") or expected != "-", kernel


def the_line_is_that_of_the_barrier():
    with open(os.path.join(here, "patterns.cu")) as f:
        lines = f.read().split("\n")
    for kernel, threads, n, h200, sanitizer, expected in patterns:
        for code, _, line in said(kernel, threads, n)[0]:
            text = lines[line - 1]
            assert code == "deadlock" or "__syncthreads" in text or "bar" in text, (kernel, line, text)


def schedules_say_nothing_else():
    """Under a random one lanes may run ahead, and have exited before the others come to the barrier."""
    for kernel, threads, n, h200, sanitizer, expected in patterns:
        for policy in ("serial", "random:1", "random:2"):
            found, _ = said(kernel, threads, n, "--policy", policy)
            codes = {code for code, *_ in found}
            assert codes <= {*expected.split(), *(["deadlock"] if h200 == "hangs" else [])} and (codes or expected == "-" or policy != "serial"), (kernel, policy, found)


main(globals())
