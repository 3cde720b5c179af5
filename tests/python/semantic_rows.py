"""What the operators mean where it is easy to be wrong: one row a trap, each a function of small tensors in float64.

A row returns several results, so that one trace serves them all.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch
import torch.nn as nn
import torch.nn.functional as F

INF, NAN = float("inf"), float("nan")
ROWS: dict[str, tuple[Callable, list]] = {}


def row(*args: Any) -> Callable:
    def keep(subject: Any) -> Any:
        ROWS[subject.__name__] = (subject() if isinstance(subject, type) else subject, list(args))
        return subject

    return keep


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=_generator, dtype=torch.float64)


_generator = torch.Generator().manual_seed(3)
SPECIAL = torch.tensor(
    [[0.5, -0.0, NAN, -2.0, INF], [1.5, -INF, 2.5, -1.5, 3.0], [-0.5, 20.5, -7.0, 3.0, 0.0]], dtype=torch.float64
)
TIES = torch.tensor([[1, 3, 3, 2], [NAN, 5, NAN, 5], [-1, -1, -1, -1]], dtype=torch.float64)


@row(randn(2, 3, 8, 9))
def avg_pool(x):
    inner = F.avg_pool2d(x, (3, 4), (2, 3), 1, ceil_mode=True, count_include_pad=False)
    return (
        F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
        inner,
        F.avg_pool2d(x, 3, 2, 1, True, True, 7),
        F.avg_pool2d(x, 2, 5, 1, True),
    )


@row(randn(2, 3, 7, 9))
def adaptive_avg_pool(x):
    return F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_avg_pool2d(x, (None, 2)), F.adaptive_avg_pool2d(x, (8, 9))


@row(-randn(2, 3, 7).abs(), SPECIAL[None])
def max_pool(x, special):
    return (
        F.max_pool1d(x, 3, 2, 1),
        F.max_pool1d(x, 2, 2, 1, 2, ceil_mode=True),
        F.max_pool1d(special, 2),
        F.max_pool2d(special, 3, 1, 1),
    )


@row(TIES, SPECIAL)
def arg_reductions(t, special):
    finite = torch.where(t == t, t, 4.0)
    return (
        t.argmax(1),
        t.argmin(1),
        *t.max(1),
        *t.min(0),
        finite.argmax(),
        special.argmax(0),
        special.argmin(1),
        special.amax(1),
    )


@row(randn(4, 3, 5), randn(6, 4))
class batch_norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.BatchNorm1d(3, eps=1e-2, momentum=0.3), nn.BatchNorm1d(4, affine=False)
        nn.init.normal_(self.a.weight), nn.init.normal_(self.a.bias), nn.init.uniform_(self.a.running_var)

    def forward(self, x, y):
        return self.a(x) * 2, self.b(y), F.batch_norm(y, y[0] * 0 + 0.5, y[0] * 0 + 2, training=False, eps=0.1)


@row(randn(2, 4, 3, 5))
class other_norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.i = nn.InstanceNorm2d(4, affine=True, track_running_stats=True, eps=1e-2)
        self.g, self.l = nn.GroupNorm(2, 4, eps=1e-2), nn.LayerNorm((3, 5), eps=1e-2)
        for norm in (self.i, self.g, self.l):
            nn.init.normal_(norm.weight), nn.init.normal_(norm.bias)

    def forward(self, x):
        return self.i(x), self.g(x), self.l(x), F.rms_norm(x, (5,)), F.rms_norm(x, (3, 5), self.l.weight, 0.5)


@row(8 * randn(4, 6))
def activations(x):
    hand = 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * torch.pow(x, 3.0))))
    return (
        F.gelu(x),
        F.gelu(x, approximate="tanh"),
        hand,
        F.softplus(x, 0.5, 2.0),
        F.softplus(x),
        F.mish(x),
        F.hardswish(x),
        F.hardsigmoid(x),
        F.elu(x, 0.3),
        F.celu(x, 0.3),
        F.selu(x),
        F.silu(x),
        F.logsigmoid(x),
        F.softsign(x),
        F.relu6(x),
    )


@row(torch.tensor([-1.0, -0.5, -0.2, 0.0, 0.3, 0.5, 0.7], dtype=torch.float64))
def closed_intervals(x):
    return F.hardshrink(x, 0.5), F.softshrink(x, 0.5), F.threshold(x, 0.5, 9.0), F.threshold(x, -0.2, 9.0)


@row(SPECIAL)
def nan_propagates(x):
    return (
        x.relu(),
        x.clamp(-1, 1),
        x.clamp(2, 1),
        F.hardtanh(x, -1, 2),
        torch.maximum(x, x.flip(1)),
        torch.minimum(x, x * 0),
        x.amax(1),
        x.amin(0),
        F.relu6(x),
        x.clamp(min=0.25),
        F.leaky_relu(x, 0.1),
    )


@row(torch.tensor([[1.0, -INF, 2.0], [-INF, -INF, -INF], [0.5, INF, -1.0]], dtype=torch.float64))
def rows_with_infinities(x):
    return (
        x.softmax(1),
        x.logsumexp(1),
        x[:2].log_softmax(1),
        x.logsumexp((0, 1)),
        x.float().softmax(1, dtype=torch.float64),
    )


@row(randn(2, 2, 4, 6), randn(2, 2, 5, 6), randn(2, 2, 5, 3), torch.tensor([1, 0, 1, 1, 0] * 4).reshape(4, 5).bool())
def attention(q, k, v, mask):
    none = mask & torch.tensor([True, True, False, True])[:, None]
    attend = F.scaled_dot_product_attention
    return (
        attend(q, k, v),
        attend(q, k, v, is_causal=True),
        attend(q, k, v, none),
        attend(q, k, v, q[0, 0, :, :5]),
        attend(q, k, v, scale=0.3),
        attend(k, q, q[..., :3], is_causal=True),
        (q @ k.mT).masked_fill(~none, -INF).softmax(-1) @ v,
    )


# NaN and infinities where a mask has zeros: PyTorch multiplies them.
@row(randn(5, 3), SPECIAL.mT.contiguous(), torch.tensor([1, 0, 1, 1, 0] * 5).reshape(5, 5).bool())
def masked_nans(x, special, mask):
    square, none = special @ x.mT, mask & torch.tensor([True, True, False, True, True])[:, None]
    attend = lambda *args: F.scaled_dot_product_attention(*(t[None, None] for t in args))  # noqa: E731
    return (
        torch.tril(x @ x.mT) @ special,
        torch.triu(square) @ torch.tril(square),
        torch.diag(x[:, 0]) @ special,
        torch.eye(5, dtype=x.dtype) @ special,
        special.mT @ torch.ones(5, 5, dtype=x.dtype).triu(),
        torch.tril(square) * x[:, :1],
        attend(x, x, special, none),
        attend(x, special, x, mask),
        (x @ x.mT).masked_fill(~mask, -INF).softmax(-1) @ special,
    )


@row(randn(2, 6, 4, 6), randn(2, 2, 5, 6), randn(2, 3, 5, 3), torch.tensor([1, 0, 1, 1, 0] * 4).reshape(4, 5).bool())
def grouped_attention(q, k, v, mask):
    attend = functools.partial(F.scaled_dot_product_attention, enable_gqa=True)
    return (
        attend(q, k, v[:, :2]),
        attend(q, k, v[:, :1].expand(-1, 2, -1, -1), is_causal=True),
        attend(q, k[:, :1], v[:, 1:2], mask, scale=0.3),
        attend(q, k, v[:, :2], q[0, 0, :, :5]),
        attend(q, q[..., :4, :], q[..., :3]),
        attend(q[0], k[0], v[0, :2]),
    )


@row(randn(5, 4), torch.tensor([1, 0, -100, 3, 2]))
def cross_entropy(x, t):
    return (
        F.cross_entropy(x, t),
        F.cross_entropy(x, t, reduction="none"),
        F.cross_entropy(x, t.abs() % 4, ignore_index=3, reduction="sum"),
        F.cross_entropy(x, t * 0 - 100),
    )


@row(*(torch.rand(5, 4, generator=_generator, dtype=torch.float64) for _ in range(2)), randn(5, 4))
def losses(p, q, x):
    sharp, each = 40 * (p - 0.5), {"reduction": "none"}
    return (
        F.kl_div(p.log(), q),
        F.kl_div(p.log(), q, reduction="batchmean"),
        F.kl_div(p.log(), (q - 0.5).relu(), **each),
        F.smooth_l1_loss(x, p, beta=0.5),
        F.smooth_l1_loss(x, p, beta=0.0),
        F.huber_loss(x, p, delta=0.5),
        F.binary_cross_entropy((p - 0.5).relu().clamp(max=1), q, **each),
        F.binary_cross_entropy_with_logits(sharp, q, **each),
    )


@row(randn(4, 5), randn(4, 5), randn(4, 5), torch.tensor([1, -1, 1, -1]))
def margins(a, p, n, t):
    tiny = a * 1e-9
    return (
        F.triplet_margin_loss(a, p, n, margin=0.7),
        F.triplet_margin_loss(a, a, n),
        F.pairwise_distance(a, p),
        F.pairwise_distance(a, a),
        F.hinge_embedding_loss(a[:, 0], t, 0.5),
        F.cosine_similarity(a, p),
        F.cosine_similarity(tiny, p),
        F.cosine_embedding_loss(a, p, t, 0.1),
        F.normalize(tiny * 1e-5),
        F.normalize(a, dim=0),
        F.margin_ranking_loss(a[:, 0], p[:, 0], t, 0.3),
    )


@row(randn(4, 5))
def spreads(x):
    return (
        x.var(1),
        x.std(0),
        x.var(1, unbiased=False),
        x.var((0, 1), correction=3),
        x.std(),
        x.norm(),
        x.norm(dim=1),
        x.norm(p=1),
    )


@row(torch.arange(-4, 5), torch.tensor([True, False, True]), randn(3))
def dtypes(i, b, x):
    half = x.half() + torch.tensor(1.5, dtype=torch.float32)
    return (
        i.sum(),
        b.sum(),
        i.cumsum(0),
        b.cumsum(0),
        i / 2,
        i + 1.5,
        b * 2,
        i[:3] * x,
        i.prod(),
        b + b,
        i.float() / 3 * 0,
        (half - half).double(),
    )


@row(torch.ones(3, dtype=torch.float32), torch.full((3,), 2.0))
def scalars(single, double):
    return (
        single * 0.1,
        single * 1e-9,
        double * 0.1,
        torch.add(double, double, alpha=0.3),
        torch.sub(single * 0, single, alpha=0.1),
    )


@row(SPECIAL, torch.arange(-3, 4))
def powers(x, i):
    return x**0, x**0.5, x**2, x**3, x**-1, x**1.7, x**-2, 2.0**x, i**2, x.abs() ** x


@row(torch.tensor([-7, 7, -6, 5, 0]), torch.tensor([-7.5, 7.5, -0.5, 1.5, 2.5, -2.5], dtype=torch.float64), SPECIAL)
def division(i, x, special):
    return (
        i // 2,
        i % 3,
        i // -2,
        x // 2,
        x % 2.5,
        x % -2.5,
        x.fmod(2),
        i.fmod(3),
        x.trunc(),
        x.round(),
        x.floor(),
        torch.div(x, 0.7, rounding_mode="trunc"),
        torch.div(i, 2, rounding_mode="floor"),
        special.sign(),
    )


# Beyond the integers that a float counts, and i64 up to those that a double does.
LARGE = torch.tensor([16777217 * 7 - 1, 2000000011, 10500000000, -123456789012345, 2**53 - 1, -(2**53) + 1, 20, -1, 0])


@row(LARGE, torch.tensor([7, -7, 1000, 16777217, -3, 2**40, -(2**31), 1, 2**53 - 1]))
def whole_division(i, d):
    return (
        (i // 7, i % 1000, i // -7, i % -1000, i // -1, i % -1),
        (i // d, i % d, i.fmod(d), i.fmod(1000), i.fmod(-1000)),
        [torch.div(i, by, rounding_mode=mode) for by in (d, 7, -7) for mode in ("floor", "trunc")],
        [f(i.clamp(-(2**31), 2**31 - 1).int(), 7) for f in (torch.floor_divide, torch.remainder, torch.fmod)],
        1000000007 // (i.clamp(-(2**40), 2**40) * 2 + 1),
        (i.clamp(-(2**21), 2**21) * 2654435761) % 1000,
    )


REALS = torch.tensor([1, 0.5, 6, -1, 7, 1e10, 1e-3, 0, INF, -INF, NAN, 0.1, 0.2, -1 / 3], dtype=torch.float64)


@row(REALS.repeat_interleave(len(REALS)), REALS.repeat(len(REALS)))
def real_division(a, b):
    narrow = [torch.where(t == 1e10, 10, t).float() for t in (a, b)]
    functions = (torch.floor_divide, torch.remainder, torch.fmod)
    exact = functions[::2]  # below 2^24; a remainder of f32 may be rounded
    return [f(*operands) for f in functions for operands in ((a, b), (a, 0.1), (a, -0.3))], [f(*narrow) for f in exact]


@row(randn(2, 4, 5), randn(4, 3, 3), randn(4, 3, 2, 3), randn(1, 4, 3, 4))
def transposed_convolutions(x, w, w2, x2):
    plain = F.conv_transpose1d(x, w, stride=3, padding=1, output_padding=2, dilation=2)
    return (
        plain,
        F.conv_transpose1d(x, w, None, 2, 1, 1, 2),
        F.conv_transpose2d(x2, w2, w2[0, :, 0, 0].repeat(2), (2, 1), (1, 0), (1, 0), 2, (1, 2)),
    )


@row(randn(1, 2, 6, 7), randn(3, 2, 2, 4), randn(2, 3, 5))
def paddings(x, w, y):
    modes = [F.pad(y, (2, 3), mode=mode) for mode in ("reflect", "replicate", "circular")]
    return (
        F.conv2d(x, w, padding="same"),
        F.conv2d(x, w, padding="same", dilation=(1, 2)),
        F.pad(y, (1, -2, 0, 1), value=-3.0),
        *modes,
    )


@row(randn(2, 5, 3), randn(4, 2, 4), randn(4, 2, 4))
class recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True, dropout=0.0)
        self.gru, self.rnn = nn.GRU(3, 4, 2, batch_first=True, bidirectional=True), nn.RNN(3, 4, 4, batch_first=True)

    def forward(self, x, h, c):
        y, (hn, cn) = self.lstm(x, (h, c))
        return y, hn, cn, *self.gru(x, h), *self.rnn(x, h)


@row(randn(3, 6))
def dropout_switched_off(x):
    return F.dropout(x, 0.0), F.dropout(x, 0.5, training=False) + 1


@row(randn(3, 6))
def scans(x):
    exclusive = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1).cumsum(1)
    return x.cumsum(1), x.flip(1).cumsum(1).flip(1), exclusive, x.cumprod(0), (x > 0).cumsum(1)
