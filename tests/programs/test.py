"""CUDA programs, built without nvcc and, with `make check-all`, where it is present, with it, run with Heddle's libraries. Prints TAP."""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys

source = os.environ["HEDDLE_SOURCE"]
build = os.path.abspath(os.environ["HEDDLE_BUILD"])
here = os.path.join(source, "tests", "programs")
libraries = os.path.join(build, "lib")
into = os.path.join(build, "tests", "programs")
heddle = os.path.join(build, "heddle")
nvcc = shutil.which("nvcc")
full = os.environ.get("HEDDLE_TESTS") == "all"

# Programs of several sources, and those that want options of `heddle run`: one run each.
parts = {"linked": ["linked_main", "linked_other"]}
options = {"devices": [["--devices", "2"]], "pageable": [[], ["--pageable"]]}
# Programs that show something of the engines: one run each.
engines = ["interp"] + ["jit"] * os.path.exists(os.path.join(build, "heddle-jit"))
environments = {"tails": [{"HEDDLE_ENGINE": engine} for engine in engines]}
flags = {"threads_default": ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]}
nvcc_flags = {"threads_default": ["--default-stream", "per-thread"]}
# Atomic functions on vectors and 128 bits are there since compute capability 9.0; else the least that nvcc 13 knows.
arch = {name: "compute_90" for name in ("atomic_add", "atomic_cas", "atomic_compare", "cuda_atomic", "nv_atomic")}

number = failures = 0


def result(good, name, detail=""):
    global number, failures
    number += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {number} - {name}", flush=True)
    for line in detail.splitlines() if not good else []:
        print(f"# {line}")


def sources(name):
    return [os.path.join(here, part + ".cu") for part in parts.get(name, [name])]


def key(*words):
    """Names what is built by its content."""
    digest = hashlib.sha256(" ".join(words).encode())
    for path in sorted(glob.glob(os.path.join(here, "*.h"))) + sources(words[0]):
        with open(path, "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()[:16]


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)


def build_in_c(name):
    program = os.path.join(into, name + "-c")
    ptx = ":".join(path[:-3] + ".ptx" for path in sources(name))
    call("cc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-variable", "-I",
         os.path.join(source, "include", "cuda"), f'-DPROGRAM_PTX="{ptx}"', *flags.get(name, []), "-x", "c",
         *sources(name), "-o", program, "-L", libraries, "-lcudart", "-lcuda", "-lpthread")
    return program


def build_with_nvcc(name):
    """The program with the shared and with the static runtime; kept for the next time."""
    stem = os.path.join(into, f"{name}-{key(name, *nvcc_flags.get(name, []))}")
    programs = {kind: f"{stem}-{kind}" for kind in ("shared", "static")}
    if not all(map(os.path.exists, programs.values())):
        stubs = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "lib64", "stubs")
        rdc = ["-rdc=true"] if name in parts else []
        target = "-arch=" + arch.get(name, "compute_75")
        objects = []
        for path in sources(name):
            objects.append(f"{stem}-{os.path.basename(path)}.o")
            call(nvcc, target, *rdc, *nvcc_flags.get(name, []), "-c", path, "-o", objects[-1])
        for kind, program in programs.items():
            call(nvcc, target, *rdc, "-cudart", kind, *objects, "-o", program, "-L", stubs, "-lcuda", "-lpthread")
    return programs


def run(what, command, env=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120,
                              env=dict(os.environ, **(env or {})))
        out = done.stdout + done.stderr
        shown = len(re.findall(r"^ok ", done.stdout, re.M))
        good = done.returncode == 0 and shown > 0 and not re.search(r"^not ok ", out, re.M)
        result(good, f"{what}: {shown} shown", f"exit status {done.returncode}\n" +
               "\n".join(line for line in out.splitlines() if not line.startswith("ok ")))
    except subprocess.TimeoutExpired:
        result(False, what, "not done after 120 s")


def test(name):
    stale = [p for p in sources(name) if not is_fresh(p)]
    result(not stale, f"{name}: its PTX is of its source", "tests/programs/make-ptx makes it anew")
    try:
        programs = {"without nvcc": build_in_c(name)}
        if nvcc and full:
            programs |= {f"nvcc, {kind} runtime": program for kind, program in build_with_nvcc(name).items()}
        for run_options in options.get(name, [[]]):
            for kind, program in programs.items():
                for env in environments.get(name, [{}]):
                    run(" ".join([name, *run_options, *env.values()]) + f", {kind}",
                        [heddle, "run", *run_options, program], env)
    except RuntimeError as error:
        result(False, f"{name} is built", str(error))


def test_layouts():
    """The same with our headers, with the toolkit's where there are some, and as written down."""
    with open(os.path.join(here, "layouts", "layouts.txt")) as f:
        want = f.read()
    headers = {"Heddle's headers": os.path.join(source, "include", "cuda")}
    if nvcc:
        headers["the toolkit's headers"] = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "include")
    for which, folder in headers.items():
        program = os.path.join(into, "layouts")
        try:
            call("cc", "-w", "-I", folder, os.path.join(here, "layouts", "layouts.c"), "-o", program)
            got = subprocess.run([program], capture_output=True, text=True).stdout
            result(got == want, f"layouts of {which}: {len(want.splitlines())} values", got)
        except RuntimeError as error:
            result(False, f"layouts of {which}", str(error))


def is_fresh(path):
    with open(path, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()[:16]
    with open(path[:-3] + ".ptx") as f:
        return f.readline().split()[-1] == digest


def main():
    os.makedirs(into, exist_ok=True)
    members = {part for group in parts.values() for part in group}
    names = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(here, "*.cu")))
    names = [n for n in names if n not in members] + sorted(parts)
    for name in sys.argv[1:] or names:
        test(name)
    if not sys.argv[1:]:
        test_layouts()
    print(f"1..{number}")
    if nvcc:
        print("# check-all adds: programs built by nvcc, with both runtimes")
    sys.exit(failures > 0)


main()
