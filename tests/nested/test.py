"""Kernels that launch kernels: what an H200 answered, in which order they run, and what a checker finds."""
import lzma
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import explained
from tap import Folder, heddle, launch, main, need_clang, need_loadable_libraries, run, source

here = os.path.join(source, "tests", "nested")
work = Folder()
built = {}
with lzma.open(os.path.join(here, "cdp.ptx.xz"), "rt") as f:
    PTX = work.write("cdp.ptx", f.read())  # by nvcc


def program(name, *options):
    need_clang()
    need_loadable_libraries()
    if name not in built:
        status, out, err = run("cc", "-std=c++17", "-arch=sm_90", "-w", *options, os.path.join(here, name + ".cu"), "-lcudadevrt", "-o", work.path(name))
        assert status == 0, err
        built[name] = work.path(name)
    return built[name]


def lines_of(name):
    """The cases of a program with what an H200 printed."""
    with open(os.path.join(here, "h200.txt")) as f:
        sections = re.split(r"^== ", f.read(), flags=re.M)[1:]
    return [(head.split()[1:], body) for head, _, body in (s.partition("\n") for s in sections) if head.split()[0] == name]


def compare(name):
    path = program(name)
    wrong = []
    for words, body in lines_of(name):
        done = subprocess.run([heddle, "run", path, *words], capture_output=True, text=True, timeout=120)
        if done.stdout.split("\n") != body.split("\n"):
            wrong.append(f"{' '.join(words)}:\n{done.stdout}instead of\n{body}{done.stderr}")
    assert not wrong, "\n".join(wrong)


def calls_are_answered_as_by_an_H200():
    compare("calls")


def depth_and_memory_are_answered_as_by_an_H200():
    compare("orders")


def values(kernel, *args, **more):
    options = [word for key, value in more.items() for word in (f"--{key}", value)]
    return [b["values"] for b in launch(PTX, kernel, *options, *args)["buffers"]]


def nvccs_ptx_runs_under_heddle_launch_by_both_engines_and_policies():
    for more in ({"engine": "interp"}, {"engine": "jit"}, {"policy": "serial"}, {"policy": "random:3"}):
        assert values("_Z4treeiiPj", 5, 3, "u32[8]", grid=1, block=32, **more) == [[243, 81, 27, 9, 3, 1, 0, 0]], more
        assert values("_Z7orderedPi", "s32[4]", grid=1, block=1, **more) == [[123456, 2, 78, 0]], more
        assert values("_Z6parentPiiS_S_", "s32[1000]", 1000, "s32[1]", "s32[1]", grid=1, block=128, **more)[1:] == [[2997000], [5994001]], more


def a_loop_of_tail_launches_joins_all_blocks():
    assert values("_Z6jacobiPfS_iiPj", "f32[1026]", "f32[1026]", 1026, 60, "u32[1]", grid=9, block=128)[2] == [60]


def a_fault_of_a_child_is_the_launchs_and_names_the_parent():
    text = f"{HEAD}.entry bad() {{ .reg .u64 a; mov.u64 a, 8; st.global.u32 [a], 1; ret; }}\n" + nest(".entry parent()", "bad")
    status, out, err = run("launch", work.write("fault.ptx", text), "parent", "--grid", "1", "--block", "1")
    assert status and "kernel `bad`: thread (0,0,0) of block (0,0,0) writes 4 bytes at 0x8" in err and "launched by kernel `parent`" in err, err


HEAD = """.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
"""


def nest(entry, kernel, stream=0):
    """A kernel that launches another, without parameters."""
    ones = "".join(f"st.param.b32 [{name}+{at}], 1; " for name in "gb" for at in (0, 4, 8))
    return f"""{entry} {{
    .reg .u64 p, f; .reg .u32 e;
    mov.u64 f, {kernel};
    {{ .param .b64 k; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
      st.param.b64 [k], f; {ones} st.param.b32 [s], 0;
      call (r), __cudaCDP2GetParameterBufferV2, (k, g, b, s); ld.param.b64 p, [r]; }}
    {{ .param .b64 q; .param .b64 t; .param .b32 r; st.param.b64 [q], p; st.param.b64 [t], {stream};
      call (r), __cudaCDP2LaunchDeviceV2, (q, t); ld.param.b32 e, [r]; }}
    ret; }}
"""


def an_explanation_names_the_kernels_that_launch():
    source = work.write("parents.cu", """
__global__ void leaf(int *p) { atomicAdd(p, 1); }
__global__ void middle(int *p) { leaf<<<1, 32>>>(p); leaf<<<2, 32>>>(p); }
__global__ void top(int *p) { middle<<<1, 1>>>(p); leaf<<<1, 64, 0, cudaStreamTailLaunch>>>(p); }
int main() { int *p; cudaMalloc(&p, 4); top<<<1, 1>>>(p); leaf<<<1, 32>>>(p); return cudaDeviceSynchronize(); }
""")
    status, _, err = run("cc", "-arch=sm_90", source, "-o", work.path("parents"))
    assert status == 0, err
    _, out, err = run("explain", "-o", work.path("parents.html"), work.path("parents"))
    assert "  launched by      `middle` (2), `top` (1), the host (1)\n" in out + err and "  launched by      `top` (1)\n" in out + err, out + err
    with open(work.path("parents.html")) as f:
        page = explained.data_of(f.read())
    assert sum("launched_by" in launch for launch in page["launches"]) == 4, page


def a_recursion_without_end_ends_at_the_pending_count_and_says_so():
    status, out, err = run("launch", work.write("endless.ptx", HEAD + nest(".entry endless()", "endless")), "endless", "--grid", "1", "--block", "1")
    assert status == 0 and "cudaErrorLaunchPendingCountExceeded" in out + err, out + err


def tail_launches_without_end_end_at_a_time_limit():
    status, out, err = run("launch", work.write("tails.ptx", HEAD + nest(".entry tails()", "tails", 3)), "tails", "--grid", "1", "--block", "1", "--timeout", "1")
    assert status and "timeout" in err, err


def a_kernel_that_waits_for_its_children_is_refused_by_name():
    text = HEAD + """.extern .func (.param .b32 r) cudaDeviceSynchronize();
    .entry k() { .param .b32 r; call (r), cudaDeviceSynchronize; ret; }"""
    status, out, err = run("launch", work.write("wait.ptx", text), "k", "--grid", "1", "--block", "1")
    assert status and "`cudaDeviceSynchronize` in device code" in err and "cudaStreamTailLaunch" in err, err


def a_function_of_the_runtime_that_is_declared_otherwise_is_refused():
    text = HEAD.replace("__cudaCDP2GetLastError()", "__cudaCDP2GetLastError(.param .b32 x)") + ".entry k() { .param .b32 r; .param .b32 x; call (r), __cudaCDP2GetLastError, (x); ret; }"
    status, out, err = run("launch", work.write("other.ptx", text), "k", "--grid", "1", "--block", "1")
    assert status and "it is `.extern .func (.param .b32 result) __cudaCDP2GetLastError()`" in err, err


def findings(case):
    path = program("races", "-g")
    done = subprocess.run([heddle, "check", path, case], capture_output=True, text=True, timeout=120)
    text = done.stdout + done.stderr
    return set(re.findall(r"error: .* \[([a-z-]+)", text)), text


def what_a_launch_publishes_is_no_race():
    for case in "gtiecb":
        codes, text = findings(case)
        assert not codes, case + text


def races_of_parents_and_children_are_found():
    for case in "nrws":
        codes, text = findings(case)
        assert codes == {"data-race"}, case + text


def a_recording_of_parents_and_children_replays_to_the_same_findings():
    for case in "bnw":
        live = subprocess.run([heddle, "check", "--record-events", work.path("events"), program("races", "-g"), case], capture_output=True, text=True, timeout=120)
        again = subprocess.run([heddle, "check", "--replay-events", work.path("events")], capture_output=True, text=True, timeout=120)
        assert again.stderr == live.stderr and again.returncode == live.returncode, case + live.stderr + again.stderr


def errors_of_a_launch_in_device_code_keep_their_lines():
    need_clang()
    text = "__global__ void child(int *p) {}\n__global__ void parent(int *p) {\n    child<<<1, 1>>>(p);\n    child<<<1, 1>>>(1.5);\n    child<<<1,\n        nothing>>>(p);\n}\n"
    status, out, err = run("cc", "-c", work.write("wrong.cu", text), "-o", work.path("wrong.o"))
    assert status and "wrong.cu:4:" in err and "wrong.cu:6:" in err and "wrong.cu:3:" not in err, err


def kernels_are_launched_by_all_their_names():
    path = work.write("names.cu", NAMES)
    need_loadable_libraries()
    for standard, fourth in ("c++17", 4), ("c++14", 0):
        status, out, err = run("cc", "-std=" + standard, path, "-o", work.path("names"))
        assert status == 0, err
        done = subprocess.run([heddle, "run", work.path("names")], capture_output=True, text=True, timeout=60)
        assert done.stdout == f"1 2 3 {fourth} 5 6\n", done.stdout + done.stderr


NAMES = r"""
#include <cstdio>
namespace deep { namespace er { __global__ void k(int *p, int v) { *p = v; } } }
template <class T, int n> __global__ void t(T *p, T v) { if (n > 0) t<T, (n > 0 ? n - 1 : 0)><<<1, 1>>>(p, v); else *p = v; }
__global__ void same(int *p) { *p = 3; }
#if __cplusplus >= 201703L
__global__ void same(int *p, int v) { *p = v; } // told apart by the number of arguments
#endif
static __global__ void quiet(int *p, int v = 5) { *p = v; }
__device__ void helper(int *p) { ::deep::er::k<<<dim3(1), dim3(1, 1, 1), 0, cudaStreamFireAndForget>>>(p, 1); } // same<<<1, 1>>>(p)
__global__ void by_pointer(void (*f)(int *, int), int *p) { (f)<<<1, 1>>>(p, 6); }
__global__ void parent(int *p)
{
    helper(p);
    t<int, 3> <<<1, 1>>> (p + 1, 2);
    same<<<1, 1>>>(p + 2);
#if __cplusplus >= 201703L
    same<<<1, 1>>>(p + 3, [] { return 4; }());
#endif
    quiet<<<1, 1, 0>>>(p + 4, 5);
    const char *text = "same<<<1, 1>>>(p)";
    if (text[0] && (const void *)quiet)
        by_pointer<<<1, 1>>>((void (*)(int *, int))(void *)quiet, p + 5);
}
int main()
{
    int *p, v[6] = {};
    cudaMalloc(&p, sizeof v);
    parent<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    cudaMemcpy(v, p, sizeof v, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d %d\n", v[0], v[1], v[2], v[3], v[4], v[5]);
}
"""

main(globals())
