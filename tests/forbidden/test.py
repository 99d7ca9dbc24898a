"""What CUDA refuses in captures and of graphs: programs that write down what each call says, beside what they wrote on an H200
(PROGRAM.txt; nvcc 13.0, driver 580.159). Prints TAP."""
import difflib
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

HERE = os.path.join(tap.source, "tests", "forbidden")
LIBRARIES = os.path.join(os.path.abspath(os.environ["HEDDLE_BUILD"]), "lib")

# Lines that are to differ: what Heddle writes instead, and why.
DIFFERS = {
    "capture_calls": {
        "cuMemsetD32Async(0x10, 0, 16, s)": (" 1/1/0+1" * 6, "an address of no memory is refused at once"),
    },
}
# Heddle refuses it by name, which in a capture invalidates that: no graph lacks a node.
UNSUPPORTED = re.compile(r": 801$|: 801/2/901(/801)?( 801/2/901(/801)?)*$")


def build(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def lines_of(program, *source):
    """What the program writes by Heddle's libraries."""
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, program)
        build("cc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Wno-unused", "-I", os.path.join(tap.source, "include", "cuda"),
              *source, "-o", binary, "-L", LIBRARIES, "-lcudart", "-lcuda", "-lpthread")
        done = subprocess.run([tap.heddle, "run", binary], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout.splitlines()


def expected(program):
    with open(os.path.join(HERE, program + ".txt"), encoding="utf-8") as f:
        return f.read().splitlines()


def compare(program, ours):
    """Each line is the H200's, but for those that are to differ, or are refused by name."""
    theirs, differs, wrong = expected(program), dict(DIFFERS.get(program, {})), []
    for mine, line in zip(ours, theirs):
        call = line.rsplit(":", 1)[0] if line not in differs else line
        if call.strip() in differs:
            answer = differs.pop(call.strip())[0]
            wrong += [(mine, call + ":" + answer)] if mine != call + ":" + answer else []
        elif mine != line and not UNSUPPORTED.search(mine):
            wrong.append((mine, line))
    text = "\n".join(f"  {mine}\n  {line}   (an H200)" for mine, line in wrong)
    if len(ours) != len(theirs):
        text += "\n" + "\n".join(difflib.unified_diff(theirs, ours, "an H200", "Heddle", lineterm="", n=1))
    assert not text, text
    assert not differs, f"do not differ any more: {list(differs)}"


def of_driver(program):
    tap.need_loadable_libraries()
    compare(program, lines_of(program, os.path.join(HERE, program + ".c")))


def each_call_in_a_capture_says_what_it_does_on_an_H200():
    of_driver("capture_calls")


def captures_begin_end_and_meet_as_on_an_H200():
    of_driver("capture_stories")


def each_call_of_the_runtime_in_a_capture_says_what_it_does_on_an_H200():
    tap.need_loadable_libraries()
    compare("runtime_calls", lines_of("runtime_calls", f'-DPROGRAM_PTX="{HERE}/runtime_calls.ptx"', "-x", "c",
                                      os.path.join(HERE, "runtime_calls.cu")))


if __name__ == "__main__":
    tap.main(globals())
