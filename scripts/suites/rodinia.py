"""Rodinia's programs in CUDA, built by their own Makefiles, which name devices of their time: where they can be set, they are. See suite.py."""
import os

from suite import Suite
from trial import FAILS, HEDDLE_CC, NVCC_OF_OLD, PASSES, Program

# What of the archive's data another repository has takes the place of the empty folder, in the copy.
DATA = "ln -sfn $CHECKOUT/rodinia/data $OUT/gpu-rodinia/data; "
MAKE = DATA + "make CUDA_DIR=$TOOLKIT "
MADE = "python3 " + os.path.join(os.path.dirname(os.path.abspath(__file__)), "rodinia_data.py")
# name: (folder, how it is built, how it is run). A Makefile whose device cannot be set is left out for its one command.
PROGRAMS = {
    "backprop": ("backprop", MAKE + "CUDA_LIB_DIR=\"$TOOLKIT/lib64 -lstdc++\"", "./backprop 65536"),
    "bfs": ("bfs", MAKE, "./bfs.out ../../data/bfs/graph4096.txt"),
    "dwt2d": ("dwt2d", MAKE + "NVCCFLAGS='-arch=sm_90 -O2 -I.'", "./dwt2d 192.bmp -d 192x192 -f -5 -l 3"),
    "gaussian": ("gaussian", MAKE, "./gaussian -f ../../data/gaussian/matrix208.txt"),
    "hotspot": ("hotspot", MAKE, "./hotspot 64 2 2 ../../data/hotspot/temp_64 ../../data/hotspot/power_64 output.out"),
    "hotspot3D": ("hotspot3D", "ln -sfn $OUT/gpu-rodinia $OUT/rodinia_3.0; export HOME=$OUT; " + MAKE,
                  "./3D 64 8 100 ../../data/hotspot3D/power_64x8 ../../data/hotspot3D/temp_64x8 output.out"),
    "huffman": ("huffman", MAKE + "NVCC_OPTS='-O3 -arch=sm_90'", "./pavle ../../data/huffman/test1024_H2.206587175259.in"),
    "kmeans": ("kmeans", MAKE + "CUDA_LIB_DIR=$TOOLKIT/lib64", "./kmeans -o -i ../../data/kmeans/100"),
    "lavaMD": ("lavaMD", MAKE + "CUDA_FLAG=-arch=sm_90 C_C=\"gcc -L$TOOLKIT/lib64 -L$TOOLKIT/lib64/stubs\" OMP_LIB='-lgomp -lstdc++'", "./lavaMD -boxes1d 4"),
    "leukocyte": ("leukocyte/CUDA", f"{MADE} cells cells.avi; " + MAKE + "CUDA_LIB_DIR=$TOOLKIT/lib64", "./leukocyte cells.avi 3"),
    "lud": ("lud", MAKE + "NVCCFLAGS='-I../common -O3 -use_fast_math -arch=sm_90 -lm'", "cuda/lud_cuda -s 256 -v"),
    "mummergpu": ("mummergpu", f"{MADE} genome genome reads; " + MAKE + "dbg=1 CXX='g++ -fopenmp -include unistd.h' LIB='-L../lib -lcuda -lcudart'",
                  "bin/mummergpu genome reads | sort >gpu; bin/mummergpu -C genome reads | sort >cpu; [ -s gpu ] && cmp gpu cpu && echo Success"),
    "myocyte": ("myocyte", MAKE, "./myocyte.out 100 1 0"),
    "nn": ("nn", MAKE, "./nn filelist_4 -r 5 -lat 30 -lng 90"),
    "nw": ("nw", MAKE, "./needle 2048 10"),
    "particlefilter_float": ("particlefilter", "$NVCC -O3 -use_fast_math ex_particle_CUDA_float_seq.cu -o pf", "./pf -x 128 -y 128 -z 10 -np 1000"),
    "particlefilter_naive": ("particlefilter", "$NVCC -O3 -use_fast_math ex_particle_CUDA_naive_seq.cu -o pf", "./pf -x 128 -y 128 -z 10 -np 1000"),
    "pathfinder": ("pathfinder", MAKE, "./pathfinder 100000 100 20"),
    "srad_v1": ("srad/srad_v1", DATA + "$NVCC -O3 main.cu -o srad", "./srad 10 0.5 502 458"),
    "srad_v2": ("srad/srad_v2", MAKE, "./srad 512 512 0 127 0 127 0.5 2"),
    "streamcluster": ("streamcluster", MAKE, "./sc_gpu 10 20 64 4096 4096 100 none output.txt 1"),
}
# Those that check their result: what they say where it is right, and where it is not.
CHECKS = {"lud": (">>>Verify<<<<", "dismatch")}
ARCHIVE = "data of Rodinia's archive"
NEEDS = {"b+tree": ARCHIVE, "cfd": ARCHIVE, "heartwall": ARCHIVE, "hybridsort": "OpenGL"}
WHYS = {**dict.fromkeys(("gaussian", "huffman"), "its own: it uses a member of `cudaDeviceProp` that CUDA 13 does not have"),
        **dict.fromkeys(("leukocyte", "mummergpu"), "its texture references, which nvcc 13 does not have"),
        "kmeans": "its texture references, which nvcc 13 does not have; and its own mistake, as `heddle check` says: it names a variable by a string, "
                  "which CUDA 5 took away, so its centres are zeros. Without the quotes its clusters are those of the CPU",
        "nn": "its Makefile also runs `-cuda`, which clang does not have; nothing needs the result",
        "srad_v2": "its own mistake: for the first row of its matrix it reads the row before it"}


def names(folder):
    return {"": [*PROGRAMS, *NEEDS]}


def program(folder, _, name):
    if name in NEEDS:
        return Program("gpu-rodinia", "cuda", "", "", needs=NEEDS[name])
    at, build, line = PROGRAMS[name]
    passes, fails = CHECKS.get(name, (PASSES, FAILS))
    return Program("gpu-rodinia", f"cuda/{at}", build, line, line.partition(" ")[2], passes=passes, fails=fails, why=WHYS.get(name, ""))


SUITE = Suite("Rodinia", "Few of these programs check their result; the others can only *run*. The smaller files of the archive's data come from another repository;\n"
              "mummergpu and leukocyte read a genome and a video that scripts/suites/rodinia_data.py makes.",
              {"gpu-rodinia": "https://github.com/yuhc/gpu-rodinia", "rodinia": "https://github.com/Munksgaard/rodinia"}, names, program, (NVCC_OF_OLD, HEDDLE_CC))
