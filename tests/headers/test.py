"""Each of Heddle's CUDA headers is included by a C++ file that g++ or clang++ compiles, without a warning, and by a .cu file; by C++14, 17 and
20. Numbers of 16 and 8 bits and atomics work there."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Skip, heddle, main, some, source

include = os.path.join(source, "include", "cuda")
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
STANDARDS = ["c++17", "c++14", "c++20"]
HEADERS = sorted(os.path.relpath(os.path.join(at, name), include) for at, _, names in os.walk(include) for name in names
                 if not name.endswith(".def") and not os.path.relpath(at, include).startswith("heddle"))
HEADERS.remove("cuda_gl_interop.h")  # which says that there is none
TOGETHER = [h for h in HEADERS if h != "cublas.h"]  # the other one of two APIs
MAIN = """int main()
{
    __half a = 1.5f, c = a + a;
    __nv_bfloat16 b = 2.0f;
    cuda::atomic<int> x(1);
    cuda::barrier<> all(1);
    float f = a;
    f += float(b);
    x += 2;
    all.arrive_and_wait();
    curandState state = {};
    cudaDataType type = CUDA_R_16F;
    libraryPropertyType part = MINOR_VERSION;
    return !(f == 3.5f && x == 3 && (float)c == 3 && (float)__nv_fp8_e4m3(2.0f) == 2 && sizeof state == 48 && type == 2 && part == 1);
}
"""


def compile(command, *headers, main=""):
    ending = ".cu" if command[0] == heddle else ".cpp"
    with open("t" + ending, "w") as f:
        f.write("".join(f"#include <{name}>\n" for name in headers) + main)
    goal = ["-o", "t"] if main else ["-ptx", "-o", "t.ptx"] if command[0] == heddle else ["-fsyntax-only"]
    done = subprocess.run([*command, *goal, "t" + ending], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, f"{' '.join(command)} {headers}\n{done.stderr}"


def hosts(standards=STANDARDS):
    found = [name for name in ("g++", "clang++-19") if shutil.which(name)]
    if not found:
        raise Skip("there is neither g++ nor clang++-19")
    return [[name, "-std=" + std, "-Wall", "-Wextra", "-I", include] for std in standards for name in found]


def each_header_stands_for_itself_on_the_host():
    """Those first that are most of the time somebody else's part."""
    first = ["cuda_fp16.h", "cuda_fp4.h", "cuda_bf16.hpp", "cuda/std/barrier", "cooperative_groups/scan.h", "mma.h", "cuda/annotated_ptr",
             "heddle_graph_types.h", "curand_uniform.h", "cuda_pipeline.h"]
    assert set(first) <= set(HEADERS), HEADERS
    rest = [h for h in HEADERS if h not in first]
    commands = hosts()
    for command, header in some(2 * len(first), [(c, h) for c in commands[:2] for h in first] + [(c, h) for c in commands[:2] for h in rest]):
        compile(command, header)


def all_headers_together_work_on_the_host():
    for command in hosts():
        compile(command, *TOGETHER, main=MAIN)
        assert subprocess.run(["./t"], timeout=60).returncode == 0


def types_of_numbers_stand_for_themselves_in_c():
    """As headers of CUDA's libraries, which C programs include, include them."""
    types = {"cuda_fp16.h": "__half", "cuda_bf16.h": "__nv_bfloat162", "cuda_fp8.h": "__nv_fp8_e4m3", "cuda_fp6.h": "__nv_fp6_storage_t",
             "cuda_fp4.h": "__nv_fp4_storage_t", "library_types.h": "cudaDataType", "cuComplex.h": "cuComplex", "curand.h": "curandGenerator_t"}
    text = "".join(f"#include <{header}>\n" for header in types) + "".join(f"{type} x{i};\n" for i, type in enumerate(types.values()))
    for name in ("gcc", "clang-19"):
        if shutil.which(name):
            subprocess.run([name, "-std=c99", "-Wall", "-Wextra", "-I", include, "-c", "-x", "c", "-", "-o", "t.o"], input=text, text=True, check=True)


def each_header_stands_for_itself_in_cuda():
    if not shutil.which("clang-19"):
        raise Skip("heddle cc needs clang-19")
    for header in some(4, ["cuda_fp4.h", "cuda/std/barrier", "cooperative_groups/scan.h", "curand_philox4x32_x.h", *HEADERS]):
        compile([heddle, "cc", "-arch=sm_90"], header)


def all_headers_together_work_in_cuda():
    if not shutil.which("clang-19"):
        raise Skip("heddle cc needs clang-19")
    for std in some(1, STANDARDS):
        compile([heddle, "cc", "-arch=sm_90", "-std=" + std], *TOGETHER, main=MAIN)
        assert subprocess.run(["./t"], timeout=60).returncode == 0


ALL_CONVERSIONS = " ".join(f"__CUDA_NO_{name}_CONVERSIONS__" for name in ("HALF", "BFLOAT16", "FP8", "FP6", "FP4"))
LEAVE_OUT = ["__CUDA_NO_HALF_CONVERSIONS__", "__CUDA_NO_FP8_CONVERSION_OPERATORS__", "__CUDA_NO_BFLOAT16_OPERATORS__", "__CUDA_NO_FP8_CONVERSIONS__",
             "__CUDA_NO_BFLOAT16_CONVERSIONS__", "__CUDA_NO_HALF_OPERATORS__", "__CUDA_NO_HALF2_OPERATORS__", "__CUDA_NO_BFLOAT162_OPERATORS__",
             "__CUDA_NO_FP6_CONVERSIONS__", "__CUDA_NO_FP6_CONVERSION_OPERATORS__", "__CUDA_NO_FP4_CONVERSIONS__", "__CUDA_NO_FP4_CONVERSION_OPERATORS__", ALL_CONVERSIONS]
conversions = os.path.join(os.environ["HEDDLE_SOURCE"], "tests", "headers", "conversions")


def table(command, leave_out=""):
    subprocess.run([*command, "-std=c++17", "-w", *("-D" + name for name in leave_out.split()), conversions + ".cu", "-o", "table"], check=True, timeout=300)
    return subprocess.run(["./table"], capture_output=True, text=True, timeout=60).stdout.splitlines()


def differs(all, lines):
    assert len(all) == len(lines)
    return [line for line, before in zip(lines, all) if line != before]


def recorded():
    """The table of CUDA's headers, and of each macro what differs."""
    parts = {"": []}
    with open(conversions + ".txt") as f:
        for line in f.read().splitlines():
            if line.startswith("__CUDA_NO"):
                parts[line] = here = []
            else:
                (parts[""] if len(parts) == 1 else here).append(line)
    return parts


def conversions_and_operators_are_cuda_s():
    parts, command = recorded(), [hosts()[0][0], "-x", "c++", "-I", include]
    ours = table(command)
    assert ours == parts[""], "\n".join(differs(parts[""], ours))
    assert set(parts) == {"", *LEAVE_OUT}
    for macro in some(3, LEAVE_OUT):
        left = differs(ours, table(command, macro))
        assert left == parts[macro], f"{macro}\n" + "\n".join(set(left) ^ set(parts[macro]))


def conversions_can_be_left_out_in_cuda():
    """All at once; PyTorch's extensions are built so."""
    if not shutil.which("clang-19"):
        raise Skip("heddle cc needs clang-19")
    parts = recorded()
    assert differs(parts[""], table([heddle, "cc"], ALL_CONVERSIONS)) == parts[ALL_CONVERSIONS]


if sys.argv[1:] == ["--record"]:
    all = table(["nvcc"])
    with open(conversions + ".txt", "w") as f:
        f.write("\n".join([*all, *(line for macro in LEAVE_OUT for line in [macro, *differs(all, table(["nvcc"], macro))])]) + "\n")
else:
    USES = r"""#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuComplex.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <curand_kernel.h>
#include <mma.h>
namespace cg = cooperative_groups;
__global__ void child(float *p, int4 v, float d = 1) { p[0] = v.x + d; }
__global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float4 *o, bool *r)
{
    o[0] = tex1Dfetch<float4>(t, 3); o[1] = tex2DLod<float4>(t, 1, 2, 3); o[2] = tex2Dgather<float4>(t, 1, 2, 1); o[3] = tex2D<float4>(t, 1, 2, r);
    o[4] = texCubemapLayered<float4>(t, 1, 2, 3, 4); tex3D(&o[5], t, 1, 2, 3); o[6].x = tex2DGrad<float>(t, 1, 2, make_float2(1, 2), make_float2(3, 4));
    surf1Dwrite(o[7], s, 16); surf2Dread(&o[8], s, 16, 1, cudaBoundaryModeClamp); surf3Dwrite(1.f, s, 4, 5, 6, cudaBoundaryModeZero); o[9].x = surf2DLayeredread<float>(s, 4, 5, 6);
}
__global__ void parent(float *p) { child<<<1, 1>>>(p, make_int4(1, 2, 3, 4)); child<<<1, 1, 0, cudaStreamTailLaunch>>>(p, int4{}, 2); void *m; cudaMalloc(&m, 4); cudaFree(m); void (*k)(float *, int4, float) = child; k<<<1, 1>>>(p, int4{}, 3); }
__global__ void random(curandState *s, curandStatePhilox4_32_10_t *q, float *o) { o[0] = curand_uniform(s) + curand_normal(q) + curand_poisson(s, 4.) + curand_uniform4(q).x; }
__global__ void numbers(float *o, __half *h, __nv_bfloat16 *b, __nv_fp8_e4m3 *e, cuFloatComplex *c)
{
    o[0] = __half2float(h[0] * h[1]) + __bfloat162float(b[0] + b[1]) + float(e[0]); e[1] = __nv_fp8_e4m3(o[1]); c[0] = cuCmulf(c[1], cuCdivf(c[2], make_cuFloatComplex(1, 2)));
    o[2] = sinf(o[3]) + pow((double)o[4], 2.5) + __ldg(&o[5]) + atomicAdd(&o[6], 1.f) + __shfl_xor_sync(~0u, o[7], 1); o[8] = tgamma(o[9]) + normcdf(o[10]) + rsqrtf(o[11]);
}
__global__ void groups(int *p)
{
    __shared__ int s[64];
    auto b = cg::this_thread_block(); auto t = cg::tiled_partition<16>(b); cg::memcpy_async(b, s, p, 64); cg::wait(b); p[0] = cg::reduce(t, s[threadIdx.x], cg::plus<int>()) + cg::inclusive_scan(t, 1) + t.shfl_down(p[2], 1); b.sync();
    __shared__ cuda::barrier<cuda::thread_scope_block> bar; if (!threadIdx.x) init(&bar, 32); __syncthreads(); bar.arrive_and_wait();
    cuda::atomic_ref<int, cuda::thread_scope_device> a(p[3]); a.fetch_add(2); a.load(cuda::std::memory_order_acquire);
    __pipeline_memcpy_async(s, p, 16); __pipeline_commit(); __pipeline_wait_prior(0);
}
__global__ void matrices(half *a, float *c)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y; wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::fill_fragment(z, 1.f); wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a, 16); wmma::mma_sync(z, x, y, z); wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
}
"""


def what_a_kernel_does_in_our_headers_has_the_line_that_calls_it():
    """Accesses to memory, textures and surfaces, and calls of the runtime, which may fault, or be in a race."""
    with open("uses.cu", "w") as f:
        f.write(USES)
    done = subprocess.run([heddle, "cc", "-arch=sm_90", "-ptx", "-o", "uses.ptx", "uses.cu"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with open("uses.ptx") as f:
        text = f.read()
    files, file, seen, wrong = dict(re.findall(r'\.file\s+(\d+) "([^"]*)"', text)), None, 0, []
    for line in text.splitlines():
        loc = re.match(r"\s*\.loc\s+(\d+) (\d+)", line)
        if loc:
            file = f"{files[loc[1]]}:{loc[2]}"
        elif re.match(r"\s*(@%p\d+ )?(ld\.global|st|atom|red|tex|tld4|suld|sust|cp|call|wmma|mbarrier|ld\.shared)\b", line):
            seen += 1
            if os.path.basename(file).partition(":")[0] != "uses.cu":
                wrong.append(f"{file}: {line.strip()}")
    assert seen > 100 and not wrong, f"{seen}\n" + "\n".join(wrong)


main(globals())
