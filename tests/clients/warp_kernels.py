"""Warp's kernels against NumPy."""
import numpy as np
import warp as wp

from checks import check

x = np.random.default_rng(0).random(1000, np.float32)


@wp.kernel
def scale(x: wp.array(dtype=float), y: wp.array(dtype=float), by: float):
    i = wp.tid()
    y[i] = by * x[i] + wp.sin(x[i])


@wp.kernel
def total(x: wp.array(dtype=float), sum: wp.array(dtype=float)):
    wp.atomic_add(sum, 0, x[wp.tid()])


@wp.kernel
def lengths(x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.length(wp.cross(x[i], wp.vec3(0.0, 0.0, 1.0)))


def there(values, **more):
    return wp.array(values, device="cuda:0", **more)


def close(got, expected):
    return None if np.allclose(got.numpy(), expected, rtol=1e-5) else f"{got.numpy()[:4]}, not {expected[:4]}"


def scaled():
    y = there(np.zeros_like(x))
    wp.launch(scale, len(x), inputs=[there(x), y, 3.0], device="cuda:0")
    return close(y, 3 * x + np.sin(x))


def summed():
    out = there(np.zeros(1, np.float32))
    wp.launch(total, len(x), inputs=[there(x), out], device="cuda:0")
    return close(out, [x.sum()])


def crossed():
    points = x[:999].reshape(-1, 3)
    out = there(np.zeros(len(points), np.float32))
    wp.launch(lengths, len(points), inputs=[there(points, dtype=wp.vec3), out], device="cuda:0")
    return close(out, np.hypot(points[:, 0], points[:, 1]))


for test in scaled, summed, crossed:
    check(test.__name__, test)
