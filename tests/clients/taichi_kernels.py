"""Taichi's kernels against NumPy."""
import numpy as np
import taichi as ti

from checks import check

ti.init(arch=ti.cuda, log_level=ti.ERROR)
if ti.lang.impl.current_cfg().arch != ti.cuda:
    raise SystemExit("Taichi has found no CUDA")
x = np.random.default_rng(0).random(1000, np.float32)


@ti.kernel
def scale(x: ti.types.ndarray(), y: ti.types.ndarray(), by: ti.f32):
    for i in x:
        y[i] = by * x[i] + ti.sin(x[i])


@ti.kernel
def total(x: ti.types.ndarray()) -> ti.f32:
    sum = 0.0
    for i in x:
        sum += x[i]
    return sum


@ti.kernel
def stencil(x: ti.template(), y: ti.template()):
    for i, j in y:
        y[i, j] = x[i, j] + x[i + 1, j] + x[i, j + 1]


def scaled():
    y = np.zeros_like(x)
    scale(x, y, 3)
    return None if np.allclose(y, 3 * x + np.sin(x), rtol=1e-5, atol=1e-6) else str(y[:4])


def summed():
    got = total(x)
    return None if np.isclose(got, x.sum(), rtol=1e-4) else f"{got}, not {x.sum()}"


def a_field():
    a, b = ti.field(ti.f32, (33, 33)), ti.field(ti.f32, (32, 32))
    image = np.random.default_rng(1).random((33, 33), np.float32)
    a.from_numpy(image)
    stencil(a, b)
    return None if np.allclose(b.to_numpy(), image[:-1, :-1] + image[1:, :-1] + image[:-1, 1:], rtol=1e-5) else "wrong"


for test in scaled, summed, a_field:
    check(test.__name__, test)
