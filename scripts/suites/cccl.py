"""CCCL: examples of Thrust and CUB, tests of libcu++ and of CUB, and bench/thrust.cu with many numbers. See suite.py."""
import glob
import os
import re

from suite import Suite
from trial import HEDDLE_CC, Program, root

OPTIONS = "-std=c++17 -arch=sm_90 --extended-lambda --expt-relaxed-constexpr -w -Ithrust -Icub -Ilibcudacxx/include"
OF_LIBCUXX = "-x cu -include libcudacxx/test/libcudacxx/force_include.h -Ilibcudacxx/test/support -Ilibcudacxx/test"
# CUB's tests are linked with Catch2 and helpers of their own, made once, as its own build does where there is no cuRAND.
HELPERS = ["generators", "generators_gen_values", "generators_uniform_offsets", "generators_vector", "catch2_runner", "catch2_runner_helper"]
OF_CUB = "-O2 -Ic2h/include -Icub/test -I$CHECKOUT/Catch2/src -I$HELPERS -DCATCH_CONFIG_PREFIX_ALL -DC2H_HAS_CURAND=0"
MAKE_HELPERS = f"""HELPERS=$CHECKOUT/cub-helpers; mkdir -p $HELPERS/catch2
sed -e '/#cmakedefine/d; s/@CATCH_CONFIG_DEFAULT_REPORTER@/console/; s/@CATCH_CONFIG_CONSOLE_WIDTH@/80/' \\
    $CHECKOUT/Catch2/src/catch2/catch_user_config.hpp.in >$HELPERS/catch2/catch_user_config.hpp
[ -e $HELPERS/catch2.o ] || g++ -std=c++17 -O1 -DCATCH_AMALGAMATED_CUSTOM_MAIN -c $CHECKOUT/Catch2/extras/catch_amalgamated.cpp -o $HELPERS/catch2.o
for name in {' '.join(HELPERS)}; do [ -e $HELPERS/$name.o ] || $NVCC {OPTIONS} {OF_CUB} -c c2h/$name.cu -o $HELPERS/$name.o; done
"""
# group: files, options. Of the tests of libcu++, those that say that they are for this compiler and C++.
GROUPS = {
    "examples of Thrust": (["thrust/examples/*.cu", "thrust/examples/cuda/*.cu"], "-Ithrust/examples"),
    "examples of CUB": (["cub/examples/*/*.cu"], "-Icub/examples"),
    "tests of libcu++": (["libcudacxx/test/libcudacxx/**/*.pass.cpp"], OF_LIBCUXX),
    "tests of CUB": (["cub/test/catch2_test_*.cu"], OF_CUB + " $HELPERS/*.o"),
}
LARGE = "10 million numbers (bench/thrust.cu)"
ALGORITHMS = ["reduce", "inclusive_scan", "copy_if", "sort", "sort by a functor"]


def read(folder, path):
    with open(os.path.join(folder, "cccl", path), errors="replace") as f:
        return f.read()


def is_for(text):
    left_out = re.findall(r"//\s*(?:UNSUPPORTED|XFAIL):(.*)", text)
    return not re.search(r"//\s*REQUIRES:", text) and not any(re.search(r"\b(?:c\+\+17|clang(?:-19)?|nvcc(?:-13)?)\b(?!-)", words) for words in left_out)


def names(folder):
    checkout = os.path.join(folder, "cccl")
    files = {group: [os.path.relpath(p, checkout) for pattern in patterns for p in glob.glob(os.path.join(checkout, pattern), recursive=True)]
             for group, (patterns, _) in GROUPS.items()}
    return {**{group: [path for path in paths if is_for(read(folder, path))] for group, paths in files.items()}, LARGE: ALGORITHMS}


def program(folder, group, name):
    if group == LARGE:
        build = f"[ -e $CHECKOUT/thrust-10m ] || $NVCC {OPTIONS} {root}/bench/thrust.cu -o $CHECKOUT/thrust-10m"
        return Program("cccl", "", build, f"$CHECKOUT/thrust-10m 10000000 '{name}'", copied=False, passes="right", fails="wrong|heddle: ")
    # A test of CUB lists values of macros, `// %PARAM% MACRO LABEL VALUE:VALUE...`, of which its own build makes a program each: the first.
    macros = " ".join(f"-D{macro}={values.split(':')[0]}" for macro, values in re.findall(r"^// %PARAM% (\S+) \S+ (\S+)", read(folder, name), re.M))
    of_cub = group == "tests of CUB"
    build = f"{MAKE_HELPERS if of_cub else ''}$NVCC {OPTIONS} {GROUPS[group][1]} {macros} {name} -o $OUT/program"
    # The same numbers each time, one set of them, and none of the cases that are named large, which are sized for a GPU.
    line = "C2H_SEED_COUNT_OVERRIDE=1 $OUT/program --rng-seed 1 '~*large*'" if of_cub else "$OUT/program"
    return Program("cccl", "", build, line, copied=False, passes="", fails=r"\bFAIL|INCORRECT|heddle: ")


SUITE = Suite("CCCL", "Compiled for sm_90. Every program checks itself, or aborts if a result is wrong. A test of CUB is compiled with the first value of each of its\n"
              "parameters (so the host launches its kernels), and run with one set of random numbers, without the cases named large, of up to 2^33 numbers.",
              {"cccl": "https://github.com/NVIDIA/cccl", "Catch2": "https://github.com/catchorg/Catch2"},
              names, program, (HEDDLE_CC,), sample=20, silent=tuple(GROUPS))
