"""NVIDIA's cuda-samples, built by the CMakeLists.txt of each. See suite.py."""
import os
import re
import shutil

from suite import Suite
from trial import HEDDLE_CC, Program, Way

CATEGORIES = ["0_Introduction", "1_Utilities", "2_Concepts_and_Techniques", "3_CUDA_Features", "4_CUDA_Libraries", "5_Domain_Specific", "6_Performance"]
# What a sample needs beyond the runtime, as its CMakeLists.txt or its name says.
NEEDS = [("OpenGL|GLUT|EGL", "OpenGL"), ("Vulkan", "Vulkan"), ("D3D1[12]", "Direct3D"), ("CUDA::npp", "NPP"),
         ("FreeImage", "FreeImage"), ("NVSCI", "NvSci"), ("CUDA::nvjpeg|nvJPEG", "nvJPEG"),
         ("nvJitLink|jitLto", "nvJitLink"), *([] if shutil.which("mpicxx") else [(r"find_package\(MPI", "MPI")])]
# The products of matrices compare their result with the host's where CPU_DEBUG is set; of 4096 rows they take a CPU, and their check, minutes.
PRODUCTS = [f"{t}TensorCoreGemm" for t in ("bf16", "cuda", "dmma", "imma", "tf32")]
MACROS = dict.fromkeys(PRODUCTS, {"M_TILES": 32, "N_TILES": 32, "K_TILES": 32})
SETTINGS = {**dict.fromkeys(PRODUCTS, "-DCMAKE_CUDA_FLAGS=-DCPU_DEBUG=1"), "segmentationTreeThrust": '-DCMAKE_CUDA_FLAGS="$CCCL"'}
# Several devices; and one that loads the driver's library itself, which it finds under `heddle run` alone.
OPTIONS = {**dict.fromkeys(("simpleIPC", "simpleP2P", "streamOrderedAllocationIPC", "streamOrderedAllocationP2P", "memMapIPCDrv",
                            "conjugateGradientMultiDeviceCG"), ("--devices", "2")), "matrixMulDynlinkJIT": ("--devices", "1")}
SIZES = {"UnifiedMemoryPerf": "-kernel-iterations=1", "globalToShmemAsyncCopy": "-wA=640 -hA=640 -wB=640 -hB=640"}
WHYS = {"simpleAttributes": "47 billion reads and writes at random places",
        "segmentationTreeThrust": "`<thrust/tuple.h>` is not included: CCCL of CUDA 13.0 brings it in, CCCL 3.6 does not",
        "matrixMul_nvrtc": "it copies CCCL from the toolkit's folder; Heddle's toolkit has none",
        "binomialOptions_nvrtc": "clang omits a `static __constant__` variable that the file never writes; the program writes it by the driver API"}
# A program of nvcc's has code for nine devices, and PTX for each; what it loads from a file, machine code alone, but for this.
PTX_TOO = "export NVCC_APPEND_FLAGS='-gencode arch=compute_90,code=compute_90'; "


def names(folder):
    samples = os.path.join(folder, "cuda-samples", "Samples")
    return {category: [name for name in os.listdir(os.path.join(samples, category)) if os.path.exists(os.path.join(samples, category, name, "CMakeLists.txt"))]
            for category in CATEGORIES}


def program(folder, category, name):
    at = os.path.join("Samples", category, name)
    with open(os.path.join(folder, "cuda-samples", at, "CMakeLists.txt")) as f:
        cmake = re.sub(r"#.*", "", f.read())
    settings = f"-DCMAKE_CUDA_COMPILER=$NVCC -DCMAKE_CUDA_RUNTIME_LIBRARY=${{RUNTIME:-Static}} {SETTINGS.get(name, '')}"
    build = f"{PTX_TOO if 'CUDA_FATBIN_FILE' in cmake else ''}cmake -S . -B b {settings} && cmake --build b"
    return Program("cuda-samples", at, build, f"cd b && ./{name} {SIZES.get(name, '')}", SIZES.get(name, ""),
                   MACROS.get(name, {}), OPTIONS.get(name, ()), needs=", ".join(what for pattern, what in NEEDS if re.search(pattern, cmake)),
                   passes="", fails=r"\bFAILED\b|Result = FAIL|Test failed|mismatch", why=WHYS.get(name, ""))


SUITE = Suite("cuda-samples", "Each sample is built by its own CMakeLists.txt, for all devices in that file. A program passes if its own check says so and its\n"
              "exit status is 0. nvcc links each program with the shared and with the static runtime. `heddle cc` takes CCCL from CCCL's repository.",
              {"cuda-samples": "https://github.com/NVIDIA/cuda-samples", "cccl": "https://github.com/NVIDIA/cccl"}, names, program,
              (Way("nvcc, shared runtime", True, (("RUNTIME", "Shared"),)), Way("nvcc, static runtime", True, (("RUNTIME", "Static"),)),
               HEDDLE_CC))
