"""HeCBench's programs in CUDA, built by their own Makefiles for sm_90 and run as the first line of `make run` does. See suite.py."""
import functools
import glob
import os
import re
import subprocess

from suite import Suite
from trial import Program

# What a program needs beyond the runtime, by what stands in its sources or its Makefile.
NEEDS = [(r"cudnn", "cuDNN"), (r"<nccl", "NCCL"), (r"<mpi\.h>", "MPI"),
         (r"<boost/", "Boost"), (r"<omp\.h>|-fopenmp", "OpenMP"), (r"cudaTextureObject_t|texture<|cudaSurfaceObject_t", "textures"),
         (r"<nvshmem", "NVSHMEM"), (r"<sycl|<gsl/|<hdf5|<cutlass|cute/|<raft/|<cuco/|<rmm/|<rapidjson", "other libraries"),
         (r"cudaLaunchDevice|<<<[^>]*>>>[^;]*;\s*//\s*child|cudadevrt", "dynamic parallelism"), (r"<nvml|<nvjpeg|<npp", "NVML, NPP"), 
         (r"import torch|find_package\(Torch|PyTorch", "PyTorch"), (r"-stdpar", "a compiler that makes kernels of standard C++")]

# CUDA's libraries that Heddle has: programs that call them are a group of their own.
GROUP, LIBRARIES = "calls CUDA's libraries", r"cublas|cusparse|cusolver|<cufft|-lcufft|<curand\.h>|curandGenerator"

# Arguments in the place of those of `make run`, which are sized for a GPU: as little as its own check takes, repeated a few times.
SIZES = {
    "ace": "1", "hadamard": "1024 1", "mdh": "-itmax 1", "pns": "4 1000 10000", "maxFlops": "1", "goulash": "101 0.05", "entropy": "512 512 5",
    "quicksort": "1 256 256", "atomicIntrinsics": "20 10", "glu": "3 256 2", "pathfinder": "10000 100 5", "gc": "../mis-cuda/internet.egr 1",
    "scan": "1048576 2", "ert": "16 64", "fft": "0 2", "kiss": "1", "mixbench": "64 2",
    "inversek2j": "../inversek2j-sycl/coord_in.txt 1", "fsm": "128", "gaussian": "-q -t -s 1024", "atomicReduction": "1048576 10",
    "attentionMergeState": "64 32 128 2", "attentionMultiHeadKVCache": "1", "background-subtract": "640 480 0 12", "bincount": "1000000 2",
    "blockScan": "222 1", "blockexchange": "1024 1024 10", "bonds": "1", "bsearch": "1048576 1", "bwt": "100000", "car": "1", "cbsfil": "1024 1024 2",
    "collision": "10", "complex": "1000000 10", "conversion": "1048576 2", "dct8x8": "1024 1024 2", "debayer": "1024 1024 2", "depixel": "512 512 2",
    "distort": "512 512 0.001 5", "dp4a": "1048576 10", "flame": "5", "floydwarshall": "256 2 16", "fluidSim": "50", "fresnel": "1", "fwt": "1",
    "hellinger": "1", "henry": "IRMOF-1.cssr 2", "intrinsics-simd": "1000000 2", "langevin": "1048576 10", "laplace3d": "64 64 64 10 1", "marchingCubes": "2",
    "maxFlops": "10", "mcpr": "alphas.csv 1", "md": "3 10", "memcpy": "16", "mergeVS": "2", "minmax": "10000 5", "moe": "256 384 1 2", "moe-align": "100",
    "moe-sum": "32 4096 2", "mxfp4": "1048576 2", "ne": "512 512 2", "nlll": "2048 1000 2", "nonzero": "512 512 2", "nqueen": "10 5 2", "p2p": "20",
    "particles": "10", "pool": "2 48 56 56 14 14 2", "pso": "30 100", "radixsort": "10", "radixsort2": "-float -keysonly -n=1048576", "resnet-kernels": "0 1",
    "rowwiseMoments": "16 128 32 32 4 2", "s8n": "1513 128 2", "scel": "512 1024 2", "score": "1", "simpleMultiDevice": "10", "simpleSpmv": "65536 1024 2",
    "snake": "100 ./Datasets/ERR240727_1_E2_30000Pairs.txt 30000 1", "softmax-fused": "2 4 256 256 2", "sortKV": "1000000 2",
    "ss": "../ss-sycl/StringSearch_Input.txt clEnqueueNDRangeKernel 20", "stddev": "4096 1024 2", "streamcluster": "10 20 64 4096 4096 100 none output.txt 1",
    "testSNAP": "--nsteps 1", "threadfence": "2 1000000", "tonemapping": "../tonemapping-sycl/input.hdr 10", "topk": "4 1", "tsa": "1024 1024 2",
    "blas-dot": "1048576 10", "blas-fp8gemm": "1", "blas-gemm": "79 91 83 10", "blas-gemmBatched": "-l 2 -u 20 -n 500 -r 2",
    "blas-gemmEx": "256 256 256 2", "blas-gemmEx2": "256 256 256 2", "blas-gemmStridedBatched": "-l 2 -u 20 -n 500 -r 2", "determinant": "2",
    "dp": "1048576 10", "f16sp": "2", "geam": "1024 1024 2", "gels": "2", "ludb": "2", "lut-gemm": "0 1", "mlp": "3 128 784 512 10 0 0 2", "norm2": "2",
    "pcc": "1024 165", "rayleighBenardConvection": "20", "mrg32k3a": "1000000 2", "sddmm-batch": "4 128 128 128 512 2 1", "slit": "256 2",
    "spd2s": "1024 1024 15000 2", "spgeam": "1024 1024 15000 2 1", "spgemm": "256 256 256 1000 2 1", "spmm": "256 256 256 256 256 2 1",
    "spmv": "65536 1024 2", "spnnz": "1024 1024 15000 2", "sps2d": "1024 1024 15000 2", "spsm": "1024 16 15000 2 1", "spsort": "1024 1024 15000 2",
    "streamUM": "4 10 1", "s3d": "-q -n 1 -s 1", "triad": "--passes 1 -v",
    "tsne": "-k 500 -n 5", "tsp": "d493.tsp 24 1", "urng": "../urng-sycl/URNG_Input.bmp 5", "vanGenuchten": "64 64 64 10", "vol2col": "2", "warpexchange": "1024 1024 10"}

# Sizes that are numbers in the sources: what sed makes of a file, and how the tables say it.
EDITS = {"graphExecution": ("s/1<<27/1<<18/ main.cu", "up to 2^18 numbers"), "norm2": ("s/1024\\*1024\\*512/1024*1024/ main.cu", "2, up to 2^20 numbers"),
         "blas-fp8gemm": ("/{[0-9]*, /s/[0-9][0-9][0-9][0-9]*/256/g main.cu", "1, 256 x 256 x 256"), "f16sp": ("1s/\\* 1024// kernels.h", "2, 2^17 numbers"),
         "qkv": ("s/B = 4/B = 1/;s/T = 1024/T = 64/;s/= 768/= 128/ main.cu", "1, 64 x 128")}

# What a compiler's error or a program's output leaves out.
WHYS = {"attentionMultiHeadKVCache": "`vec_cast<T, U>::cast<n>(...)` in a template needs `template`; nvcc accepts it without",
          "bscan": "its own mistake, as `heddle check` says: it executes a warp operation with mask 0x00000000, which does not name its own lane",
          "tqs": "its own mistake: it reads an element past the end of its queue",
          "rle": "`<thrust/iterator/constant_iterator.h>` is not included: CUB of CUDA 13.0 brings it in, that of Debian and of CCCL 3.6 does not",
          "testSNAP": "refdata_2J14_W.h was not in the checkout"}

# Outside of the sample.
REMARKS = """These programs are slow, in processor time on two cores. `hybridsort` sorts its 50 million numbers in 22 s. `segsort` passes in 39 s,
16 of them in the compiler: its kernels sort up to 16 keys and values of each thread by 350 shuffles without a loop ([JIT.md](JIT.md), Large
kernels). `mdh` takes 10 s for one of its 100 iterations: 38% is its own reference on the CPU, 39% the 2.4 billion
`ex2.approx` of its three kernels with the hardware's exact bits (1.6 ns each), and 21% divisions, roots and the rest. `ace` takes 19 s
for one and 24 s for three of 100 steps over seven fields of 64 million doubles. A step takes 2.7 s and reads and writes 11.3 GB, that is 4 GB/s of a core,
where memory gives two cores 30 GB/s at best. A warp's rows of 8 doubles are 3.2 KB apart, and a point takes some twenty divisions. The rest of its time goes to memory
that is touched for the first time. `hadamard` is not done in time. Its kernels for 32,768 numbers have 7,930 to 11,391 instructions without a loop, 1,024 of
them shuffles. Such a kernel is interpreted, lane by lane in its shuffles, until that has taken as long as compiling would.
This happens for each of three types, and each kernel is launched 31 times, over 33 million numbers.
`sosfil` is not done in time either. For float and for double, each launch filters eight signals of a million samples through 64 sections, in eight blocks
of two warps. The warps of a block meet at a barrier for each sample, 16 million times. Within one such step they exchange
values through shared memory without a barrier, a data race that `heddle check --timeout 25` reports."""


@functools.cache
def missing_files(hecbench):
    """What a clone without its largest files lacks."""
    return subprocess.run(["git", "-C", hecbench, "ls-files", "--deleted"], capture_output=True, text=True).stdout.split()


def has_files(folder):
    """Are the files there that `make run` names? What stands behind -o is written."""
    words = " ".join(run_lines(folder)[:1]).split()
    return all(os.path.exists(os.path.join(folder, word)) for before, word in zip(words, words[1:]) if "/" in word and before != "-o")


@functools.cache
def text_of(folder):
    """Its sources and its Makefile."""
    text = ""
    for path in glob.glob(os.path.join(folder, "**"), recursive=True):
        if os.path.isfile(path) and (path.endswith((".cu", ".cuh", ".h", ".hpp", ".cpp", ".c")) or os.path.basename(path) == "Makefile"):
            with open(path, errors="replace") as f:
                text += f.read()
    return text


def needed(folder, missing):
    if not os.path.exists(os.path.join(folder, "Makefile")):
        return "a Makefile"
    with open(os.path.join(folder, "Makefile"), errors="replace") as f:
        others = [os.path.join(folder, name) for name in re.findall(r"\.\./[\w-]+", f.read())]
    kept_elsewhere = any(glob.glob(os.path.join(place, "**", "*.dvc"), recursive=True) for place in [folder, *others])
    if kept_elsewhere or os.path.exists(os.path.join(folder, "data_generator.py")):
        return "data that is not in the repository"
    if glob.glob(os.path.join(folder, "*.bz2")):
        return "data that has to be unpacked"
    if any(os.path.basename(folder) in path for path in missing):
        return "data that this checkout lacks"
    text = text_of(folder)
    lacks = any(os.path.basename(path) in text for path in missing) or not has_files(folder)
    return ", ".join(what for pattern, what in NEEDS if re.search(pattern, text)) or ("data that this checkout lacks" if lacks else "")


def run_lines(folder):
    printed = subprocess.run(["make", "-C", folder, "-n", "run", "CC=true"], capture_output=True, text=True, errors="replace").stdout.replace("\\\n", " ")
    return [line.strip() for line in printed.splitlines() if re.match(r"\s*(\./|cd .*\./)", line)]


def names(folder):
    folders = {os.path.basename(path)[:-len("-cuda")]: path for path in glob.glob(os.path.join(folder, "HeCBench", "src", "*-cuda"))}
    return {"": list(folders), GROUP: [name for name, path in folders.items() if re.search(LIBRARIES, text_of(path))]}


def program(folder, group, name):
    hecbench = os.path.join(folder, "HeCBench")
    at = os.path.join(hecbench, "src", f"{name}-cuda")
    what = needed(at, missing_files(hecbench))
    if not group and re.search(LIBRARIES, text_of(at)):
        what = "CUDA's libraries, which are a group of their own"
    line = (run_lines(at) or ["false"])[0]
    size = SIZES.get(name, "")
    edit, about = EDITS.get(name, ("", size))
    edit, _, edited = edit.rpartition(" ")
    return Program("HeCBench", f"src/{name}-cuda", (f"sed -i '{edit}' {edited}; " if edit else "") + "make CC=$NVCC NVCC=$NVCC ARCH=sm_90",
                   f"{line.split()[0]} {size}" if size else line, about, needs=what, why=WHYS.get(name, ""))


SUITE = Suite("HeCBench", "The arguments after a name replace those of `make run`, which are sized for a GPU.",
              {"HeCBench": "https://github.com/zjin-lcf/HeCBench"}, names, program, sample=92, remarks=REMARKS)
