"""Triton's kernels (tests/triton/kernels.py) on torch's tensors against the CPU, and the time of the first two at a million elements."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "triton"))
import torch
import triton

import kernels as k
from checks import check

torch.manual_seed(0)
interpreted = os.environ.get("TRITON_INTERPRET") == "1"
device = "cpu" if interpreted else "cuda"


def there(x):
    return x.to(device)


def empty(*shape, dtype=torch.float32):
    return there(torch.zeros(shape, dtype=dtype))


def close(a, b, rtol=1e-5, atol=1e-6):
    a = a.cpu()
    if not torch.allclose(a, b.to(a.dtype), rtol=rtol, atol=atol):
        return f"off by {(a.float() - b.float()).abs().max().item():.3g}"


def vector_add(n=98432):
    x, y, out = torch.rand(n), torch.rand(n), empty(n)
    k.vector_add[(triton.cdiv(n, 1024),)](there(x), there(y), out, n, BLOCK=1024)
    return close(out, x + y)


def softmax(rows=64, n=781):
    x, out = torch.randn(rows, n), empty(rows, n)
    k.softmax[(rows,)](out, there(x), n, n, BLOCK=triton.next_power_of_2(n))
    return close(out, x.softmax(-1))


def matmul(M=128, N=192, K=96):
    a, b, out = torch.randn(M, K).half(), torch.randn(K, N).half(), empty(M, N, dtype=torch.float16)
    k.matmul[(M // 64, N // 64)](there(a), there(b), out, M, N, K, BM=64, BN=64, BK=32)
    return close(out, a.float() @ b.float(), 1e-2, 1e-2)


def dropout(n=4096):
    x = torch.rand(n) + 1
    kept = []
    for seed in 1, 1, 2:
        out = empty(n)
        k.dropout[(4,)](there(x), out, n, 0.5, seed, BLOCK=1024)
        kept.append(out.cpu() != 0)
        if wrong := close(out, torch.where(kept[-1], 2 * x, 0.0)):
            return wrong
    same, other = torch.equal(kept[0], kept[1]), torch.equal(kept[0], kept[2])
    return None if same and not other and 0.45 < kept[0].float().mean() < 0.55 else "the choice does not follow the seed"


def layer_norm(rows=32, n=700):
    x, w, b, out = torch.randn(rows, n), torch.rand(n), torch.rand(n), empty(rows, n)
    k.layer_norm[(rows,)](there(x), out, there(w), there(b), empty(rows), empty(rows), n, n, 1e-5, BLOCK=1024)
    return close(out, torch.nn.functional.layer_norm(x, (n,), w, b), 1e-4, 1e-5)


def transpose(M=200, N=300):
    x, out = torch.rand(M, N), empty(N, M)
    k.transpose[(triton.cdiv(M, 32), triton.cdiv(N, 32))](there(x), out, M, N, BM=32, BN=32)
    return close(out, x.t())


def histogram(n=10000):
    x, out = torch.randint(0, 16, (n,), dtype=torch.int32), empty(16, dtype=torch.int32)
    k.histogram[(triton.cdiv(n, 256),)](there(x), out, n, BLOCK=256)
    return close(out, torch.bincount(x, minlength=16))


def scan(n=500):
    x, out = torch.randint(-9, 9, (n,), dtype=torch.int32), empty(512, dtype=torch.int32)
    k.scan[(1,)](there(x), out, n, BLOCK=512)
    return close(out[:n], x.cumsum(0))


def lock_add(blocks=16):
    x, total = torch.ones(blocks * 256), empty(1)
    k.lock_add[(blocks,)](empty(1, dtype=torch.int32), total, there(x), BLOCK=256)
    return close(total, torch.tensor([blocks * 256.0]))


def gelu_half(n=5000):
    x, out = torch.randn(n).half(), empty(n, dtype=torch.float16)
    k.gelu_half[(triton.cdiv(n, 1024),)](there(x), out, n, BLOCK=1024)
    return close(out, torch.nn.functional.gelu(x.float()), 2e-3, 2e-3)


def argmax(rows=20, n=400):
    x, out = torch.rand(rows, n), empty(rows, dtype=torch.int32)
    k.argmax[(rows,)](there(x), out, n, BLOCK=512)
    return close(out, x.argmax(-1))


def attention(N=128, D=64):
    q, key, v = (torch.randn(N, D).half() for _ in range(3))
    out, scale = empty(N, D, dtype=torch.float16), D**-0.5 * 1.4426950408889634
    k.attention[(N // 64,)](there(q), there(key), there(v), out, scale, N, D=D, BM=64, BN=32)
    scores = (q.float() @ key.float().t()) * D**-0.5
    return close(out, scores.softmax(-1) @ v.float(), 1e-2, 1e-2)


for test in (vector_add, softmax, matmul, dropout, layer_norm, transpose, histogram, scan, lock_add, gelu_half, argmax, attention):
    if not interpreted:
        check(test.__name__, test)


def seconds(launch):
    """Of a launch, after one that compiles."""
    launch()
    begin, n = time.time(), 0
    while n < 3 or (time.time() - begin < 2 and n < 50):
        launch()
        if not interpreted:
            torch.cuda.synchronize()
        n += 1
    return (time.time() - begin) / n


def first_seconds(kernel, grid, *arguments):
    """Of the first launch, of a kernel that Triton has compiled."""
    kernel.warmup(*arguments, BLOCK=1024, grid=grid)
    torch.cuda.synchronize()
    begin = time.time()
    kernel[grid](*arguments, BLOCK=1024)
    torch.cuda.synchronize()
    return time.time() - begin


n = 1 << 20
x, y, out = there(torch.rand(n)), there(torch.rand(n)), empty(n)
launches = (k.vector_add, (n // 1024,), x, y, out, n), (k.softmax, (1024,), out, x, 1024, 1024)
if not interpreted:
    print("first", *(first_seconds(*launch) for launch in launches), flush=True)
print("times", *(seconds(lambda: kernel[grid](*arguments, BLOCK=1024)) for kernel, grid, *arguments in launches), flush=True)
