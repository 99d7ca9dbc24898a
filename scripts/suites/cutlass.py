"""Examples of CUTLASS, each one file, on small problems. See suite.py."""
import os

from suite import Suite
from trial import Program

SM80, SM89, SM90A = "-arch=sm_80", "-arch=sm_89", "-gencode arch=compute_90a,code=compute_90a"
# source: (what it is, flags, arguments)
EXAMPLES = {
    "00_basic_gemm/basic_gemm": ("FP32, without tensor cores", SM80, "256 128 64"),
    "01_cutlass_utilities/cutlass_utilities": ("f16, without tensor cores", SM80, ""),
    "02_dump_reg_shmem/dump_reg_shmem": ("fragments of a tile", SM80, ""),
    "04_tile_iterator/tile_iterator": ("iterators of tiles", SM80, ""),
    "05_batched_gemm/batched_gemm": ("FP32, without tensor cores", SM80, ""),
    "20_simt_canonical/simt_canonical": ("FP32, a warp's product without tensor cores", SM80, ""),
    "21_quaternion_gemm/quaternion_gemm": ("quaternions, without tensor cores", SM80, "--m=128 --n=128 --k=64 --iterations=1"),
    "22_quaternion_conv/quaternion_conv": ("quaternions, without tensor cores", SM80, "--n=1 --h=8 --w=8 --c=16 --k=16 --iterations=1 --ref-check"),
    "46_depthwise_simt_conv2dfprop/depthwise_simt_conv2dfprop": (
        "f16, without tensor cores", SM80, "--n=1 --h=16 --w=16 --c=32 --k=32 --g=32 --iterations=1 --ref-check"),
    "14_ampere_tf32_tensorop_gemm/ampere_tf32_tensorop_gemm": ("`mma` of tf32", SM80, "--m=256 --n=256 --k=128"),
    "15_ampere_sparse_tensorop_gemm/ampere_sparse_tensorop_gemm": ("`mma.sp` of s4", SM80, ""),
    "18_ampere_fp64_tensorop_affine2_gemm/ampere_fp64_tensorop_affine2_gemm": ("`mma` of f64", SM80, ""),
    "35_gemm_softmax/gemm_softmax": ("`mma` of f16, softmax", SM80, "--m=128 --n=128 --k=64"),
    "41_fused_multi_head_attention/fused_multihead_attention_fixed_seqlen": (
        "attention, `mma` of f16", SM80,
        "--head_number=2 --batch_size=1 --head_size=32 --head_size_v=32 --seq_length=64 --seq_length_kv=64 --iterations=1 --reference-check=true"),
    "47_ampere_gemm_universal_streamk/ampere_gemm_universal_streamk": ("`mma` of f16, stream-K", SM80, "--m=256 --n=256 --k=128 --iterations=1"),
    "48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm": ("`wgmma` of tf32, copies by tensor maps", SM90A, "--m=512 --n=256 --k=128 --iterations=1"),
    "49_hopper_gemm_with_collective_builder/49_collective_builder": ("`wgmma` of f16 in seven schedules", SM90A, "--m=512 --n=256 --k=128 --l=1"),
    "58_ada_fp8_gemm/ada_fp8_gemm": ("`mma` of 8-bit floats", SM89, "--m=256 --n=128 --k=128 --iterations=1"),
    "62_hopper_sparse_gemm/62_hopper_sparse_gemm": ("sparse `wgmma` of f16", SM90A, "--m=256 --n=256 --k=128 --iterations=1"),
}
WHYS = {
    "02_dump_reg_shmem/dump_reg_shmem": "its own mistake: it casts an array of halves to `uint4`; nvcc happens to align that array, clang does not",
    "62_hopper_sparse_gemm/62_hopper_sparse_gemm": "clang finds a call ambiguous between two templates (`mma_unpack`); nvcc accepts it"}
FLAGS = "-O2 -std=c++17 --expt-relaxed-constexpr -w -Iinclude -Itools/util/include -Iexamples/common"


def names(folder):
    return {"": list(EXAMPLES)}


def program(folder, _, name):
    what, flags, arguments = EXAMPLES[name]
    return Program("cutlass", "", f"$NVCC {FLAGS} $CCCL {flags} examples/{name}.cu -o $OUT/example -lcuda", f"$OUT/example {arguments}",
                   f"{arguments} ({what})".strip(), copied=False, passes="[Pp]assed", fails="[Ff]ailed|heddle: ",
                   why=WHYS.get(name, ""))


SUITE = Suite("CUTLASS", "Examples, which compare with their own references. `heddle cc` takes libcu++ from CCCL's repository, nvcc from its toolkit.",
              {"cutlass": "https://github.com/NVIDIA/cutlass", "cccl": "https://github.com/NVIDIA/cccl"}, names, program)
