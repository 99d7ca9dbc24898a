"""heddle check PROGRAM: what all processes of a program find is shown, however it ends."""
import atexit
import contextlib
import glob
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Folder, Skip, heddle, main, run, source

here = os.path.join(source, "tests", "check_program")
folder = Folder()
path = folder.path
os.environ["HEDDLE_CACHE"] = "off"
os.environ["TMPDIR"] = folder.name  # what is left there is seen
WAYS = os.path.join(folder.name, "ways")
BEYOND, UNWRITTEN = "illegal-address", "uninitialised-read"


def build(*flags):
    done = subprocess.run([heddle, "cc", *flags, "-lineinfo", "-o", WAYS, os.path.join(here, "ways.cu")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def check(*args, status=None, **more):
    """Returns the program's output, what was said, and the JSON of the findings."""
    save = path("findings.json")
    if os.path.exists(save):
        os.remove(save)
    got, out, err = run("check", "--save", save, *args, **more)
    assert status is None or got == status, (args, got, out, err)
    left = [name for name in os.listdir(folder.name) if name.startswith("heddle-check-")]
    assert not left, left
    if not os.path.exists(save):
        return out, err, None
    with open(save) as f:
        return out, err, json.load(f)


def codes(result):
    """The codes of the errors, and the kernels that they were found in."""
    return sorted((f["code"], f.get("kernel")) for f in result["findings"] if f["severity"] != "note")


BOTH = [(BEYOND, "beyond"), (UNWRITTEN, "unwritten<float>")]


def compiled(name):
    """A program of this folder."""
    program = path(name)
    done = subprocess.run([heddle, "cc", "-lineinfo", "-o", program, os.path.join(here, name + ".cu")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


# ---- findings, output, exit status ----

def findings_stand_behind_what_the_program_prints():
    out, err, result = check(WAYS, status=1)
    assert out == "cudaSuccess\n", out
    assert "ways.cu:15: error: thread (100,0,0) of block (0,0,0) writes 4 bytes" in err, err
    assert "p[i] = i; // beyond the end" in err and "st.global.u32" in err and "in kernel `beyond`" in err, err
    assert f"[{UNWRITTEN}, 64 times]" in err, err
    assert err.endswith("check: 2 errors, 0 warnings\n"), err
    assert codes(result) == BOTH and result["errors"] == 2 and result["launches"] == 2 and result["status"] == 0
    assert [f["cuda_line"] for f in result["findings"]] == [15, 28]
    assert result["kernels"] == ["_Z6beyondPii", "_Z9unwrittenIfEvPT_"]


def a_confined_program_is_recorded_where_it_may_write():
    """And no file that it cannot write is taken away, or found out about only when all has run."""
    os.makedirs(path("confined"), exist_ok=True)
    events = path("confined/run.events")
    status, _, err = run("check", "--sandbox", "--record-events", "run.events", "--format", "json", WAYS, cwd=path("confined"))
    if "--sandbox is not possible here" in err:
        raise Skip("this system has no sandbox for programs")
    status_again, _, again = run("check", "--replay-events", events, "--format", "json", cwd=path("confined"))
    assert status == status_again == 1 and json.loads(err)["findings"] == json.loads(again)["findings"] != [], (err, again)
    elsewhere = os.path.join(os.path.dirname(folder.name), "elsewhere.events")
    for file, options, words in ((elsewhere, ["--sandbox"], "a program in the sandbox can write only below"), ("/dev/null", [], "not a regular file"),
                                 (path("none/run.events"), [], "No such file or directory")):
        status, out, err = run("check", *options, "--record-events", file, WAYS)
        assert (status, out) == (1, "") and f"cannot write {file}: " in err and words in err, (file, out, err)
    assert os.path.exists("/dev/null") and not os.path.exists(elsewhere)



def a_clean_program_has_its_output_and_its_status():
    assert check(WAYS, "clean", status=0)[:2] == ("cudaSuccess\n", "check: no errors in 7 launches of 1 kernel\n")


def the_programs_own_failure_stays_its_status():
    assert codes(check(WAYS, "fail", status=5)[2]) == BOTH


def the_exit_status_after_errors_can_be_chosen():
    check("--error-exitcode", 42, WAYS, status=42)
    check("--error-exitcode=0", WAYS, status=0)
    check("--error-exitcode", 42, WAYS, "clean", status=0)


def launches_of_all_streams_and_threads_are_watched():
    result = check(WAYS, "threads", status=1)[2]
    assert codes(result) == [(BEYOND, "beyond")] and result["launches"] == 24, result


def launches_of_graphs_are_watched():
    result = check(WAYS, "graph", status=1)[2]
    assert codes(result) == [(BEYOND, "beyond")] and result["findings"][0]["count"] == 3 and result["launches"] == 3, result


def mistakes_of_the_host_are_found():
    copy = [("copy-out-of-bounds", None)] * 2
    assert codes(check(WAYS, "host", status=1)[2]) == copy
    assert codes(check(WAYS, "crash", status=-signal.SIGABRT)[2]) == copy
    assert codes(check("--leak-check", "full", WAYS, "host", status=1)[2]) == copy + [("leak", None)]
    result = check("--tool", "memcheck", "--tool", "racecheck", WAYS, "host", status=1)[2]
    assert codes(result) == copy and all(f["severity"] != "warning" for f in result["findings"])
    assert codes(check("--tool", "initcheck", WAYS, "host", status=0)[2]) == []


def what_another_device_writes_is_written():
    program = compiled("peers")
    for how in ("kernel", "peer", "async", "copy", "set"):
        for part, reads in ((), []), (("half",), [(UNWRITTEN, "read")] * 2):
            _, _, result = check("--devices", "2", program, how, *part)
            found = [c for c in codes(result) if c[0] == UNWRITTEN]
            assert found in (reads, reads[:1]), (how, part, result)
    for how in ("managed", "pinned"):
        check("--devices", "2", program, how, status=0)


def memory_that_nothing_uses_is_found():
    assert codes(check(WAYS, "unused", status=0)[2]) == []
    err, result = check("--track-unused-memory", WAYS, "unused", status=0)[1:]
    assert codes(result) == [("unused-memory", None)] * 2 and result["errors"] == 0, result
    assert "nothing is ever written to the 800 bytes of cudaMalloc" in err and "600 of the 800 bytes" in err, err
    assert codes(check("--track-unused-memory", "no", WAYS, "unused")[2]) == []


# ---- how programs end ----

def what_was_found_is_shown_however_the_program_ends():
    for way, status, said in (("abort", -signal.SIGABRT, "ended by SIGABRT"), ("kill", -signal.SIGKILL, "ended by SIGKILL"),
                              ("_exit", 1, ""), ("reset", 1, "")):
        _, err, result = check(WAYS, way, status=status)
        assert codes(result) == BOTH and said in err, (way, err)


def what_was_launched_and_not_waited_for_is_checked():
    assert codes(check(WAYS, "unwaited", status=1)[2]) == [(BEYOND, "beyond")]


def a_program_that_takes_too_long_is_ended():
    _, err, result = check("--timeout", "1", WAYS, "spin", status=124)
    assert "the time limit of 1 s ran out" in err, err
    assert set(BOTH) < set(codes(result)) and ("timeout", "spin") in codes(result), codes(result)


def a_signal_ends_the_program_and_not_the_report():
    for number in signal.SIGINT, signal.SIGTERM:
        p = subprocess.Popen([heddle, "check", "--runs", "3", WAYS, "sleep"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, start_new_session=True,
                             preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # a shell's background ignores SIGINT
        assert p.stdout.readline() == "cudaSuccess\n"
        p.send_signal(number)
        err = p.communicate(timeout=60)[1]
        assert p.returncode == -number and BEYOND in err and "1 of 3 runs were done" in err, (p.returncode, err)


def a_signal_at_the_end_of_a_run_ends_the_series():
    """It comes while the program still runs, which it then ends, or between two runs."""
    status, _, err = run("check", "--runs", "50", "sh", "-c", "kill -TERM $PPID")
    assert status in (1, -signal.SIGTERM) and "heddle: 1 of 50 runs were done\n" in err, (status, err)


def a_launch_that_a_signal_ends_is_not_denied():
    p = subprocess.Popen([heddle, "check", WAYS, "spin only"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert p.stdout.readline() == "launching\n"
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=60)[1]
    assert p.returncode == -signal.SIGINT and "no errors so far, and no launch had ended" in err, (p.returncode, err)


def children_are_checked_too():
    _, err, result = check(WAYS, "exec", status=1)
    assert codes(result) == BOTH and [f["count"] for f in result["findings"]] == [2, 128], result
    assert len(result["processes"]) == 2 and re.search(r"of process \d+, `[^`]*ways bad`", err), err
    assert codes(check(WAYS, "fork", status=1)[2]) == BOTH
    result = check("--target-processes", "application-only", WAYS, "exec", status=1)[2]
    assert [f["count"] for f in result["findings"]] == [1, 64] and len(result["processes"]) == 1, result
    _, err, result = check("--target-processes", "application-only", WAYS, "fork", status=1)
    assert "ran without using CUDA itself" in err and result["findings"] == [], err


def a_program_of_python_is_checked():
    text = f"""import ctypes, subprocess
cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel, memory = (ctypes.c_void_p() for _ in range(4))
ptx = b'''.version 7.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 p)
{{
.reg .u64 %rd<2>;
ld.param.u64 %rd1, [p];
st.global.u32 [%rd1+64], 1;
ret;
}}'''
assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
assert not cuda.cuCtxSetCurrent(context) and not cuda.cuModuleLoadData(ctypes.byref(module), ptx)
assert not cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"store")
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), 64)
args = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p))
assert not cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, args, None)
assert not cuda.cuModuleUnload(module)
subprocess.run([{WAYS!r}])
"""
    result = check("python3", "-c", text, status=1)[2]
    assert codes(result) == sorted(BOTH + [(BEYOND, "store")]), result
    assert {p["program"] for p in result["processes"]} == {"python3", "ways"}, result


def a_kernel_that_outlives_the_program_is_ended():
    err = endless.communicate(timeout=60)[1]
    assert endless.returncode == 1 and "the program ended while kernels were running" in err, err
    assert err.endswith("check: 1 error, 1 warning\n"), err


def a_process_that_goes_on_is_named():
    err = outlived.communicate(timeout=60)[1]
    assert outlived.returncode == 1 and re.search(r"process \d+, `ways` did not end with the program", err), err
    assert "check: 2 errors" in err and f"[{UNWRITTEN}, 128 times]" in err, err


def what_cannot_be_checked_is_said():
    assert "ran without using CUDA" in check("true", status=0)[1]
    assert "ran without using CUDA" in check(WAYS, "nothing", status=3)[1]
    for words, status, said in (([path("none")], 127, "there is no program"), ([folder.name], 126, "is a folder"),
                                ([os.path.join(here, "ways.cu")], 126, "is a source"), ([__file__], 126, "is a script"), ([], 2, "needs a program or a PTX file")):
        _, err, result = check(*words, status=status)
        assert said in err and result is None and "check:" not in err, err


def a_computer_without_room_for_a_machine_is_told_so_once():
    def little():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    done = subprocess.run([heddle, "check", WAYS, "clean"], capture_output=True, text=True, preexec_fn=little)
    assert done.returncode not in (0, 2) and done.stderr.count("cannot be created: out of memory") == 1, done


def findings_that_cannot_be_written_are_missed():
    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run([heddle, "check", WAYS, "clean"], capture_output=True, text=True, preexec_fn=no_room)
    assert done.returncode == 1 and done.stdout == "cudaSuccess\n", done
    assert "findings cannot be written" in done.stderr and "some are missing" in done.stderr, done.stderr


def the_file_of_findings_only_grows():
    with tempfile.TemporaryDirectory() as told:
        options = {"folder": told, "process": 0, "tools": 0, "on_error": 0, "launches": {"only": [], "except": [], "skip": 0, "count": 0}, "leak_check": True,
                   "unused_memory": False, "api_errors": 1, "shadow_bytes": 0}
        status, out, err = run("run", WAYS, env=dict(os.environ, HEDDLE_CHECK=json.dumps(options)))
        name, = os.listdir(told)
        with open(os.path.join(told, name)) as f:
            first, *lines = [json.loads(line) for line in f]
    assert first["program"] == "ways" and lines.pop() == {"ended": True}, (first, status, out, err)
    numbers = [line["finding"] for line in lines if "finding" in line]
    standing = [line["findings"] for line in lines if "findings" in line]
    kernels = [name for line in lines for name in line.get("kernels", [])]
    assert numbers == list(range(1, len(numbers) + 1)) and set(standing[-1]) <= set(numbers) and len(standing[-1]) > 1, lines
    assert all(a != b for a, b in zip(standing, standing[1:])) and len(set(kernels)) == len(kernels) > 1, lines


# ---- what is checked ----

def kernels_are_chosen_by_name():
    both = [(UNWRITTEN, "also_unwritten<int>"), (UNWRITTEN, "unwritten<float>")]
    ints, floats = both[:1], both[1:]
    for filter, found in (("kns=unwritt", both), ("kne=_Z9unwrittenIfEvPT_", floats), ("kernel_name=also_unwritten<int>", ints),
                          ("kne=unwritten", []), ("regex=nI[i-z]E|o_", ints), ("kns=<float,kns=<int", both), ("regex=f{2},|IfE", floats)):
        assert codes(check("--kernel-name", filter, WAYS, "types")[2]) == found, filter
        left = [f for f in both if f not in found]
        assert codes(check("--kernel-name-exclude", filter, WAYS, "types")[2]) == left, filter
    assert codes(check("--kernel-regex", "kns=IfE", "--kernel-regex", "kns=IiE", WAYS, "types")[2]) == both
    assert codes(check("--kernel-regex", "kns=unw", "--kernel-regex-exclude", "kns=IiE", WAYS, "types")[2]) == floats
    for wrong, said in (("name=beyond", "kne=NAME"), ("regex=[", "regex=["), ("kns=", "nothing follows")):
        assert said in check("--kernel-name", wrong, WAYS, status=2)[1]


def launches_are_skipped_and_counted():
    def checked(*options):
        result = check(*options, WAYS, "clean")[2]
        return result["launches"], result["unchecked"]

    assert checked("--launch-skip", 2) == (5, 2)
    assert checked("--launch-count", 3) == (3, 4)
    assert checked("-s", 2, "-c", 3) == (3, 4)
    assert checked("-s", 0, "-c", 0) == (7, 0)
    assert checked("-s", 1, "--kernel-name", "kns=clean") == (6, 1)


def tools_are_chosen():
    assert codes(check("--tool", "initcheck", WAYS, "early")[2]) == []
    assert codes(check("--tool", "memcheck", WAYS, status=1)[2]) == BOTH[:1]
    assert codes(check("--tool", "memcheck,initcheck", WAYS, status=1)[2]) == BOTH
    assert codes(check("--tool", "memcheck", "--tool", "initcheck", WAYS, status=1)[2]) == BOTH
    assert "the tools are" in check("--tool", "mem", WAYS, status=2)[1]


def a_bad_access_ends_the_kernel_or_its_context():
    out, _, result = check("--destroy-on-device-error", "kernel", WAYS)
    assert out == "cudaSuccess\n" and codes(result) == BOTH, result
    out, _, result = check("--destroy-on-device-error", "context", WAYS)
    assert out == "cudaErrorIllegalAddress\n" and codes(result) == BOTH[:1], result


def a_fault_ends_the_other_kernels_of_its_context():
    """As on an H200, whose other kernels are gone when the error is there; not where an assertion has failed: they are told to end."""
    program = compiled("fault")
    for way, error in ("illegal", "cudaErrorIllegalAddress"), ("trap", "cudaErrorLaunchFailure"), ("assert", "cudaErrorAssert"):
        for engine in "interp", "jit":
            done = subprocess.run([heddle, "run", program, way], capture_output=True, text=True, timeout=60, env=dict(os.environ, HEDDLE_ENGINE=engine))
            assert done.stdout.split() == [error] * 3, (way, engine, done)
            assert "kernel `faults`" in done.stderr and "cancelled" not in done.stderr and "beats" not in done.stderr, (way, engine, done.stderr)


def what_a_kernel_did_before_a_fault_ended_it_is_found():
    out, err, result = check("--tool", "memcheck,initcheck", "--destroy-on-device-error", "context", "--timeout", "60", compiled("fault"), "illegal")
    found = [(f["code"], f["kernel"].split("(")[0]) for f in result["findings"] if f["severity"] == "error"]
    assert out.split() == ["cudaErrorIllegalAddress"] * 3 and sorted(found) == [("illegal-address", "faults"), ("uninitialised-read", "beats")], (out, err)
    out, err, result = check("--tool", "memcheck,initcheck", compiled("fault"), "none")
    assert out.split() == ["cudaSuccess"] * 3 and [f["code"] for f in result["findings"]] == ["uninitialised-read"], (out, err)


def options_of_compute_sanitizer_that_are_not_here_lead_to_what_is():
    for option in "xml", "read", "show-backtrace", "coredump-name", "racecheck-report", "padding", "force-blocking-launches":
        err = check("--" + option, WAYS, status=2)[1]
        assert f"there is no option `--{option}`: " in err, err
    assert "--format" in check("--xml", WAYS, status=2)[1]


# ---- other runs ----

def other_schedules_find_more_and_say_how():
    options = ["--tool", "initcheck", "--policy", "serial"]
    out, err, result = check(*options, WAYS, "early", status=0)
    out, err, result = check("--runs", 12, "--seed", 3, *options, WAYS, "early", status=1)
    assert out == "cudaSuccess\n" and codes(result) == [(UNWRITTEN, "too_early")], (out, err)
    assert err.endswith("check: 1 error, 0 warnings in 12 runs\n") and result["runs"] == 12, err
    (again,) = {f["repeat"] for f in result["findings"]}
    assert f"  again by: {again}\n" in err and again.startswith("heddle check --policy random:"), again
    stops = again.replace("heddle check", "heddle debug --check").replace(" --tool initcheck", "")
    assert f"  stops there: {stops}\n" in err, err  # heddle debug has no --tool
    _, err, result = check("--runs", 12, "--seed", 3, "--policy", "serial", WAYS, "early", status=1)
    (plain,) = {f["repeat"] for f in result["findings"] if f["code"] == UNWRITTEN and "repeat" in f}
    assert f"  stops there: {plain.replace('heddle check', 'heddle debug --check')}\n" in err, err
    command = [heddle] + plain.replace("heddle check", "debug --check").split()
    done = subprocess.run(command, input="run\n", capture_output=True, text=True, cwd=source, timeout=120)
    assert "Found (uninitialised-read): " in done.stdout and "ways.cu:44" in done.stdout, done
    words = again.split()[2:]
    for _ in range(2):
        assert codes(check(*words, status=1)[2]) == [(UNWRITTEN, "too_early")], again


def findings_of_all_runs_are_counted_together():
    _, err, result = check("--runs", 3, WAYS, status=1)
    assert codes(result) == BOTH and [f["count"] for f in result["findings"]] == [3, 192] and result["launches"] == 6, result
    assert err.count("stops there: heddle debug --check --policy random:1 ") == 2, err  # exactly, as the first run's schedule is not


# ---- where findings go ----

def findings_are_json_and_sarif():
    log = path("log")
    for format, word in ("json", "findings"), ("sarif", "runs"):
        out, err, _ = check("--format", format, "--log-file", log, WAYS, status=1)
        assert out == "cudaSuccess\n" and err == "check: 2 errors, 0 warnings\n", (out, err)
        with open(log) as f:
            assert len(json.load(f)[word]) == (2 if format == "json" else 1)
    status, out, err = run("check", "--json", WAYS)
    assert status == 1 and out == "cudaSuccess\n" and json.loads(err)["errors"] == 2
    run("check", "--save", path("x.sarif"), WAYS)
    with open(path("x.sarif")) as f:
        results = json.load(f)["runs"][0]["results"]
    assert [r["ruleId"] for r in results] == [BEYOND, UNWRITTEN] and results[0]["properties"]["kernel"] == "beyond"


def names_of_files_may_hold_the_process_and_the_environment():
    os.environ["HEDDLE_TEST_NAME"] = "part"
    assert check("--log-file", path("%q{HEDDLE_TEST_NAME}-%p-%%.log"), WAYS, "clean", status=0)[1] == ""
    (name,) = [n for n in os.listdir(folder.name) if n.startswith("part-")]
    assert re.fullmatch(r"part-\d+-%\.log", name), name
    with open(path(name)) as f:
        assert f.read() == "check: no errors in 7 launches of 1 kernel\n"
    assert "% is followed by" in check("--log-file", "%x", WAYS, status=2)[1]
    assert "No such file" in check("--log-file", "/no/such/folder/x", WAYS, status=2)[1]
    err = check("--log-file", "/dev/full", WAYS, status=1)[1]
    assert "cannot write /dev/full: No space left" in err and BEYOND in err, err # the findings are not lost


LIBRARY = """#include <cuda_runtime.h>
__global__ void sort(int *out)
{
    __shared__ int keys[33];
    keys[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
#line 98 "include/cub/block/block_merge_sort.cuh"
    int key = keys[threadIdx.x + 1];
#line 9 "library.cu"
    out[threadIdx.x] = threadIdx.x < 31 ? key : keys[32];
}
int main()
{
    int *p;
    cudaMalloc(&p, 128);
    cudaMemset(p, 0, 128);
    sort<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
"""


def what_libraries_do_knowingly_is_left_out():
    with open(path("library.cu"), "w") as f:
        f.write(LIBRARY)
    done = subprocess.run([heddle, "cc", "-O0", "-lineinfo", "-o", path("library"), path("library.cu")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    _, err, result = check(path("library"), status=1)
    assert [f["cuda_line"] for f in result["findings"]] == [9] and result["suppressed"] == 1, (err, result)


def a_pipelines_three_mistakes_read_alike_in_every_form():
    """pipeline.cu: a race of two streams, one in shared memory, a message without a fence."""
    program, sarif, rules = compiled("pipeline"), path("pipeline.sarif"), path("pipeline.rules")
    status, out, err = run("check", "--save", sarif, "--generate-suppressions", rules, "--tool", "racecheck", program, cwd=here)
    for first, second in ((90, 99), (101, 156), ("(164|108)", "(167|147)")):  # the last by clang: of the functions that are inlined
        assert re.search(rf"^pipeline\.cu:{first}: error: .* at pipeline\.cu:{second}: ", err, re.M), (first, err)
    assert here not in err, err  # files are named as from here, everywhere
    with open(sarif) as f:
        log, = json.load(f)["runs"]
    assert all(rule["shortDescription"]["text"] for rule in log["tool"]["driver"]["rules"]), log["tool"]
    files = {at["physicalLocation"]["artifactLocation"]["uri"] for r in log["results"] for at in r["locations"]}
    assert files == {"tests/check_program/pipeline.cu"}, files  # as named from the root of the sources
    status, out, err = run("check", "--suppressions", rules, "--tool", "racecheck", program, cwd=here)
    assert status == 0 and "check: no errors in 26 launches" not in err and re.search("check: no errors in .*; [0-9]+ suppressed", err), err


def suppressed_findings_are_left_out():
    rules = path("rules")
    check("--generate-suppressions", rules, WAYS, status=1)
    _, err, result = check("--suppressions", rules, WAYS, status=0)
    assert codes(result) == [] and result["suppressed"] == 2, result
    assert err == "check: no errors in 2 launches of 2 kernels; 2 suppressed\n", err
    for rule, left in (("*", []), ("illegal-* *", BOTH[1:]), ("* ways.cu:28", BOTH[:1]), ("* */ways.cu:1? beyond", BOTH[1:]),
                       ("* * unwritten<float>  ", BOTH[:1]), ("# *\n\n", BOTH), ("* * bey", BOTH), ("leak", BOTH),
                       ("illegal-address ways.cu beyond", BOTH[1:]), ("* check_program/ways.cu", []), ("* ays.cu", BOTH)):
        with open(rules, "w") as f:
            f.write(rule + "\n")
        _, err, result = check("--suppressions", rules, WAYS)
        assert codes(result) == left, rule
        assert (f"heddle: {rules}:1: the rule `" in err and "matched no finding" in err) == (left == BOTH and "#" not in rule), (rule, err)
    with open(rules, "w") as f:
        f.write("<ComputeSanitizerOutput/>\n")
    assert "is XML" in check("--suppressions", rules, WAYS, status=2)[1]
    assert "No such file" in check("--suppressions", path("none"), WAYS, status=2)[1]
    with open(rules, "w") as f:
        f.write("# one\n" + '{"suppress": "data-race"}\n')
    assert "rules:2: this is not a rule" in check("--suppressions", rules, WAYS, status=2)[1].replace(rules, "rules")


def a_rule_of_a_code_that_there_is_not_is_refused():
    for word, near in ("illegal", "illegal-address"), ("data-rase", "data-race"), ("uninitialized-read", "uninitialised-read"), ("race", "data-race"):
        rules = folder.write("wrong.rules", f"# one\n{word} ways.cu\n")
        said = check("--suppressions", rules, WAYS, status=2)[1]
        assert f"wrong.rules:2: there is no code `{word}`; did you mean `{near}`?" in said, said


def only_some_findings_are_printed():
    _, err, result = check("--print-limit", 1, WAYS, status=1)
    assert BEYOND in err and UNWRITTEN not in err and "and 1 more errors" in err and codes(result) == BOTH, err
    assert UNWRITTEN in check("--print-limit", 0, WAYS, status=1)[1]


def a_heap_that_a_reset_frees_has_leaked_what_kernels_left():
    out, err, result = check(compiled("heap"), status=0)
    assert out == "0\n", (out, err)
    assert "heap.cu:9: warning: 40 bytes of the device heap are never freed [leak, 3 times]" in err, err
    assert [(f["code"], f["count"]) for f in result["findings"] if f["severity"] != "note"] == [("leak", 3)], result


def ptx_is_still_checked_by_its_own_options():
    saxpy = os.path.join(source, "examples", "saxpy", "saxpy.ptx")
    args = ["--grid", 1, "--block", 4, 4, 2.0, "f32[4]=undef", "f32[4]=ones"]
    plain = path("kernel")
    with open(saxpy) as f, open(plain, "w") as g:
        g.write("// a comment\n/* another */\n" + f.read())
    for words in [saxpy, *args], [*args[:4], saxpy, *args[4:]], [plain, *args]:
        status, out, err = run("check", *words)
        assert status == 1 and "saxpy: 1 block of 4 threads" in out and UNWRITTEN in err, (out, err)
    assert "No such file" in run("check", path("none.ptx"), *args)[2]
    status, out, _ = run("check", "--help")
    assert status == 0 and "PROGRAM" in out and "--kernel-name" in out and "--grid" in out


def progress_is_shown_on_a_terminal():
    """Begun before the other tests, as it takes some seconds."""
    os.set_blocking(terminal, False)
    text, end = b"", time.time() + 30
    while not re.search(rb"after [3-9] s", text) and time.time() < end:
        try:
            text += os.read(terminal, 4096)
        except BlockingIOError:
            time.sleep(0.1)
    slow.send_signal(signal.SIGTERM)
    slow.wait(timeout=30)
    assert re.search(rb"\rheddle: check: .*2 launches done, 2 findings after [3-9] s\x1b\[K\r", text), text


def explains_progress_moves_on_a_terminal():
    """Kernel, blocks and how long it may take, in one line, which goes at the end."""
    ours, theirs = pty.openpty()
    program = compiled("long")
    process = subprocess.Popen([heddle, "explain", "--timeout", "3s", "-o", path("progress.html"), program], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    with contextlib.suppress(OSError):  # of a terminal that nobody has any more
        while piece := os.read(ours, 4096):
            text += piece
    assert process.wait(timeout=30) == 124
    assert re.search(rb"\rheddle: explain: `work` \d+ of 256 blocks \(\d+%\).* launches done after [23] s\x1b\[K\r", text), text
    assert b"the time limit of 3 s ran out" in text, text


build()
terminal, theirs = pty.openpty()
slow = subprocess.Popen([heddle, "check", WAYS, "sleep"], stdout=subprocess.DEVNULL, stderr=theirs, env=dict(os.environ, TMPDIR="/tmp"))
def what_runs_when_it_is_interrupted_is_told():
    """long.cu: one launch of a minute or more, which races at once."""
    program = compiled("long")
    begun = [(command, how, subprocess.Popen([heddle, command, *options, program], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                             start_new_session=True, cwd=folder.name))
             for command, options in (("check", ()), ("explain", ("-o", path("long.html")))) for how in (signal.SIGINT, signal.SIGTERM)]
    def have_said(command, what):
        """How many processes have written so."""
        n = 0
        for file in glob.glob(path(f"heddle-{command}-*/*")):
            with contextlib.suppress(OSError), open(file) as f:
                n += what in f.read()
        return n
    end = time.monotonic() + 60
    while time.monotonic() < end and not (have_said("check", "data-race") == 2 and have_said("explain", '"running": 1') == 2):
        time.sleep(0.1)
    for command, how, process in begun:
        os.killpg(process.pid, how)
    for command, how, process in begun:
        _, err = process.communicate(timeout=60)
        assert process.returncode == -how, (command, process.returncode, err)
        if command == "check":
            assert "[data-race" in err and "1 launch of `work` had not ended" in err, err
            assert re.search("check: [1-9].* errors, .*; 1 launch had not ended", err), err
        else:
            assert "explain: no launch has ended; 1 had begun but not ended: the figures leave it out" in err, err


outlived, endless = (subprocess.Popen([heddle, "check", WAYS, way], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                      env=dict(os.environ, TMPDIR="/tmp")) for way in ("outlived", "endless"))
for begun in slow, outlived, endless:
    atexit.register(begun.terminate)
main(globals())
