"""heddle check: what programs do wrong on the host, by the lines where they do it."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Skip, heddle, main, run, source

here = os.path.join(source, "tests", "host")
folder = tempfile.TemporaryDirectory()
os.environ["HEDDLE_CACHE"] = "off"
MISTAKES = os.path.join(here, "mistakes.cu")
with open(MISTAKES) as f:
    lines = f.read().splitlines()
LIBDW = os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "libheddle-symbols.so"))


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout, done.stderr)


def build(name, compiler, *flags):
    program = os.path.join(folder.name, name)
    if not os.path.exists(program):
        call(*compiler, *flags, "-o", program, MISTAKES)
    return program


def by_heddle(*flags):
    return build("heddle" + "".join(flags), [heddle, "cc"], "-g", "-lineinfo", *flags)


def by_nvcc(*flags):
    if not shutil.which("nvcc"):
        raise Skip("there is no nvcc")
    return build("nvcc" + "".join(flags), ["nvcc", "-arch=compute_75"], "-g", "-lineinfo", *flags)


def check(*args):
    """What is found, as a list of diagnostics, and what was said."""
    save = os.path.join(folder.name, "findings.json")
    status, out, err = run("check", "--save", save, *args)
    with open(save) as f:
        found = json.load(f)["findings"]
    errors = any(d["severity"] == "error" for d in found)
    assert status == errors, (args, status, out, err)
    return found, err


def place(d):
    return os.path.basename(d.get("cuda_file") or "") , d.get("cuda_line")


def line_of(text, after=0):
    (number,) = [i for i, line in enumerate(lines, 1) if i > after and text in line]
    return number


def marks(first=0, last=len(lines)):
    """(line, code) of all findings and notes that the cases in these lines are to give."""
    return sorted((number, code.strip("+")) for number, line in enumerate(lines[first:last], first + 1)
                  for code in (line.split("//! ")[1].split() if "//! " in line else []))


def marks_of(case):
    start = line_of(f"CASE({case})")
    return marks(start, start + lines[start:].index("}"))


def where(d):
    """The line of the case: the innermost one that is not in make(); of a kernel's fault its own."""
    if "frames" not in d:
        return d["cuda_line"]
    return [f["line"] for f in d["frames"] if f.get("function") != "make"][0]


def cases_give_what_their_marks_say(program):
    found, err = check(program)
    got = sorted({(where(d), d["code"]) for d in found})
    assert got == marks(), f"too much: {set(got) - set(marks())}, missing: {set(marks()) - set(got)}\n{err}"


# ---- each case ----

def mistakes_are_found_at_their_lines():
    cases_give_what_their_marks_say(by_heddle())


def mistakes_are_found_in_optimised_code():
    cases_give_what_their_marks_say(by_heddle("-O2", "-Xcompiler", "-fno-optimize-sibling-calls"))


def mistakes_are_found_under_the_static_runtime():
    cases_give_what_their_marks_say(by_nvcc("-cudart=static"))


def mistakes_are_found_under_the_shared_runtime_in_optimised_code():
    cases_give_what_their_marks_say(by_nvcc("-cudart=shared", "-O2", "-Xcompiler", "-fno-optimize-sibling-calls"))


def a_programs_own_zydis_is_not_ours():
    """Names that would stop us stand before those of the library that reads the program's code."""
    other = os.path.join(folder.name, "libother.so")
    names = ("DecoderInit", "DecoderDecodeFull", "DecoderDecodeInstruction", "DecoderDecodeOperands", "DecodeOperands", "DecoderTreeGetRootNode",
             "RegisterGetId", "RegisterGetClass", "RegisterGetWidth", "RegisterGetLargestEnclosing", "RegisterEncode",
             "GetInstructionEncodingInfo")
    source_of = other + ".c"
    with open(source_of, "w") as f:
        f.write("#include <stdlib.h>\n" + "".join(f"int Zydis{name}(void) {{ abort(); }}\n" for name in names))
    call("cc", "-shared", "-fPIC", source_of, "-o", other)
    cases_give_what_their_marks_say(build("other", [heddle, "cc"], "-g", "-lineinfo", "-Xlinker", "--no-as-needed", other,
                                          "-Xlinker", "-rpath", "-Xlinker", folder.name))


# ---- what is said ----

def text_names_the_call_the_buffer_and_who_made_it():
    found, err = check(by_heddle(), "copy_to_past_the_end")
    made = line_of("// of make()")
    at = line_of("CASE(copy_to_past_the_end)") + 3
    assert re.search(rf"mistakes\.cu:{at}: error: cudaMemcpy writes 3604 bytes at byte 0 of the 3600-byte buffer allocated "
                     rf"at [^ ]*mistakes\.cu:{made}: 4 bytes past its end \[copy-out-of-bounds\]\n", err), err
    assert re.search(rf"  in make at [^ ]*mistakes\.cu:{made}\n  called by copy_to_past_the_end at [^ ]*mistakes\.cu:{at - 1}\n", err), err
    error, note = found
    assert [f["function"] for f in error["frames"]] == ["copy_to_past_the_end", "main"], error
    assert note["severity"] == "note" and note["cuda_line"] == made, note


def sarif_has_stacks_and_related_places():
    save = os.path.join(folder.name, "findings.sarif")
    run("check", "--format", "sarif", "--save", save, by_heddle(), "freed_twice")
    with open(save) as f:
        (result,) = json.load(f)["runs"][0]["results"]
    frames = result["stacks"][0]["frames"]
    assert frames[0]["location"]["physicalLocation"]["region"]["startLine"] == marks_of("freed_twice")[2][0], frames
    assert [p["message"]["text"] for p in result["relatedLocations"]] == ["it was freed here", "it was allocated here"]


def kernels_faults_name_where_memory_came_from():
    kernel = line_of("p[i] = i;")
    made = line_of("// of make()")
    found, err = check(by_heddle(), "used_by_a_kernel_past_the_end")
    assert place(found[0]) == ("mistakes.cu", kernel), found
    assert re.search(rf"just past the end of the 3600-byte buffer allocated at [^ ]*mistakes\.cu:{made} ", err), err
    found, err = check(by_heddle(), "used_by_a_kernel_after_it_was_freed")
    freed = line_of("CASE(used_by_a_kernel_after_it_was_freed)") + 3
    assert place(found[0]) == ("mistakes.cu", kernel), found
    assert re.search(rf"a buffer of 3600 bytes that was freed at [^ ]*mistakes\.cu:{freed} "
                     rf"\(allocated at [^ ]*mistakes\.cu:{made}\)", err), err


def findings_in_kernels_name_where_memory_came_from():
    made = line_of("// of make()")
    for case, word in (("used_by_a_kernel_before_it_was_written", "uninitialised-read"), ("used_by_kernels_that_race", "data-race")):
        found, err = check(by_heddle(), case)
        assert found[0]["code"] == word, err
        assert re.search(rf"buffer of 3600 bytes allocated at [^ ]*mistakes\.cu:{made}\b", err), err


def reasons_of_errors_are_said():
    _, err = check(by_heddle(), "launch_that_fails_and_nobody_looks")
    assert "the launch of `set` fails with cudaError" in err and "block.x is 4096; 1 to 1024 are possible" in err, err


def a_mistake_that_is_repeated_stands_once():
    found, err = check(by_heddle(), "repeated")
    assert [(where(d), d["code"]) for d in found] == marks_of("repeated") and found[0]["count"] == 1000, err


# ---- options ----

def leaks_are_found_where_they_are_asked_for():
    for case in ("left", "left_when_the_device_is_reset"):
        assert check(by_heddle(), case)[0] == []
    found, err = check("--leak-check", "full", by_heddle(), "left")
    start = line_of("CASE(left)")
    want = {number for number, line in enumerate(lines[start:start + 12], start + 1) if "// leak" in line}
    assert {where(d) for d in found} == want, (found, want)
    assert {d["code"] for d in found} == {"leak"}
    managed = [d for d in found if "cudaMallocManaged" in d["text"]]
    assert managed[0]["count"] == 3 and managed[0]["text"].startswith("300 bytes"), managed
    assert [d["severity"] for d in found].count("warning") == 2, found
    found, err = check("--leak-check", "full", by_heddle(), "left_when_the_device_is_reset")
    assert [(d["code"], where(d)) for d in found] == [("leak", line_of("make(); // leak"))], found


def memory_that_nothing_uses_is_found_where_it_is_asked_for():
    assert check(by_heddle(), "left_unused")[0] == []
    found, err = check("--track-unused-memory", "yes", by_heddle(), "left_unused")
    assert {(where(d), d["code"], d["text"]) for d in found} == {
        (line_of("// unused in part"), "unused-memory", "8 of the 3600 bytes of cudaMalloc are never written"),
        (line_of("// unused", line_of("// unused in part")), "unused-memory", "nothing is ever written to the 1000 bytes of cudaMalloc")}, err


def programs_that_free_all_leak_nothing():
    for case in ("freed_once", "directions_that_are_right", "streams_and_events_used_until_they_are_destroyed"):
        assert check("--leak-check", "full", by_heddle(), case)[0] == [], case


def failed_calls_are_found_as_asked():
    case = "errors_that_are_looked_at"
    assert check("--report-api-errors", "unseen", by_heddle(), case)[0] == []
    found, _ = check("--report-api-errors", "all", by_heddle(), case)
    assert len(found) == 7 and {d["severity"] for d in found} == {"warning"}, found
    assert check("--report-api-errors", "no", by_heddle(), "error_that_nobody_looks_at")[0] == []


def tools_that_are_not_asked_for_find_nothing():
    for case in ("freed_twice", "error_that_nobody_looks_at", "stream_destroyed_twice"):
        assert check("--tool", "synccheck", by_heddle(), case)[0] == [], case


# ---- without lines ----

def without_debug_information_functions_are_named():
    program = build("bare", [heddle, "cc"])
    found, err = check(program, "freed_twice")
    assert "cuda_line" not in found[0] and found[0]["frames"][0]["function"] == "freed_twice", found
    assert re.search(r"  in freed_twice in bare\+0x[0-9a-f]+\n  called by main in bare\+0x", err), err


def a_finding_of_pytest_names_its_test():
    """Behind the calls of Python: what pytest says of the test that runs, without its phase."""
    script = os.path.join(folder.name, "test_leak.py")
    with open(script, "w") as f:
        f.write("""import ctypes
def test_leak():
    p = ctypes.c_void_p()
    assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    assert ctypes.CDLL("libcudart.so.12").cudaMalloc(ctypes.byref(p), ctypes.c_size_t(64)) == 0
test_leak()
""")
    done = subprocess.run([heddle, "check", "--leak-check", "full", sys.executable, script], capture_output=True, text=True,
                          env=dict(os.environ, PYTEST_CURRENT_TEST="tests/test_leak.py::test_leak[a b] (call)"))
    assert re.search(r"  in test_leak at [^ ]*test_leak.py:5\n(  called by .*\n)*  called by test tests/test_leak.py::test_leak\[a b\]\n", done.stderr), done.stderr


def callers_from_libraries_and_python_are_named():
    library = os.path.join(folder.name, "libextension.so")
    call("cc", "-g", "-O1", "-shared", "-fPIC", "-I", os.path.join(source, "include", "cuda"),
         os.path.join(here, "extension.c"), "-o", library, "-L", os.path.join(os.environ["HEDDLE_BUILD"], "lib"), "-lcudart")
    found, err = check(sys.executable, "-c", f"import ctypes; ctypes.CDLL({library!r}).release_twice()")
    assert found[0]["code"] == "double-free", found
    functions = [(f.get("function"), f.get("line")) for f in found[0]["frames"]]
    with open(os.path.join(here, "extension.c")) as f:
        text = f.read().splitlines()
    second = [i for i, line in enumerate(text, 1) if "the second time" in line][0]
    assert functions[:2] == [("release", 6), ("release_twice", second)], functions
    assert any("python" in os.path.basename(f["object"]) or "_ctypes" in f["object"] if "object" in f else f["function"] == "<module>"
               for f in found[0]["frames"][2:]), found


if not LIBDW:
    print("1..0 # SKIP built without libdw")
    sys.exit()
main(globals())
