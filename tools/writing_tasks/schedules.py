"""Programs of several kernels with given boundaries, formats and knobs, and device code with claims."""

import torch
import torch.nn.functional as F

from . import given, integers, output, param, task
from .demands import allows, calls, kernel, kernels, knob_values, tensor


@task(
    param("w1", (256, 128), "up.weight"),
    param("b1", (256,), "up.bias"),
    param("w2", (128, 256), "down.weight"),
    given("x", 64, 128),
    output("y", 64, 128),
    demands=[
        kernels("up", "down"),
        kernel("up", "gemm", {"math": "fp16x3", "tile": "128x128x64"}, writes=["h"]),
        kernel("down", "gemm", {"math": "bf16x6", "tile": "64x128x64", "stages": "2"}, writes=["y"]),
        tensor("h", "f32"),
    ],
)
def mlp_kernels(w1, b1, w2, x):
    """
    An MLP in two kernels. Kernel `up` is by gemm with math fp16x3 and tile 128x128x64 and writes the declared
    intermediate tensor `h`, f32 [64, 256]: relu(x w1^T + b1), squared elementwise. Kernel `down` is by gemm with math
    bf16x6, tile 64x128x64 and 2 stages and writes y = h w2^T + x. No other knobs, nothing outside the kernels.
    """
    return {"y": F.linear(F.relu(F.linear(x, w1, b1)) ** 2, w2) + x}


@task(
    param("g", (128,), "norm.weight"),
    param("b", (128,), "norm.bias"),
    param("w", (64, 128), "lin.weight"),
    given("x", 32, 128),
    output("y", 32, 64),
    output("mu", 32),
    demands=[
        kernels("norm", "lin"),
        kernel("norm", "rows", {"threads": "128", "residency": "registers"}, writes=["t", "mu"]),
        kernel("lin", "gemm", {"math": "{bf16x6, fp16x3}", "tile": "{64x64, 128x64}"}, writes=["y"], reads=["t", "w"]),
        tensor("t", "f32", (1, 0)),
    ],
)
def norm_linear(g, b, w, x):
    """
    Layer norm and a linear layer in two kernels. Kernel `norm` is by rows with threads 128 and residency registers; it
    writes the output mu (the mean of each row of x) and the declared intermediate `t`, f32 [32, 128], which is laid out
    with its SECOND dimension outermost in memory (an order clause): the layer norm of x over the last axis (biased
    variance, eps 1e-5, weight g, bias b). Kernel `lin` is by gemm and writes y = gelu(t w^T), gelu in the erf form.
    `lin` is a space of four candidates: its knob math is the set {bf16x6, fp16x3} and its knob tile is the set {64x64,
    128x64}, in this order, not tied together. No other knobs, nothing outside the kernels.
    """
    return {"y": F.gelu(F.linear(F.layer_norm(x, (128,), g, b), w)), "mu": x.mean(1)}


@task(
    param("w", (8, 4, 3, 3), "conv.weight"),
    param("b", (8,), "conv.bias"),
    given("x", 2, 4, 10, 10),
    output("y", 2, 8, 5, 5),
    demands=[
        kernels("pack", "conv"),
        kernel("pack", "map", {"vector": "4"}, writes=["xp"], reads=["x"]),
        kernel(
            "conv", "conv", {"math": "fp16x3", "tile": "128x64x32", "stages": "3"}, writes=["y"], reads=["xp", "w", "b"]
        ),
        tensor("xp", "f16", (0, 2, 3, 1)),
    ],
)
def packed_conv(w, b, x):
    """
    A convolution with a layout change in front. Kernel `pack` is by map with vector 4: it stores relu(x) as the
    declared intermediate `xp`, whose indices are [batch, channel, row, column] like x's, but whose format is f16 and
    whose memory layout is channels-last (order batch, row, column, channel from the outermost to the innermost). Kernel
    `conv` is by conv with math fp16x3, tile 128x64x32 and 3 stages: y = the 3x3 convolution of xp with stride 2 and
    padding 1, plus bias, clamped to [-1, 1]. No other knobs, nothing outside the kernels.
    """
    return {"y": F.conv2d(F.relu(x), w, b, stride=2, padding=1).clamp(-1, 1)}


@task(
    param("w", (3, 64, 32), "experts.weight"),
    given("x", 3, 48, 32),
    output("y", 3, 48, 64),
    output("peak", 3, 48),
    demands=[
        kernels("bmm", "peak"),
        kernel(
            "bmm",
            "gemm",
            {"math": "bf16x6", "(tile, cluster)": "{(128x128x64, 2x1), (64x256x64, 1x2)}", "group": "4"},
            writes=["y"],
        ),
        kernel("peak", "rows", {}, writes=["peak"], reads=["y"]),
    ],
)
def tied_space(w, x):
    """
    A batched product and a statistic in two kernels. Kernel `bmm` is by gemm: y[e, m, n] = tanh of the sum over k of
    x[e, m, k] * w[e, n, k]. Its knobs: math bf16x6; tile and cluster TIED together in a set of two pairs, (128x128x64
    with 2x1) and (64x256x64 with 1x2), in this order; group 4. Kernel `peak` is by rows without knobs and reads only y:
    the output peak is the largest absolute value of each row of y (over n). Nothing outside the kernels.
    """
    y = torch.tanh(x @ w.transpose(1, 2))
    return {"y": y, "peak": y.abs().amax(-1)}


@task(
    param("w", (64, 32), "lin.weight"),
    param("s", (64,), "lin.scale"),
    given("x", 16, 32),
    output("y", 16, 64),
    demands=[
        kernels("pack", "lin"),
        kernel("pack", "map", writes=["wp"], reads=["w", "s"], once=True),
        kernel("lin", "gemm", {"math": "bf16x6"}, writes=["y"], reads=["x", "wp"]),
        tensor("wp", "f32"),
        allows("frozen"),
    ],
)
def frozen_pack(w, s, x):
    """
    A linear layer whose weight is prepared once, when the module is loaded. Kernel `pack` runs once, by map: it writes
    the declared intermediate `wp`, f32 with shape [32, 64] (the transpose of w), holding w[n, k] * exp(s[n]) at [k, n].
    Kernel `lin` is by gemm with math bf16x6 as its only knob and writes y = x times wp (y[m, n] = sum over k of x[m, k]
    * wp[k, n]). Weights are frozen: say what the program must allow. Nothing outside the kernels.
    """
    return {"y": F.linear(x, w * s.exp()[:, None])}


@task(
    given("q", 2, 64, 32),
    given("k", 2, 64, 32),
    given("v", 2, 64, 32),
    output("o", 2, 64, 32),
    demands=[
        kernels("scores", "probs", "mix"),
        kernel("scores", "gemm", {"math": "fp16x3"}, writes=["s"], reads=["q", "k"]),
        kernel("probs", "rows", {"residency": "{registers, shared}"}, writes=["p"], reads=["s"]),
        kernel("mix", "gemm", {"math": "fp16x3"}, writes=["o"], reads=["p", "v"]),
        tensor("s", "f32"),
        tensor("p", "f16"),
    ],
)
def attention_kernels(q, k, v):
    """
    Causal attention of one head in three kernels; all tensors are [batch, time, dim]. Kernel `scores`, by gemm with
    math fp16x3: the declared tensor `s`, f32 [2, 64, 64], is q.k / sqrt(32) for every pair of query i and key j
    (without a mask). Kernel `probs`, by rows, with residency the set {registers, shared}: the declared tensor `p`, f16
    [2, 64, 64], is the softmax over the keys j <= i, and exactly 0 where j > i. Kernel `mix`, by gemm with math fp16x3:
    o = p times v, summed over ALL keys. No other knobs, nothing outside the kernels.
    """
    return {"o": F.scaled_dot_product_attention(q, k, v, is_causal=True)}


def _names(layer):
    short = ("weight_ih", "weight_hh", "bias_ih")
    return [f"rnn.{layer}.{name}" for name in short]


@task(
    *[
        param(f"{short}{layer}", shape, path)
        for layer in range(2)
        for short, shape, path in zip(("wi", "wh", "b"), ((8, 8), (8, 8), (8,)), _names(layer))
    ],
    given("x", 6, 4, 8),
    given("h0", 2, 4, 8),
    output("y", 6, 4, 8),
    demands=[
        calls("layer", 2),
        kernels("inp", "loop", "inp", "loop"),
        kernel("inp", "gemm", {}),
        kernel("loop", "recurrent"),
        knob_values("loop", "weights", "registers", "registers"),
        knob_values("loop", "ctas", "8", "16"),
    ],
)
def rnn_two_layers(wi0, wh0, b0, wi1, wh1, b1, x, h0):
    """
    A relu RNN of two layers in ONE def named `layer`, called twice: at module path "rnn.0" on x with the initial state
    h0[0], and at "rnn.1" on the first layer's result with h0[1]; the second result is y. x is [time, batch, feature].
    The def owns three params, "weight_ih" [8, 8], "weight_hh" [8, 8] and "bias_ih" [8] (below they are listed with
    their full module paths), and holds two kernels. Kernel `inp`, by gemm without knobs: a declared tensor of the def,
    f32 [time, batch, 8], weight_ih x + bias_ih. Kernel `loop`, by recurrent with the knobs weights=registers and
    ctas=8: h_t = relu(that tensor at t + weight_hh h_(t-1)). At the second call the knob ctas of `loop` is overridden
    to 16. Nothing outside these kernels.
    """
    for layer, (wi, wh, b) in enumerate(((wi0, wh0, b0), (wi1, wh1, b1))):
        h, out = h0[layer], []
        for t in range(6):
            h = F.relu(F.linear(x[t], wi, b) + F.linear(h, wh))
            out.append(h)
        x = torch.stack(out)
    return {"y": x}


@task(
    param("g", (16,), "norm.weight"),
    given("x", 4, 16, 8),
    given("r", 4, 16, 8),
    output("y", 4, 16, 8),
    output("res", 4, 16, 8),
    demands=[
        kernels("fused"),
        kernel(
            "fused",
            "cuda",
            {
                "": '"fused.cu"',
                "entry": '"add_rms_gelu"',
                "args": "(x, r, g, y, res, 4, 8)",
                "grid": "(1, 4)",
                "block": "(32, 8)",
                "smem": "1024",
            },
            writes=["y", "res"],
        ),
    ],
)
def cuda_add_norm(g, x, r):
    """
    A claim about given device code. One kernel named `fused`, by cuda: source "fused.cu", entry "add_rms_gelu",
    arguments in this order: the tensors x, r, g, y, res, then the dims for the batch (4) and for the columns (8),
    passed by the names of dims of the program; grid: columns divided by 8, then batch; block 32 by 8; 1024 bytes of
    smem, in this order of knobs. Its equations: res = x + r; y = gelu (tanh form) of res divided by the root of (mean
    of res^2 over the MIDDLE axis + 1e-6) and multiplied by g of the middle index.
    """
    res = x + r
    return {
        "y": F.gelu(res * torch.rsqrt((res**2).mean(1, keepdim=True) + 1e-6) * g[:, None], approximate="tanh"),
        "res": res,
    }


@task(
    given("id", 20, dtype="i64", make=integers(0, 6)),
    given("x", 20, 3),
    given("q", 8, 3),
    output("y", 8, 3),
    demands=[
        kernels("count", "pick"),
        kernel(
            "count",
            "cuda",
            {
                "": '"count.cu"',
                "entry": '"segment"',
                "args": "(id, x, n, m)",
                "grid": "(6, 1)",
                "block": "128",
                "cluster": "2",
            },
            writes=["n", "m"],
            reads=["id", "x"],
        ),
        kernel("pick", "map", {"threads": "128"}, writes=["y"], reads=["q", "m", "n"]),
        tensor("n", "i32"),
        tensor("m", "f32"),
    ],
)
def segments(id, x, q):
    """
    Two kernels. Kernel `count`, by cuda: source "count.cu", entry "segment", arguments id, x, n, m in this order, grid
    6 by 1, block 128, cluster 2, in this order of knobs. It claims: the declared tensor `n`, i32 [6], holds how many of
    the 20 entries of id equal each of 0..5; the declared tensor `m`, f32 [6, 3], the sum of the rows of x whose id is
    that number. Kernel `pick`, by map with threads 128, reads q, m and n: for each row i of q and column d, y[i, d] =
    q[i, d] - m[j, d] / max(n[j], 1), where j is i % 6. Nothing outside the kernels.
    """
    n = torch.bincount(id, minlength=6)
    m = torch.zeros(6, 3, dtype=x.dtype).index_add(0, id, x)
    j = torch.arange(8) % 6
    return {"y": q - m[j] / n[j].clamp(min=1)[:, None]}
