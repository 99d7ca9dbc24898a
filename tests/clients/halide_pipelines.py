"""Halide's pipelines for CUDA against NumPy."""
import halide as hl
import numpy as np

from checks import check

target = hl.Target("x86-64-linux-cuda-cuda_capability_80")
image = np.random.default_rng(0).random((64, 96), np.float32)


def run(function, shape):
    out = hl.Buffer(hl.Float(32), list(shape))
    function.realize(out, target)
    out.copy_to_host()
    return np.array(out)


def points():
    x, y, i, j, f = hl.Var("x"), hl.Var("y"), hl.Var("i"), hl.Var("j"), hl.Func("points")
    f[x, y] = 3.0 * hl.Buffer(image)[x, y] + hl.sin(hl.Buffer(image)[x, y])
    f.gpu_tile(x, y, i, j, 16, 8)
    got, expected = run(f, (96, 64)), 3 * image + np.sin(image)
    return None if np.allclose(got, expected.reshape(got.shape), rtol=1e-5) else "wrong"


def a_blur():
    x, y, i, j = hl.Var("x"), hl.Var("y"), hl.Var("i"), hl.Var("j")
    across, f, source = hl.Func("across"), hl.Func("blur"), hl.Buffer(image)
    across[x, y] = source[x, y] + source[x + 1, y] + source[x + 2, y]
    f[x, y] = across[x, y] + across[x, y + 1]
    f.gpu_tile(x, y, i, j, 16, 8)
    across.compute_at(f, x).gpu_threads(x, y)  # in shared memory
    got = run(f, (80, 56))
    rows = image[:, :-2] + image[:, 1:-1] + image[:, 2:]
    expected = (rows[:-1] + rows[1:])[:56, :80]
    return None if np.allclose(got, expected, rtol=1e-5) else "wrong"


for test in points, a_blur:
    check(test.__name__, test)
