"""The course in outcomes (examples/memory-model): what each program's reader is told to type prints what stands beside the program.
`test.py --write` writes it anew. The lines of the PTX, and its instructions, are the compiler's, and an example may be another one: they
are not compared."""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import examples, heddle, main, need_clang, run

HERE = os.path.join(examples, "memory-model")


def commands(path):
    with open(path) as f:
        return re.findall(r"^// \$ (heddle explore .*)$", f.read(), re.M)


def session(path):
    """What a reader sees who compiles a program and types its commands."""
    name = os.path.basename(path)[:-3]
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, folder)
        status, out, err = run("cc", "-ptx", "-lineinfo", name + ".cu", "-o", name + ".ptx", cwd=folder)
        assert status == 0, out + err
        for command in commands(path):
            done = subprocess.run([heddle, *shlex.split(command)[1:]], capture_output=True, text=True, cwd=folder, timeout=120)
            assert done.returncode in (0, 1, 3), f"{command}: status {done.returncode}\n{done.stderr}"
            shown.append(f"$ {command}\n{done.stdout}{done.stderr}")
    return "\n".join(shown)


def of_the_source(text):
    """Without instructions (six spaces) and where they stand in the PTX, and without examples (eight), of which there may be several."""
    return [re.sub(r" \(PTX \d+\)", "", line) for line in text.splitlines() if not re.match(r" {6}[a-z@]| {8}(block|\.\.\.)", line)]


def check(number):
    need_clang()
    (path,) = glob.glob(os.path.join(HERE, number + "_*.cu"))
    with open(path[:-3] + ".txt") as f:
        expected = f.read()
    got = session(path)
    assert of_the_source(got) == of_the_source(expected), got


def test_message_passing():
    check("01")


def test_store_buffering():
    check("02")


def test_load_buffering():
    check("03")


def test_independent_reads_of_independent_writes():
    check("04")


def test_spin_lock():
    check("05")


def test_ticket_lock():
    check("06")


def test_last_block():
    check("07")


def test_look_back():
    check("08")


def test_treiber_stack():
    check("09")


def test_barriers():
    check("10")


def test_atomics_and_scopes():
    check("11")


def test_hazard_pointer():
    check("12")


def test_sequence_lock():
    check("13")


def test_each_program_is_tried():
    tried = {name for name in os.listdir(HERE) if name.endswith(".cu")}
    assert len(tried) == sum(name.startswith("test_") for name in globals()) - 1, tried
    assert all(commands(os.path.join(HERE, name)) for name in tried)


if __name__ == "__main__":
    if "--write" in sys.argv:
        for source_file in sorted(glob.glob(os.path.join(HERE, "*.cu"))):
            with open(source_file[:-3] + ".txt", "w") as f:
                f.write(session(source_file))
    else:
        main(globals())
