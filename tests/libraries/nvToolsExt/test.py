#!/usr/bin/env python3
"""libnvToolsExt: NVTX as a library."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def ranges_of_a_linked_program_are_on_the_timeline():
    tap.need_loadable_libraries()
    program, trace = os.path.join(cases.WORK, "ranges"), os.path.join(cases.WORK, "trace.json")
    libraries = os.environ["HEDDLE_BUILD"]
    subprocess.run(["cc", "-o", program, os.path.join(HERE, "ranges.c"), "-L", libraries, "-l:libnvToolsExt.so.1", "-l:libcudart.so.13", f"-Wl,-rpath-link,{libraries}"],
                   check=True)
    status, out, err = tap.run("run", program)
    assert (status, out) == (0, "-2 -2 -2\n"), out + err  # nobody listens
    status, out, err = tap.run("explain", "--trace", trace, program)
    assert status == 0 and "0 1 1\n" in out, out + err
    with open(trace) as f:
        names = {e.get("name") for e in json.load(f)["traceEvents"]}
    assert {"outer", "inner", "mark"} <= names, names


if __name__ == "__main__":
    tap.main(globals())
