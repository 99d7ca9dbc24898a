"""The course says what its pages say: each program is compiled by heddle cc, and by nvcc where there is one, and its words
compared."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import heddle, main, source

here = os.path.join(source, "tests", "course")
course = os.path.join(source, "examples", "course")
folder = tempfile.TemporaryDirectory()


def lines(text):
    return sorted(text.splitlines())  # blocks come in any order


def words(name, *compiler):
    program = os.path.join(folder.name, name)
    done = subprocess.run([heddle, "cc", *compiler, os.path.join(course, name + ".cu"), "-o", program], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    before = os.times()
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    after = os.times()
    assert done.returncode == 0, done.stdout + done.stderr
    assert after.children_user - before.children_user < 1, f"{name} takes {after.children_user - before.children_user} s"
    return done.stdout


names = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(course, "*.cu")))
assert len(names) >= 12


def every_program_says_what_it_teaches():
    for name in names:
        with open(os.path.join(here, name + ".txt")) as f:
            expected = f.read()
        said = words(name)
        assert lines(said) == lines(expected), f"{name}:\n{said}"


def nvcc_makes_the_same_programs():
    if not shutil.which("nvcc"):
        return
    for name in names:
        with open(os.path.join(here, name + ".txt")) as f:
            expected = f.read()
        said = words(name, "--with", "nvcc")
        assert lines(said) == lines(expected), f"{name}:\n{said}"


main(globals())
