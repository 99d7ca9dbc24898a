"""What programs say of memory by NVTX: pools of their own, permissions, names; `heddle check` holds kernels to it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import need_compiler
from tap import Skip, heddle, main, run, source

here = os.path.join(source, "tests", "nvtx")
folder = tempfile.TemporaryDirectory()
OUT, BEYOND, FORBIDDEN, UNWRITTEN = "not-given-out", "illegal-address", "not-permitted", "uninitialised-read"

# Of each case the codes of the findings, by the thread that is named, and how often. compute-sanitizer says the same, but: it goes on
# refusing memory of a pool that is not registered any more (0); it does not see what a shrunk region loses as one (17); it ends at 19.
EXPECTED = {
    0: [(OUT, 4), (BEYOND, 4), (BEYOND, 1)],  # nothing is given out; before a region, by bytes and by a word
    1: [("nvtx", 1)],                         # a layout says nothing of accesses, and has no regions
    2: [("nvtx", 1)],                         # nor has the whole process
    3: [],                                    # copies of the host's are not looked at
    4: [(FORBIDDEN, 8), (FORBIDDEN, 2)],      # writes and atomics of what can be read, or used by atomics, alone
    5: [(FORBIDDEN, 4)],
    6: [(FORBIDDEN, 8), (BEYOND, 4)],         # regions, by pointer and by handle; unregistered
    7: [("nvtx", 1)],                         # inside of an allocation nothing starts
    8: [(FORBIDDEN, 4)],                      # where it is bound, and by that thread alone
    9: [],
    10: [(FORBIDDEN, 4)],                     # when the object that excludes others is destroyed
    11: [(UNWRITTEN, 8)],
    12: [(UNWRITTEN, 16), (UNWRITTEN, 16)],   # what a pool gives out is undefined, each time
    13: [(BEYOND, 1), (BEYOND, 2)],
    14: [("leak", 1), ("leak", 1), ("region-leak", 1)],  # there the pool itself is none
    15: [("nvtx", 1), ("nvtx", 1), ("nvtx", 1), ("nvtx", 1), (OUT, 4)],
    16: [],                                   # freed, it is a pool no more
    17: [(OUT, 4), (BEYOND, 1), (BEYOND, 8)],
    18: [],
    19: [("nvtx", 1), ("nvtx", 1)],
    20: [],
}
OPTIONS = {14: ["--leak-check", "full"]}


def compiled(name="memory", *command):
    program = os.path.join(folder.name, name)
    command = command or (heddle, "cc")
    if os.path.exists(program):
        return program
    done = subprocess.run([*command, "-lineinfo", "-o", program, os.path.join(here, "memory.cu")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def found(program, case, *options):
    saved = os.path.join(folder.name, f"{case}.json")
    status, out, err = run("check", "--save", saved, *OPTIONS.get(case, ()), *options, program, case)
    assert f"case {case}:" in out, (case, status, out, err)
    with open(saved) as f:
        return [x for x in json.load(f)["findings"] if x["severity"] != "note"]


def total(findings):
    """How often each code was seen."""
    sums = {}
    for code, count in findings:
        sums[code] = sums.get(code, 0) + count
    return sums


def judge(program):
    for case, expected in EXPECTED.items():
        got = total((f["code"], f.get("count", 1)) for f in found(program, case))
        assert got == total(expected), (case, got, total(expected))


def kernels_are_held_to_what_nvtx_says():
    need_compiler()
    judge(compiled())


def programs_with_nvidias_header_are_heard():
    if not shutil.which("nvcc"):
        raise Skip("NVIDIA's header comes with nvcc")
    judge(compiled("nvidia", "nvcc", "-arch=sm_90", "--cudart", "shared"))


def names_are_told():
    need_compiler()
    program = compiled()
    texts = " ".join(f["text"] for f in found(program, 13))
    assert "just past the end of a region of 32 bytes `my region`" in texts and "`my buffer`" in texts, texts
    texts = " ".join(f["text"] for f in found(program, 14))
    assert "32 bytes `my region` of a pool are handed out and never given back" in texts, texts


def it_can_be_left_out():
    need_compiler()
    program = compiled()
    assert found(program, 4, "--nvtx", "no") == []
    status, out, err = run("check", "--nvtx", "perhaps", program, 4)
    assert status == 2 and "`--nvtx perhaps`: it is no or yes" in err, err


def what_is_forbidden_can_end_a_kernel():
    need_compiler()
    program = compiled()
    findings = found(program, 4, "--destroy-on-device-error", "kernel")
    assert total((f["code"], f.get("count", 1)) for f in findings) == {FORBIDDEN: 4}, findings


def without_check_nobody_listens():
    need_compiler()
    status, out, err = run("run", compiled(), 0)
    assert status == 0 and "heap (nil)" in out, (status, out, err)


main(globals())
