# Twelve kernels in Triton's language, for PTX as its compiler writes it.
import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + at, e / tl.sum(e, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        p = tl.load(a + m[:, None] * K + k[None, :])
        q = tl.load(b + k[:, None] * N + n[None, :])
        acc = tl.dot(p, q, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(keep, v / (1 - p), 0.0), mask=at < n)


@triton.jit
def layer_norm(x, out, weight, bias, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < n, other=0.0)
    m = tl.sum(v, axis=0) / n
    d = tl.where(at < n, v - m, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    tl.store(out + row * stride + at, d * r * tl.load(weight + at, mask=at < n) + tl.load(bias + at, mask=at < n), mask=at < n)


@triton.jit
def transpose(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    tl.store(out + n[:, None] * M + m[None, :], tl.trans(v), mask=(n[:, None] < N) & (m[None, :] < M))


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(bins + v, 1, mask=at < n)


@triton.jit
def scan(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at, mask=at < n, other=0), axis=0), mask=at < n)


@triton.jit
def lock_add(lock, total, x, BLOCK: tl.constexpr):
    s = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), axis=0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + s)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def gelu_half(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, eviction_policy="evict_first").to(tl.float32)
    g = 0.5 * v * (1 + tl.erf(v * 0.70710678))
    tl.store(out + at, g.to(tl.float16), mask=at < n, eviction_policy="evict_last")


@triton.jit
def argmax(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    tl.store(out + tl.program_id(0), tl.argmax(v, axis=0))


@triton.jit
def attention(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    a = tl.load(q + m[:, None] * D + d[None, :])
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n0 in range(0, N, BN):
        n = n0 + tl.arange(0, BN)
        s = tl.dot(a, tl.load(k + n[None, :] * D + d[:, None])) * scale
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        old = tl.exp2(top - new)
        total = total * old + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + n[:, None] * D + d[None, :]), acc * old[:, None])
        top = new
    tl.store(out + m[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


F, H, I = "*fp32", "*fp16", "*i32"
ALL = {
    vector_add: ((F, F, F, "i32"), dict(BLOCK=1024)),
    softmax: ((F, F, "i32", "i32"), dict(BLOCK=1024)),
    matmul: ((H, H, H, "i32", "i32", "i32"), dict(BM=64, BN=64, BK=32)),
    dropout: ((F, F, "i32", "fp32", "i32"), dict(BLOCK=1024)),
    layer_norm: ((F, F, F, F, F, F, "i32", "i32", "fp32"), dict(BLOCK=1024)),
    transpose: ((F, F, "i32", "i32"), dict(BM=32, BN=32)),
    histogram: ((I, I, "i32"), dict(BLOCK=256)),
    scan: ((I, I, "i32"), dict(BLOCK=512)),
    lock_add: ((I, F, F), dict(BLOCK=256)),
    gelu_half: ((H, H, "i32"), dict(BLOCK=1024)),
    argmax: ((F, I, "i32"), dict(BLOCK=512)),
    attention: ((H, H, H, H, "fp32", "i32"), dict(D=64, BM=64, BN=32)),
}
