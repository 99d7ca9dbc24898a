"""tinygrad's tensors on the device of DEV against NumPy."""
import numpy as np
from tinygrad import Tensor, dtypes

from checks import check

R = np.random.default_rng(0)
X = R.standard_normal((33, 47)).astype(np.float32)
Y = R.standard_normal((33, 47)).astype(np.float32)
W = R.standard_normal((47, 29)).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def same(name, tensors, arrays, *inputs, tolerance=1e-4):
    def test():
        got, expected = tensors(*map(Tensor, inputs)).numpy(), arrays(*inputs)
        return None if np.allclose(got, expected, rtol=tolerance, atol=tolerance) else "wrong result"

    check(name, test)


same("add", lambda x, y: x + y, lambda x, y: x + y, X, Y)
same("multiply", lambda x, y: x * y, lambda x, y: x * y, X, Y)
same("divide", lambda x, y: x / y, lambda x, y: x / y, X, Y, tolerance=1e-3)
same("maximum", lambda x, y: x.maximum(y), np.maximum, X, Y)
same("where", lambda x, y: (x > y).where(x, y), np.maximum, X, Y)
for name, function in {"exp": np.exp, "sin": np.sin, "tanh": np.tanh, "abs": np.abs, "floor": np.floor, "sign": np.sign}.items():
    same(name, lambda x: getattr(x, name)(), function, X)
same("sqrt", lambda x: x.abs().sqrt(), lambda x: np.sqrt(np.abs(x)), X)
same("log", lambda x: (x.abs() + 1).log(), lambda x: np.log(np.abs(x) + 1), X)
same("sum", lambda x: x.sum(), np.sum, X, tolerance=1e-3)
same("sum-0", lambda x: x.sum(0), lambda x: x.sum(0), X)
same("max-1", lambda x: x.max(1), lambda x: x.max(1), X)
same("mean", lambda x: x.mean(1), lambda x: x.mean(1), X)
same("variance", lambda x: x.var(1), lambda x: x.var(1, ddof=1), X)
same("softmax", lambda x: x.softmax(-1), softmax, X)
same("argmax", lambda x: x.argmax(1), lambda x: x.argmax(1), X)
same("cumsum", lambda x: x.cumsum(1), lambda x: x.cumsum(1), X, tolerance=1e-3)
same("matmul", lambda x, w: x @ w, lambda x, w: x @ w, X, W, tolerance=1e-3)
same("transpose", lambda x: x.T.contiguous() * 2, lambda x: x.T * 2, X)
same("concatenate", lambda x, y: x.cat(y, dim=1), lambda x, y: np.concatenate([x, y], 1), X, Y)
same("pad", lambda x: x.pad(((1, 2), (3, 4))), lambda x: np.pad(x, ((1, 2), (3, 4))), X)
same("gather", lambda x: x[[3, 1, 4, 1, 5]], lambda x: x[[3, 1, 4, 1, 5]], X)
same("half", lambda x: (x.cast(dtypes.half) * 2).cast(dtypes.float), lambda x: 2 * x, X, tolerance=1e-2)
same("integers", lambda x: (x * 100).cast(dtypes.int) // 7, lambda x: (x * 100).astype(np.int32) // 7, np.abs(X))
same("convolution", lambda x: x.reshape(1, 1, 33, 47).conv2d(Tensor.ones(1, 1, 3, 3)).sum(),
     lambda x: sum(x[i:i + 31, j:j + 45].sum() for i in range(3) for j in range(3)), X, tolerance=1e-2)


def gradient():
    x = Tensor(X)
    (slope,) = (x * x).sum().gradient(x)
    return None if np.allclose(slope.numpy(), 2 * X, atol=1e-4) else "wrong result"


check("gradient", gradient)
