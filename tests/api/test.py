"""libheddle's binary interface: what has been built against an earlier header runs, and what is exported is what the header has."""
import lzma
import os
import platform
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Skip, main, source  # noqa: E402

FOLDER = os.path.join(source, "tests/api")
BUILD = os.environ["HEDDLE_BUILD"]
LIBRARY = os.path.join(BUILD, "libheddle.so.0")


def runs(program):
    """Runs a build of first.c with the library of this build."""
    done = subprocess.run([program], capture_output=True, text=True, timeout=120, env=dict(os.environ, LD_LIBRARY_PATH=BUILD))
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) > 30 and all(line.startswith("ok ") for line in lines), done.stdout + done.stderr


def a_program_built_against_the_first_header_runs():
    if platform.machine() != "x86_64":
        raise Skip("the program is x86-64's")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "first")
        with lzma.open(os.path.join(FOLDER, "first-x86-64.xz")) as packed, open(path, "wb") as f:
            f.write(packed.read())
        os.chmod(path, 0o755)
        used = set(re.findall(r"\b(hd_\w+)", subprocess.run(["nm", "-D", path], check=True, capture_output=True, text=True).stdout))
        assert "hd_launch" in used and not any(name.endswith("_sized") for name in used), used
        runs(path)


CPP = """#include <heddle.h>
int main()
{
    hd_launch_config config = {};
    hd_machine_options options = {};
    hd_result (*launch)(hd_kernel *, const hd_launch_config *, hd_launch_stats *, hd_report **) = &hd_launch;
    hd_machine *machine = nullptr;
    config.grid[0] = 1;
    bool refused = launch(nullptr, &config, nullptr, nullptr) == HD_ERROR_INVALID_VALUE;
    return refused && hd_machine_create(&options, &machine, nullptr) == HD_SUCCESS ? hd_machine_destroy(machine) : 1;
}
"""


def compiled(command, text_or_path, path):
    """A program by this build's header, which tells the sizes of its structs, also where a function is called by its address."""
    subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-I", os.path.join(source, "include"), text_or_path, "-o", path, LIBRARY], check=True)
    used = set(re.findall(r"\b(hd_\w+)", subprocess.run(["nm", "-D", path], check=True, capture_output=True, text=True).stdout))
    assert "hd_launch_sized" in used and "hd_launch" not in used, used
    return path


def its_source_compiles_with_this_header_and_tells_sizes():
    with tempfile.TemporaryDirectory() as folder:
        runs(compiled(["cc", "-std=c99", "-pedantic"], os.path.join(FOLDER, "first.c"), os.path.join(folder, "first")))


def cpp_tells_sizes_too():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.cpp")
        with open(path, "w") as f:
            f.write(CPP)
        program = compiled(["c++", "-std=c++14", "-pedantic"], path, os.path.join(folder, "program"))
        assert subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=BUILD), timeout=60).returncode == 0


def what_is_exported_is_what_the_header_declares():
    with open(os.path.join(source, "include/heddle.h")) as f:
        declared = set(re.findall(r"^HD_API [^;{(]*?\b(hd_\w+)\(", f.read(), re.M))
    with open(os.path.join(source, "src/api/first.c")) as f:  # what the header has inline now, for what was built against the first one
        declared |= set(re.findall(r"^FIRST\([^,]*,\s*(hd_\w+),", f.read(), re.M))
    table = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    exported = dict(re.findall(r" T (\w+)@@(\w+)$", table, re.M))
    assert set(exported) == declared, set(exported) ^ declared
    assert not re.search(r" [TDBR] \w+$", table, re.M), "something is exported without a version"
    assert set(exported.values()) == {"HEDDLE_1"}, exported


main(globals())
