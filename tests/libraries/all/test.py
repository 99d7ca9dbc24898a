#!/usr/bin/env python3
"""What holds for all libraries."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402,F401
import tap  # noqa: E402

BUILD = os.environ["HEDDLE_BUILD"]


def the_page_of_libraries_is_what_the_tables_say():
    made = subprocess.run([os.path.join(tap.source, "scripts/library-docs")], check=True, capture_output=True, text=True)
    with open(os.path.join(tap.source, "docs/LIBRARIES.md")) as f:
        assert f.read() == made.stdout, "make docs"


def exports(path):
    """By name, with the version of the symbol."""
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", path], check=True, capture_output=True, text=True).stdout
    return dict(re.findall(r" FUNC +GLOBAL +DEFAULT +\d+ (\w+)@@(\S+)", symbols))


def each_library_exports_its_table_with_the_originals_version():
    with open(os.path.join(tap.source, "src/cuda/libraries.def")) as f:
        rows = re.findall(r'^LIBRARY\((\w+), "(\S+)"\)', f.read(), re.M)
    for name, soname in rows:
        path = os.path.join(BUILD, soname)
        if not os.path.exists(path):
            continue  # what it stands on is not there
        with open(os.path.join(tap.source, f"src/libraries/{name}/{name}.def")) as f:
            table = set(re.findall(r"^ENTRY\((\w+), ", f.read(), re.M))
        found = exports(path)
        assert set(found) <= table and set(found.values()) == {soname}, soname
        if soname == [s for n, s in rows if n == name][-1]:
            with open(os.path.join(tap.source, f"src/libraries/{name}/{name}.def")) as f:
                newest = set(re.findall(r"^ENTRY\((\w+), \d+, 13, ", f.read(), re.M))
            assert set(found) == newest, newest ^ set(found)


FAKE = "int curandGetVersion(int *v) { volatile int x = 1; *v = x; return 7; }\nint curandOfALaterVersion(void) { volatile int x = 3; return x; }\n"
OPENS = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *l = dlopen(argv[1], RTLD_NOW);
    int version = 0, (*f)(int *) = (int (*)(int *))dlsym(l, argc > 2 ? argv[2] : "curandGetVersion");
    int status = f(&version);
    printf("%d %d\\n", status, version);
    return 0;
}
"""


def a_library_of_cudas_that_is_opened_by_its_path_does_what_ours_does():
    """One that has the same name for itself, as it lies in a wheel of PyTorch's."""
    tap.need_loadable_libraries()
    for name, text in {"fake.c": FAKE, "opens.c": OPENS}.items():
        with open(os.path.join(cases.WORK, name), "w") as f:
            f.write(text)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcurand.so.10", "-o", "libother.so", "fake.c"], check=True, cwd=cases.WORK)
    subprocess.run(["gcc", "-o", "opens", "opens.c"], check=True, cwd=cases.WORK)
    path = os.path.join(cases.WORK, "libother.so")
    status, out, err = tap.run("run", "./opens", path, cwd=cases.WORK)
    assert status == 0 and out == "0 10400\n", out + err
    status, out, err = tap.run("run", "./opens", path, "curandOfALaterVersion", cwd=cases.WORK)
    assert status == 127 and "curandOfALaterVersion" in err, out + err


if __name__ == "__main__":
    tap.main(globals())
