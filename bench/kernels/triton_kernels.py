"""The opponents of `solstice bench kernels` in Triton, written after its tutorials, with a small space to tune."""

import torch
import triton
import triton.language as tl

_TILES = [
    triton.Config({"BM": m, "BN": n, "BK": 64}, num_warps=warps, num_stages=stages)
    for m, n, warps in ((128, 256, 8), (128, 128, 8), (128, 128, 4), (256, 128, 8))
    for stages in (3, 4)
]
_PAIRS = [
    triton.Config({"BM": 128, "BN": n, "BK": 64}, num_warps=8, num_stages=stages)
    for n in (64, 128)
    for stages in (3, 4)
]
_STREAMS = [
    triton.Config({"BN": n, "BK": k}, num_warps=warps, num_stages=stages)
    for n, k in ((16, 256), (32, 256), (64, 128), (16, 512))
    for warps in (4, 8)
    for stages in (3, 4)
]


@triton.jit
def _place(pid, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Neighbouring programs share rows of the weight in L2."""
    group = pid // (GROUP * tiles_n)
    first = group * GROUP
    size = min(tiles_m - first, GROUP)
    return first + pid % size, (pid % (GROUP * tiles_n)) // size


@triton.autotune(configs=_TILES, key=["M", "N", "K"])
@triton.jit
def _linear(x, w, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = _place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    m, n, k = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    a, b = x + (m % M)[:, None] * K + k[None, :], w + (n % N)[None, :] * K + k[:, None]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        left = k < K - at
        sums = tl.dot(tl.load(a, mask=left[None, :], other=0.0), tl.load(b, mask=left[:, None], other=0.0), sums)
        a += BK
        b += BK
    tl.store(y + m[:, None] * N + n[None, :], sums.to(tl.bfloat16), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.autotune(configs=_PAIRS, key=["M", "N", "K"])
@triton.jit
def _gated(x, gate, up, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = _place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    m, n, k = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    a, rows = x + (m % M)[:, None] * K + k[None, :], (n % N)[None, :] * K + k[:, None]
    first, second = tl.zeros((BM, BN), dtype=tl.float32), tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        left = k < K - at
        block = tl.load(a, mask=left[None, :], other=0.0)
        first = tl.dot(block, tl.load(gate + rows + at, mask=left[:, None], other=0.0), first)
        second = tl.dot(block, tl.load(up + rows + at, mask=left[:, None], other=0.0), second)
        a += BK
    first = first.to(tl.bfloat16).to(tl.float32)  # PyTorch rounds what each product gives
    silu = (first * tl.sigmoid(first)).to(tl.bfloat16).to(tl.float32)
    hidden = silu * second.to(tl.bfloat16).to(tl.float32)
    tl.store(y + m[:, None] * N + n[None, :], hidden.to(tl.bfloat16), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.autotune(configs=_STREAMS, key=["N", "K"])
@triton.jit
def _few_rows(x, w, y, M, N, K, ROWS: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, ROWS), tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BK)
    a, b = x + (m % M)[:, None] * K + k[None, :], w + (n % N)[None, :] * K + k[:, None]
    sums = tl.zeros((ROWS, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        left = k < K - at
        sums = tl.dot(tl.load(a, mask=left[None, :], other=0.0), tl.load(b, mask=left[:, None], other=0.0), sums)
        a += BK
        b += BK
    tl.store(y + m[:, None] * N + n[None, :], sums.to(tl.bfloat16), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def _rms_norm(x, scale, y, K, eps, BK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BK)
    wide = tl.load(x + row * K + k, mask=k < K, other=0.0).to(tl.float32)
    normed = wide * tl.rsqrt(tl.sum(wide * wide) / K + eps)
    tl.store(
        y + row * K + k, (normed * tl.load(scale + k, mask=k < K, other=0.0).to(tl.float32)).to(tl.bfloat16), mask=k < K
    )


def linear(x, weight):
    (m, k), n = x.shape, weight.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    _linear[lambda c: (triton.cdiv(m, c["BM"]) * triton.cdiv(n, c["BN"]),)](x, weight, y, m, n, k)
    return y


def gated(x, gate, up):
    (m, k), n = x.shape, gate.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    _gated[lambda c: (triton.cdiv(m, c["BM"]) * triton.cdiv(n, c["BN"]),)](x, gate, up, y, m, n, k)
    return y


def few_rows(x, weight):
    (m, k), n = x.shape, weight.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    _few_rows[lambda c: (triton.cdiv(n, c["BN"]),)](x, weight, y, m, n, k, ROWS=max(16, triton.next_power_of_2(m)))
    return y


def rms_norm(x, scale, eps):
    m, k = x.shape
    y = torch.empty_like(x)
    _rms_norm[(m,)](x, scale, y, k, eps, BK=triton.next_power_of_2(k), num_warps=8)
    return y
