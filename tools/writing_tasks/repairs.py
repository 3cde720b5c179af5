"""Broken programs: the prompt shows them with what `solstice check` says."""

import torch
import torch.nn.functional as F

from . import buffer, coins, given, integers, output, param, positive, task
from .demands import calls, kernel, kernels, problem


@task(
    param("w", (16, 8), "lin.weight"),
    param("b", (16,), "lin.bias"),
    given("x", 4, 8),
    output("y", 4, 16),
    output("top", 4, dtype="i64"),
    demands=[problem],
    broken="""
    dim M = 4, K = 8, N = 16
    param w : f32[N, K] "lin.weight"
    param b : f32[N] "lin.bias"
    input x : f32[M, K]
    output y : f32[M, N]
    output top : f64[M]
    z[m,n] = x[m,k] * w[k,n] + b
    e[m,n] = exp(z[m,n] - max(z[m,n], dim=1))
    y[m,n] = e[m,n] / sum[n](e)
    top[m] = argmax[n](y[m,n]
    """,
)
def classifier(w, b, x):
    """Meant: y = softmax over n of (x w^T + b), and top (i64) the position of the largest y of each row."""
    y = F.softmax(F.linear(x, w, b), -1)
    return {"y": y, "top": y.argmax(-1)}


@task(
    param("w", (6, 3, 3, 3), "conv.weight"),
    given("x", 2, 3, 9, 9),
    output("y", 2, 6, 2, 2),
    demands=[problem],
    broken="""
    dim B = 2, C = 3, K = 6, H = 9, P = (H + 2 - 3)/2 + 1, Q = P//2
    param w : f32[K, C, 3, 3] "conv.weight"
    input x : f32[B, C, H, H]
    output y : f32[B, K, Q, Q]
    t[n,k,p,q] = relu(sum[c,r,s](x[n,c,2*p+r-1,2*q+s-1] * w[k,c,r,s]))
    y[n,k,p,q] = max[i,j](t[n,k,2*p+i,2*q+j])
    """,
)
def conv_pool(w, x):
    """
    Meant: y = max pool 2x2 with stride 2 (no padding) of relu of the 3x3 convolution of x with stride 2 and padding 1
    (no bias). The convolution's result is 5x5, the last row and column do not reach the pool.
    """
    return {"y": F.max_pool2d(F.relu(F.conv2d(x, w, stride=2, padding=1)), 2)}


@task(
    param("g", (4,), "bn.weight"),
    buffer("rm", (4,), "bn.running_mean"),
    buffer("rv", (4,), "bn.running_var", make=positive),
    given("x", 3, 4, 5),
    output("y", 3, 4, 5),
    demands=[problem],
    broken="""
    dim B = 3, C = 4, L = 5, CNT = B*L
    param g : f32[C] "bn.weight"
    buffer rm : f32[C] "bn.running_mean"
    buffer rv : f32[C] "bn.running_var"
    input x : f32[B, C, L]
    output y : f32[B, C, L]
    mu[c] = mean[b,l](x[b,c,l])
    vr[c] = var[b](x[b,c,l])
    y[b,c,l] = (x[b,c,l] - mu) * rsqrt(vr[c] + 1e-5) * g[c,0]
    rm[c] = 0.9*rm[c] + 0.1*mu[c]
    rv1[c] = 0.9*rv[c] + 0.1*vr[c]*CNT/(CNT-1) into rv
    """,
)
def batch_norm(g, rm, rv, x):
    """
    Meant: batch norm in training mode over batch and length (biased variance, eps 1e-5, weight g, no bias), and the
    updates of the running mean and of the running variance (momentum 0.1, the variance unbiased).
    """
    rm, rv = rm.clone(), rv.clone()
    y = F.batch_norm(x, rm, rv, g, None, training=True)
    return {"y": y, "rm": rm, "rv": rv}


@task(
    param("w", (4, 4), "cell.weight"),
    given("x", 6, 2, 4),
    given("h0", 2, 4),
    output("h", 6, 2, 4),
    output("total", 2),
    demands=[problem],
    broken="""
    dim T = 6, B = 2, D = 4
    param w : f32[D, D] "cell.weight"
    input x : f32[T, B, D]
    input h0 : f32[B, D]
    output h : f32[T, B, D]
    output total : f32[B]
    s[t,b,d] = x[t,b,d] + sum[e](h[t,b,e else h0[b,e]] * w[d,e])
    h[t,b,d] = tanhh(s[t,b,d]) + 0.5*h[t-1,b,d]
    total[b] = sum[t,t](sum[d](h[t,b,d]))
    """,
)
def leaky_rnn(w, x, h0):
    """
    Meant: h_t = tanh(x_t + w h_(t-1)) + 0.5 * h_(t-1) with initial state h0, where (w h)[d] sums over e of w[d, e] *
    h[e]; h holds every step, total[b] the sum of h over time and features.
    """
    h, out = h0, []
    for t in range(6):
        h = torch.tanh(x[t] + F.linear(h, w)) + 0.5 * h
        out.append(h)
    return {"h": torch.stack(out), "total": torch.stack(out).sum((0, 2))}


@task(
    param("wa", (8, 4), "blocks.0.weight"),
    param("wb", (8, 8), "blocks.1.weight"),
    given("x", 3, 4),
    output("y", 3, 8),
    demands=[problem, calls("block", 2)],
    broken="""
    def block[K](x : f32[N,C]) -> y : f32[N,K] {
      param w : f32[K,C] "weight"
      t[n,k] = sum[c](x[n,c] * w[k,c]) * SCALE
      y[n,k] = silu(t[n,c])
    }
    dim N = 3, C = 4, K = 8, SCALE = 2
    input x : f32[N, C]
    output y : f32[N, K]
    h = block(x) at "blocks.0"
    y = blok[K=K](h) at "blocks.1"
    """,
)
def two_blocks(wa, wb, x):
    """
    Meant: y = block(block(x)), where block(u) = silu(2 * u w^T) and each call has its own weight: [8, 4] at module path
    "blocks.0", [8, 8] at "blocks.1". Keep the one def `block` with two calls.
    """
    return {"y": F.silu(2 * F.linear(F.silu(2 * F.linear(x, wa)), wb))}


@task(
    param("w1", (128, 64), "fc1.weight"),
    param("w2", (64, 128), "fc2.weight"),
    given("x", 32, 64),
    output("y", 32, 64),
    demands=[
        kernels("up", "act", "down"),
        kernel("up", "gemm", {"math": "fp16x3", "tile": "64x128x64", "cluster": "2x1"}, writes=["h"]),
        kernel("act", "rows", {"threads": "128"}, writes=["a"], reads=["h"]),
        kernel("down", "gemm", {"math": "fp16x3", "tile": "64x64"}, writes=["y"], reads=["a", "w2"]),
    ],
    broken="""
    dim M = 32, D = 64, F = 128
    param w1 : f32[F, D] "fc1.weight"
    param w2 : f32[D, F] "fc2.weight"
    input x : f32[M, D]
    output y : f32[M, D]
    kernel up by gem(math=fp16x3, tile=64x128x32, cluster=2x1) {
      h[m,f] = sum[d](x[m,d] * w1[f,d])
    }
    kernel act by rows(thread=128) {
      a[m,f] = exp(h[m,f]) / sum[g](exp(h[m,g]))
    }
    kernel down by gemm(math=fp16x4, tile=64x64) {
      y[m,d] = sum[f](a[m,f] * w2[d,f])
    }
    """,
)
def softmax_mlp(w1, w2, x):
    """
    Meant: y = softmax(x w1^T) w2^T, softmax over the 128 features, in the three kernels `up` (gemm, math fp16x3, a tile
    of 64x128 whose k is the legal one, cluster 2x1), `act` (rows, 128 threads) and `down` (gemm, math fp16x3, tile
    64x64). The f32 tensors `h` and `a` cross kernels. The softmax must not overflow: subtract each row's maximum.
    """
    return {"y": F.linear(F.softmax(F.linear(x, w1), -1), w2)}


@task(
    given("q", 2, 5, 4),
    given("k", 2, 5, 4),
    given("v", 2, 5, 4),
    given("keep", 2, 5, dtype="bool", make=coins),
    output("o", 2, 5, 4),
    output("best", 2, 5, 2, dtype="i64"),
    demands=[problem],
    broken="""
    dim B = 2, T = 5, D = 4
    input q : f32[B, T, D]
    input k : f32[B, T, D]
    input v : f32[B, T, D]
    input keep : bool[B, T]
    output o : f32[B, T, D]
    output best : i64[B, T, 2]
    s[b,i,j] = sum[d](q[b,i,d] * k[b,j,d]) / sqrt(D) where j <= i
    p[b,i,j] = exp(s[b,i,j] - max[j where keep](s[b,i,j]))
    l[b,i] = sum[j where keep[b,j] and j < i + 1](p[b,i,j])
    o[b,i,d] = sum[j where keep[b,j] and j <= i](p[b,i,j] * v[b,j,d]) / l[b,i,0]
    best[b,i,r] = argtop[j](s[b,i,j])
    """,
)
def masked_attention(q, k, v, keep):
    """
    Meant: causal attention that also leaves out keys whose keep[b, j] is false (key 0 is always kept), with scores s =
    q.k / sqrt(D); and best[b, i, r], r in 0..1: the keys with the largest and second largest score s[b, i, :] among ALL
    keys, without any mask.
    """
    s = q @ k.transpose(1, 2) / 2
    mask = torch.ones(5, 5, dtype=torch.bool).tril() & keep[:, None]
    return {"o": F.softmax(s.masked_fill(~mask, -torch.inf), -1) @ v, "best": torch.topk(s, 2).indices}


@task(
    param("e", (10, 4), "embed.weight"),
    param("w", (4, 8), "up.weight"),
    given("id", 2, 3, dtype="i64", make=integers(0, 10)),
    output("y", 2, 5, 8),
    demands=[
        kernels("gather", "expand"),
        kernel("gather", "map", {"threads": "256", "vector": "4"}, writes=["t"]),
        kernel(
            "expand",
            "cuda",
            {"": '"expand.cu"', "entry": '"expand"', "args": "(t, w, y, 2)", "grid": "(2, 1)", "block": "64"},
            writes=["y"],
        ),
    ],
    broken="""
    dim B = 2, T = 3, D = 4, F = 8
    param e : f32[10, D] "embed.weight"
    param w : f32[D, F] "up.weight"
    input id : i64[B, T]
    output y : f32[B, 5, F]
    tensor t : f32[B, T+2, D]
    kernel gather by map(threads=200, vector=4) {
      t[b,i,d] = e[id[b,i],d] for i<T
      t[b,T+1+i,d] = 0 for i<2
    }
    kernel expand by cuda("expand.cu", entry="expand", arguments=(t, w, y, B), grid=(B, 1), block=64) {
      y[b,i,f] = relu(sum[c](t[b,i,c] * w[f,c]))
    }
    """,
)
def embed_pad(e, w, id):
    """
    Meant: the embeddings of the 3 tokens, padded with 2 rows of zeros to 5 rows; then y = relu(t w), where w is [in,
    out]. Kernel `gather` is by map with threads 256 and vector 4 and writes the declared f32 tensor `t`; kernel
    `expand` is by cuda with source "expand.cu", entry "expand", args t, w, y and the dim B, grid B by 1, block 64.
    """
    return {"y": F.relu(F.pad(e[id], (0, 0, 0, 2)) @ w)}
