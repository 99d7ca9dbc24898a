"""tinygrad's own tests of CUDA run without a GPU on an emulator, a library whose ptx_run() gets the PTX of a kernel and its launch: how long
does the one take that is loaded? Prints for each operation the seconds of its first launches, and the least of three times its later ones."""
import time

import numpy as np
from test.mockgpu.cuda import cuda
from tinygrad import Tensor

spent, run = 0.0, cuda.ptx_run


def timed(*arguments):
    global spent
    begin = time.perf_counter()
    run(*arguments)
    spent += time.perf_counter() - begin


cuda.ptx_run = timed
R = np.random.default_rng(0)
LONG, SQUARE, IMAGES, FILTERS = (R.standard_normal(shape).astype(np.float32) for shape in ((1 << 20,), (256, 256), (4, 8, 32, 32), (16, 8, 3, 3)))
MATRIX = LONG.reshape(1024, 1024)
OPERATIONS = {
    "sum of two vectors of 1 M": (lambda x, y: x + y, LONG, LONG),
    "exp of 1 M": (lambda x: x.exp(), LONG),
    "sum of 1 M": (lambda x: x.sum(), LONG),
    "softmax of 1024 x 1024": (lambda x: x.softmax(-1), MATRIX),
    "product of 256 x 256": (lambda x, y: x @ y, SQUARE, SQUARE),
    "convolution 3 x 3 of 4 x 8 x 32 x 32, 16 filters": (lambda x, y: x.conv2d(y), IMAGES, FILTERS),
}
for name, (operation, *arrays) in OPERATIONS.items():
    times = []
    for _ in range(4):
        spent = 0.0
        operation(*(Tensor(a) for a in arrays)).realize()
        times.append(spent)
    print(f"{times[0]} {min(times[1:])} {name}", flush=True)
