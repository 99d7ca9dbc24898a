"""python/heddle on the libraries of the build. NumPy and pytest are used where there are some, and not needed."""
import array
import ctypes
import doctest
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import threading

here = os.path.dirname(os.path.abspath(__file__))
package = os.path.join(here, "..", "..", "python")
sys.path[:0] = [os.path.join(here, ".."), package]
import heddle
import tap
from heddle import _library

SAXPY = os.path.join(tap.examples, "saxpy", "saxpy.ptx")
TYPES = os.path.join(here, "types.ptx")
REVERSE = os.path.join(here, "reverse.ptx")
scratch = tempfile.TemporaryDirectory()


def text_of(path):
    with open(path) as f:
        return f.read()


def raised(kind, *args, **more):
    """The exception that a launch must raise."""
    try:
        heddle.launch(*args, **more)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def python(text, *args, **env):
    """A process of its own, which activates: its standard output and error."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text, *args], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, PYTHONPATH=package, **env))
    return done.returncode, done.stdout, done.stderr


def need(name):
    """A module that the package does without."""
    if not importlib.util.find_spec(name):
        raise tap.Skip(f"no {name}")
    return importlib.import_module(name)


# ---- launches ----

def arrays_are_updated_in_place():
    x, y = array.array("f", range(8)), array.array("f", [1] * 8)
    done = heddle.launch(SAXPY, "saxpy", 1, 8, (8, 2, x, y))
    assert list(y) == [1 + 2 * i for i in range(8)] and list(x) == list(range(8))
    assert (done.kernel, done.blocks) == ("saxpy", 1) and done.warp_instructions > 0


def scalars_have_the_types_of_the_parameters():
    to = bytearray(44)

    class Three(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int), ("c", ctypes.c_int)]
    heddle.launch(TYPES, "store", args=(to, -5, 65535, -2, 1 << 63, 1.5, 0.25, 1e300, Three(7, 8, 9)))
    assert to[0:1] == b"\xfb" and to[2:4] == b"\xff\xff" and to[4:8] == b"\xfe\xff\xff\xff"
    assert to[8:16] == bytes(7) + b"\x80" and to[16:18] == b"\x00\x3e"
    assert array.array("f", bytes(to[20:24]))[0] == 0.25 and array.array("d", bytes(to[24:32]))[0] == 1e300
    assert list(array.array("i", bytes(to[32:44]))) == [7, 8, 9]


def arguments_that_do_not_fit_are_named():
    x, y = array.array("f", [0] * 4), array.array("f", [0] * 4)
    cases = [((4, 2.0, x), TypeError, "has 4 parameters"), ((4.5, 2.0, x, y), TypeError, "argument 1 .* is .u32: pass an integer"),
             ((1 << 33, 2.0, x, y), ValueError, "does not fit"), ((4, x, x, y), TypeError, "argument 2 .* is .f32, not a pointer"),
             ((4, 2.0, "x", y), TypeError, "argument 3 .* or an array"), ((4, 1e39, x, y), ValueError, "beyond what 32 bits"),
             ((4, 2.0, x, memoryview(y)[::2]), ValueError, "argument 4")]
    for args, kind, words in cases:
        error = raised(kind, SAXPY, "saxpy", 1, 4, args)
        assert re.search(words, str(error)), error


def overlapping_arrays_overlap_in_the_kernel():
    numbers = array.array("i", [1, 2, 3, 4, 5])
    view = memoryview(numbers)
    heddle.launch(TYPES, "add", 1, 1, (view[2:], view[1:4]))  # to[0] += from[0] + 1
    assert list(numbers) == [1, 2, 6, 4, 5]
    heddle.launch(TYPES, "add", 1, 1, (view[:1], view[:1]))
    assert list(numbers) == [3, 2, 6, 4, 5]


def variables_of_a_module_begin_anew_in_each_launch():
    to, zero = array.array("i", [0]), array.array("i", [0])
    for i in range(3):
        heddle.launch(TYPES, "add", 1, 1, (to, zero))
    assert to[0] == 3, to  # 1 each


def read_only_arrays_are_read_and_a_kernel_that_writes_them_is_refused():
    to = array.array("i", [1, 2])
    heddle.launch(TYPES, "_Z3addPiPKi", 1, 2, (to, bytes(array.array("i", [10, 20]))))
    assert list(to) == [12, 23]
    class Immutable(bytes):
        """As JAX's arrays, whose DLPack does not say that they are."""

        def __dlpack__(self, **more):
            raise AssertionError("asked for DLPack")
    for read_only in bytes(8), Immutable(8), memoryview(bytearray(8)).toreadonly():
        assert "argument 1, which is read-only" in str(raised(heddle.HeddleError, TYPES, "add", 1, 2, (read_only, to)))


def a_fault_has_its_place_and_leaves_arrays_as_they_were():
    x, y = array.array("f", [1] * 100), array.array("f", [5] * 128)
    error = raised(heddle.LaunchError, SAXPY, "saxpy", 1, 128, (128, 2.0, x, y))
    assert error.result == 700 and "just past the end of the 400-byte buffer `argument 3`" in str(error)
    place, = error.report.findings[0].places
    assert (place.file, place.line, place.ptx_line) == ("saxpy.cu", 6, 48) and set(y) == {5.0}


def what_cannot_run_says_why():
    assert "did you mean `saxpy`" in str(raised(heddle.HeddleError, SAXPY, "saxpi"))
    assert "the name of the kernel is missing" in str(raised(heddle.HeddleError, TYPES))
    error = raised(heddle.HeddleError, ".version 7.0\n.target sm_75\n.address_size 64\n.entry k() { add.u33 %r1; ret; }\n")
    assert "<ptx>:4" in str(error) and error.report.findings[0].places[0].ptx_line == 4
    assert "1 to 1024 are possible" in str(raised(heddle.LaunchError, SAXPY, "saxpy", 1, 4096, (1, 1.0, None, None)))
    assert "grid is one to three" in str(raised(ValueError, SAXPY, "saxpy", (1, 0)))
    assert "sm_12" in str(raised(ValueError, SAXPY, device="sm_12"))
    assert "no such file" in str(raised(OSError, "no.ptx")).lower()


def what_a_kernel_prints_is_returned():
    ptx = """.version 7.0\n.target sm_75\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
        .global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
        .visible .entry hello() { .reg .b64 %rd<3>; .reg .b32 %r<2>; mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;
        { .param .b64 f; st.param.b64 [f], %rd2; .param .b64 a; st.param.b64 [a], 0; .param .b32 r; call.uni (r), vprintf, (f, a); }
        ret; }\n"""
    shown = sys.stdout
    try:
        with tempfile.TemporaryFile("w+") as sys.stdout:
            assert heddle.launch(ptx, "hello", 1, 2).printed == "hello\nhello\n"
            sys.stdout.seek(0)
            assert sys.stdout.read() == "hello\nhello\n"
    finally:
        sys.stdout = shown


def numpys_arrays_and_scalars_are_taken():
    np = need("numpy")
    x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((3, 4), np.float32)
    heddle.launch(SAXPY, "saxpy", 1, 12, (np.uint32(12), np.float64(2), x.T, y))  # dense in another order
    assert (y == 2 * x + 1).all()
    assert "contiguous" in str(raised(ValueError, SAXPY, "saxpy", 1, 4, (4, 2.0, x[:, 0], y)))
    x.flags.writeable = False
    heddle.launch(SAXPY, "saxpy", 1, 12, (12, 2, x, y))
    assert "read-only" in str(raised(heddle.HeddleError, SAXPY, "saxpy", 1, 12, (12, 2, y, x)))
    three = np.array([(7, 8, 9)], dtype="i4,i4,i4")[0]
    to = np.zeros(44, np.uint8)
    heddle.launch(TYPES, "store", args=(to, 0, 0, 0, 0, np.float16(1.5).view(np.uint16), 0, 0, three))
    assert list(to[32:].view(np.int32)) == [7, 8, 9] and to[16:18].view(np.float16)[0] == 1.5


def arrays_by_dlpack_are_taken():
    np = need("numpy")

    class Tensor:
        """What has DLPack alone."""

        def __init__(self, array, device=(1, 0)):
            self.array, self.device = array, device

        def __dlpack__(self, **more):
            return self.array.__dlpack__(**more)

        def __dlpack_device__(self):
            return self.device
    x, y = np.arange(4, dtype=np.float32), np.ones(8, np.float32)
    heddle.launch(SAXPY, "saxpy", 1, 4, (4, 2.0, Tensor(x), Tensor(y[4:])))
    assert list(y) == [1, 1, 1, 1, 1, 3, 5, 7]
    error = raised(TypeError, SAXPY, "saxpy", 1, 4, (4, 2.0, Tensor(x, (2, 0)), Tensor(y)))
    assert "argument 3 is not in the host's memory" in str(error)
    assert "contiguous" in str(raised(ValueError, SAXPY, "saxpy", 1, 4, (4, 2.0, Tensor(y[::2]), x)))


def threads_launch_at_once():
    results = []

    def work(n):
        x, y = array.array("f", [n] * 64), array.array("f", [0] * 64)
        for i in range(20):
            heddle.launch(SAXPY, "saxpy", 1, 64, (64, 1.0, x, y))
        results.append(set(y) == {20.0 * n})
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 4


def a_child_of_fork_launches():
    x, y = array.array("f", [1] * 4), array.array("f", [0] * 4)
    heddle.launch(SAXPY, "saxpy", 1, 4, (4, 1.0, x, y))
    child = os.fork()
    if child == 0:
        heddle.launch(SAXPY, "saxpy", 1, 4, (4, 1.0, x, y))
        os._exit(0 if set(y) == {2.0} else 1)
    assert os.waitpid(child, 0)[1] == 0


def ctrl_c_ends_a_launch():
    status, out, err = python("""if True:
        import heddle, os, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background of a shell
        ptx = '''.version 7.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k(.param .u64 p) { .reg .u32 %r<2>; .reg .u64 %rd<2>;
            .reg .pred %p; ld.param.u64 %rd1, [p]; again: atom.global.add.u32 %r1, [%rd1], 1; setp.ne.u32 %p, %r1, -1; @%p bra again; ret; }'''
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try: heddle.launch(ptx, "k", args=(bytearray(4),))
        except KeyboardInterrupt: print("interrupted")""")
    assert (status, out) == (0, "interrupted\n"), err


# ---- checks ----

def a_race_has_both_of_its_lines_in_the_python_source():
    before = os.getcwd()
    os.chdir(here)
    try:
        report = heddle.check(REVERSE, block=64, args=(array.array("f", range(64)),))
        assert [f.code for f in report] == ["uninitialised-read", "data-race"], report
        finding = report.findings[1]
        assert (finding.code, finding.tool, finding.kernel) == ("data-race", "racecheck", "reverse"), finding
        assert sorted((p.file, p.line) for p in finding.places) == [("reverse.py", 7), ("reverse.py", 9)], finding
        for words in ("part[t] = x[t]", "x[t] = part[63 - t]"):
            assert words in report.text and words in str(finding), finding
        try:
            report.raise_if_found()
        except AssertionError as error:
            assert "2 errors in what was launched" in str(error) and error.report is report
        else:
            raise AssertionError("no CheckError")
    finally:
        os.chdir(before)


def a_finding_says_what_the_report_says():
    before = os.getcwd()
    os.chdir(here)
    try:
        report = heddle.check(REVERSE, block=64, args=(array.array("f", range(64)),))
        without_carets = [line for line in report.text.splitlines() if not re.fullmatch(r" +\| +\^~*", line.replace("\t", " "))]
        assert sorted("\n".join(map(str, report)).splitlines()) == sorted(without_carets), report
    finally:
        os.chdir(before)
    host, = heddle._report.findings_of([{"severity": "error", "code": "leak", "text": "4 bytes", "cuda_file": "/x/a.cu", "cuda_line": 3,
                                        "frames": [{"function": "f", "file": "/x/a.cu", "line": 3}, {"object": "/lib/b.so", "offset": 16}]}])
    assert str(host) == "/x/a.cu:3: error: 4 bytes [leak]\n  in f at /x/a.cu:3\n  called by a function in b.so+0x10", str(host)


def what_is_right_has_no_findings():
    text = text_of(REVERSE).replace(".loc 1 9 0", "bar.sync 0;")
    x = array.array("f", range(64))
    report = heddle.check(text, block=64, args=(x,))
    assert not report.findings and list(x) == list(range(63, -1, -1)) and str(report) == "nothing was found"
    report.raise_if_found()


def several_bad_accesses_are_found_and_tools_are_chosen():
    x, y = array.array("f", [1] * 4), array.array("f", [1] * 8)
    args = (8, 2.0, heddle.undefined(x), y)
    codes = lambda **more: sorted(f.code for f in heddle.check(SAXPY, "saxpy", 1, 8, args, **more))
    assert codes() == ["illegal-address", "uninitialised-read"]
    assert codes(tools=["memcheck", "synccheck"]) == ["illegal-address"]
    try:
        codes(tools="leakcheck")
    except ValueError as error:
        assert "memcheck, racecheck" in str(error)
    else:
        raise AssertionError("no ValueError")


def a_deadlock_is_in_the_report():
    ptx = """.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { .reg .u32 %r<2>; .reg .pred %p; mov.u32 %r1, %tid.x;
        setp.lt.u32 %p, %r1, 32; @%p bra one; bar.sync 1, 64; ret; one: bar.sync 2, 64; ret; }\n"""
    report = heddle.check(ptx, block=64)
    assert "deadlock" in [f.code for f in report.errors], report


# ---- activation ----

DRIVER = """
import ctypes, heddle
def run(ptx, kernel, block):
    cuda = ctypes.CDLL("libcuda.so.1")
    must = lambda result: result == 0 or exit(f"CUDA error {result}")
    context, module, function, memory = (ctypes.c_void_p() for _ in range(4))
    must(cuda.cuInit(0)), must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)), must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuModuleLoadData(ctypes.byref(module), ptx.encode()))
    must(cuda.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()))
    must(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)))
    must(cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(4096)))
    args = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    must(cuda.cuLaunchKernel(function, 1, 1, 1, block, 1, 1, 0, None, args, None))
    return cuda
"""


def an_active_process_has_heddles_libraries():
    status, out, err = python(DRIVER + """
import os, subprocess, sys
heddle.activate(device="sm_80", devices=2)
heddle.activate(device="sm_80", devices=2)
cuda = run(open(sys.argv[1]).read(), "reverse", 64)
count, major = ctypes.c_int(), ctypes.c_int()
runtime = ctypes.CDLL("libcudart.so.12")
assert runtime.cudaGetDeviceCount(ctypes.byref(count)) == 0 and count.value == 2
assert cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0) == 0 and major.value == 8
assert heddle.findings() == []
child = "import ctypes; n = ctypes.c_int(); ctypes.CDLL('libcudart.so.13').cudaGetDeviceCount(ctypes.byref(n)); print(n.value)"
assert subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout == "2\\n"
for more in ({}, {"device": "sm_90"}):
    try: heddle.activate(**more)
    except heddle.HeddleError as error: assert "other options" in str(error)
    else: exit("a second activation")
print("done")""", REVERSE)
    assert (status, out) == (0, "done\n"), err


def options_that_there_are_not_are_refused():
    for options, words in (("no_such=1", "no-such"), ('device="sm_3"', "sm_3"), ("sandbox=True", "cannot be confined")):
        status, out, err = python(f"import heddle\ntry: heddle.activate({options})\nexcept ValueError as e: print(e)")
        assert status == 0 and words in out, out + err


def a_library_that_is_loaded_already_is_named():
    folder = os.path.join(scratch.name, "other")
    os.makedirs(folder, exist_ok=True)
    other = os.path.join(folder, "libcuda.so.1")
    subprocess.run(["cc", "-shared", "-xc", "/dev/null", "-Wl,-soname,libcuda.so.1", "-o", other], check=True)
    status, out, err = python(f"import ctypes, heddle\nctypes.CDLL({other!r})\nheddle.activate()")
    assert status == 1 and f"{other} is loaded already" in err, err


def a_library_that_comes_later_calls_heddle():
    """As a Python module that holds kernels."""
    source = os.path.join(scratch.name, "seven.cu")
    with open(source, "w") as f:
        f.write("""__global__ void k(int *p) { *p = 7; }
            extern "C" int seven(void) { int *p, v = 0; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);
            cudaFree(p); return v; }""")
    library = os.path.join(scratch.name, "libseven.so")
    status, out, err = tap.run("cc", "-shared", "-Xcompiler", "-fPIC", source, "-o", library)
    assert status == 0, err
    use = f"import ctypes, heddle; heddle.activate(); print(ctypes.CDLL({library!r}).seven())"
    assert python(use)[1] == "7\n", python(use)
    try:
        subprocess.run(["nvcc", "-arch=sm_80", "-shared", "-Xcompiler", "-fPIC", source, "-o", library], check=True, capture_output=True)
    except OSError:
        raise tap.Skip("no nvcc: not tried with the runtime inside of the library") from None
    assert python(use)[1] == "7\n", python(use)


def an_active_process_is_checked():
    status, out, err = python(DRIVER + """
import sys
heddle.activate(check=True, tool="racecheck")
assert heddle.findings() == []
run(open(sys.argv[1]).read(), "reverse", 64)
(race,) = heddle.findings()
print(race.code, sorted(place.line for place in race.places))""", REVERSE)
    assert (status, out) == (0, "data-race [7, 9]\n"), out + err


def the_lines_of_python_that_launched_are_in_findings():
    """Of the first launch that has a finding, though thousands come behind it."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "train.py")
        with open(script, "w") as f:
            f.write(DRIVER.replace(", heddle", ", sys").replace("return cuda", """
    for i in range(9000 // 32):
        for k in range(32):
            must(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, args, None))
        must(cuda.cuCtxSynchronize())
""") + """
def step(threads):
    run(open(sys.argv[1]).read(), "reverse", threads)

step(64)
""")
        done = subprocess.run([tap.heddle, "check", "--tool", "racecheck", sys.executable, script, REVERSE], capture_output=True, text=True)
        assert re.search(r"\[data-race.*\]\n  launched by run at \S*train.py:13\n  called by step at .*\n  called by <module> at ", done.stderr), done.stderr


def every_tool_and_every_fault_names_the_lines_that_launched():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "train.py")
        ptx = os.path.join(folder, "bad.ptx")
        head = ".version 8.0\n.target sm_90\n.address_size 64\n"
        with open(ptx, "w") as f:
            f.write(head + ".visible .entry null(.param .u64 p) { .reg .b64 %rd; mov.b64 %rd, 0; st.global.b64 [%rd], %rd; ret; }\n"
                    ".visible .entry trapped(.param .u64 p) { trap; }\n"
                    ".visible .entry unwritten(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd0, [p]; ld.global.b32 %rd1, [%rd0]; st.global.b32 [%rd0+4], %rd1; ret; }\n")
        with open(script, "w") as f:
            f.write(DRIVER.replace(", heddle", ", sys").replace("    must(cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(4096)))\n", "") +
                    "\nrun(open(sys.argv[1]).read(), sys.argv[2], 1)\n")
        for kernel, tool, code in (("null", "memcheck", "illegal-address"), ("null", "racecheck", "illegal-address"), ("trapped", "memcheck", "trap"),
                                   ("trapped", "initcheck", "trap"), ("unwritten", "initcheck", "uninitialised-read")):
            done = subprocess.run([tap.heddle, "check", "--tool", tool, sys.executable, script, ptx, kernel], capture_output=True, text=True)
            assert re.search(rf"\[{code}.*\]\n(  in kernel .*\n)?  launched by run at \S*train.py:\d+\n  called by <module> at ", done.stderr), (kernel, tool, done.stderr)


def reports_of_tests(shown):
    """What pytest says of each failed test; it begins with the test's name."""
    return re.split(r"^_{3,} (?=\w+ _{3,}$)", shown, flags=re.M)[1:]


def a_finding_of_two_tests_names_in_each_report_the_test():
    """Of modules that were loaded again, and of one; by the tools that find races and the others."""
    need("pytest")
    test = os.path.join(scratch.name, "test_again.py")
    bad = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry reverse(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd0, [p]; st.global.b32 [%rd0+4096], 1; ret; }\n"
    with open(test, "w") as f:
        f.write(DRIVER.replace("must(cuda.cuModuleLoadData", "module = made.setdefault(ptx, module) if kept else module\n    module.value or must(cuda.cuModuleLoadData")
                .replace("def run(ptx, kernel, block)", "made = {}\ndef run(ptx, kernel, block, kept=False)") + f"text = open({REVERSE!r}).read()\n"
                "def test_race(): run(text, 'reverse', 64)\n"
                f"def test_access(): run({bad!r}, 'reverse', 1)\n"
                "def test_no_kernel(): pass\n"
                "def test_race_again(): run(text, 'reverse', 64)\n"
                f"def test_access_again(): run({bad!r}, 'reverse', 1)\n"
                "def test_kept(): run(text, 'reverse', 64, True)\n"
                "def test_kept_again(): run(text, 'reverse', 64, True)\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "heddle", "--heddle-check", test], capture_output=True, text=True,
                          cwd=here, env=dict(os.environ, PYTHONPATH=package))
    said = reports_of_tests(done.stdout)
    assert "6 failed, 1 passed" in done.stdout and len(said) == 6, done.stdout + done.stderr
    for text in said:
        assert set(re.findall(r"called by test \S*::(\w+)", text)) == {text.split()[0]} and text.count(" times]") == text.count(", 32 times]"), text


def findings_are_failures_of_pytest():
    need("pytest")
    test = os.path.join(scratch.name, "test_kernels.py")
    with open(test, "w") as f:
        f.write(DRIVER + f"text = open({REVERSE!r}).read()\n"
                "def test_right(): run(text.replace('.loc 1 9 0', 'bar.sync 0;'), 'reverse', 64)\n"
                "def test_race(): run(text, 'reverse', 64)\n"
                "def test_no_kernel(): pass\n"
                "def test_race_again(): run(text, 'reverse', 64)\n"
                "def test_both():\n    run(text, 'reverse', 64)\n    assert not 'right'\n")
    run = lambda *options: subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "heddle", *options, test],
                                          capture_output=True, text=True, cwd=here, env=dict(os.environ, PYTHONPATH=package))
    plain, checked = run(), run("--heddle-tool", "racecheck", "-rf")
    assert "3 failed, 2 passed" in run("--heddle-check").stdout  # before the path of the tests
    assert "1 failed, 4 passed" in plain.stdout, plain.stdout + plain.stderr
    assert "3 failed, 2 passed" in checked.stdout, checked.stdout + checked.stderr
    for words in ("reverse.py:7: ", "reverse.py:9: ", "part[t] = x[t]", "x[t] = part[63 - t]", "  launched by run at "):
        assert checked.stdout.count(words) >= 2, checked.stdout
    wrong = run("--heddle-device", "sm_3")
    assert wrong.returncode == 4 and "sm_3" in wrong.stderr, wrong.stderr


def heddle_s_nvrtc_is_loaded_where_there_is_no_other():
    ours, wheels = heddle._places.nvrtc(), os.path.join(scratch.name, "wheels")
    os.makedirs(os.path.join(wheels, "nvidia", "cu13", "lib"))
    open(os.path.join(wheels, "nvidia", "cu13", "lib", "libnvrtc.so.13"), "w").close()
    for folders, path, n in ((["/libraries", ours], [], 2), (["/libraries", ours], [wheels], 0), ([ours, "/mine"], [], 0)):
        code = f"import sys; sys.path += {path!r}; sys.prefix = '/none'; from heddle import _activate; print(len(_activate._nvrtc({folders!r})))"
        assert python(code)[1] == f"{n}\n", (folders, path)


# ---- lines of Python ----

def race_of(client, *options):
    """What heddle check says of the kernel with a race and of the one without, and the line that the race is in."""
    program = os.path.join(tap.source, "tests", "clients", f"{client}_race.py")
    with open(program) as f:
        line = next(n for n, text in enumerate(f, 1) if text.endswith("# race\n"))
    env = dict(os.environ, TRITON_CACHE_DIR=os.path.join(scratch.name, "triton"))
    runs = [tap.run("check", *options, sys.executable, program, kernel, env=env) for kernel in ("planted", "kept")]
    return line, runs


def a_race_planted_in_a_kernel_of_numba_has_its_line():
    need("numba_cuda")
    line, ((_, _, err), kept) = race_of("numba")
    assert f"numba_race.py:{line}: error: kernel `__main__::planted" in err and "[data-race" in err, err
    assert kept[0] == 0 and "no errors" in kept[2], kept


def a_race_planted_in_a_kernel_of_triton_has_its_line():
    need("triton")
    need("torch")
    line, ((_, _, err), kept) = race_of("triton", "--device", "sm_80")
    assert f"triton_race.py:{line}: error: kernel `planted`" in err and "[data-race" in err, err
    assert set(re.findall(r"triton_race\.py:(\d+)", err)) == {str(line)}, err  # of the load, too, which is inline assembly of two lines
    assert kept[0] == 0 and "no errors" in kept[2], kept


# ---- ptx_run, by which programs have had an emulator run PTX ----

COUNT = """.version 7.0
.target sm_35
.address_size 64
.global .u32 calls;
.visible .entry count(.param .u64 to)
{
    .reg .u32 %r<2>;
    .reg .u64 %rd<3>;
    mov.u64 %rd2, calls;
    ld.global.u32 %r1, [%rd2];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd2], %r1;
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
PTX_RUN = """
import array, ctypes, os, sys
run = ctypes.CDLL(os.path.join(os.environ["HEDDLE_BUILD"], "libgpuocelot.so")).ptx_run
def ptx_run(text, args, block=1, grid=1, smem=0):
    run(text.encode(), len(args), (ctypes.c_void_p * len(args))(*args), block, 1, 1, grid, 1, 1, smem)
def place(a): return a.buffer_info()[0]
saxpy = open(sys.argv[1]).read()
x, y = array.array("f", range(8)), array.array("f", [1] * 8)
two = int.from_bytes(array.array("f", [2]).tobytes(), "little")
"""


def ptx_run_runs_kernels_on_the_memory_of_the_process():
    status, out, err = python(PTX_RUN + """
os.environ["HEDDLE_DEVICE"] = "auto" # of no images: as without
for i in range(3):
    ptx_run(saxpy, [8, two, place(x), place(y)], block=4, grid=2)
print(list(y))
child = os.fork()
if not child:
    ptx_run(saxpy, [8, two, place(x), place(y)], block=8)
    os._exit(y[7] != 57)
assert os.waitpid(child, 0)[1] == 0
to = array.array("i", [0])
for i in range(2):
    ptx_run(sys.argv[2], [place(to)])
print(to[0])""", SAXPY, COUNT)
    assert (status, out, err) == (0, f"{[1.0 + 6 * i for i in range(8)]}\n1\n", ""), out + err


def ptx_run_says_what_is_wrong():
    for call, words in (('ptx_run(saxpy, [8])', "kernel `saxpy` has 4 parameters, and got 1 arguments"),
                        ('ptx_run(saxpy.replace("fma.rn", "fma.rq"), [])', "<ptx>:"),
                        ('ptx_run(saxpy, [8, 0, 16, 16], block=8)', "thread (0,0,0) of block (0,0,0) reads"),
                        ('ptx_run(saxpy, [8, 0, 0, 0], block=4096)', "1 to 1024 are possible"),
                        ('ptx_run(saxpy, [8, 0, 0, 0], block=-1)', "1 to 1024 are possible"),
                        ('ptx_run(open(sys.argv[2]).read(), [])', "the name of the kernel is missing")):
        status, out, err = python(PTX_RUN + call, SAXPY, TYPES)
        assert status == 0 and err.startswith("heddle: ptx_run: ") and words in err, call + out + err


# ---- what must agree with the rest of the tree ----

def the_page_shows_real_output():
    need("numpy")
    examples = ""
    for page in "PYTHON.md", "start/python.md":
        with open(os.path.join(tap.source, "docs", page)) as f:
            examples += "".join(re.findall(r"```pycon\n(.*?)```", f.read(), re.S))
    before = os.getcwd()
    os.chdir(tap.source)
    try:
        failed, done = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(examples, {}, "PYTHON.md", None, 0))
    finally:
        os.chdir(before)
    assert done > 10 and not failed



def structures_are_those_of_the_header():
    structures = [s for s in vars(_library).values() if isinstance(s, type) and issubclass(s, ctypes.Structure) and s.__module__ == _library.__name__]
    assert len(structures) >= 7
    lines, ours = [], []
    for s in structures:
        lines.append(f'printf("{s.__name__} %zu\\n", sizeof({s.__name__}));')
        ours.append(f"{s.__name__} {ctypes.sizeof(s)}")
        for name, *_ in s._fields_:
            lines.append(f'printf("{s.__name__}.{name} %zu %zu\\n", offsetof({s.__name__}, {name}), sizeof(({s.__name__}){{0}}.{name}));')
            ours.append(f"{s.__name__}.{name} {getattr(s, name).offset} {getattr(s, name).size}")
    program = os.path.join(scratch.name, "offsets")
    with open(program + ".c", "w") as f:
        f.write("#include <heddle.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n")
    subprocess.run(["cc", "-I", os.path.join(tap.source, "include"), program + ".c", "-o", program], check=True)
    assert subprocess.run([program], capture_output=True, text=True).stdout.split("\n")[:-1] == ours


def versions_agree():
    assert tap.run("--version")[1] == f"heddle {heddle.__version__}\n"
    done = subprocess.run([sys.executable, "-m", "heddle", "--version"], capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=package))
    assert done.stdout == f"heddle {heddle.__version__}\n", done.stderr


tap.main(globals())
