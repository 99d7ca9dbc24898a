"""What crosses between code of nvcc and of heddle cc, where one has made the host's and the other the device's: names and parameters of
kernels, layouts. What nvcc makes of a source is recorded beside it (NAME.txt, and captures.ptx.xz, by `test.py --record` where nvcc is)."""
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Skip, heddle, in_full, main, need_loadable_libraries, source

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


def captures_are_nvcc_s():
    """Of constants, too, which clang captures only where more than their value is used."""
    are_as_recorded("captures")


def runs(host, kernels_of=None):
    """What captures.cu prints, its host's code made by one compiler, with its kernels from there or from a PTX file."""
    need_loadable_libraries()
    out = command(heddle, "run", path(host), *([path(kernels_of)] if kernels_of else []))
    assert len(out.splitlines()) > 80 and "error" not in out, out
    return out


def our_closures_are_what_nvcc_s_kernels_read():
    """PTX that nvcc has made of the same source."""
    command(heddle, "cc", "-w", *FLAGS, os.path.join(here, "captures.cu"), "-o", path("ours"), "-lcuda")
    with lzma.open(os.path.join(here, "captures.ptx.xz")) as f, open(path("nvcc.ptx"), "wb") as ptx:
        ptx.write(f.read())
    assert runs("ours") == runs("ours", "nvcc.ptx")


def need_nvcc():
    if not shutil.which("nvcc"):
        raise Skip("there is no nvcc")


def nvcc_s_closures_are_what_our_kernels_read():
    mixed("-std=c++17")


@in_full
def structured_bindings_are_captured_as_by_nvcc():
    mixed("-std=c++20")


def mixed(std):
    """Host's code and kernels by either compiler, in all four ways."""
    need_nvcc()
    file, flags = os.path.join(here, "captures.cu"), ["-w", "-arch=sm_90", "--extended-lambda", std]
    stubs = os.path.join(os.path.dirname(os.path.realpath(shutil.which("nvcc"))), "..", "lib64", "stubs")
    for name, compiler in (("ours", [heddle, "cc"]), ("nvccs", ["nvcc", f"-L{stubs}"])):
        command(*compiler, *flags, file, "-o", path(name), "-lcuda")
        command(*compiler, *flags, file, "-o", path(name + ".ptx"), "-ptx")
    results = {runs("ours"), runs("nvccs"), runs("ours", "nvccs.ptx"), runs("nvccs", "ours.ptx")}
    assert len(results) == 1, "\n".join(results)


def errors_in_such_lambdas_are_told_once():
    """clang is asked for what they capture before they are compiled: it says nothing then, and lays nothing out that is wrong."""
    with open(path("wrong.cu"), "w") as f:
        f.write("""template <class F> __global__ void k(F f) { f(1); }
int main()
{
    const int n = 3;
    k<<<1, 1>>>([=] __device__(int x) { return n + nothing; });
}
""")
    done = subprocess.run([heddle, "cc", "-extended-lambda", "wrong.cu"], capture_output=True, text=True, cwd=folder.name, timeout=300)
    assert done.returncode == 1 and done.stderr.count("error:") == 1 and "wrong.cu:5:" in done.stderr, done.stderr


def attributes_are_no_lambdas():
    """`[[nodiscard]]` before a function of both sides, as in CUB's headers."""
    with open(path("attribute.cu"), "w") as f:
        f.write("""namespace app { struct S {
[[nodiscard]] __host__ __device__ constexpr int f() const { return 3; }
[ [maybe_unused, deprecated("[=]")] ] __host__ __device__ int g() { return f(); }
}; }
int main() { return app::S().f() - 3; }
""")
    command(heddle, "cc", "-w", "-extended-lambda", "attribute.cu", "-o", "attribute")
    command(path("attribute"))


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
    command("nvcc", "-w", "-ptx", *FLAGS, os.path.join(here, "captures.cu"), "-o", path("captures.ptx"))
    with open(path("captures.ptx"), "rb") as ptx, lzma.open(os.path.join(here, "captures.ptx.xz"), "wb") as f:
        f.write(ptx.read())
elif not shutil.which("clang-19"):
    print("1..1\nok 1 - layouts # SKIP there is no clang-19")
else:
    main(globals())
