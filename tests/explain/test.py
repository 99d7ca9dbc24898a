"""heddle explain: what it counts is what an H200 counts, by launch and by line, however a program ends."""
import csv
import json
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import FULL, Folder, heddle, in_full, left, main, need_loadable_libraries, run, source
import explained

here = os.path.join(source, "tests", "explain")
sys.path.insert(0, here)
import agreement
import asynchronous
import unseen

SHAPES = os.path.join(here, "shapes.ptx")
folder = Folder()
path = folder.path
os.environ["HEDDLE_CACHE"] = "off"
os.environ["TMPDIR"] = folder.name  # what is left there is seen
os.chdir(folder.name)  # where explain.html goes
LD, ST, RED = "global_ld", "global_st", "global_red"


def explain(*args, status=0, **more):
    """Returns the program's output, what was said, and the JSON."""
    if not any(str(a).endswith(".ptx") for a in args):
        need_loadable_libraries()
    file = path("explained.json")
    if os.path.exists(file):
        os.remove(file)
    got, out, err = run("explain", "-o", path("explain.html"), "--json", file, *args, **more)
    assert status is None or got == status, (args, got, out, err)
    left = [name for name in os.listdir(folder.name) if name.startswith("heddle-explain-")]
    assert not left, left
    if not os.path.exists(file):
        return out, err, None
    with open(file) as f:
        return out, err, json.load(f)


def kernel(name, block, *args, options=()):
    """One launch of a kernel of shapes.ptx: its summary, its launch and its lines in the JSON."""
    out, _, result = explain(SHAPES, name, "--grid", "1", "--block", block, *options, *args)
    (launch,), (by_line,) = result["launches"], result["kernels"]
    return out, launch, by_line


# ---- what is counted ----

def a_dash_is_standard_output():
    args = f"{source}/examples/saxpy/saxpy.ptx", "--grid", 1, "--block", 32, 4, 2.0, "f32[4]=range", "f32[4]=ones"
    for option, begins in ("-o", "<!doctype html>"), ("--csv", "process,"), ("--json", "{"):
        page = [] if option == "-o" else ["-o", path("explain.html")]
        status, out, err = run("explain", option, "-", *page, *args)
        assert status == 0 and out.startswith(begins) and "saxpy: 1 block" not in out, (option, out[:200], err)
        assert "saxpy: 1 block" in err and "explain: 1 launch" in err and "the page is -" not in err, err
    assert json.loads(out) and not os.path.exists("-")


def strides_become_sectors():
    for stride, sectors, lines in (0, 1, 1), (1, 4, 1), (2, 8, 2), (8, 32, 8), (32, 32, 32):
        _, launch, by_line = kernel("strided", 32, f"u32[{32 * max(stride, 1)}]=range", "u32[32]", stride)
        ld = launch["access"][LD]
        assert (ld["requests"], ld["lanes"], ld["bytes"], ld["ideal_sectors"]) == (1, 32, 128, 4), ld
        assert (ld["sectors"], ld["tags"], ld["stride"]) == (sectors, lines, 4 * stride), ld
        assert launch["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == sectors
        assert launch["access"][ST]["sectors"] == 4 and "partial_sectors" not in launch["access"][ST]
        assert launch["footprint"]["read_sectors"] == sectors and launch["footprint"]["touched_lines"] == lines + 1


def lines_have_what_their_instructions_did():
    _, launch, by_line = kernel("strided", 64, "u32[2048]=range", "u32[64]", 32)
    lines = {line["line"]: line for line in by_line["lines"]}
    assert all(line["file"].endswith("shapes.cu") for line in by_line["lines"])
    assert lines[11]["access"][LD]["sectors"] == 64 and lines[14]["access"][ST]["sectors"] == 8
    assert (lines[12]["branches"], lines[12]["divergent"], lines[12]["taken"]) == (2, 2, 32)
    assert (lines[13]["warp_instructions"], lines[13]["thread_instructions"]) == (4, 64)
    assert sum(line["warp_instructions"] for line in by_line["lines"]) == launch["warp_instructions"]
    (load,) = [i for i in by_line["instructions"] if i["opcode"] == "ld.global.u32"]
    assert load["text"] == "ld.global.u32 %r4, [%rd4];" and load["line"] == 11 and load["access"][LD]["requests"] == 2


def strides_become_wavefronts():
    for stride, wavefronts in (1, 1), (2, 2), (32, 32), (33, 1), (0, 1):
        _, launch, _ = kernel("banks", 32, "u32[32]", stride)
        for kind in "shared_ld", "shared_st":
            access = launch["access"][kind]
            assert (access["wavefronts"], access["ideal_wavefronts"]) == (wavefronts, 1), (stride, access)


def warps_wait_for_the_last_at_a_barrier():
    _, launch, by_line = kernel("late", 128, "u32[1]")
    (bar,) = [i for i in by_line["instructions"] if i["opcode"] == "bar.sync"]
    # 1 mov and 100 rounds of 3: what one warp executes while three wait
    assert (bar["barrier_warps"], bar["barrier_longest"], bar["barrier_wait"]) == (4, 301, 3 * 301), bar
    assert launch["barriers"] == {"opened": 1, "warps": 4, "wait": 903, "wait_of_warp": [0, 301, 301, 301]}, launch["barriers"]


def warps_of_a_block_are_shown_over_time():
    _, launch, _ = kernel("late", 96, "u32[1]")
    late, *others = launch["timeline"]["warps"]
    assert launch["timeline"]["block"] == [0, 0, 0] and len(others) == 2 and not launch["timeline"]["cut"]
    for spans in others:
        assert [s["from"] for s in spans][1:] == [s["to"] for s in spans][:-1] and spans[0]["from"] == 0, spans
        (waits,) = [s for s in spans if s["what"] == "barrier"]
        assert waits["to"] - waits["from"] > 300 and spans[-1]["to"] == late[-1]["to"], (waits, late)  # cycles of 100 rounds
    assert not [s for s in late if s["what"] == "barrier"], late


def atomics_at_one_word_are_counted_by_lane_unless_ptxas_sums_them_up():
    _, launch, by_line = kernel("crowd", 64, "u32[2]")
    scattered, uniform = [i["access"][RED] for i in by_line["instructions"] if i["opcode"] == "red.global.add.u32"]
    assert (scattered["lanes"], scattered["operations"], scattered["distinct"], scattered["sectors"]) == (64, 64, 2, 64)
    assert (uniform["lanes"], uniform["operations"], uniform["sectors"]) == (64, 2, 2), uniform
    assert launch["footprint"]["hot"] == 66, launch["footprint"]


MEETING = r"""
__device__ unsigned cold[64], busy[64];
__global__ void meet(unsigned *allocated)
{
    atomicAdd(&cold[threadIdx.x], 1);
    atomicExch(&busy[40], threadIdx.x);
    if (threadIdx.x < 16)
        atomicMax(&allocated[100], threadIdx.x);
}
int main()
{
    unsigned *allocated;
    cudaMalloc(&allocated, 1000);
    meet<<<2, 64>>>(allocated);
    return cudaDeviceSynchronize();
}
"""


def atomics_meet_at_a_byte_of_a_variable_or_an_allocation():
    _, err, result = explain(built("meeting", MEETING))
    hottest = result["launches"][0]["footprint"]["hottest"]
    assert hottest[0] == {"operations": 128, "offset": 160, "of_bytes": 256, "of": "busy"}, hottest
    assert hottest[1]["offset"] == 384 and hottest[1]["of_bytes"] == 1000 and "of" not in hottest[1], hottest
    assert [h.get("of") for h in hottest[2:]] == ["cold", "cold"] and [h["offset"] for h in hottest[2:]] == [0, 32], hottest
    assert "128 at the hottest sector, byte 160 of `busy`" in err, err


PRODUCTS = r"""
__global__ void multiply(unsigned *p, int rounds)
{
    unsigned a = 0, d[4] = {};
    for (int i = 0; i < rounds; i++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a));
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a));
    asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4, %4, %4}, {%0, %1, %2, %3}, %5, 0x0;"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a), "r"(0x44444444));
    p[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
int main()
{
    unsigned *p;
    cudaMalloc(&p, 1024);
    multiply<<<264, 64>>>(p, 1000);
    return cudaDeviceSynchronize();
}
"""


def products_are_work_of_tensor_cores():
    _, err, result = explain(built("products", PRODUCTS, "-arch=sm_80"))
    (launch,) = result["launches"]
    # m * n * k products and sums; of a sparse matrix half
    assert launch["tensor"] == {"f16": 264 * 2 * (1000 + 1) * 2 * 16 * 8 * 16, "s8": 264 * 2 * 2 * 16 * 8 * 32}, launch["tensor"]
    assert launch["classes"]["mma"] == 264 * 2 * 1002, launch["classes"]
    # two of 132 multiprocessors' blocks: each f16 instruction takes 1.55 cycles of its four tensor cores
    assert 0.99 < launch["bounds_ns"]["tensor"] / (4 * 1.55 * 1002 / 1.98) < 1.01, launch["bounds_ns"]
    roof = launch["roofline"]
    assert roof["flops_tensor"] == sum(launch["tensor"].values()) and 1070 < roof["peak_tensor"] * 1e-3 < 1075, roof
    assert re.search(r"tensor cores +[\d,]+ operations: [\d.]+ TFLOP/s of 107\d\.\d TFLOP/s", err), err


def operations_are_those_of_the_threads_that_do_them():
    """An FMA of each of 1000 threads, the last warp of which has 8."""
    args = f"{source}/examples/saxpy/saxpy.ptx", "--grid", 4, "--block", 256, 1000, 2.0, "f32[1000]=range", "f32[1000]=ones"
    out, _, result = explain(*args)
    assert result["launches"][0]["roofline"]["flops"] == 2000 and re.search(r"f32 operations +2,000:", out), out


def figures_do_not_depend_on_the_number_of_workers():
    args = SHAPES, "strided", "--grid", "100", "--block", "96", "u32[9600]=range", "u32[9600]", "3"
    one, many = (explain("--workers", n, *args)[2] for n in (1, 5))
    assert one["launches"] == many["launches"] and one["kernels"] == many["kernels"]


def what_costs_most_is_said_first():
    out, _, by_line = kernel("strided", 64, "u32[2048]=range", "u32[64]", 32)
    assert [(a["line"], a["code"]) for a in by_line["advice"]] == [(11, "uncoalesced")], by_line["advice"]
    assert re.search(r"^  -> .*shapes.cu:11: a warp reads 32 sectors of 32 bytes for 128 bytes: threads are 128 bytes apart; ", out, re.M), out
    assert re.search(r" us, 3\.23 us of it the launch itself, bound by dependent instructions \(then ", out), out


UNROLLED = r"""
__global__ void unrolled(const int *index, float *out, const double *d)
{
    float a[32];
#pragma unroll
    for (int i = 0; i < 32; i++)
        a[i] = i;
#pragma unroll
    for (int i = 0; i < 32; i++)
        a[index[threadIdx.x] * i & 31] += i;
    float s = 0;
#pragma unroll
    for (int i = 0; i < 32; i++)
        s += a[index[threadIdx.x] * i & 31]; // line 14
    out[threadIdx.x] = s * d[threadIdx.x] * d[threadIdx.x];
}
int main()
{
    int *index;
    float *out;
    double *d;
    cudaMallocManaged(&index, 1024);
    cudaMallocManaged(&out, 1024);
    cudaMallocManaged(&d, 2048);
    for (int i = 0; i < 256; i++)
        index[i] = i;
    unrolled<<<1, 256>>>(index, out, d);
    return cudaDeviceSynchronize();
}
"""


def lines_whose_loops_are_unrolled_are_judged_as_a_whole():
    _, err, result = explain(built("unrolled", UNROLLED, "-lineinfo"))
    (of_kernel,) = result["kernels"]
    assert (14, "local-memory") in [(a["line"], a["code"]) for a in of_kernel["advice"]], of_kernel["advice"]
    assert re.search(r"^  local memory     [\d,]+ requests, [\d.]+ sectors each; 128 bytes a thread$", err, re.M), err
    assert re.search(r"^  f64 operations   [\d,]+: [\d.]+ GFLOP/s of 33\.5 TFLOP/s$", err, re.M), err


def registers_are_an_estimate_where_there_is_no_machine_code():
    out, launch, _ = kernel("strided", 32, "u32[32]=range", "u32[32]", 1)
    assert launch["registers_estimated"] and launch["registers"] >= 16 and "(an estimate)" in out, out


def what_no_instruction_of_ptx_stands_for_is_counted_as_nothing():
    """The end of an empty body; parameters of a function in registers."""
    head = ".version 8.5\n.target sm_90\n.address_size 64\n"
    function = ".func (.reg .u32 r) f(.reg .u32 x) { mov.u32 r, x; ret; }\n"
    call = "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; call (%r2), f, (%r1); st.global.u32 [%rd1], %r2; ret;"
    for text, *args in ("{ }",), (f"(.param .u64 p) {{ .reg .b64 %rd1; .reg .u32 %r<3>; {call} }}", "u32[32]"):
        file = path("nothing.ptx")
        with open(file, "w") as f:
            f.write(head + function + ".visible .entry k" + (text if args else "() { }"))
        _, _, result = explain(file, "k", "--grid", "1", "--block", "32", *args)
        assert len(result["launches"]) == 1


# ---- agreement with an H200: tests/explain/agreement.py ----

SLOW = """copy_dram gather_dram triad matmul_naive matmul_t8 matmul_t16 matmul_t32 nbody bitonic fma_full f64_full waves_132 waves_265
    barrier_w32 div_loop div_half occ_regs imul ialu idiv sfu shuffle fma_ilp1 fma_ilp4 scan transpose_padded div_switch
    mandelbrot sat_random local_array sld_s2 sld_s32 sld_v16 stencil triad spmv grid_sync const_uniform const_divergent
    transpose_naive reduce chase_w64 gat_distinct gat_random gld_v16_s2 gather_l2""".split()


def agree(rows, launches):
    differences = {words: agreement.compare(rows, launches, (words, *more))[1] for words, *more in agreement.ROWS}
    exact = {words: set(differ) for words, differ in differences.items()}
    may_differ = {
        "requests, sectors, tag requests of global loads": {"spmv", "grid_sync"},
        "the same of global stores": set(),
        "requests of `red` and `atom`": set(),
        "sectors of `red` and `atom`": {"gat_random"},
        "requests, sectors of local memory": {"local_spill"},
        "wavefronts, bank conflicts of shared memory: tables": set(),
        "active lanes an instruction, to 0.5 %": {"bitonic", "div_loop", "div_switch", "gld_partial", "grid_sync", "reduce", "spmv",
                                                 "tab_sld_some8", "tab_sld_some16"},
        "registers a thread": set(),
        "occupancy: blocks by registers, warps, blocks; warps of a multiprocessor": set(),
    }
    for words, may in may_differ.items():
        assert exact[words] <= may, (words, {n: differences[words][n] for n in exact[words] - may})


def the_counters_of_kernels_are_the_hardware_s():
    need_loadable_libraries()
    place = path("kernels")
    os.mkdir(place)
    program, rows = agreement.build(place), agreement.recorded(place)
    names = list(rows) if FULL else [name for name in rows if name not in SLOW]
    assert len(names) > 50
    if not FULL:
        left.add(f"{len(rows) - len(names)} kernels beside an H200's counters")
    launches = agreement.explain(program, names)
    assert len(launches) == len(names)
    agree(rows, launches)
    spills = launches["local_spill"]["spills"]
    assert spills["bytes"] == 200, "the frame of its machine code, of which PTX does not know"
    for op, kind in ("ld", "loads"), ("st", "stores"):
        there = float(rows["local_spill"][agreement.LOCAL.format("requests", op)])
        assert 0.75 < spills[kind] / there < 1.25, (spills, there)


# ---- the command ----

WAYS = path("ways")


def build(program):
    done = subprocess.run([heddle, "cc", "-lineinfo", "-o", program, os.path.join(source, "tests", "check_program", "ways.cu")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def names(result):
    return [launch["kernel"] for launch in result["launches"]]


def a_program_keeps_its_output_and_its_status():
    out, err, result = explain(WAYS, "clean")
    assert out == "cudaSuccess\n" and names(result) == ["clean"] * 7, names(result)
    assert err.startswith("explain: 7 launches of 1 kernel") and "occupancy" in err, err
    explain(WAYS, "fail", status=5)
    assert result["launches"][0]["time_ns"] > 1000 and result["launches"][0]["bound"] in result["launches"][0]["bounds_ns"]


def what_was_counted_is_shown_however_the_program_ends():
    for way, status, said in (("abort", -signal.SIGABRT, "ended by SIGABRT"), ("kill", -signal.SIGKILL, "ended by SIGKILL"),
                              ("_exit", 0, ""), ("reset", 0, "")):
        _, err, result = explain(WAYS, way, status=None)
        assert len(result["launches"]) >= 1 and result["kernels"] and said in err, (way, err)


STREAMS = """
#include <cstdio>
__global__ void work(float *p, int n) { for (int i = 0; i < n; i++) p[threadIdx.x] += i; }
int main()
{
    enum { BYTES = 1 << 20 };
    float *d[2], *h;
    cudaStream_t s[2];
    cudaEvent_t e;
    cudaMallocHost(&h, BYTES);
    cudaEventCreate(&e);
    for (int i = 0; i < 2; i++) {
        cudaMalloc(&d[i], BYTES);
        cudaStreamCreate(&s[i]);
        cudaMemcpyAsync(d[i], h, BYTES, cudaMemcpyHostToDevice, s[i]);
        work<<<1, 256, 0, s[i]>>>(d[i], 9);
    }
    cudaEventRecord(e, s[0]);
    cudaStreamWaitEvent(s[1], e, 0);
    cudaMemcpyAsync(d[1], d[0], BYTES, cudaMemcpyDeviceToDevice, s[1]);
    return cudaDeviceSynchronize();
}
"""


def built(name, text, *flags):
    """The program, made of the text."""
    need_loadable_libraries()
    if not os.path.exists(path(name)):
        with open(path(name + ".cu"), "w") as f:
            f.write(text)
        done = subprocess.run([heddle, "cc", *flags, path(name + ".cu"), "-o", path(name)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return path(name)


def streams_are_shown_over_time():
    rows = explain(built("streams", STREAMS))[2]["host"]
    (host,), (first, second) = ([r["spans"] for r in rows if word in r["name"]] for word in ("host", "stream"))
    assert [s["kind"] for s in first] == ["copy", "kernel"] and [s["kind"] for s in second] == ["copy", "kernel", "copy"], rows
    assert [s["kind"] for s in host] == ["call"] * 5 + ["wait"], host
    assert second[0]["from"] < first[1]["to"], "the streams do not overlap"
    assert second[2]["from"] >= max(first[1]["to"], second[1]["to"]), "the event is not waited for"
    to_device, within = (s["to"] - s["from"] for s in (second[0], second[2]))
    assert to_device > 4 * within and host[-1]["to"] == second[2]["to"], (to_device, within)


def traced(*args):
    """The explanation, and the same timelines as a trace: {process's name: {thread's name: [(name, category, from, to)]}}, in us."""
    file = path("timelines.json")
    _, _, result = explain("--trace", file, *args)
    with open(file) as f:
        events = json.load(f)["traceEvents"]
    named = {what: {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == what} for what in ("process_name", "thread_name")}
    lines = {process: {} for process in named["process_name"].values()}
    for (pid, tid), thread in named["thread_name"].items():
        lines[named["process_name"][pid, 0]][thread] = [
            (e["name"], e["cat"], e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (pid, tid)]
    return result, lines


def timelines_are_a_trace_for_perfetto_too():
    result, lines = traced(built("streams", STREAMS))
    (process,) = result["processes"]
    program = lines.pop(f"streams (process {process['process']})")
    assert {track["name"] for track in result["host"]} == set(program)
    for track in result["host"]:
        spans = [(s["name"], s["kind"], 1e-3 * s["from"], 1e-3 * s["to"]) for s in track["spans"]]
        for shown, known in zip(program[track["name"]], spans, strict=True):
            assert shown[:2] == known[:2] and all(abs(a - b) < 2e-3 for a, b in zip(shown[2:], known[2:])), (shown, known)
    ((name, warps),) = lines.items()
    assert name == "work: warps of block (0,0,0)" and list(warps) == [f"warp {i}" for i in range(8)], lines
    kernel = min(s[2] for spans in program.values() for s in spans if s[1] == "kernel")
    for spans in warps.values():
        assert spans[0][:2] == ("run", "warp") and abs(spans[0][2] - kernel) < 2e-3, "the block begins where its kernel does"
        assert all(abs(a[3] - b[2]) < 2e-3 for a, b in zip(spans, spans[1:])), spans


NVTX = r"""
#include <cstdio>
#include <nvtx3/nvToolsExt.h>
__global__ void work(float *p) { p[threadIdx.x] += 1; }
int main()
{
    float *p;
    nvtxDomainHandle_t mine = nvtxDomainCreateA("mine");
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(mine, "known");
    int outer = nvtxRangePushA("outer");
    cudaMalloc(&p, 128);
    work<<<1, 32>>>(p);
    int inner = nvtxDomainRangePushEx(mine, &event);
    nvtxMarkW(L"m\u00e4rk");
    work<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    int popped = nvtxDomainRangePop(mine);
    nvtxRangeId_t whole = nvtxRangeStartA("whole");
    nvtxRangePop();
    work<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    nvtxRangeEnd(whole);
    nvtxRangePushA("never ended");
    printf("%d %d %d\n", outer, inner, popped);
}
"""
# The part of NVIDIA's header that finds who listens, and one function of the table that it hands over.
INJECTED = r"""
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
static int (*push)(const char *);

static int functions(int module, void ***table, unsigned *n)
{
    static void **pointers[12] = {};
    pointers[9] = (void **)&push; // NVTX_CBID_CORE_RangePushA
    *table = (void **)pointers;
    *n = module == 1 ? 12 : 0;
    return 1;
}
static const void *tables(uint32_t number)
{
    static const struct { size_t bytes; int (*functions)(int, void ***, unsigned *); } callbacks = {sizeof callbacks, functions};
    return number == 1 ? &callbacks : nullptr;
}
int main()
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : nullptr;
    auto start = library ? (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2") : nullptr;
    if (!start || !start(tables) || !push || push("by the table") != 0)
        return 1;
    return cudaFree(nullptr);
}
"""


def ranges_and_marks_of_nvtx_are_on_the_timeline():
    marked = built("marked", NVTX)
    assert subprocess.run([marked], capture_output=True, text=True).stdout == "-2 -2 -2\n", "nobody listens"
    result, lines = traced(marked)
    tracks = {track["name"]: track["spans"] for track in result["host"]}
    kinds = {span["kind"] for name in tracks for span in tracks[name] if "range" in name or "mark" in name}
    assert kinds == {"range", "mark"}, tracks
    outer, unended = tracks["host thread 1: ranges"]
    (inner,), (whole,) = tracks["host thread 1: ranges, level 2"], tracks["ranges of the process"]
    (mark,) = tracks["host thread 1: marks"]
    assert [s["name"] for s in (outer, inner, whole, mark, unended)] == ["outer", "mine: known", "whole", "m\u00e4rk", "never ended"]
    kernels = next(spans for name, spans in tracks.items() if "stream" in name)
    assert outer["from"] == 0 and inner["from"] == mark["from"] == mark["to"] == tracks["host thread 1"][0]["to"], tracks
    assert outer["to"] == inner["to"] == whole["from"] == kernels[1]["to"] and whole["to"] == unended["from"] == kernels[2]["to"], tracks
    process = next(process for name, process in lines.items() if name.startswith("marked"))
    assert [span[:2] for span in process["ranges of the process"]] == [("whole", "range")]
    (track,) = explain(built("injected", INJECTED))[2]["host"]
    assert track["name"] == "host thread 1: ranges" and track["spans"][0]["name"] == "by the table", track


def warps_of_a_ptx_file_are_a_trace():
    _, lines = traced(SHAPES, "late", "--grid", "1", "--block", "64", "u32[1]")
    ((name, warps),) = lines.items()
    assert "late" in name and {s[0] for spans in warps.values() for s in spans} >= {"run", "barrier"}, lines


ALIKE = r"""
#include <cstdio>
#include <cstdlib>
__global__ void work(volatile unsigned *sum, int rounds)
{
    for (int i = 0; i < rounds; i++)
        sum[threadIdx.x] += threadIdx.x % 32;
}
int main(int argc, char **argv)
{
    unsigned *sum;
    cudaMallocManaged(&sum, 256 * sizeof *sum);
    for (int i = 0; i < 20; i++)
        work<<<1, 64>>>(sum, 100 + i % 2 * (argc > 1)); // odd launches do a little more where there is an argument
    work<<<1, 128>>>(sum, 100);
    cudaDeviceSynchronize();
    printf("%u\n", sum[63]);
}
"""


def launches_alike_stand_for_each_other_after_a_while():
    program = built("alike", ALIKE)
    expected, err, exact = explain("--sample-after", "0", program)
    assert "sampling" not in err and not any("sampled" in launch for launch in exact["launches"]), err
    for after, counted in ("1", {0, 1, 3, 6, 10, 16, 20}), ("200000000", set(range(21))):
        out, err, result = explain("--sample-after", after, program)
        assert out == expected, (out, expected)
        assert {i for i, launch in enumerate(result["launches"]) if "sampled" not in launch} == counted, after
        for launch, known in zip(result["launches"], exact["launches"], strict=True):
            assert launch["access"] == known["access"] and launch["time_ns"] == known["time_ns"]
        (kernel,), (known,) = result["kernels"], exact["kernels"]
        assert kernel["lines"] == known["lines"] and kernel.get("sampled", 0) == 21 - len(counted), kernel
    _, err, result = explain("--sample-after", "1", program, "more")
    assert re.search(r"sampling +14 launches were not counted: each is assumed to equal the last counted one; counted ones differ by [12]\.?\d*% at most", err), err
    assert 0.009 < result["kernels"][0]["sampling_error"] < 0.03, result["kernels"][0]["sampling_error"]


MANY = """
__global__ void work(volatile int *a, int rounds)
{
    for (int i = 0; i < rounds; i++)
        a[threadIdx.x] += 1;
}
int main()
{
    int *a;
    cudaMalloc(&a, 256);
    for (int i = 0; i < 24000; i++)
        work<<<1, 64>>>(a, i % 3);
    cudaDeviceSynchronize();
}
"""


def launches_that_are_alike_are_kept_once():
    program = built("many", MANY)
    child = os.spawnv(os.P_NOWAIT, heddle, ["heddle", "explain", "-o", path("many.html"), program])
    _, status, used = os.wait4(child, 0)  # the largest of its process and the program's
    assert status == 0 and used.ru_maxrss < 100 << 10, (status, used.ru_maxrss)  # 1.3 GB, were each kept
    with open(path("many.html"), encoding="utf-8") as f:
        data = explained.data_of(f.read())
    first, *others = data["launches"]
    assert len(others) == 23999 and "timeline" in first and data["whole"]
    full = [i for i, launch in enumerate(data["launches"]) if isinstance(launch, dict)]
    assert full == [0, 1, 2, 3]  # the first has its warps over time
    assert data["launches"][4:] == [1, 2, 3] * 7998 + [1, 2]
    spans = sum(len(track["spans"]) for track in data["host"] if "stream" in track["name"])
    assert {spans + track["left_out"] for track in data["host"]} == {24000} and all(track["cut"] for track in data["host"])


def each_launch_is_in_the_json_in_full():
    out, err, result = explain("--launch-count", "7", built("many", MANY))
    assert len(result["launches"]) == 7 and {launch["kernel"].split("(")[0] for launch in result["launches"]} == {"work"}
    instructions = [launch["warp_instructions"] for launch in result["launches"]]
    assert len(set(instructions)) == 3 and instructions == (instructions[:3] * 3)[:7], instructions
    assert result["kernels"][0]["launches"] == 7 and "7 launches" in err, err
    times = [launch["time_ns"] for launch in result["launches"]]
    assert re.search(r"work.*: 7 launches", err) and max(times) > min(times)


def launches_of_children_and_threads_are_counted():
    result = explain(WAYS, "threads", status=None)[2]
    assert len(result["launches"]) > 1, len(result["launches"])  # until the first bad access
    result = explain(WAYS, "exec", status=None)[2]
    assert len(result["processes"]) > 1, result["processes"]
    one = explain("--target-processes", "application-only", WAYS, "exec", status=None)[2]
    assert len(one["processes"]) < len(result["processes"])


def launches_are_chosen_by_name_and_by_number():
    _, err, result = explain("--launch-skip", "2", "--launch-count", "3", WAYS, "clean")
    assert len(result["launches"]) == 3 and result["uncounted"] == 4 and "4 other launches not selected" in err, err
    result = explain("--kernel-regex", "regex=^nothing", WAYS, "clean")[2]
    assert not result["launches"] and result["uncounted"] == 7
    assert len(explain("--kernel-regex", "regex=cl.an", WAYS, "clean")[2]["launches"]) == 7


def tables_have_a_row_a_launch():
    need_loadable_libraries()
    file = path("launches.csv")
    status, _, err = run("explain", "-o", path("explain.html"), "--csv", file, WAYS, "clean")
    assert status == 0, err
    with open(file) as f:
        rows = list(csv.DictReader(f))
    assert len(rows) == 7 and rows[0]["grid"].count("x") == 2, rows[0]
    assert int(rows[0]["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]) >= 1 and float(rows[0]["time_ns"]) > 1000


def a_program_without_cuda_is_told_so():
    _, err, result = explain("/bin/true")
    assert "ran without using CUDA" in err and result["launches"] == [], err


def other_devices_have_other_limits():
    for device, percent in ("A100", 100), ("sm_86", 100), ("H200", 100):
        launch = kernel("strided", 256, "u32[256]=range", "u32[256]", 1, options=("--device", device))[1]
        assert launch["occupancy"]["percent"] == percent, (device, launch["occupancy"])
    _, launch, _ = kernel("strided", 256, "u32[256]=range", "u32[256]", 1, options=("--device", "G80"))
    assert launch["occupancy"]["limits"]["blocks"] == 8, launch["occupancy"]
    assert launch["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum"] == launch["access"][LD]["sectors"], "a G80 has no L1"
    out, err, result = explain("--device", "G80", SHAPES, "strided", "--grid", "1", "--block", "1024", "u32[1024]=range", "u32[1024]", "1")
    assert "G80: 16 multiprocessors, each with up to 768 threads, 8 blocks, 8,192 registers and 16 KiB of shared memory; 512 threads a block; " \
        "345.6 GFLOP/s of f32, 86.4 GB/s of DRAM\n" in out and "such a block does not fit, because of " in out, out
    assert result["limits"]["block_threads"] == 512, result["limits"]
    assert next(r for r in result["rates"] if r["name"] == "dram")["from"].startswith("sheet"), result["rates"]


def a_device_that_programs_find_by_themselves_is_explained_as_an_h200():
    auto = dict(os.environ, HEDDLE_DEVICE="auto")
    for args in (WAYS, "clean"), (SHAPES, "late", "--grid", "1", "--block", "32", "u32[1]"):
        _, _, result = explain(*args, env=auto)
        assert result["device"] == "H200" and result["launches"], (args, result)


def wrong_usage_is_told():
    for args, words in ((["--device", "nonsense", WAYS], "`--device nonsense` is not a device"),
                        (["--device", "nonsense", SHAPES, "late", "--grid", "1", "--block", "32", "u32[1]"], "is not a device"),
                        (["--json", "/nowhere/at.json", WAYS], "/nowhere/at.json"),
                        (["--csv", "/nowhere/at.csv", SHAPES, "late", "--grid", "1", "--block", "32", "u32[1]"], "/nowhere/at.csv"),
                        (["--trace", "/nowhere/at.json", WAYS], "/nowhere/at.json"),
                        (["--kernel-regex", "regex=(", WAYS], "regex=("),
                        (["--target-processes", "some", WAYS], "all or application-only"),
                        (["--leak-check", "full", WAYS], "--leak-check"),
                        ([], "needs a program or a PTX file")):
        status, out, err = run("explain", *args)
        assert status == 2 and words in err and not out, (args, status, err)
    status, _, err = run("explain", SHAPES, "late", "--grid", "1", "--block", "32", "u32[1]", env=dict(os.environ, HEDDLE_DEVICE="nonsense"))
    assert status == 2 and "HEDDLE_DEVICE" in err and "--device" not in err, err
    assert run("explain", "no-such-program")[0] == 127


def files_are_written_from_inside_of_the_sandbox():
    file = path("kept.json")
    trace = path("kept_trace.json")
    status, out, err = run("explain", "-o", path("explain.html"), "--sandbox", "--json", file, "--trace", trace, SHAPES, "late", "--grid", "1", "--block", "64", "u32[1]")
    if "is not possible here" in err:
        return
    with open(file) as f:
        assert status == 0 and json.load(f)["launches"], err
    with open(trace) as f:
        assert json.load(f)["traceEvents"]


def a_change_is_shown_by_kernel():
    before, after, other = path("before.json"), path("after.json"), path("other.json")
    run("explain", "-o", path("explain.html"), "--json", before, SHAPES, "late", "--grid", "1", "--block", "64", "u32[1]")
    with open(before) as f:
        data = json.load(f)
    (launch,) = data["launches"]
    launch.update(time_ns=launch["time_ns"] / 2, warp_instructions=7)
    with open(after, "w") as f:
        json.dump(data, f)
    status, out, err = run("explain", "--compare", before, after)
    assert status == 0 and out.count("2.00 times as fast") == 2 and re.search(r"^  warp instructions +\d+ +7$", out, re.M), (out, err)
    assert "sectors" not in out and not re.search("^  (new|no longer):", out, re.M), out
    launch.update(kernel="another")
    with open(other, "w") as f:
        json.dump(data, f)
    status, out, err = run("explain", "--compare", before, other)
    assert status == 0 and "late: only before" in out and "another: only after" in out, (out, err)
    with open(other, "w") as f:
        f.write("[]")
    for files, words in ((("--compare", before), "takes two files"), (("--compare", before, path("none.json")), "No such file"),
                         (("--compare", before, SHAPES), "line 1"), (("--compare", before, other), "has no launches"),
                         (("--json", after, "--compare", before, before), "runs nothing")):
        status, out, err = run("explain", *files)
        assert status == 2 and not out and words in err, (files, status, err)


def asynchronous_copies_and_products_of_warpgroups_are_counted_as_the_hardware_counts_them():
    need_loadable_libraries()
    names = [] if FULL else ["transpose_32", "stream_cg16", "bulk_store", "bulk_multicast", "wgmma_n64"]
    if not FULL:
        left.add("29 kernels with asynchronous copies and tensor cores")
    ratios, compared = asynchronous.measure(names)
    # gather: see docs/EXPLAIN.md; of others the counter has lost some; wmma: ptxas joins loads and stores
    may_differ = {"gather", "stream_cg16", "table_ca16", "table_cg16", "wmma_512", "wmma_1024"}
    for words, pairs in compared.items():
        assert pairs and set(asynchronous.differences(pairs)) <= may_differ, (words, pairs)
    assert not FULL or asynchronous.mean_factor(ratios) <= 1.25, ratios


@in_full
def times_of_kernels_that_the_model_was_not_made_from_are_near():
    need_loadable_libraries()
    ratios, differ = unseen.measure()
    assert unseen.mean_factor(ratios) <= 1.25, ratios
    # keep_odd stores where an atomic's result says, which hangs on who came first
    assert all(set(names) <= {"keep_odd"} for names in differ.values()), differ


build(WAYS)
main(globals())
