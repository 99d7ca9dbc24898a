"""What crosses between code of nvcc and of heddle cc, where one has made the host's and the other the device's: names and parameters of
kernels, layouts. What nvcc makes of a source is recorded beside it (NAME.txt, by `test.py --record` where nvcc is)."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import heddle, main, source

here = os.path.join(source, "tests", "layouts")
folder = tempfile.TemporaryDirectory()
FLAGS = ["-arch=sm_90", "-std=c++17", "--extended-lambda"]


def path(name):
    return os.path.join(folder.name, name)


def command(*args):
    done = subprocess.run(args, capture_output=True, text=True, cwd=folder.name, timeout=300)
    assert done.returncode == 0, f"{' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def kernels(compiler, name):
    """Names of a source's kernels, and of each its parameters, a line each."""
    command(*compiler, "-ptx", *FLAGS, os.path.join(here, name + ".cu"), "-o", path("kernels.ptx"))
    with open(path("kernels.ptx")) as f:
        text = re.sub("//.*", "", f.read())
    lines = []
    for kernel, parameters in re.findall(r"\.entry (\S+?)\((.*?)\)", text, re.S):
        types = re.findall(r"\.param ((?:\.align \d+ )?\.\w+)\s+\S*?_param_\d+(\[\d+\])?", parameters)
        lines.append(kernel + " " + ", ".join(a + b for a, b in types))
    return sorted(lines)


def are_as_recorded(name):
    ours = kernels([heddle, "cc"], name)
    with open(os.path.join(here, name + ".txt")) as f:
        nvccs = f.read().splitlines()
    assert ours == nvccs, "\n".join(f"nvcc: {a}\nours: {b}" for a, b in zip(nvccs, ours) if a != b)


def checks(name):
    """A program of this folder, which prints TAP."""
    command(heddle, "cc", *FLAGS, os.path.join(here, name + ".cu"), "-o", path(name))
    out = command(path(name))
    assert re.search(r"^1\.\.\d+$", out, re.M) and "not ok" not in out, out


def closures_are_as_long_as_nvcc_s():
    are_as_recorded("closures")


def closures_hold_on_both_sides_what_they_captured():
    checks("closures")


def closures_need_no_option():
    """As errors do not, their places are the user's."""
    with open(path("plain.cu"), "w") as f:
        f.write("""#include <cstdio>
template <class F> __global__ void k(F f) { f(sizeof f); }
int main()
{
    int a = 3;
    k<<<1, 1>>>([=] __host__ __device__(int bytes) { printf("%d %d\\n", a, bytes); });
    auto wrong = [=] __host__ __device__(int x) { return a + nothing; };
    return cudaDeviceSynchronize();
}
""")
    done = subprocess.run([heddle, "cc", "plain.cu"], capture_output=True, text=True, cwd=folder.name, timeout=300)
    assert done.returncode == 1 and re.search(r"^plain\.cu:7:\d+: error: use of undeclared identifier 'nothing'", done.stderr, re.M), done
    command("sed", "-i", "7d", "plain.cu")
    command(heddle, "cc", "plain.cu", "-o", "plain")
    assert command(path("plain")) == "3 16\n"


def types_are_as_long_as_nvcc_s():
    are_as_recorded("types")


def types_are_the_same_on_both_sides():
    checks("types")


def names_of_kernels_are_nvcc_s():
    are_as_recorded("names")


def dependencies_of_a_source_with_closures_are_its_own():
    command(heddle, "cc", "-c", "-MD", "-MF", "rule.d", *FLAGS, os.path.join(here, "closures.cu"), "-o", "closures.o")
    with open(path("rule.d")) as f:
        rule = f.read()
    assert rule.startswith("closures.o:") and "closures.cuh" in rule and "closures.cu " in rule.replace("\\\n", " "), rule


if sys.argv[1:] == ["--record"]:
    for file in sorted(os.listdir(here)):
        if file.endswith(".txt"):
            with open(os.path.join(here, file), "w") as f:
                f.write("\n".join(kernels(["nvcc", "-w"], file[:-4])) + "\n")
elif not shutil.which("clang-19"):
    print("1..1\nok 1 - layouts # SKIP there is no clang-19")
else:
    main(globals())
