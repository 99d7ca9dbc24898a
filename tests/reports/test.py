"""Reports that people and programs act on: SARIF, JUnit, baselines, suppressions that can be kept, docs/FINDINGS.md."""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Folder, Skip, heddle, main, need_clang, run, source

folder = Folder()
path = folder.path
os.environ["HEDDLE_CACHE"] = "off"
need_clang()

# Five mistakes, three of them in a kernel each, and with -DNEW one more.
MISTAKES = """#include <cstdio>
__global__ void beyond(int *p, int n) { if (threadIdx.x <= n) p[threadIdx.x] = 1; }
__global__ void early(int *p)
{
    __shared__ int s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    s[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = s[63 - threadIdx.x];
}
template <typename T> __global__ void unwritten(T *p)
{
    __shared__ T s[64];
    p[threadIdx.x] = s[threadIdx.x];
}
#ifdef NEW
__global__ void count(int *p)
{
    p[0] += 1;
}
#endif
int main()
{
    int *p, *q;
    cudaMalloc(&p, 64 * 4);
    cudaMemset(p, 0, 64 * 4);
    beyond<<<1, 96>>>(p, 64);
    early<<<1, 64>>>(p);
    unwritten<int><<<1, 64>>>(p);
#ifdef NEW
    count<<<1, 64>>>(p);
#endif
    cudaDeviceSynchronize();
    cudaMalloc(&q, 1 << 20);
    cudaFree(p);
    cudaFree(p);
}
"""
CODES = ["data-race", "double-free", "illegal-address", "leak", "uninitialised-read"]


def build(project, text=MISTAKES, *flags):
    """A project src/app.cu with a program `app`, compiled by its absolute name, as CMake does."""
    os.makedirs(path(project + "/src"), exist_ok=True)
    os.makedirs(path(project + "/.git"), exist_ok=True)
    cu = folder.write(project + "/src/app.cu", text)
    done = subprocess.run([heddle, "cc", "-g", "-lineinfo", *flags, cu, "-o", path(project + "/app")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path(project)


def check(project, *args, status=1, inside=""):
    save = os.path.join(project, "saved.json")
    got, _, err = run("check", "--leak-check", "full", "--save", save, *args, os.path.join(project, "app"), cwd=os.path.join(project, inside))
    assert got == status, (args, got, err)
    with open(save) as f:
        return json.load(f), err


def found(report):
    return sorted(f["code"] for f in report["findings"] if f["severity"] == "error")


def prints(report):
    return {f["code"]: f["fingerprint"] for f in report["findings"] if f["severity"] != "note"}


# ---- suppressions that can be kept ----

def a_baseline_hides_what_is_known_and_shows_what_is_new():
    project = build("base")
    report, _ = check(project, "--generate-suppressions", "rules")
    assert found(report) == CODES, report
    shutil.move(project + "/saved.json", project + "/known.json")
    again, err = check(project, "--baseline", "known.json", status=0)
    assert again["findings"] == [] and again["known"] == 5 and "check: no errors in 3 launches of 3 kernels; 5 known by the baseline" in err, err
    build("base", "\n" * 10 + MISTAKES, "-DNEW")
    new, err = check(project, "--baseline", "known.json")
    assert found(new) == ["data-race"] and new["findings"][0]["kernel"] == "count" and "check: 1 error, 0 warnings; 5 known" in err, err
    run("check", "--leak-check", "full", "--save", "known.sarif", "./app", cwd=project)
    assert check(project, "--baseline", "known.sarif", status=0)[0]["known"] == 6
    build("base", MISTAKES.replace("s[63 - threadIdx.x]", "s[threadIdx.x]"))
    fewer, err = check(project, "--baseline", "known.sarif", status=0)
    assert fewer["known"] == 4 and "heddle: known.sarif: 2 of its 6 findings did not occur this time" in err, err
    assert "No such file" in run("check", "--baseline", "none.json", "./app", cwd=project)[2]
    assert "is not a report that `heddle check` wrote" in run("check", "--baseline", "src/app.cu", "./app", cwd=project)[2]
    for text in '{"findings": [{"severity": "error", "fingerprint": 5}]}', '{"runs": [{"results": [{"ruleId": "leak"}]}]}', "[" * 10000, "":
        folder.write("base/wrong.json", text)
        status, _, err = run("check", "--baseline", "wrong.json", "./app", cwd=project)
        assert status == 2 and "wrong.json is not a report that `heddle check` wrote" in err, (text[:80], err)
    kept = open(project + "/known.json").read()
    for options in ("--baseline", "known.json", "--save", "src/../known.json"), ("--suppressions", "rules", "--generate-suppressions", project + "/rules"):
        status, _, err = run("check", *options, "./app", cwd=project)
        assert status == 2 and f"would overwrite the file of {options[0]}" in err, err
    assert open(project + "/known.json").read() == kept
    generated_rules_stay_where_lines_are_inserted(project)


def nothing_is_lost_where_standard_output_is_closed():
    """A file that Heddle opened would have its number, and what is printed would go there."""
    project = build("closed", MISTAKES.replace("int main()\n{", "#include <unistd.h>\nint main(int n, char **)\n{\n    if (n > 1)\n        close(1);") .replace(
        "    cudaFree(p);\n}", '    cudaFree(p);\n    dprintf(1, "printed\\n");\n}'))
    for ending in ">&-", "<&- >&-", "again":
        subprocess.run(["sh", "-c", f'"{heddle}" check --leak-check full --save {project}/saved.json {project}/app {ending}'], capture_output=True)
        with open(project + "/saved.json") as f:
            report = json.load(f)
        assert report["whole"] and found(report) == CODES, (ending, report)
        os.remove(project + "/saved.json")


def a_report_that_could_not_be_recorded_does_not_call_the_program_one_without_cuda():
    project = build("full")
    for command in "check", "explain":
        # files may have no bytes, as on a full disk
        done = subprocess.run(["sh", "-c", f'ulimit -f 0; cd "{project}"; "{heddle}" {command} ./app'], capture_output=True, text=True)
        assert done.returncode == 1 and f"{command}: not done: what `./app` did could not be recorded" in done.stderr, done.stderr


def a_program_that_ends_before_it_uses_cuda_is_not_called_one_without():
    for command in "check", "explain":
        status, _, err = run(command, "sh", "-c", "kill -INT $$", cwd=folder.name)
        assert status == -signal.SIGINT and f"{command}: not done: `sh` had not used CUDA yet" in err, (status, err)
        assert "`sh` was ended by SIGINT; the report has what is known so far" in err, err


PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry both(.param .u64 p)
{
	.reg .u64 %a; .reg .u32 %t; .shared .u32 s;
	ld.param.u64 %a, [p];
	mov.u32 %t, %tid.x;
	st.shared.u32 [s], %t;
	st.global.u32 [%a], %t;NEW
	ret;
}
"""


def check_ptx(more, text, *args):
    launch = folder.write("both.ptx", text), "--grid", "1", "--block", "64", "u32[1]=undef"
    status, out, err = run("check", *more, *launch, *args)
    return status, out, err


def a_baseline_is_for_files_of_ptx_too():
    status, out, _ = check_ptx(["--format", "json"], PTX.replace("NEW", ""))
    known = folder.write("known-ptx.json", out)
    assert status == 1 and [bool(f.get("fingerprint")) for f in json.loads(out)["findings"] if f["severity"] == "error"] == [True] * 2, out
    status, out, err = check_ptx(["--baseline", known], PTX.replace("NEW", ""))
    assert status == 0 and err.splitlines()[0] == "check: no errors; 2 known by the baseline", err
    changed = "\n" * 10 + PTX.replace("NEW", "\n\tst.global.u32 [%a+4], %t;")
    for more in [], ["--runs", "2"]:
        status, out, err = check_ptx(["--baseline", known, "--format", "json", *more], changed)
        said = json.loads(out)
        assert status == 1 and said["known"] == 2 and {f["code"] for f in said["findings"]} == {"illegal-address"}, said
    status, out, err = check_ptx(["--baseline", known, "--runs", "2"], PTX.replace("NEW", ""))
    assert status == 0 and "check: no errors in 2 runs; 2 known by the baseline" in err, err
    status, out, _ = check_ptx(["--format", "sarif"], PTX.replace("NEW", ""))
    known = folder.write("known-ptx.sarif", out)
    assert "2 known by the baseline" in check_ptx(["--baseline", known], PTX.replace("NEW", ""))[2]
    assert "heddle check --format json FILE.ptx ... >none.json" in check_ptx(["--baseline", "none.json"], PTX)[2]


def generated_rules_stay_where_lines_are_inserted(project):
    with open(project + "/rules") as f:
        rules = f.read()
    assert "\ndata-race  src/app.cu  early\n" in rules and "\nleak  src/app.cu  main\n" in rules and project not in rules, rules
    build("base", "// a line\n" * 10 + MISTAKES)
    assert "5 suppressed" in check(project, "--suppressions", "rules", status=0)[1]


def fingerprints_are_the_same_over_runs_folders_and_inserted_lines():
    first, second = build("one"), build("two/deeper", "\n\n\n" + MISTAKES.replace("    cudaFree(p);\n    cudaFree(p);", "  cudaFree(p);\n\n  cudaFree(p);"))
    a = prints(check(first)[0])
    assert len(set(a.values())) == 5 and a == prints(check(first)[0])
    assert a == prints(check(second)[0]) == prints(check(second, inside="src")[0])
    assert a == prints(check(second, "--source-root", second, inside="..")[0])
    assert "there is no such folder" in run("check", "--source-root", "nowhere", "./app", cwd=first)[2]


def a_baseline_has_met_what_a_comment_allows():
    project = build("allowed")
    check(project)
    shutil.move(project + "/saved.json", project + "/known.json")
    build("allowed", MISTAKES.replace("    s[threadIdx.x] = p[threadIdx.x];", "    // heddle: allow(data-race) of one warp\n    s[threadIdx.x] = p[threadIdx.x];"))
    report, err = check(project, "--baseline", "known.json", status=0)
    assert report["known"] == 4 and report["suppressed"] == 1 and "did not occur" not in err, err


def comments_in_the_source_allow_findings():
    text = MISTAKES.replace("    s[threadIdx.x] = p[threadIdx.x];", "    // heddle: allow(data-race) of one warp\n    s[threadIdx.x] = p[threadIdx.x];")
    text = text.replace("    cudaMalloc(&q, 1 << 20);", "    cudaMalloc(&q, 1 << 20); // heddle: allow(leak, double-free) kept to the end")
    text = text.replace("    p[threadIdx.x] = s[threadIdx.x];", "    p[threadIdx.x] = s[threadIdx.x]; // heddle: allow(data-race) another code")
    report, err = check(build("comments", text))
    assert found(report) == ["double-free", "illegal-address", "uninitialised-read"] and report["suppressed"] == 2, (found(report), err)
    wrong = text.replace("allow(data-race) of", "allow(data-rase) of")
    report, err = check(build("comments", wrong))
    assert "heddle: src/app.cu:8: there is no code `data-rase`; did you mean `data-race`?" in err and "data-race" in found(report), err


# ---- places ----

PLACES = '''#include <cstdlib>
namespace inner { __global__ void none(int *p) { atomicAdd(p, 1); } }
__global__ void race(int *p)
{ p[0] = threadIdx.x;
}
__global__ void spread(int *p)
{
    p[32 * threadIdx.x] = 1;
}
struct Sums_Of64_Test { // as GoogleTest's TEST(Sums, Of64) makes it
    int *p;
    void TestBody();
};
void Sums_Of64_Test::TestBody()
{
    race<<<1, 64>>>(p);
    cudaDeviceSynchronize();
}
namespace gtest_suite_Typed_ {
template <typename T> struct OfAll {
    int *p;
    __attribute__((noinline)) void TestBody();
};
template <typename T> void OfAll<T>::TestBody()
{
    spread<<<1, 32>>>(p);
    cudaDeviceSynchronize();
}
}
int main(int n, char **)
{
    int *p;
    cudaMalloc(&p, n > 1 ? 4 : 1 << 12);
    if (n > 2) {
        inner::none<<<1, 1>>>(nullptr);
        cudaDeviceSynchronize();
    }
    Sums_Of64_Test{p}.TestBody();
    gtest_suite_Typed_::OfAll<int>{p}.TestBody();
}
'''


def all_commands_name_a_file_from_the_current_folder():
    project = build("places", PLACES)
    app, here = os.path.join(project, "app"), path("places/build")
    os.makedirs(here)
    cu, ptx, bad = (os.path.join(project, "src", name) for name in ("app.cu", "app.ptx", "bad.ptx"))
    assert run("cc", "-ptx", "-lineinfo", cu, "-o", ptx)[0] == 0
    with open(ptx) as f, open(bad, "w") as to:
        to.write(f.read().replace("st.global.u32", "st.global.u33"))
    race = "race", "--grid", "1", "--block", "2", "u32[64]"
    commands = [("check", app, "x"), ("check", "--format", "json", app), ("check", "--format", "junit", app), ("check", "--format", "sanitizer", app, "x"),
                ("run", "--exact-bounds", app, "x"), ("explain", "-o", "page.html", app), ("explain", "--json", "-", "-o", "page.html", app),
                ("ptx", bad), ("ptx", "--json", bad), ("launch", bad, "race"), ("check", ptx, *race), ("check", "--json", ptx, *race), ("explore", ptx, *race),
                ("debug", app)]
    for command in commands:
        _, out, err = run(*command, cwd=here, stdin="break race\nrun\nbt\nkill\nquit\n" if command[0] == "debug" else None)
        named = set(re.findall(r"[^\s\"(`>]*src/(?:app|bad)\.(?:cu|ptx)\b", out + err))
        assert named and named <= {"../src/app.cu", "../src/app.ptx", "../src/bad.ptx"}, (command, named, out, err)
    # SARIF names files from the root of the source, by its uriBaseId
    sarif = json.loads(run("check", "--format", "sarif", app, cwd=here)[2])
    files = {str(o) for o in objects(sarif, "uri") if "app.cu" in str(o)}
    assert files == {str({"uri": "src/app.cu", "uriBaseId": "%SRCROOT%"})}, files
    # below the current folder, by the way down; elsewhere, by the absolute path
    assert "\nsrc/app.cu:4: error: " in "\n" + run("check", app, cwd=project)[2]
    assert f"{cu}:4: error: " in run("check", app, cwd="/")[2]


def objects(value, key):
    """All objects in it that have the key."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] * (isinstance(value, dict) and key in value) + [o for v in inner for o in objects(v, key)]


def findings_name_their_launch_and_its_test():
    project = path("places")
    _, _, err = run("check", "--save", "both.json", "--save", "both.sarif", "--save", "both.xml", "./app", "x", cwd=project)
    assert "  launched by Sums_Of64_Test::TestBody at src/app.cu:16\n  called by test Sums.Of64\n" in err, err
    assert "  launched by gtest_suite_Typed_::OfAll<int>::TestBody at src/app.cu:26\n  called by test Typed.OfAll<int>\n" in err, err
    _, _, err = run("check", "--format", "sanitizer", "--tool", "memcheck", "./app", "x", "of a namespace", cwd=project)
    assert re.search(r"Invalid __global__ atomic of size 4 bytes\n(=========  .*\n)+?=========  +launched by main at ", err), err
    with open(project + "/both.json") as f:
        launches = {f["code"]: [a.get("function") for a in f["launch"]] for f in json.load(f)["findings"] if "launch" in f}
    assert launches["data-race"][1] == "test Sums.Of64", launches
    with open(project + "/both.sarif") as f:
        stacks = [s for r in json.load(f)["runs"][0]["results"] for s in r["stacks"]]
    assert stacks and all(s["message"]["text"] == "the kernel was launched here" for s in stacks), stacks
    assert "called by test Sums.Of64" in open(project + "/both.xml").read()


TWO_LAUNCHES = '''#include <cuda_runtime.h>
__global__ void a(int *p) { *p = threadIdx.x + 1; }
__global__ void b(int *p) { *p = threadIdx.x + 2; }
static void first(int *p, cudaStream_t s)
{
    a<<<1, 1, 0, s>>>(p);
}
static void second(int *p, cudaStream_t s)
{
    b<<<1, 1, 0, s>>>(p);
}
int main()
{
    int *p;
    cudaStream_t s, t;
    cudaMalloc(&p, 4);
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    first(p, s);
    second(p, t);
    cudaDeviceSynchronize();
}
'''


def each_side_of_a_race_names_its_own_launch():
    _, _, err = run("check", "./app", cwd=build("two_launches", TWO_LAUNCHES))
    error, note = err.split("note: the other access")
    assert "launched by first" in error and "second" not in error.split("launched by first")[1].split("help:")[0], err
    assert "launched by second" in note and "launched by first" not in note, err


# ---- Python ----

CALLS = """import ctypes
cuda = ctypes.CDLL("libcuda.so.1")

def allocate():
    p = ctypes.c_uint64()
    cuda.cuMemAlloc_v2(ctypes.byref(p), 64)
    return p

def main():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    cuda.cuInit(0)
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cuda.cuCtxSetCurrent(context)
    p = allocate()
    cuda.cuMemFree_v2(p)
    cuda.cuMemFree_v2(p)

main()
"""


def calls_of_the_host_are_pythons():
    script = folder.write("calls.py", CALLS)
    if not hasattr(ctypes.pythonapi, "_Py_DumpTraceback"):
        raise Skip("this Python does not export what writes tracebacks")
    status, _, err = run("check", "--tool", "memcheck", "--format", "json", sys.executable, script, cwd=folder.name)
    frames = {f["code"]: [(a.get("function"), a.get("file"), a.get("line")) for a in f["frames"]] for f in json.loads(err)["findings"] if "frames" in f}
    assert frames["double-free"] == [("main", "calls.py", 16), ("<module>", "calls.py", 18)], frames
    assert frames["freed"][0] == ("main", "calls.py", 15), frames
    assert frames["allocated"] == [("allocate", "calls.py", 6), ("main", "calls.py", 14), ("<module>", "calls.py", 18)], frames


def kernels_of_numba_have_their_pythons_names():
    with open(os.path.join(source, "examples", "saxpy", "saxpy.ptx")) as f:
        saxpy = f.read()
    for mangled, name in (("_ZN8__main__5shiftB2v1B9cw51cXTLSEj", "shift"), ("_ZN3app5solveB3v12B9cw51cXTLSEj", "app.solve"),
                          ("_ZN8__main__4testB1aEj", "__main__::test[abi:a]"), ("_ZN3app5outer12_3clocals_3e5innerB2v3B9cw51cXTLSEj", "app.outer.inner")):
        ptx = folder.write("named.ptx", saxpy.replace("saxpy(", mangled + "("))
        status, out, err = run("ptx", "-v", ptx)
        assert status == 0 and f"kernel   {name}:" in out, (mangled, out, err)
        status, _, err = run("check", "--tool", "racecheck", ptx, "--grid", 2, "--block", 4, 4, 2.0, "f32[4]=ones", "f32[4]=ones")
        assert name in err or status == 0, err


def remedies_are_pythons():
    reverse = os.path.join(source, "tests", "python", "reverse.ptx")
    with open(reverse) as f:
        numba = folder.write("numba.ptx", f.read().replace("entry reverse(", "entry _ZN8__main__7reverseB2v1B9cw51cXTLSEj("))
    for ptx, help in (reverse, "tl.debug_barrier()"), (numba, "cuda.syncthreads()"):
        _, _, err = run("check", ptx, "--block", 64, "--grid", 1, "f32[64]=range")
        assert f"help: add {help} between lines 7 and 9" in err and "kernel `reverse`" in err, err


# ---- SARIF and JUnit ----

def runs(project, *args):
    status, _, _ = run("check", "--leak-check", "full", "--save", "x.sarif", *args, "./app", cwd=project)
    with open(project + "/x.sarif") as f:
        log = json.load(f)
    assert log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"], log
    return log["runs"][0]


def complete(sarif):
    """All that GitHub's list of supported properties names as required or recommended."""
    driver = sarif["tool"]["driver"]
    for rule in driver["rules"]:
        assert all(len(rule[k]["text"]) > 5 for k in ("shortDescription", "fullDescription", "help")), rule
        assert rule["help"]["markdown"] and rule["name"].isalnum() and rule["defaultConfiguration"]["level"], rule
        assert rule["properties"]["tags"] and rule["properties"]["precision"] and rule["properties"]["problem.severity"], rule
        assert all(len(rule[k]["text"]) <= 1024 for k in ("shortDescription", "fullDescription")), rule
    for at in (a["physicalLocation"] for key in ("locations", "relatedLocations", "codeFlows") for r in sarif["results"]
               for a in objects(r.get(key, []), "physicalLocation")):
        assert at["artifactLocation"]["uri"] and set(at["region"]) == {"startLine", "startColumn", "endLine", "endColumn", "snippet"}, at
        if "contextRegion" in at:
            lines = at["contextRegion"]["snippet"]["text"].splitlines()
            assert lines[at["region"]["startLine"] - at["contextRegion"]["startLine"]].strip() == at["region"]["snippet"]["text"], at
    assert sarif["automationDetails"]["id"] == "heddle/app/", sarif["automationDetails"]
    for r in sarif["results"]:
        assert driver["rules"][r["ruleIndex"]]["id"] == r["ruleId"] and r["level"] in ("error", "warning") and r["message"]["text"].endswith("."), r
        assert re.fullmatch("[0-9a-f]{16}:[0-9]+", r["partialFingerprints"]["primaryLocationLineHash"]), r
        at = r["locations"][0]["physicalLocation"]
        assert at["artifactLocation"] == {"uri": "src/app.cu", "uriBaseId": "%SRCROOT%"}, at
        assert at["contextRegion"]["startLine"] < at["region"]["startLine"] < at["contextRegion"]["endLine"], at
        assert at["region"]["startLine"] == at["region"]["endLine"] and at["region"]["startColumn"] < at["region"]["endColumn"], at


def sarif_has_all_that_viewers_show():
    project = build("sarif")
    sarif = runs(project)
    complete(sarif)
    assert sarif["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"file://{project}/", sarif["originalUriBaseIds"]
    by_code = {r["ruleId"]: r for r in sarif["results"]}
    flow, = by_code["data-race"]["codeFlows"]
    sides = [(f["id"], f["locations"][0]["location"]["physicalLocation"]["region"]["startLine"]) for f in flow["threadFlows"]]
    assert sorted(line for _, line in sides) == [8, 9] and all(re.fullmatch(r"thread \(\d+,0,0\) of block \(0,0,0\)", of) for of, _ in sides), sides
    life, = by_code["double-free"]["codeFlows"][0]["threadFlows"]
    lines = [at["location"]["physicalLocation"]["region"]["startLine"] for at in life["locations"]]
    assert len(lines) == 3 and lines == sorted(lines), lines  # allocated, freed, freed again
    assert [a["sourceLanguage"] for a in sarif["artifacts"]] == ["ptx"] and "baselineState" not in by_code["leak"]
    run("check", "--save", "old.sarif", "./app", cwd=project)
    assert {r["ruleId"]: r["baselineState"] for r in runs(project, "--baseline", "old.sarif")["results"]} == {"leak": "new"}


def ptx_errors_are_sarif_too():
    files = [os.path.join(source, "tests", "errors", name) for name in sorted(os.listdir(os.path.join(source, "tests", "errors"))) if name.endswith(".ptx")]
    status, out, err = run("ptx", "--format", "sarif", *files)
    sarif = json.loads(out)["runs"][0]
    assert status == 1 and err == "" and len(sarif["results"]) > len(files) // 2, (status, err, len(sarif["results"]))
    assert all(r["help"]["markdown"] != r["shortDescription"]["text"] for r in sarif["tool"]["driver"]["rules"])  # each code has its row
    assert "it is text, json or sarif" in run("ptx", "--format", "xml", files[0])[2]


def junit_has_a_case_for_each_kernel():
    project = build("junit")
    run("check", "--leak-check", "full", "--save", "tests.xml", "./app", cwd=project)
    suites = xml.parse(project + "/tests.xml").getroot()
    suite, = suites
    assert suites.tag == "testsuites" and suite.get("tests") == "4" and suite.get("failures") == "5", suite.attrib
    cases = {c.get("name"): [f.get("type") for f in c.findall("failure")] for c in suite}
    assert cases == {"beyond": ["illegal-address"], "early": ["data-race"], "unwritten<int>": ["uninitialised-read"], "the host": ["double-free", "leak"]}, cases
    text = suite.find("testcase[@name='early']/failure").text
    assert "app.cu:8: error: " in text.split("\n")[0] and "help: " in text, text
    saxpy = os.path.join(source, "examples", "saxpy", "saxpy.ptx")
    for words, failures in (["f32[8]=undef"], 1), (["f32[8]=ones"], 0):
        status, out, _ = run("check", "--format", "junit", saxpy, "--grid", 1, "--block", 8, 8, 2.0, *words, "f32[8]=ones")
        assert status == failures and xml.fromstring(out).get("failures") == str(failures), out
    assert "junit is for heddle check" in run("launch", "--format", "junit", saxpy)[2]


# ---- CTest ----

PROJECT = """cmake_minimum_required(VERSION 3.18)
project(tests LANGUAGES NONE)
include(CTest)
add_test(NAME beyond COMMAND APP beyond)
add_test(NAME again COMMAND APP again)
add_test(NAME fails COMMAND APP fail)
set_tests_properties(fails PROPERTIES WILL_FAIL TRUE)
"""


def ctest_counts_what_compute_sanitizer_finds():
    if not shutil.which("ctest"):
        raise Skip("there is no CMake")
    project = build("ctest", MISTAKES.replace("int main()", "int main(int argc, char **argv)").replace("    cudaFree(p);\n    cudaFree(p);", "    cudaFree(p);\n    return argc > 1 && argv[1][0] == 'f';"))
    tools = os.path.join(project, "tools")
    subprocess.run([heddle, "cc", "--install-tools", tools], check=True, capture_output=True)
    with open(project + "/CMakeLists.txt", "w") as f:
        f.write(PROJECT.replace("APP", project + "/app"))
    subprocess.run(["cmake", "-S", project, "-B", project + "/b", f"-DMEMORYCHECK_COMMAND={tools}/bin/compute-sanitizer", "-DMEMORYCHECK_TYPE=CudaSanitizer"],
                   check=True, capture_output=True)
    _, out, err = run("run", "ctest", "-T", "memcheck", cwd=project + "/b")
    assert "Invalid __global__ write - 3" in out and "Memory leak - 3" in out and out.count("Defects: 2") == 3, (out, err)
    subprocess.run(["cmake", "-DMEMORYCHECK_COMMAND_OPTIONS=--tool racecheck", project + "/b"], check=True, capture_output=True)
    _, out, err = run("run", "ctest", "-T", "memcheck", cwd=project + "/b")
    assert "Invalid __global__ write - 3" in out and "leak" not in out, (out, err)  # which ends the program before it has races
    status, out, err = run("run", "ctest", cwd=project + "/b")
    assert status == 0 and "100% tests passed" in out, (out, err)
    status, out, err = run("check", "--save", "all.json", "ctest", cwd=project + "/b")
    assert status == 1 and re.search(r"in kernel `beyond` of process \d+, `.*/app beyond`", err), err  # the test that it is of
    with open(project + "/b/all.json") as f:
        assert {"beyond", "again", "fail"} == {p["command"].split()[-1] for p in json.load(f)["processes"]}


def compute_sanitizers_place_is_taken():
    project = build("sanitizer")
    tools = os.path.join(project, "tools")
    subprocess.run([heddle, "cc", "--install-tools", tools], check=True, capture_output=True)
    def call(*words, status, name="compute-sanitizer"):
        done = subprocess.run([os.path.join(tools, "bin", name), *words], capture_output=True, text=True, cwd=project)
        assert done.returncode == status, (words, done)
        return done.stdout + done.stderr
    said = call("--leak-check", "full", "./app", status=0)
    heads = re.findall("^========= ([A-Z][a-z].*)", said, re.M)
    assert heads == ["Invalid __global__ write of size 4 bytes", heads[1], heads[2]] and heads[1].startswith("Malloc/Free error encountered: cudaFree"), said
    assert heads[2].startswith("Leaked 1048576 bytes at") and said.endswith("========= ERROR SUMMARY: 3 errors\n"), said
    assert "ERROR SUMMARY: 1 error\n" in call("--tool", "racecheck", "--error-exitcode", "9", "./app", status=9)
    assert "there is no option `--generate-coredump`" in call("--generate-coredump", "yes", "./app", status=2)
    assert "heddle 0" in call("--version", status=0) and "Nsight Compute's names" in call("--metrics", "all", "./app", status=2, name="ncu")
    assert "heddle explain --trace" in call("stats", "x", status=2, name="nsys")
    for shell in "sh", "bash":  # which shift differently
        done = subprocess.run([shell, os.path.join(tools, "bin", "nsys"), "profile", "-o"], capture_output=True, text=True, timeout=60)
        assert done.returncode and "-o needs a value" in done.stderr, (shell, done)
    call("profile", "-t", "cuda,nvtx", "-o", "line", "./app", status=0, name="nsys")
    assert "--trace osrt: only cuda and nvtx are traced" in call("profile", "--trace=cuda,osrt", "./app", status=2, name="nsys")
    for name, kernel in ("early", "early"), ("regex:^ear", "early"), ("unwritten", "unwritten<int>"):  # as Nsight Compute takes them
        said = call("-k", name, "-o", "some.html", "./app", status=0, name="ncu")
        assert "1 launch of 1 kernel" in said and f"\n{kernel}: " in said, said
    said = call("--csv", "./app", "./app", status=2, name="ncu")  # its own --csv takes no file
    assert "./app is a program and is not written over" in said, said
    assert os.path.exists(project + "/line.json") and os.path.exists(project + "/line.html")


def the_page_of_codes_is_made_from_the_table():
    made = subprocess.run([os.path.join(source, "scripts/finding-docs")], check=True, capture_output=True, text=True)
    with open(os.path.join(source, "docs/FINDINGS.md")) as f:
        assert f.read() == made.stdout, "make docs"
    words = set(re.findall(r'DIAG_(?:ERROR|WARNING), [^"\n]*"([a-z]+(?:-[a-z]+)+)"', "".join(
        open(os.path.join(top, name)).read() for top, _, names in os.walk(os.path.join(source, "src", "check")) for name in names)))
    assert all(f"`{word}`" in made.stdout for word in words), words


main(globals())
