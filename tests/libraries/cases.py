"""Programs that print, for each of their cases, a line of exact values (ora.h): beside what an H200 printed (NAME.expected)."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = tempfile.mkdtemp()


def build(folder, name, *libraries):
    """The program, by `heddle cc`. One without kernels as C++, which takes less than half the time: headers are read once, not for a device, too."""
    tap.need_clang()
    tap.need_loadable_libraries()
    program, code = os.path.join(WORK, name), os.path.join(folder, f"{name}.cu")
    with open(code) as f:
        language = [] if "__global__" in f.read() else ["-O0", "-x", "c++"]
    status, out, err = tap.run("cc", "-std=c++17", "-O1", "-I", HERE, *language, "-o", program, code, *libraries)
    assert status == 0, out + err
    return program


def lines(program, *cases, command=("run",), stderr=None):
    """What it prints of its cases, by case. A program that a fault of the context ends says so, and its status is 1."""
    done = subprocess.run([tap.heddle, *command, program, *cases], capture_output=True, text=True, timeout=600)
    assert done.returncode == ("CUDA:" in done.stdout), f"{cases}: status {done.returncode}\n{done.stdout}{done.stderr}"
    if stderr is not None:
        stderr.append(done.stderr)
    return dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)


def answers_as_an_h200(folder, name, *libraries, but=(), only=()):
    """All cases of NAME.cu, or those of `only`, each in a process of its own; fields of `but`, "case.key", may differ."""
    with open(os.path.join(folder, f"{name}.expected")) as f:
        expected = dict(line.rstrip("\n").split(": ", 1) for line in f)
    expected = {case: line for case, line in expected.items() if not only or case in only}
    program = build(folder, name, *libraries)
    wrong = []
    for case, line in expected.items():
        got, want = lines(program, case)[case].split(), line.split()
        pairs = [(g, w) for g, w in zip(got, want) if g != w and f"{case}.{w.split('=')[0].split(':')[0]}" not in but]
        wrong += [f"{case}: {g} (H200: {w})" for g, w in pairs]
        wrong += [f"{case}: {len(got)} fields (H200: {len(want)})"] if len(got) != len(want) else []
    assert not wrong, "\n".join(wrong)
