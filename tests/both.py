"""What tests share that compare compiled code with the interpreter."""
import atexit
import contextlib
import functools
import os
import re
import shutil
import tempfile

from tap import FULL, Skip, examples, launch, left, run, values

build = os.environ["HEDDLE_BUILD"]
os.environ["HEDDLE_VERIFY"] = "1"  # what is given to LLVM is looked at first
# What is compiled serves the test again, and no other.
os.environ["HEDDLE_CACHE"] = tempfile.mkdtemp(prefix="heddle-test-")
atexit.register(shutil.rmtree, os.environ["HEDDLE_CACHE"], ignore_errors=True)


def compile_each_time():
    """For a test of the compiler's process, or of the time that it takes."""
    os.environ["HEDDLE_CACHE"] = "off"


def need_compiler(program="heddle-jit"):
    if not os.path.exists(os.path.join(build, program)):
        raise Skip("built without LLVM 19")


@functools.cache
def has_level(level):
    """Can this machine run code of that CPU level?"""
    return run("info", "--cpu", level)[0] == 0


@functools.cache
def cpu_levels(*levels):
    """Of these, in rising order, those that this machine has; without `make check-all` the least and the greatest."""
    here = [level for level in levels if has_level(level)]
    if len(here) > 2:
        left.add("CPU level " + ", ".join(here[1:-1]))
    return here if FULL or len(here) < 3 else [here[0], here[-1]]


def other_levels(*levels):
    """For code that is made for this machine, too; without `make check-all` not again for the greatest of the levels."""
    return cpu_levels(*levels) if FULL else cpu_levels(*levels)[:-1]


HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"


@contextlib.contextmanager
def written(text):
    """The path of a PTX file with this text, while it is needed; HEAD stands before kernels that say nothing themselves."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w") as f:
            f.write(text if ".version" in text else HEAD + text)
        yield path


def environment(**more):
    return {**os.environ, **more}


TARGET = "x86-64-v4"  # the CPU level whose plans tests look at, unless they name another: the same on every machine


def dump_of(what, *args, target=TARGET, **more):
    """What HEDDLE_DUMP says of code that is made for a CPU level to be looked at alone: no object is."""
    need_compiler()
    return run("launch", *args, "--engine", "jit", env=environment(HEDDLE_DUMP=what, HEDDLE_TARGET=target, **more))[2]


def same_results(compiled, interpreted):
    """The same buffers, and the same counts, of two launches' JSON."""
    assert compiled["buffers"] == interpreted["buffers"]
    for count in "blocks", "warp_instructions", "lane_instructions":
        assert compiled["stats"][count] == interpreted["stats"][count], count


def by_both(*args):
    """The same results of both engines: those of compiled code."""
    need_compiler()
    compiled, interpreted = (launch(*args, "--engine", e) for e in ("jit", "interp"))
    same_results(compiled, interpreted)
    return compiled


POLICIES = [["--engine", "jit"], ["--engine", "interp"], ["--policy", "serial"], ["--workers", 1, "--engine", "jit"],
            *[["--policy", f"random:{seed}"] for seed in range(4)]]


def everywhere(path, *args):
    """The first argument's values under every engine and policy, which agree."""
    need_compiler()
    all_values = [values(launch(path, *args, *how), 1) for how in POLICIES]
    assert all(v == all_values[0] for v in all_values), all_values
    return all_values[0]


def without_addresses(text):
    """What is said of a fault, to be compared; AddressSanitizer remarks on how one of the host is left."""
    text = re.sub(r"==\d+==WARNING: ASan is ignoring.*?issues/189\n", "", text, flags=re.S)
    return re.sub("0x[0-9a-f]+", "ADDRESS", text)


def fault_by_both(*args):
    """The same fault; its text, without addresses."""
    need_compiler()
    compiled, interpreted = (run("launch", *args, "--engine", e) for e in ("jit", "interp"))
    assert compiled[0] == interpreted[0] == 1, compiled[1] + compiled[2]
    texts = [without_addresses(r[2]) for r in (compiled, interpreted)]
    assert texts[0] == texts[1], texts
    return texts[0]


# ---- launches that several tests use ----

SAXPY = [f"{examples}/saxpy/saxpy.ptx", "--grid", 4, "--block", 256, 1000, 2.0, "f32[1000]=range", "f32[1000]=ones+print"]
MATMUL = [f"{examples}/matmul_tiled/matmul_tiled.ptx", "matmul_tiled<16>", "--grid", "4,4", "--block", "16,16",
          "f32[64,64]=rand", "f32[64,64]=rand", "f32[64,64]+print", 64]
RAGGED = [f"{examples}/matmul_tiled/matmul_tiled.ptx", "matmul_tiled<16>", "--grid", "4,4", "--block", "16,16",
          "f32[50,50]=rand", "f32[50,50]=rand", "f32[50,50]+print", 50]
HISTOGRAM = [f"{examples}/histogram/histogram.ptx", "--grid", 8, "--block", 256, "u8[100000]=rand", 100000, "u32[256]+print"]

# Blocks 0 to 3 wait for all others, which run from start to end meanwhile, in the same records one after the other.
AWAIT = """.visible .entry await(.param .u64 cell, .param .u32 n)
{
    .reg .u64 %rd<3>; .reg .u32 %r<5>; .reg .pred %p;
    ld.param.u64 %rd1, [cell];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    setp.gt.u32 %p, %r2, 3;
    @%p bra OTHERS;
WAIT:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.ne.u32 %p, %r3, %r1;
    @%p bra WAIT;
    ret;
OTHERS:
    red.global.add.u32 [%rd1], 1;
    ret;
}
"""
