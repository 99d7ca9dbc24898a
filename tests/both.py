"""What tests share that compare compiled code with the interpreter."""
import atexit
import contextlib
import functools
import os
import re
import shutil
import tempfile

from tap import Skip, launch, run

build = os.environ["HEDDLE_BUILD"]
os.environ["HEDDLE_CACHE"] = "off"
os.environ["HEDDLE_VERIFY"] = "1"  # what is given to LLVM is looked at first


def keep_what_is_compiled():
    """For a test that launches its kernels many times: compiled code serves the test again, and no other."""
    os.environ["HEDDLE_CACHE"] = tempfile.mkdtemp(prefix="heddle-test-")
    atexit.register(shutil.rmtree, os.environ["HEDDLE_CACHE"], ignore_errors=True)


def need_compiler(program="heddle-jit"):
    if not os.path.exists(os.path.join(build, program)):
        raise Skip("built without LLVM 19")


@functools.cache
def has_level(level):
    """Can this machine run code of that CPU level?"""
    return run("info", "--cpu", level)[0] == 0


@contextlib.contextmanager
def written(text):
    """The path of a PTX file with this text, while it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w") as f:
            f.write(text)
        yield path


def environment(**more):
    return {**os.environ, **more}


def by_both(*args):
    """The same buffers, and the same counts."""
    need_compiler()
    compiled, interpreted = (launch(*args, "--engine", e) for e in ("jit", "interp"))
    assert compiled["buffers"] == interpreted["buffers"]
    for count in "blocks", "warp_instructions", "lane_instructions":
        assert compiled["stats"][count] == interpreted["stats"][count], count
    return compiled


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
