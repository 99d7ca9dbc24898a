"""Textures and surfaces: the recorded answers of an H200, by both engines."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import both
from tap import Folder, main, source, unpack

folder = Folder()
unpack(os.path.join(source, "tests/textures/forms-h200.tar.xz"), folder.name)


def forms(*options):
    """Those that differ, of how many."""
    program = os.path.join(both.build, "tests/oracle-textures")
    done = subprocess.run([program, *options, folder.name], capture_output=True, text=True, timeout=300)
    n, agree, differ = map(int, re.fullmatch(r"forms (\d+): (\d+) agree, (\d+) differ", done.stdout.splitlines()[-1]).groups())
    assert agree + differ == n
    return differ, n, done.stdout


def the_interpreter_gives_what_was_recorded_at_every_level():
    for level in both.cpu_levels("v2", "v3", "v4"):
        differ, n, out = forms("--engine", "interp", "--cpu", level)
        assert (differ, n) == (1, 632) and "tex.grad.3d" in out, out


def compiled_code_gives_the_same():
    both.need_compiler()
    assert forms("--engine", "jit", "--every", "13")[1] == 49


main(globals())
