"""Memory, threads, descriptors or room on the disk run out: a right result, or an error with words; never a crash, never a wait
without end, never a wrong result that looks like a good one. SECONDS=60 tries for so long each (a few otherwise)."""
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Skip, examples, heddle, main

build = os.environ["HEDDLE_BUILD"]
work = tempfile.TemporaryDirectory()
SECONDS = float(os.environ.get("SECONDS", "1"))
SAXPY = [os.path.join(examples, "saxpy", "saxpy.ptx"), "--grid", "4", "--block", "256", "1000", "2.0", "f32[1000]=range",
         "f32[1000]=ones+print"]
PROGRAM = r"""#include <cstdio>
__global__ void add(int *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += i; }
#define OK(x) do { cudaError_t err = (x); if (err) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(err)); return 3; } } while (0)
int main()
{
    static int h[1000];
    int *d, *m;
    cudaStream_t s;
    cudaEvent_t e;
    OK(cudaMalloc(&d, sizeof h)); OK(cudaMallocManaged(&m, sizeof h)); OK(cudaStreamCreate(&s)); OK(cudaEventCreate(&e));
    OK(cudaMemsetAsync(d, 0, sizeof h, s));
    for (int i = 0; i < 1000; i++) m[i] = i;
    add<<<4, 256, 0, s>>>(d, 1000); OK(cudaGetLastError());
    add<<<4, 256, 0, s>>>(m, 1000); OK(cudaGetLastError());
    OK(cudaEventRecord(e, s)); OK(cudaEventSynchronize(e));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    long sum = 0;
    for (int i = 0; i < 1000; i++) sum += h[i] + 3 * m[i];
    OK(cudaFree(d)); OK(cudaFree(m));
    printf("%ld\n", sum);
    return 0;
}
"""


def program(name="program"):
    path = os.path.join(work.name, name)
    if not os.path.exists(path):
        if not shutil.which("clang-19"):
            raise Skip("there is no clang-19")
        with open(path + ".cu", "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run([heddle, "cc", path + ".cu", "-o", path], check=True, timeout=120)
    return path


def run(command, **env):
    done = subprocess.run(command, capture_output=True, timeout=60, env=dict(os.environ, **env))
    out = re.sub(rb"0x[0-9a-f]+|[0-9.]+ (s|ms|us)\b", b"", done.stdout)
    return done.returncode, out, done.stderr


def right_or_an_error(result, good, what):
    status, out, err = result
    assert status == 0 and out == good or status in (1, 2, 3) and err, (what, result)


def as_allocations_fail(command):
    """Every n-th, from the beginning or from somewhere on."""
    status, good, err = run(command)
    assert status == 0, err
    choice, end = random.Random(1), time.monotonic() + SECONDS
    plan = [(n, 0) for n in (1, 2, 3, 5, 7, 11, 17, 31, 53, 97)]
    while time.monotonic() < end or plan:
        n, after = plan.pop() if plan else (choice.choice((1, 2, 3, 5, 1 << 30)), choice.randrange(200))
        failing = dict(LD_PRELOAD=f"{build}/tests/fail-allocations.so", FAIL_EVERY=str(n), FAIL_AFTER=str(after))
        right_or_an_error(run(command, **failing), good, (n, after))


def allocations_fail_in_the_interpreter():
    as_allocations_fail([heddle, "launch", *SAXPY, "--engine", "interp"])


def allocations_fail_beside_the_compiler():
    as_allocations_fail([heddle, "launch", *SAXPY])
    if os.path.exists(os.path.join(build, "heddle-jit")):
        as_allocations_fail([heddle, "launch", *SAXPY, "--engine", "jit"])


def allocations_fail_where_a_block_is_to_begin():
    """What fails then is told in words that need memory, too: the launch had been taken for a success."""
    _, good, _ = run([heddle, "launch", *SAXPY, "--engine", "interp"])
    for after in range(30, 75):
        failing = dict(LD_PRELOAD=f"{build}/tests/fail-allocations.so", FAIL_EVERY="1", FAIL_AFTER=str(after))
        right_or_an_error(run([heddle, "launch", *SAXPY, "--engine", "interp"], **failing), good, after)


def allocations_fail_in_the_checker():
    as_allocations_fail([heddle, "check", *SAXPY])


def allocations_fail_where_PTX_is_read():
    as_allocations_fail([heddle, "ptx", "--print", SAXPY[0]])


def allocations_fail_in_a_CUDA_program():
    as_allocations_fail([program()])


def limits_of_the_system_are_errors():
    _, good, _ = run([heddle, "launch", *SAXPY])
    _, sum_, _ = run([program()])
    for limit in ["--as=" + str(n << 20) for n in (30, 100, 300, 1000, 3000, 20000)] + \
                 ["--nofile=" + str(n) for n in (4, 5, 6, 7, 8, 10, 16)] + ["--nproc=1:1"]:
        right_or_an_error(run(["prlimit", limit, heddle, "launch", *SAXPY]), good, limit)
        status, out, err = run(["prlimit", limit, program()])
        assert status == 0 and out == sum_ or status in (1, 3, 127) and err, (limit, status, out, err)


# ---- the disk ----

@contextlib.contextmanager
def full_disk(size):
    """A folder with so little room."""
    folder = tempfile.mkdtemp(dir=work.name)
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "none", folder],
                                          capture_output=True, check=False).returncode:
        raise Skip("no file system of its own can be mounted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def what_does_not_fit_is_an_error_and_no_file():
    with full_disk("16k") as folder:
        args = [heddle, "launch", *SAXPY[:-1], "f32[100000]=ones+save:" + folder + "/out.npy"]
        done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "No space left" in done.stderr and not os.listdir(folder), done
    with full_disk("4k") as folder: # of a timeline what there is may be of use; it is not said to be whole
        args = [heddle, "launch", *SAXPY, "--policy", "random:1", "--trace", folder + "/trace"]
        done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "could not be written completely" in done.stderr, done


def a_cache_without_room_keeps_nothing():
    if not os.path.exists(os.path.join(build, "heddle-jit")):
        raise Skip("built without LLVM 19")
    with full_disk("8k") as folder:
        os.chmod(folder, 0o700)
        with open(os.path.join(folder, "fills"), "wb") as f:
            f.write(bytes(4097)) # both pages
        done = subprocess.run([heddle, "launch", *SAXPY, "--engine", "jit"], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, HEDDLE_CACHE=folder), check=False)
        assert done.returncode == 0 and os.listdir(folder) == ["fills"], (done, os.listdir(folder))


def output_that_cannot_be_written_is_an_error():
    for args in ["launch", *SAXPY], ["launch", *SAXPY, "--json"], ["ptx", "--print", SAXPY[0]], ["ptx", "--isa"], ["info"], \
            ["--help"], ["cc", "--help"]:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([heddle, *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 1 and "cannot write the output" in done.stderr, (args, done)


def a_limit_on_files_is_an_error():
    path = os.path.join(work.name, "out.npy")
    done = subprocess.run(["prlimit", "--fsize=1000", heddle, "launch", *SAXPY[:-1], "f32[1000]=ones+save:" + path],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "File too large" in done.stderr and not os.path.exists(path), done
    env = dict(os.environ, HEDDLE_CACHE=os.path.join(work.name, "cache"))
    done = subprocess.run(["prlimit", "--fsize=1000", program()], capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 0, done


main(globals())
