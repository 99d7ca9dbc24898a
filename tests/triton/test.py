"""PTX as Triton writes it: twelve kernels (kernels.py) for five targets (ptx.tar.xz, by make-ptx). All of it is read; what it needs
that Heddle does not have is refused by kernel; the others compute what their source says. Triton is not needed."""
import itertools
import json
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import tap
from tap import launch, run, values

folder = tempfile.TemporaryDirectory()
tap.unpack(os.path.join(tap.source, "tests/triton/ptx.tar.xz"), folder.name)
FILES = sorted(os.path.join(folder.name, name) for name in os.listdir(folder.name))
TARGETS = 75, 80, 90, 100, 120
MISSING = "matrix instructions of tensor memory"


def read(files):
    status, out, err = run("ptx", "--json", *files)
    assert status == 0, err
    return json.loads(out)


def runnable(kernel):
    """The kernel's files that need nothing which is missing."""
    files = [os.path.join(folder.name, f"{kernel}-sm_{sm}.ptx") for sm in TARGETS]
    return [f["file"] for f in read(files) if not any(k["missing"] for k in f["functions"])]


def results(kernel, *args, grid=1, print_at):
    """What each file of the kernel that can run leaves in the argument, or in each of several; two pointers to scratch memory come behind
    the kernel's own."""
    files = runnable(kernel)
    assert files, f"{kernel} can run for no target"
    for path in files:
        done = launch(path, "--grid", grid, "--shared", 8192, *args, 0, 0)
        yield path, *[values(done, at) for at in (print_at if isinstance(print_at, tuple) else (print_at,))]


def near(got, expected, error):
    return len(got) == len(expected) and all(abs(float(a) - b) <= error for a, b in zip(got, expected))


def every_file_is_valid_and_refused_by_what_it_lacks():
    found = read(FILES)
    assert len(found) == 60
    for f in found:
        kernels = [k for k in f["functions"] if k["kernel"]]
        assert f["valid"] and len(kernels) == 1, f["file"]
        assert not kernels[0]["missing"] or kernels[0]["missing"].startswith(MISSING), kernels[0]
    ready = {kernel: len(runnable(kernel)) for kernel in ("vector_add", "scan", "histogram", "lock_add", "argmax", "transpose")}
    assert all(n == len(TARGETS) for n in ready.values()), ready


def vectors_of_one_element_print_and_read_back():
    path = os.path.join(folder.name, "scan-sm_80.ptx")
    status, text, err = run("ptx", "--print", path)
    assert status == 0 and "{%r" in text, err
    again = os.path.join(folder.name, "again.ptx")
    with open(again, "w") as f:
        f.write(text)
    assert run("ptx", "--print", again)[1] == text
    os.remove(again)


def vector_add_adds():
    for path, out in results("vector_add", "f32[1500]=range", "f32[1500]=range:1:2", "f32[1500]+print", 1500, grid=2, print_at=3):
        assert out == [i + 1 + 2 * i for i in range(1500)], path


def softmax_is_the_softmax():
    n = 1000
    total = sum(math.exp((i - n + 1) / 128) for i in range(n))
    expected = [math.exp((i - n + 1) / 128) / total for i in range(n)]
    for path, out in results("softmax", "f32[1000]+print", "f32[1000]=range:0:0.0078125", n, n, print_at=1):
        assert near(out, expected, 1e-7), path


def scan_sums_up():
    for path, given, out in results("scan", "s32[512]=randint:-9:9:7+print", "s32[512]+print", 500, print_at=(1, 2)):
        assert out[:500] == list(itertools.accumulate(given[:500])), path


def histogram_counts():
    for path, out in results("histogram", "s32[600]=randint:0:7:3", "s32[8]+print", 600, grid=3, print_at=2):
        assert sum(out) == 600 and min(out) > 0, (path, out)


def transpose_turns():
    for path, out in results("transpose", "f32[48,64]=range", "f32[64,48]+print", 48, 64, grid="2,2", print_at=2):
        assert out == [64 * (i % 48) + i // 48 for i in range(48 * 64)], path


def a_lock_lets_blocks_add_one_after_another():
    for path, out in results("lock_add", "s32[1]", "f32[1]+print", "f32[2048]=ones", grid=8, print_at=2):
        assert out == [2048], path


def argmax_finds_the_place():
    for path, given, out in results("argmax", "f32[1000]=rand:5+print", "s32[2]+print", 500, grid=2, print_at=(1, 2)):
        assert out == [max(range(500), key=lambda i: given[row + i]) for row in (0, 500)], path


def layer_norm_normalises():
    x = [i % 7 for i in range(700)]
    mean = sum(x) / 700
    scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in x) / 700)
    given = ",".join(map(str, x))
    for path, out in results("layer_norm", f"f32[700]={given}", "f32[700]+print", "f32[700]=ones", "f32[700]", "f32[1]", "f32[1]",
                             700, 700, 0.0, print_at=2):
        assert near(out, [(v - mean) * scale for v in x], 1e-5), path


def dropout_drops_some_and_scales_the_others():
    seen = set()
    for path, out in results("dropout", "f32[1024]=ones", "f32[1024]+print", 1024, 0.5, 42, print_at=2):
        assert set(out) == {0, 2} and 400 < out.count(0) < 624, path
        seen.add(tuple(out))
    assert len(seen) == 1, "one seed, one choice, whatever the target"


def cache_policies_change_no_result():
    files = [path for path in runnable("gelu_half") if "createpolicy" in open(path).read()]
    assert files
    for path, out in results("gelu_half", "f16[1024]=range:-4:0.0078125", "f16[1024]+print", 1024, print_at=2):
        x = [-4 + i / 128 for i in range(1024)]
        assert near(out, [v / 2 * (1 + math.erf(v * 0.70710678)) for v in x], 2e-3), path


def a_fault_names_the_line_of_the_python_source():
    path = os.path.join(folder.name, "vector_add-sm_90.ptx")
    status, _, err = run("launch", path, "--grid", 2, "f32[1500]", "f32[1500]", "f32[1024]", 1500, 0, 0)
    assert status == 1 and "kernels.py:9:" in err, err


tap.main(globals())
