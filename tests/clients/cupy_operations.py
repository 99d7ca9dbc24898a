"""CuPy against NumPy: array functions, reductions, sorting, kernels of a user's own."""
import cupy as cp
import numpy as np

from checks import check

R = np.random.default_rng(0)
X = R.standard_normal((50, 60)).astype(np.float32)
Y = R.standard_normal((50, 60)).astype(np.float32)
I = R.integers(-100, 100, (50, 60)).astype(np.int32)


def same(name, function, *arrays, rtol=2e-5):
    def test():
        expected = function(np, *arrays)
        got = cp.asnumpy(function(cp, *map(cp.asarray, arrays)))
        if expected.shape != got.shape or not np.allclose(got, expected, rtol=rtol, atol=1e-5, equal_nan=True):
            return "wrong result"

    check(name, test)


for name in ("add", "subtract", "multiply", "divide", "maximum", "hypot", "arctan2", "greater", "copysign", "fmod"):
    same(name, lambda m, x, y: getattr(m, name)(x, y), X, Y)
for name in ("exp", "sin", "cos", "tanh", "sqrt", "log1p", "floor", "rint", "abs", "isfinite"):
    same(name, lambda m, x: getattr(m, name)(m.abs(x) if name in ("sqrt", "log1p") else x), X)
for name in ("bitwise_and", "left_shift", "floor_divide", "remainder", "gcd"):
    same(name, lambda m, x, y: getattr(m, name)(x, m.abs(y) % 7 + 1), I, I[::-1])
for name in ("sum", "mean", "max", "min", "argmax", "std", "prod", "any"):
    for axis in None, 0, 1:
        same(f"{name}-{axis}", lambda m, x: m.asarray(getattr(m, name)(x * (0.1 if name == "prod" else 1), axis=axis)), X, rtol=1e-3)
for name in ("cumsum", "sort", "argsort", "unique", "nonzero", "partition"):
    calls = {"unique": lambda m, x: m.unique(x), "nonzero": lambda m, x: m.stack(m.nonzero(x)), "partition": lambda m, x:
             m.sort(m.partition(x.ravel(), 100)[:100]), "argsort": lambda m, x: m.argsort(x, axis=-1, kind="stable")}
    same(name, calls.get(name, lambda m, x: getattr(m, name)(x, axis=-1)), I)
same("transpose", lambda m, x: m.ascontiguousarray(x.T) + 1, X)
same("take", lambda m, x, i: x[m.abs(i[0]) % 50], X, I)
same("where", lambda m, x, y: m.where(x > y, x, y), X, Y)
same("concatenate", lambda m, x, y: m.concatenate([x, y], axis=1), X, Y)
same("bincount", lambda m, x: m.bincount(x.ravel() + 100), I)
same("searchsorted", lambda m, x: m.searchsorted(m.arange(-90, 90, 3), x.ravel()), I)
same("half", lambda m, x: (x.astype(m.float16) * 2).astype(m.float32), X, rtol=1e-2)
same("complex", lambda m, x, y: m.abs(x + 1j * y), X, Y)


def raw_kernel():
    k = cp.RawKernel('extern "C" __global__ void twice(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;'
                     " if (i < n) p[i] *= 2; }", "twice")
    x = cp.asarray(X).copy()
    k((12,), (256,), (x, np.int32(x.size)))
    return None if np.array_equal(cp.asnumpy(x), 2 * X) else "wrong result"


def elementwise_kernel():
    k = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x * x - y", "square_minus")
    return None if np.allclose(cp.asnumpy(k(cp.asarray(X), cp.asarray(Y))), X * X - Y, atol=1e-5) else "wrong result"


def reduction_kernel():
    k = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    return None if np.allclose(float(k(cp.asarray(X))), np.linalg.norm(X), rtol=1e-5) else "wrong result"


def raw_module_of_templates():
    m = cp.RawModule(code="template<typename T> __global__ void fill(T *p, T v) { p[threadIdx.x] = v; }", name_expressions=["fill<double>"],
                     options=("--std=c++14",))
    x = cp.zeros(32)
    m.get_function("fill<double>")((1,), (32,), (x, 3.5))
    return None if bool((x == 3.5).all()) else "wrong result"


def streams_and_events():
    with cp.cuda.Stream(non_blocking=True) as s:
        x = cp.arange(1000) * 2
        e = s.record()
    e.synchronize()
    return None if int(x[-1]) == 1998 else "wrong result"


for test in raw_kernel, elementwise_kernel, reduction_kernel, raw_module_of_templates, streams_and_events:
    check(test.__name__, test)
