"""Blocks of sequence models."""

import math

import torch
import torch.nn.functional as F

from . import coins, given, integers, output, param, positive, task
from .demands import problem


@task(
    param("g1", (8,), "ln1.weight"),
    param("b1", (8,), "ln1.bias"),
    param("wq", (24, 8), "attn.qkv.weight"),
    param("bq", (24,), "attn.qkv.bias"),
    param("wo", (8, 8), "attn.out.weight"),
    param("bo", (8,), "attn.out.bias"),
    param("g2", (8,), "ln2.weight"),
    param("b2", (8,), "ln2.bias"),
    param("w1", (16, 8), "mlp.fc1.weight"),
    param("c1", (16,), "mlp.fc1.bias"),
    param("w2", (8, 16), "mlp.fc2.weight"),
    param("c2", (8,), "mlp.fc2.bias"),
    given("x", 2, 5, 8),
    output("y", 2, 5, 8),
    demands=[problem],
)
def prenorm_block(g1, b1, wq, bq, wo, bo, g2, b2, w1, c1, w2, c2, x):
    """
    A pre-norm transformer block with causal self-attention of 2 heads of 4 dims. r = x + attn(norm1(x)) and y = r +
    mlp(norm2(r)). Each norm is a layer norm over the last axis (biased variance, eps 1e-5, weight g, bias b). The
    linear layer attn.qkv gives 24 features a token: q is features 0..7, k 8..15, v 16..23, and inside each feature
    4*h+d belongs to head h, dim d. Scores are q.k / sqrt(4); a token sees itself and earlier ones; softmax; the heads'
    outputs are concatenated in the same order and go through attn.out. The mlp is fc1, gelu (tanh form), fc2. Every
    linear layer has weight [out, in] and a bias. Equations only, no kernels.
    """
    q, k, v = F.linear(F.layer_norm(x, (8,), g1, b1), wq, bq).view(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 5, 8)
    r = x + F.linear(o, wo, bo)
    t = F.gelu(F.linear(F.layer_norm(r, (8,), g2, b2), w1, c1), approximate="tanh")
    return {"y": r + F.linear(t, w2, c2)}


@task(
    param("g", (6,), "norm.weight"),
    param("w1", (10, 6), "gate_up.weight"),
    param("w2", (6, 5), "down.weight"),
    given("x", 2, 3, 6),
    output("y", 2, 3, 6),
    demands=[problem],
)
def glu_mlp(g, w1, w2, x):
    """
    A gated MLP with a residual. t = RMS norm of x over the last axis: x / sqrt(mean(x^2) + 1e-6) * g. gate_up (weight
    [10, 6], no bias) gives 10 features, the gate is features 0..4 and the value features 5..9. Then
    y = x + down(silu(gate) * value). Equations only.
    """
    gate, value = F.linear(F.rms_norm(x, (6,), g, 1e-6), w1).chunk(2, -1)
    return {"y": x + F.linear(F.silu(gate) * value, w2)}


@task(
    param("wi", (12, 4), "lstm.weight_ih_l0"),
    param("wh", (12, 3), "lstm.weight_hh_l0"),
    param("bi", (12,), "lstm.bias_ih_l0"),
    param("bh", (12,), "lstm.bias_hh_l0"),
    given("x", 6, 2, 4),
    given("h0", 2, 3),
    given("c0", 2, 3),
    output("y", 6, 2, 3),
    output("hn", 2, 3),
    output("cn", 2, 3),
    demands=[problem],
)
def lstm_layer(wi, wh, bi, bh, x, h0, c0):
    """
    One LSTM layer that runs BACKWARDS over time: x is [time, batch, features]; the first step handled is the last time
    step, with initial states h0 and c0. At each step z = wi x + bi + wh h + bh has 12 features: rows 0..2 of the
    weights are the input gate i, 3..5 the forget gate f, 6..8 the candidate g, 9..11 the output gate o. c' = sigmoid(f)
    * c + sigmoid(i) * tanh(g), h' = sigmoid(o) * tanh(c'). y[t] is h' of time step t; hn and cn are the states after
    the last step handled (time step 0). Equations only.
    """
    h, c, out = h0, c0, [None] * 6
    for t in reversed(range(6)):
        i, f, g, o = (F.linear(x[t], wi, bi) + F.linear(h, wh, bh)).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        out[t] = h
    return {"y": torch.stack(out), "hn": h, "cn": c}


@task(
    param("wi", (9, 4), "gru.weight_ih_l0"),
    param("wh", (9, 3), "gru.weight_hh_l0"),
    param("bi", (9,), "gru.bias_ih_l0"),
    param("bh", (9,), "gru.bias_hh_l0"),
    given("x", 2, 5, 4),
    output("y", 2, 5, 3),
    output("hn", 1, 2, 3),
    demands=[problem],
)
def gru_layer(wi, wh, bi, bh, x):
    """
    torch.nn.GRU(4, 3, batch_first=True) with initial state 0; x is [batch, time, features]. Rows 0..2 of the weights
    are the reset gate r, 3..5 the update gate z, 6..8 the new gate n. With a = wi x + bi and b = wh h + bh: r =
    sigmoid(a_r + b_r), z = sigmoid(a_z + b_z), n = tanh(a_n + r * b_n), h' = (1 - z) * n + z * h. y holds every step's
    h', hn the last one, with a leading axis of extent 1. Equations only.
    """
    h, out = torch.zeros(2, 3, dtype=x.dtype), []
    for t in range(5):
        a, b = F.linear(x[:, t], wi, bi).chunk(3, -1), F.linear(h, wh, bh).chunk(3, -1)
        r, z = (a[0] + b[0]).sigmoid(), (a[1] + b[1]).sigmoid()
        h = (1 - z) * (a[2] + r * b[2]).tanh() + z * h
        out.append(h)
    return {"y": torch.stack(out, 1), "hn": h[None]}


@task(
    param("la", (4, 3), "A_log"),
    param("dd", (4,), "D"),
    given("x", 2, 6, 4),
    given("dt", 2, 6, 4),
    given("bb", 2, 6, 3),
    given("cc", 2, 6, 3),
    output("y", 2, 6, 4),
    demands=[problem],
)
def selective_scan(la, dd, x, dt, bb, cc):
    """
    The selective scan of Mamba. x and dt are [batch, time, channel], bb and cc [batch, time, state], la [channel,
    state]. Let s = softplus(dt). The state H[batch, channel, state] starts at 0; at each time step t H = exp(-exp(la) *
    s_t) * H + s_t * bb_t * x_t (s and x of the channel, la of channel and state, bb of the state), and y[t] = sum over
    the states of H * cc_t, plus dd of the channel times x_t. Equations only.
    """
    state, out, s = torch.zeros(2, 4, 3, dtype=x.dtype), [], F.softplus(dt)
    for t in range(6):
        state = torch.exp(-la.exp() * s[:, t, :, None]) * state + (s * x)[:, t, :, None] * bb[:, t, None]
        out.append((state * cc[:, t, None]).sum(-1) + dd * x[:, t])
    return {"y": torch.stack(out, 1)}


@task(
    param("wr", (4, 6), "router.weight"),
    param("w1", (4, 5, 6), "experts.w1"),
    param("w2", (4, 6, 5), "experts.w2"),
    given("x", 7, 6),
    output("y", 7, 6),
    output("load", 4, dtype="i64"),
    demands=[problem],
)
def moe_top2(wr, w1, w2, x):
    """
    A mixture of 4 experts, 2 for each of the 7 tokens. The router (weight [expert, feature], no bias) gives logits; the
    two experts with the largest logits are taken, and their weights are a softmax over just these two logits. Expert e
    maps a token to w2[e] relu(w1[e] x). y is the weighted sum of the two experts' results. load[e] is the number of
    tokens that chose expert e (first or second). Equations only.
    """
    value, index = torch.topk(F.linear(x, wr), 2)
    p = F.softmax(value, -1)
    h = F.relu(torch.einsum("tsfd,td->tsf", w1[index], x))
    y = torch.einsum("ts,tsdf,tsf->td", p, w2[index], h)
    return {"y": y, "load": torch.bincount(index.flatten(), minlength=4)}


@task(
    given("q", 1, 8, 8, 4),
    given("k", 1, 8, 8, 4),
    given("v", 1, 8, 8, 4),
    given("bias", 16, 16),
    output("y", 1, 8, 8, 4),
    demands=[problem],
)
def shifted_window_attention(q, k, v, bias):
    """
    Attention in shifted windows, as in Swin, without the shift's mask. q, k, v are [batch, row, column, dim]. Each is
    first rolled by -2 along rows and columns: rolled[i, j] = t[(i+2) % 8, (j+2) % 8]. The rolled image is cut into
    windows of 4x4 pixels; a pixel attends to all 16 pixels of its window, with scores q.k / 2 + bias[a, c], where a and
    c are the positions 4*u+v (u the row, v the column inside the window) of the query and of the key; softmax over the
    keys; sum of v. Finally roll back by +2: y[i, j] is the result at rolled position ((i-2) % 8, (j-2) % 8). Equations
    only.
    """

    def windows(t):
        t = torch.roll(t, (-2, -2), (1, 2)).view(1, 2, 4, 2, 4, 4)
        return t.permute(0, 1, 3, 2, 4, 5).reshape(4, 16, 4)

    p = F.softmax(windows(q) @ windows(k).transpose(1, 2) / 2 + bias, -1)
    o = (p @ windows(v)).view(1, 2, 2, 4, 4, 4).permute(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, 4)
    return {"y": torch.roll(o, (2, 2), (1, 2))}


@task(
    given("q", 2, 4, 5, 6),
    given("k", 2, 2, 5, 6),
    given("v", 2, 2, 5, 6),
    output("y", 2, 5, 24),
    demands=[problem],
)
def rotary_attention(q, k, v):
    """
    Grouped-query causal attention with rotary embedding. q is [batch, 4 heads, time, 6]; k and v have 2 heads: query
    heads 0 and 1 use key head 0, heads 2 and 3 key head 1. Rotary embedding of q and k (not v), with halves of 3: for i
    in 0..2 and angle a = t / 10000^(i/3), where t is the time step, out[i] = u[i] cos a - u[i+3] sin a and out[i+3] =
    u[i+3] cos a + u[i] sin a. Scores are divided by sqrt(6); a token sees itself and earlier ones; softmax. y[batch,
    time, 6*h+d] is dim d of query head h. Equations only.
    """
    angle = torch.arange(5, dtype=q.dtype)[:, None] / 10000 ** (torch.arange(3, dtype=q.dtype) / 3)

    def rotate(u):
        a, b = u.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    k, v = rotate(k).repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    o = F.scaled_dot_product_attention(rotate(q), k, v, is_causal=True)
    return {"y": o.transpose(1, 2).reshape(2, 5, 24)}


@task(
    given("q", 2, 3, 2, 4),
    given("knew", 2, 3, 2, 4),
    given("vnew", 2, 3, 2, 4),
    given("kold", 2, 3, 5, 4),
    given("vold", 2, 3, 5, 4),
    output("y", 2, 3, 2, 4),
    output("kall", 2, 3, 7, 4),
    output("vall", 2, 3, 7, 4),
    demands=[problem],
)
def kv_cache_attention(q, knew, vnew, kold, vold):
    """
    Attention with a key-value cache. All are [batch, head, time, dim]. kall is kold followed by knew along time (5 + 2
    steps), vall likewise from vold and vnew; both are outputs. The queries are the tokens at times 5 and 6: query i
    attends to the times j with j <= 5 + i. Scores are q.k / 2, softmax, weighted sum of vall. Equations only.
    """
    kall, vall = torch.cat([kold, knew], 2), torch.cat([vold, vnew], 2)
    mask = torch.arange(7)[None] <= 5 + torch.arange(2)[:, None]
    return {"y": F.scaled_dot_product_attention(q, kall, vall, attn_mask=mask), "kall": kall, "vall": vall}


@task(
    param("wq", (6, 4), "q.weight"),
    param("wk", (6, 5), "k.weight"),
    param("wv", (6, 5), "v.weight"),
    given("x", 2, 3, 4),
    given("ctx", 2, 7, 5),
    given("mask", 2, 7, dtype="bool", make=coins),
    output("y", 2, 3, 6),
    output("top", 2, 3, dtype="i64"),
    demands=[problem],
)
def cross_attention(wq, wk, wv, x, ctx, mask):
    """
    Cross-attention with one head. q = x wq^T (no bias), k and v from ctx by wk and wv. Only the positions j of ctx with
    mask[batch, j] true take part; at least one is true for each batch element. Scores are q.k / sqrt(6), softmax over
    the positions that take part, y the weighted sum of v. top is the position with the largest score among those that
    take part (the lowest such position where several tie), as i64. Equations only.
    """
    q, k, v = F.linear(x, wq), F.linear(ctx, wk), F.linear(ctx, wv)
    s = (q @ k.transpose(1, 2) / math.sqrt(6)).masked_fill(~mask[:, None], -torch.inf)
    return {"y": F.softmax(s, -1) @ v, "top": s.argmax(-1)}


@task(
    param("wq", (6, 16), "lin.weight_q", dtype="i8", make=integers(-127, 128)),
    param("ws", (3, 4), "lin.weight_scale", make=positive),
    given("x", 5, 16),
    output("y", 5, 6),
    demands=[problem],
)
def block_scaled_linear(wq, ws, x):
    """
    A linear layer with quantised operands. The weight is stored as int8, wq[out, in], with one scale ws[o, k] for every
    block of 2 outputs and 4 inputs: output n and input i belong to scale ws[n // 2, i // 4]. x is quantised here, in
    blocks of 8 inputs of one row: the scale of a block is max(|x|) / 127 over the block (never 0 for our inputs) and
    the quantised value is x / scale rounded to the nearest even integer, a local of integer kind (use a cast to i8).
    y[m, n] = sum over inputs of (quantised x * its scale) * (quantised weight * its scale). Equations only.
    """
    blocks = x.view(5, 2, 8)
    scale = blocks.abs().amax(-1, keepdim=True) / 127
    xq = (torch.round(blocks / scale) * scale).view(5, 16)
    w = wq.double() * ws.repeat_interleave(2, 0).repeat_interleave(4, 1)
    return {"y": xq @ w.T}
