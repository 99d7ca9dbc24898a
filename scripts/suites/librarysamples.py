"""NVIDIA's CUDALibrarySamples of cuBLAS, cuBLASLt, cuFFT, cuRAND, cuSOLVER and cuSPARSE, each compiled by one command. See suite.py."""
import functools
import glob
import os

from suite import Suite
from trial import Program

CHECKOUT = "CUDALibrarySamples"
LIBRARIES = ["cuBLAS", "cuBLASLt", "cuFFT", "cuRAND", "cuSOLVER", "cuSPARSE"]
LINK = " ".join(f"-l{library.lower() if library != 'cuBLASLt' else 'cublasLt'}" for library in LIBRARIES) + " -lcuda"
# What a sample needs that Heddle refuses by name, by a part of its place.
NEEDS = {"/Mg": "several GPUs (cusolverMg)", "_mgpu_": "several GPUs (cuFFT)", "callback": "callbacks (cuFFT)", "fp4": "block scaling", "Mxfp8": "block scaling",
         "Blk128x128": "block scaling", "Emulat": "emulated doubles", "GreenContext": "green contexts"}
WHYS = {"cuSPARSE/spmm_csr_op/spmm_csr_op_example": "operators of the program's own, which are linked as NVIDIA's intermediate code",
        "cuSPARSE/spmvop_csr/spmv_csr_op_example": "cuSPARSE of CUDA 13.2; operators of the program's own",
        "cuFFT/1d_r2c_c2r/1d_r2c_c2r_example": "its own mistake, as Heddle says: it scales more elements than its results have",
        "cuSOLVER/gesv/cusolver_irs_expert_cuda-10.2": "its own: it is for CUDA 10.2, whose function had other parameters",
        "cuSOLVER/gesv/cusolver_irs_expert_cuda-11": "its own mistake: it gives cudaMemcpy2D a pitch below its width, which an H200 refuses, too",
        "cuSOLVER/gesv/cusolver_irs_lapack": "its own mistake: it gives cudaMemcpy2D a pitch below its width, which an H200 refuses, too",
        "cuBLASLt/LtIgemmTensor": "orders by tiles, which an H200 refuses, too",
        "cuBLASLt/LtHSHgemmGroupedSimple": "cuBLASLt of CUDA 13.2: groups of products", "cuBLASLt/LtFp8gemmGroupedSimple": "cuBLASLt of CUDA 13.2: groups of products"}
# cuBLASLt's are of several files each.
MANY_FILES = "cuBLASLt"


@functools.cache
def sources(folder, library):
    found = [path for end in ("c", "cpp", "cu") for path in glob.glob(os.path.join(folder, CHECKOUT, library, "**", f"*.{end}"), recursive=True)]
    return sorted(os.path.relpath(path, os.path.join(folder, CHECKOUT)) for path in found if f"{os.sep}Common{os.sep}" not in path)


def sample_of(library, path):
    return os.path.dirname(path) if library == MANY_FILES else os.path.splitext(path)[0]


def names(folder):
    return {library: sorted({sample_of(library, path) for path in sources(folder, library)}) for library in LIBRARIES}


def program(folder, library, name):
    files = [path for path in sources(folder, library) if sample_of(library, path) == name]
    files += [f"{MANY_FILES}/Common/helpers.cpp"] if library == MANY_FILES else []
    needs = ", ".join(what for part, what in NEEDS.items() if part in name)
    include = " ".join(f"-I{path}" for path in (f"{library}/utils", f"{library}/Common", os.path.dirname(files[0])) if os.path.isdir(os.path.join(folder, CHECKOUT, path)))
    return Program(CHECKOUT, "", f"$NVCC {'-x cu ' if library == 'cuFFT' else ''}-std=c++17 -arch=sm_90 {include} {' '.join(files)} -o $OUT/sample {LINK}", "$OUT/sample", copied=False, needs=needs, why=WHYS.get(name, ""))


SUITE = Suite("CUDALibrarySamples", "Those of cuSPARSE and two of cuSOLVER check their result; the others can only *run*.",
              {CHECKOUT: "https://github.com/NVIDIA/CUDALibrarySamples"}, names, program, silent=tuple(LIBRARIES))
