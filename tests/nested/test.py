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


# What no two machines print alike: each case, why, and what is left out of both texts.
ATTRIBUTES = {32, 34, 44, 86, 96, 101, 107, 110, 112, 114, 116, 117, 118, 119, 121, 122, 123, 124, 126, 127, 128, 131, 139, 140, 141, 142, 144, 145, 148}
LEFT_OUT = {
    "many": ("times", r" ms [\d.]+"),
    "mems": ("where in 256 bytes an allocation is, the eighth number", r"(?<=launch=0 sync=0 1 0 2 0 2 0 0) \d+"),
    "heap": ("how many blocks of 1 MiB fit into a heap of 8, between what else it keeps", r"(?<=sync=0)( 0)+( 2)+"),
    "order": ("whether a kernel runs before its parent's next line", r"(?<= )1 10 |10 1 "),
    "assert": ("the text of the assertion, which has its file", r"more.cu.*\n"),
    "fattr": ("registers, which a compiler chooses; the host's call after a fault", r"( 1024| 64) \d+(?= 90 90)|host \d+: (?!\d+ 0 40).*"),
    "handle": ("addresses", r" [0-9a-f]{6,}"),
    "fan 12": ("how many of 4,095 launches are pending at once", r"sync=0 \d+ 0 69 0 \d+ 0"),
    "attrs": ("ECC, PCI, NUMA, and what an H200 has and Heddle has not: IPC by handles of the system, RDMA, multicast, decompression", None),
    "buf 2": ("an H200 hung, and printed nothing", r"(?s).*"),
}


def settled(case, text):
    if case not in LEFT_OUT:
        return text
    if case != "attrs":
        return re.sub(LEFT_OUT[case][1], "", text)
    lines = text.splitlines()
    for i in 0, -1:
        head, numbers, tail = re.fullmatch(r"(.*?)((?: -?\d+){320})( ran=0)?", lines[i]).groups()
        pairs = re.findall(r" (-?\d+ -?\d+)", numbers)
        lines[i] = head + " ".join(pair for at, pair in enumerate(pairs) if at not in ATTRIBUTES)
    return "\n".join(lines)


def lines_of(name):
    """The cases of a program with what an H200 printed: a case without the program's name is of the one before."""
    with open(os.path.join(here, "h200.txt")) as f:
        sections = re.split(r"^== ", f.read(), flags=re.M)[1:]
    cases, of = [], None
    for head, _, body in (section.partition("\n") for section in sections):
        words = head.split()
        of = words.pop(0) if words[0] in ("calls", "orders") else "orders" if words[0] == "deep" else of
        if of == name:
            cases.append((words, body))
    assert len(cases) > 20, cases
    return cases


def compare(name):
    path = program(name)
    wrong = []
    for words, body in lines_of(name):
        done, case = subprocess.run([heddle, "run", path, *words], capture_output=True, text=True, timeout=120), " ".join(words)
        if settled(case, done.stdout).split("\n") != settled(case, body).split("\n"):
            wrong.append(f"{' '.join(words)}:\n{done.stdout}instead of\n{body}{done.stderr}")
    assert not wrong, "\n".join(wrong)


def calls_are_answered_as_by_an_H200():
    compare("calls")


def depth_and_memory_are_answered_as_by_an_H200():
    compare("orders")


def kernels_read_the_hosts_limits_and_cooperative_grids_launch_none():
    done = subprocess.run([heddle, "run", program("limits", "-w")], capture_output=True, text=True, timeout=60)
    lines = ["1024 8650752 8388608 64", "512 2097152 8388608 32", "5008 2097152 8388608 32", "70000 2097152 8388608 32", "800 800 0 ", ""]
    assert done.stdout.split("\n") == lines, done.stdout + done.stderr


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


WRONG = """\
__global__ void child(int *p, float v) {}
template <class T> __global__ void deduced(T *p, T v) {}
__global__ void parent(int *p)
{
    child<<<1, 1>>>(p, 1); child<<<1, 1>>>(p);
    int x = 2; child<<<1, 1>>>(p, p);
\tdeduced<<<1, 1>>>(p, 1.5f);
    child<<<1,
        nothing>>>(p, 1);
    unknown<<<1, 1>>>(p);
    child<<<1, "block">>>(p, 1);
    child<<<1, 1>>>(p, 1); x = y;
	int	z	= y;
	child<<<1,	1>>>(p,	p);
}
"""


def errors_of_a_launch_in_device_code_are_those_of_the_users_line():
    need_clang()
    env = {**os.environ, "CCACHE_DISABLE": "1"}
    status, out, err = run("cc", "-c", work.write("wrong.cu", WRONG), "-o", work.path("wrong.o"), env=env)
    said = [line[line.index("wrong.cu:") + 9 :] for line in err.splitlines() if ": error: " in line]
    assert status and said == [
        "5:28: error: the arguments do not fit the parameters of the kernel",
        "6:16: error: the arguments do not fit the parameters of the kernel",
        "7:2: error: no matching function for call to 'deduced'",
        "9:9: error: use of undeclared identifier 'nothing'",
        "10:5: error: use of undeclared identifier 'unknown'",
        "11:5: error: a launch needs a kernel and, in <<<...>>>, a grid and a block; bytes of shared memory and a stream may follow",
        "12:32: error: use of undeclared identifier 'y'",
        "13:10: error: use of undeclared identifier 'y'",
        "14:2: error: the arguments do not fit the parameters of the kernel",
    ], err
    assert "6 |     int x = 2; child<<<1, 1>>>(p, p);\n      |                ^~~~~" in err and "heddle_" not in err and "::heddle" not in err, err


def pictures_of_lines_with_tabs_have_their_marks_in_place():
    need_clang()
    _, _, err = run("cc", "-c", work.write("wrong.cu", WRONG), "-o", work.path("wrong.o"))
    assert "   13 |         int     z       = y;\n      |                           ^\n" in err, err
    assert "   14 | \tchild<<<1,\t1>>>(p,\tp);\n      | \t^~~~~   ~~\t~\n" in err, err


def a_mistake_in_a_launch_is_said_whatever_has_been_said_before():
    need_clang()
    path = work.write("warned.cu", "#warning careful\n__global__ void child(int *p, int v) {}\n__global__ void parent(int *p)\n{\n    child<<<1, 1>>>(p, (1);\n}\n")
    status, _, err = run("cc", "-c", path, "-o", work.path("warned.o"))
    assert status and "1:2: warning: careful" in err and "5:27: error: expected ')'" in err, err


KERNELS = """#pragma once
template <class T> __global__ void fill(T *p, T v, int n = 4);
template <class T> __global__ void fill(T *p, T v, int n)
{
    if (threadIdx.x < n) p[threadIdx.x] = v;
}
__global__ void leaf(int *p, int v) { atomicAdd(p, v); }
__device__ void (*table[2])(int *, int) = {leaf, leaf}, (*single)(int *, int) = leaf;
template <class T> __device__ void spread(T *p, T v)
{
    fill<<<1, 32>>>(p, v);
    leaf<<<1, 1, 0, cudaStreamTailLaunch>>>((int *)p, 1);
}
#include "deeper/tree.h"
"""
TREE = """#ifndef TREE
#define TREE
struct tree { int *p; __device__ void grow(int d) const; };
__global__ void branch(tree t, int d) { t.grow(d); }
inline __device__ void tree::grow(int d) const { atomicAdd(p, 1); if (d) { branch << <1, 1>> >(*this, d - 1); branch<<<1, 1>>>(*this, d - 1); } }
#endif
"""
INCLUDES = r"""
#include <cstdio>
#include "kernels.cuh"
#include "./kernels.cuh"
__global__ void parent(int *p) { spread(p, 7); leaf<<<1, 1>>>(p + 4, 5); table[1]<<<1, 1>>>(p + 4, 6); single<<<1, 1>>>(p + 4, 7); tree{p + 5}.grow(3); fill<<<1, 4>>>(p + 6, 2, 2); }
__host__ __device__ void both(int *p, int v)
{
    leaf<<<1, 1>>>(p, v);
    fill<<<dim3(1),
        4>>>(p + 1, v, // a part of the line
             1);
    void (*f)(int *, int) = leaf;
    f<<<1, 1>>>(p + 2, v);
}
__global__ void calls(int *p) { both(p, 9); }
int main()
{
    int *p, v[14];
    cudaMalloc(&p, sizeof v), cudaMemset(p, 0, sizeof v);
    parent<<<1, 1>>>(p); both(p + 8, 3); calls<<<1, 1>>>(p + 11);
    cudaMemcpy(v, p, sizeof v, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 14; i++) printf("%d%c", v[i], i < 13 ? ' ' : '\n');
}
"""
WRONG_HEADER = """__global__ void child(int *p, float v) {}
__device__ void helper(int *p)
{
    child<<<1, 1>>>(p);
    int x = 2; child<<<1, 1>>>(p, y);
}
__host__ __device__ void both(int *p)
{
    int z = 1; child<<<1, 1>>>(p, 1); z = w;
}
"""


def headers_and_functions_of_both_sides_launch_kernels():
    need_clang()
    need_loadable_libraries()
    os.makedirs(work.path("inc/deeper"), exist_ok=True)
    for name, text in ("inc/kernels.cuh", KERNELS), ("inc/deeper/tree.h", TREE), ("inc/wrong.cuh", WRONG_HEADER), ("includes.cu", INCLUDES), ("wrongs.cu", "#include <wrong.cuh>\n"):
        work.write(name, text)
    status, out, err = run("cc", "-w", "-rdc=true", "-I", work.path("inc"), work.path("includes.cu"), "-o", work.path("includes"))
    assert status == 0, err
    done = subprocess.run([heddle, "run", work.path("includes")], capture_output=True, text=True, timeout=60)
    assert done.stdout == "8 7 7 7 18 15 2 2 3 3 3 9 9 9\n", done.stdout + done.stderr
    status, out, err = run("cc", "-rdc=true", "-I", work.path("inc"), "-c", work.path("wrongs.cu"), "-o", work.path("wrongs.o"))
    said = [line[line.index("wrong.cuh:") + 10 :] for line in err.splitlines() if ": error: " in line]
    assert status and said == [
        "4:5: error: the arguments do not fit the parameters of the kernel",
        "5:35: error: use of undeclared identifier 'y'",
        "9:43: error: use of undeclared identifier 'w'",
    ], err


def kernels_are_launched_by_all_their_names():
    path = work.write("names.cu", NAMES)
    need_loadable_libraries()
    for standard, fourth in ("c++17", 4), ("c++14", 0):
        status, out, err = run("cc", "-std=" + standard, path, "-o", work.path("names"))
        assert status == 0, err
        done = subprocess.run([heddle, "run", work.path("names")], capture_output=True, text=True, timeout=60)
        assert done.stdout == f"1 2 3 {fourth} 5 6\n", done.stdout + done.stderr


def kernels_are_values_and_their_templates_deduced_as_nvcc_has_it():
    path = work.write("values.cu", VALUES)
    need_loadable_libraries()
    status, out, err = run("cc", "-std=c++17", path, "-o", work.path("values"))
    assert status == 0, err
    done = subprocess.run([heddle, "run", work.path("values")], capture_output=True, text=True, timeout=60)
    assert done.stdout == "11 21 2 12 15 10 8 28 11 1 1 14 10 4 306 301 21 100 4 6 12 16 5 1000 0 1024 8 4 12 0 4 1 15 24 40 32 11 9 1 7 10 129 32 1\n", done.stdout + done.stderr


VALUES = r"""
#include <cstdio>
#include <type_traits>
typedef void (*kernel)(int *);
__global__ void add1(int *p) { atomicAdd(p, 1); }
__global__ void add10(int *p) { atomicAdd(p, 10); }
__device__ kernel table[2] = {add1, add10}, single = add10;
struct job { kernel f, fs[2]; __device__ void go(int *p) const { f<<<1, 1>>>(p); fs[1]<<<1, 1>>>(p); this->f<<<1, 1>>>(p); } };
template <kernel F> __global__ void by_argument(int *p) { F<<<1, 1>>>(p); }
template <class F> __device__ void go(F f, int *p) { f<<<1, 1>>>(p); }
__device__ kernel pick(int i) { switch (i) { case 0: return add1; default: return i > 5 ? add10 : &add1; } }
// a template
template <typename T, int N = 3 /* by default */>
static __global__ void __launch_bounds__(64)
twice(T *p, // first
      size_t n, const T *q) { atomicAdd(p, (T)(N * 100 + n + (q ? 1 : 0))); }
template <int N, class T> __global__ void fixed(T *p, T v) { atomicAdd(p, N + v); if (v > 0) fixed<N><<<1, 1>>>(p, v - 1); }
template <class T, std::enable_if_t<sizeof(T) == 4, int> = 0> __global__ void sized(T *p) { *p = 4; }
template <class T, std::enable_if_t<sizeof(T) <= 8 && (sizeof(T) > 4), int> N = (1 > 0), char C = '='>
__global__ void sized(T *p, bool equal = 1 == 1, int k = sizeof(T)) { *p = k + N + equal + (C == '='); }
template <class T = int> __global__ void only(T *p) { *p = sizeof(T); }
template <class... Ts> __global__ void pack(int *p, Ts... v) { int s[] = {(int)v...}; for (int x : s) atomicAdd(p, x); }
namespace a { namespace b {
template <class T, class = std::enable_if_t<std::is_integral<T>::value>> __global__ void unnamed(T *p) { atomicAdd(p, 4); }
template <class T> struct op { T v; };
template <class T> __global__ void use(T *p, op<T> o) { atomicAdd(p, o.v); }
template <class T> __global__ void use(T *p, op<T> o, int k) { atomicAdd(p, o.v * k); }
template <int N> __global__ void add(int *p) { atomicAdd(p, N); }
} }
template <class T> __global__ void split(T *data, int left, int right, int depth)
{
    if (depth > 3) { atomicAdd(data, 1); return; }
    split<<<1, 1, 0, cudaStreamFireAndForget>>>(data, left, right / 2, depth + 1);
    split<<<1, 1, 0, cudaStreamTailLaunch>>>(data, right / 2, right, depth + 1);
}
template <class F> __global__ void apply(F f, int *p) { f(p); }
struct adder { int n; __device__ void operator()(int *p) const { atomicAdd(p, n); } };
template < > __global__ void apply<int>(int f, int *p) { atomicAdd(p, 1000); }
template __global__ void apply<adder>(adder f, int *p);
__global__ void plain(int *p, int v = 7, int w = 1 << 3) { *p = v + w; }
template <class T, int N = 1 << 3> __global__ void shifted(T *p, T v = T(5)) { *p = v * N; }
namespace spaces { __global__ void deferred(int *, const int = 11); }
__global__ void spaces::deferred(int *p, int v) { *p = v; }
struct options { int a = 4, b[2] = {2, 3}; };
extern "C" __global__ void with(int *p, const options = {}, unsigned n = 9u) { *p = n; }
__global__ void over(int *p) { *p = 1; }
__global__ void over(int *p, int v, int w = 2) { *p = v + w; }
__global__ void over(int *p, float v) { *p = (int)(2 * v); }
template <int W = 64 << 1, int H = W >= 100 ? 1 : 0> __global__ void wide(int *p) { *p = W + H; }
__global__ void elsewhere(int *p, int q[2], int (*f)(int) = nullptr);
__global__ void parent(int *o)
{
    table[1]<<<1, 1>>>(o); add1<<<1, 1>>>(o);
    job j{add1, {add10, add10}}; j.f<<<1, 1>>>(o + 1); job *q = &j; q->fs[0]<<<1, 1>>>(o + 1); (*q).fs[1]<<<1, 1>>>(o + 1);
    kernel f = add1, g = &add1; f<<<1, 1>>>(o + 2); if (f == g) g<<<1, 1>>>(o + 2);
    j.go(o + 3); go(add1, o + 4); go(&a::b::add<14>, o + 4);
    single<<<1, 1>>>(o + 5); by_argument<add1><<<1, 1>>>(o + 6); go(a::b::add<7>, o + 6);
    int add10 = 28; a::b::use<<<1, 1>>>(o + 7, a::b::op<int>{add10});
    pick(9)<<<1, 1>>>(o + 8); (*pick(0))<<<1, 1>>>(o + 8);
    [=] { add1<<<1, 1>>>(o + 9); }();
    extern __global__ void later(int *); later<<<1, 1>>>(o + 10);
    int *memory; float *other; o[11] = cudaMalloc(&memory, 64) + cudaMalloc(&other, 64) + 14; cudaFree(memory); cudaFree(other);
    kernel local[] = {add1, a::b::add<9>}; for (kernel k : local) k<<<1, 1>>>(o + 12);
    a::b::unnamed<<<1, 1>>>(o + 13); twice<<<1, 1>>>(o + 14, 5u, o); twice<int><<<1, 1>>>(o + 15, 1, nullptr);
    fixed<10><<<1, 1>>>(o + 16, 1); pack<<<1, 1>>>(o + 17, 1, 2.5f, 'a'); a::b::unnamed<int><<<1, 1>>>(o + 18);
    a::b::use<<<1, 1>>>(o + 19, a::b::op<int>{6}); a::b::use<<<1,
        1>>>(o + 20, a::b::op<int>{6}, 2); // two lines
    // A sentence.
    split<<<1, 1>>>(o + 21, 0, 100, 0); apply<<<1, 1>>>(adder{5}, o + 22); apply<<<1, 1>>>(3, o + 23);
    sized<<<1, 1>>>(o + 27); sized<><<<1, 1>>>((long long *)(o + 28), true, 9); only<><<<1, 1>>>(o + 30); only< ><<<1, 1>>>((char *)(o + 31));
    cudaFuncAttributes attr; o[24] = cudaFuncGetAttributes(&attr, add1); o[25] = attr.maxThreadsPerBlock;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(o + 26, twice<int, 3>, 256, 0);
    plain<<<1, 1>>>(o + 32); plain<<<1, 1>>>(o + 33, 1 << 4); shifted<<<1, 1>>>(o + 34); shifted<int, 1 << 4><<<1, 1>>>(o + 35, 2);
    spaces::deferred<<<1, 1>>>(o + 36); with<<<1, 1>>>(o + 37); over<<<1, 1>>>(o + 38); over<<<1, 1>>>(o + 39, 5); over<<<1, 1>>>(o + 40, 5.f);
    wide<<<1, 1>>>(o + 41); wide<(1 << 5)><<<1, 1>>>(o + 42); elsewhere<<<1, 1>>>(o + 43, &o[43]);
}
__global__ void later(int *p) { *p = 1; }
__global__ void elsewhere(int *p, int q[2], int (*f)(int)) { *p = p == q && !f; }
int main()
{
    int *p, v[44] = {};
    cudaMalloc(&p, sizeof v), cudaMemset(p, 0, sizeof v);
    parent<<<1, 1>>>(p);
    cudaMemcpy(v, p, sizeof v, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 44; i++) printf("%d%c", v[i], i < 43 ? ' ' : '\n');
}
"""

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
