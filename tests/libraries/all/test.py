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


if __name__ == "__main__":
    tap.main(globals())
