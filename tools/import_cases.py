"""Small modules for tools/check_import.py: one case an operator or variant, in float64, extents small and distinct.

A case is `name: (function or module, arguments)`; functions take the arguments and run inside a module.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch
import torch.nn as nn
import torch.nn.functional as F

from import_field import field_cases
from import_index import index_cases
from import_less_common import less_common_cases
from import_loops import loop_cases
from import_numbers import number_cases
from import_order import order_cases
from import_rare import rare_cases
from import_recurrences import recurrence_cases
from import_repeats import repeated_cases

R = torch.randn
ENDS = torch.tensor([4, 4, 9], dtype=torch.int32)  # of groups


def whole(*shape: int) -> torch.Tensor:
    return torch.randint(-3, 4, shape).to(torch.bfloat16)


class Gated(nn.Module):
    """Shared weights, an unused parameter, a state update and a chain of views."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(6, 8)
        self.spare = nn.Linear(3, 2)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps.add_(1)
        y = self.up(x).view(x.shape[0], 2, 4).transpose(1, 2)
        return y.reshape(x.shape[0], 8) * 0.1 + F.gelu(self.up(x))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(12, 36)
        self.proj = nn.Linear(12, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(c, dim=2)
        q, k, v = (z.view(b, t, 3, 4).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).contiguous().view(b, t, c))


class Dense(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Sequential(nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 2, 3, padding=1))
        self.b = nn.Sequential(nn.BatchNorm2d(5), nn.ReLU(), nn.Conv2d(5, 2, 3, padding=1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([x, self.a(x)], 1)
        return torch.cat([x, self.b(x)], 1)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, i: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(i))


def shuffle(x: torch.Tensor) -> torch.Tensor:
    n, c, h, w = x.shape
    return x.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w) + 1


def with_infinities(x: torch.Tensor) -> torch.Tensor:
    """A row with +inf, one with -inf, one of -inf alone."""
    x[0, 1], x[1, 2] = float("inf"), -float("inf")
    x[2] = -float("inf")
    return x


def windows(x: torch.Tensor) -> torch.Tensor:
    n, h, w, c = x.shape
    x = x.view(n, h // 2, 2, w // 3, 3, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 6, c)
    return x.softmax(1)


def gru(directions: bool) -> nn.Module:
    return nn.GRU(3, 4, 2, batch_first=True, bidirectional=directions)


UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": F.relu,
    "relu6": F.relu6,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "tanh": torch.tanh,
    "mish": F.mish,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "logsigmoid": F.logsigmoid,
    "abs": torch.abs,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "log1p": lambda x: torch.log1p(x.abs()),
    "log": lambda x: torch.log(x.abs()),
    "log2": lambda x: torch.log2(x.abs()),
    "sqrt": lambda x: torch.sqrt(x.abs()),
    "rsqrt": lambda x: torch.rsqrt(x.abs()),
    "erf": torch.erf,
    "sin": torch.sin,
    "cos": torch.cos,
    "sign": torch.sign,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "round": torch.round,
    "trunc": torch.trunc,
    "neg": torch.neg,
    "reciprocal": torch.reciprocal,
    "square": torch.square,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "clamp": lambda x: x.clamp(-0.3, 0.7),
    "clamp_min": lambda x: x.clamp(min=0.1),
    "clamp_max": lambda x: x.clamp(max=0.1),
    "clamp_crossed": lambda x: x.clamp(0.5, 0.1),
    "hardtanh": lambda x: F.hardtanh(x, -2, 0.3),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "elu": lambda x: F.elu(x, 0.7),
    "celu": lambda x: F.celu(x, 0.7),
    "selu": F.selu,
    "softplus": lambda x: F.softplus(10 * x, 2.0, 5.0),
    "softsign": F.softsign,
    "threshold": lambda x: F.threshold(x, 0.3, 7.0),
    "hardshrink": lambda x: F.hardshrink(x, 0.5),
    "softshrink": lambda x: F.softshrink(x, 0.5),
    "tanhshrink": F.tanhshrink,
    "glu": lambda x: F.glu(x, 1),
    "scaled": lambda x: (x * 0.1 - 3) / 7 + 2 * x,
    "pow2": lambda x: x**2,
    "pow3": lambda x: x**3.0,
    "pow_half": lambda x: x.abs() ** 0.5,
    "pow_real": lambda x: x.abs() ** 1.7,
    "rsub": lambda x: 1 - x,
    "compare": lambda x: ((x > 0.1) & (x <= 1)).to(x.dtype) + (x != 0),
    "where": lambda x: torch.where(x > 0, x, 2 * x),
    "masked_fill": lambda x: x.masked_fill(x < 0, 3.5),
    "half": lambda x: x.half().double() * 3,
    "remainder": lambda x: x.remainder(0.3),
    "fmod": lambda x: x.fmod(0.3),
    "pad_both": lambda x: F.pad(x, (1, 2)).tanh(),
    "addcmul": lambda x: torch.addcmul(x, x, x, value=0.5),
    "floor_divide": lambda x: torch.div(x, 0.3, rounding_mode="floor"),
}


def unary_cases() -> dict[str, tuple]:
    return {name: (f, [R(5, 6)]) for name, f in UNARY.items()}


def binary_cases() -> dict[str, tuple]:
    return {
        "add_broadcast": (lambda a, b: a + b, [R(4, 5, 6), R(5, 1)]),
        "sub_alpha": (lambda a, b: torch.sub(a, b, alpha=3), [R(4, 5), R(5)]),
        "mul_scalar_tensor": (lambda a, b: a * b, [R(4, 5), torch.tensor(1.5)]),
        "div": (lambda a, b: a / b, [R(4, 5), R(4, 1)]),
        "minimum": (torch.minimum, [R(4, 5), R(4, 5)]),
        "maximum": (torch.maximum, [R(4, 5), R(4, 5)]),
        "max_other": (torch.max, [R(4, 5), R(4, 5)]),
        "prelu": (lambda x, w: F.prelu(x, w), [R(2, 3, 4), R(3)]),
        "prelu_one": (lambda x, w: F.prelu(x, w), [R(2, 3, 4), R(1)]),
        "int_div": (lambda a: a / 2, [torch.arange(6)]),
        "mask_not": (
            lambda x: x.masked_fill(~torch.tril(torch.ones(5, 5, dtype=torch.bool)), float("-inf")).softmax(-1),
            [R(3, 5, 5)],
        ),
    }


def contraction_cases() -> dict[str, tuple]:
    return {
        "linear": (nn.Linear(6, 4), [R(5, 6)]),
        "linear_3d": (nn.Linear(6, 4, bias=False), [R(3, 5, 6)]),
        "linear_1d": (nn.Linear(6, 4), [R(6)]),
        "matmul_2d": (torch.matmul, [R(4, 5), R(5, 6)]),
        "matmul_transposed": (lambda a, b: a.T @ b.T, [R(5, 4), R(6, 5)]),
        "matmul_vector": (torch.matmul, [R(4, 5), R(5)]),
        "matmul_dot": (torch.matmul, [R(5), R(5)]),
        "matmul_4d": (torch.matmul, [R(2, 3, 4, 5), R(5, 6)]),
        "matmul_batched": (torch.matmul, [R(2, 1, 4, 5), R(3, 5, 6)]),
        "bmm": (torch.bmm, [R(3, 4, 5), R(3, 5, 6)]),
        "baddbmm": (lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5, alpha=2), [R(3, 1, 6), R(3, 4, 5), R(3, 5, 6)]),
        "addmm": (lambda c, a, b: torch.addmm(c, a, b), [R(6), R(4, 5), R(5, 6)]),
        "einsum": (lambda a, b: torch.einsum("bijl,lk->bijk", a, b), [R(2, 3, 4, 5), R(5, 6)]),
        "einsum_three": (
            lambda a, b, c: torch.einsum("bclhn,bhcl,bclhp->bchpn", a, b, c),
            [R(2, 3, 4, 2, 5), R(2, 2, 3, 4), R(2, 3, 4, 2, 6)],
        ),
        "einsum_implicit": (lambda a, b: torch.einsum("ij,jk", a, b), [R(4, 5), R(5, 6)]),
        "bilinear": (nn.Bilinear(3, 4, 5), [R(2, 3), R(2, 4)]),
        # In bf16, the one dtype that can be traced: small whole numbers, whose sums are exact.
        "grouped_mm": (
            lambda a, w, ends: F.grouped_mm(a, w.transpose(1, 2), offs=ends),
            [whole(9, 8), whole(3, 16, 8), ENDS],
        ),
        "grouped_mm_of_each": (lambda d, x, ends: F.grouped_mm(d.t(), x, offs=ends), [whole(9, 16), whole(9, 8), ENDS]),
        "gated": (Gated(), [R(5, 6)]),
        "tied": (Tied(), [torch.tensor([[1, 5], [0, 6]])]),
    }


def conv_cases() -> dict[str, tuple]:
    return {
        "conv1d": (nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2), [R(2, 4, 11)]),
        "conv2d_same": (nn.Conv2d(3, 5, 3, padding=1), [R(2, 3, 6, 7)]),
        "conv2d_even_same": (nn.Conv2d(3, 5, (2, 4), padding="same"), [R(2, 3, 6, 7)]),
        "conv2d_stride": (nn.Conv2d(3, 5, (5, 3), stride=(2, 1), padding=(2, 0)), [R(2, 3, 9, 7)]),
        "conv2d_groups": (nn.Conv2d(4, 6, 3, groups=2), [R(2, 4, 6, 7)]),
        "conv2d_depthwise": (nn.Conv2d(4, 4, 3, padding=1, groups=4), [R(2, 4, 6, 7)]),
        "conv2d_multiplier": (nn.Conv2d(4, 8, 3, groups=4, bias=False), [R(2, 4, 6, 7)]),
        "conv2d_unbatched": (nn.Conv2d(3, 5, 3), [R(3, 6, 7)]),
        "conv2d_one_row": (nn.Conv2d(3, 5, (3, 3), padding=(1, 0)), [R(2, 3, 1, 7)]),
        "conv2d_pointwise": (nn.Conv2d(3, 5, 1, bias=False), [R(2, 3, 6, 7)]),
        "conv2d_reflect": (nn.Conv2d(3, 5, 3, padding=2, padding_mode="reflect"), [R(2, 3, 6, 7)]),
        "conv2d_circular": (nn.Conv2d(3, 5, 3, padding=2, padding_mode="circular"), [R(2, 3, 6, 7)]),
        "conv2d_replicate": (nn.Conv2d(3, 5, 3, padding=2, padding_mode="replicate"), [R(2, 3, 6, 7)]),
        "conv2d_shuffled": (
            nn.Sequential(nn.Conv2d(4, 6, 1, groups=2), nn.ChannelShuffle(3), nn.Conv2d(6, 6, 3, padding=1, groups=3)),
            [R(2, 4, 5, 6)],
        ),
        "conv3d": (nn.Conv3d(2, 3, (2, 3, 3), padding=(1, 1, 0)), [R(2, 2, 4, 5, 6)]),
        "conv_t1d": (nn.ConvTranspose1d(3, 4, 3, stride=2, padding=1, dilation=2), [R(2, 3, 5)]),
        "conv_t2d": (nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), [R(2, 3, 4, 5)]),
        "conv_t2d_groups": (
            nn.ConvTranspose2d(4, 6, (3, 5), stride=(2, 3), padding=(1, 2), groups=2, dilation=(2, 1)),
            [R(2, 4, 4, 5)],
        ),
        "conv_t3d": (nn.ConvTranspose3d(2, 3, 3, stride=2, padding=1, bias=False), [R(1, 2, 3, 4, 3)]),
    }


def norm_cases() -> dict[str, tuple]:
    return {
        "batch_norm": (nn.BatchNorm2d(4), [R(3, 4, 5, 6)]),
        "batch_norm_1d": (nn.BatchNorm1d(4, momentum=0.3, affine=False), [R(5, 4)]),
        "batch_norm_frozen": (nn.BatchNorm2d(4).eval(), [R(3, 4, 5, 6)]),
        "batch_norm_no_stats": (nn.BatchNorm2d(4, track_running_stats=False), [R(3, 4, 5, 6)]),
        "instance_norm": (nn.InstanceNorm2d(4, affine=True), [R(3, 4, 5, 6)]),
        "instance_norm_stats": (nn.InstanceNorm2d(4, track_running_stats=True), [R(3, 4, 5, 6)]),
        "group_norm": (nn.GroupNorm(2, 6), [R(3, 6, 4, 5)]),
        "group_norm_2d": (nn.GroupNorm(3, 6, affine=False), [R(4, 6)]),
        "group_norm_each": (nn.GroupNorm(6, 6), [R(3, 6, 4)]),
        "layer_norm": (nn.LayerNorm(6), [R(3, 5, 6)]),
        "layer_norm_2d": (nn.LayerNorm((4, 5)), [R(3, 4, 5)]),
        "rms_norm": (nn.RMSNorm(6), [R(3, 6)]),
        "softmax": (lambda x: x.softmax(1), [R(3, 5, 4)]),
        "log_softmax": (lambda x: x.log_softmax(-1), [R(3, 5)]),
        "log_softmax_inf": (lambda x: x.log_softmax(-1), [with_infinities(R(4, 5))]),
        "logsumexp_inf": (lambda x: x.logsumexp(-1), [with_infinities(R(4, 5))]),
        "softmax_inf": (lambda x: x.softmax(-1), [with_infinities(R(4, 5))]),
        "softmax_of_one": (lambda x: (x.softmax(1), x.log_softmax(1)), [R(3, 1)]),
        "softmin": (lambda x: F.softmin(x, 1), [R(3, 5)]),
        "normalize": (lambda x: F.normalize(x, dim=1), [R(3, 5)]),
    }


def reduce_cases() -> dict[str, tuple]:
    one = {
        name: (getattr(torch, name), [R(4, 5)])
        for name in ("sum", "mean", "prod", "max", "min", "argmax", "argmin", "var", "std")
    }
    return one | {
        "sum_dims": (lambda x: x.sum((1, 3), keepdim=True), [R(2, 3, 4, 5)]),
        "mean_dim": (lambda x: x.mean(1), [R(2, 3, 4)]),
        "max_dim": (lambda x: tuple(x.max(1)), [R(2, 3, 4)]),
        "min_dim": (lambda x: tuple(x.min(-1, keepdim=True)), [R(2, 3, 4)]),
        "max_values": (lambda x: x.max(1)[0], [R(2, 3, 4)]),
        "argmin_dim": (lambda x: x.argmin(1), [R(2, 3, 4)]),
        "argmax_tie": (lambda x: x.round().argmax(1), [R(2, 9, 4)]),
        "logsumexp": (lambda x: x.logsumexp((1, 2), keepdim=True), [R(2, 3, 4)]),
        "amax": (lambda x: x.amax((0, 2)), [R(2, 3, 4)]),
        "var_dim": (lambda x: x.var(1, correction=2), [R(2, 5, 4)]),
        "std_dim": (lambda x: x.std(1, unbiased=False), [R(2, 5, 4)]),
        "norm": (lambda x: x.norm(dim=1), [R(2, 5, 4)]),
        "norm_1": (lambda x: x.norm(p=1, dim=1), [R(2, 5, 4)]),
        "frobenius": (lambda x: x / torch.norm(x, p="fro"), [R(2, 5)]),
        "any": (lambda x: (x > 1).any(1), [R(4, 5)]),
        "sum_of_one": (lambda x: x.sum(1, keepdim=True).max(1, keepdim=True)[0].mean(1), [R(4, 5)]),
    }


def window_cases() -> dict[str, tuple]:
    x = [R(2, 3, 7, 9)]
    return {
        "max_pool1d": (nn.MaxPool1d(3, 2), [R(2, 3, 8)]),
        "max_pool2d": (nn.MaxPool2d(3, 2, 1), x),
        "max_pool2d_ceil": (nn.MaxPool2d(3, 2, ceil_mode=True), [R(2, 3, 8, 9)]),
        "max_pool3d_dilated": (nn.MaxPool3d(2, 2, 1, dilation=2), [-R(1, 2, 6, 7, 8).abs()]),
        "avg_pool1d": (nn.AvgPool1d(2), [R(2, 3, 9)]),
        "avg_pool2d": (nn.AvgPool2d(2), x),
        "avg_pool2d_padded": (nn.AvgPool2d(3, 2, 1), x),
        "avg_pool2d_ceil": (nn.AvgPool2d(3, 2, 1, ceil_mode=True), [R(2, 3, 8, 9)]),
        "avg_pool2d_inner": (nn.AvgPool2d(3, 2, 1, count_include_pad=False), x),
        "avg_pool2d_divisor": (nn.AvgPool2d(3, 2, 0, ceil_mode=True, divisor_override=5), [R(2, 3, 8, 9)]),
        "avg_pool3d": (nn.AvgPool3d(2), [R(1, 2, 4, 5, 6)]),
        "adaptive_avg_pool1d": (nn.AdaptiveAvgPool1d(3), [R(2, 3, 9)]),
        "adaptive_avg_pool2d": (nn.AdaptiveAvgPool2d((3, 4)), x),
        "adaptive_avg_pool2d_all": (nn.AdaptiveAvgPool2d(1), x),
        "adaptive_max_pool2d": (nn.AdaptiveMaxPool2d((3, 4)), x),
    }


def move_cases() -> dict[str, tuple]:
    return {
        "view_split": (lambda x: x.view(2, 3, 4, 5).permute(2, 0, 3, 1) * 2, [R(6, 20)]),
        "view_merge": (lambda x: x.transpose(0, 1).reshape(-1) + 1, [R(4, 6)]),
        "view_odd": (lambda x: x.reshape(9, 4).exp(), [R(6, 6)]),
        "view_part_odd": (lambda x: x.reshape(2, 9, 6) * 2, [R(2, 6, 9)]),
        "shuffle": (shuffle, [R(2, 6, 3, 4)]),
        "windows": (windows, [R(2, 4, 6, 5)]),
        "flatten": (lambda x: x.flatten(1).sum(1), [R(2, 3, 4)]),
        "squeeze": (lambda x: x.unsqueeze(1).squeeze(2) + 1, [R(3, 1, 4)]),
        "expand": (lambda x: x.expand(3, -1, 5).sum((0, 2)), [R(4, 1)]),
        "select": (lambda x: x[:, -1] + x[:, 0], [R(3, 4, 5)]),
        "slice": (lambda x: x[:, 1:3] * x[:, -2:], [R(3, 4)]),
        "slice_step": (lambda x: x[:, ::2].exp(), [R(3, 7)]),
        "split": (lambda x: torch.mul(*x.split(3, 1)), [R(4, 6)]),
        "chunk": (lambda x: x.chunk(3, 1)[2] + 1, [R(4, 7)]),
        "unbind": (lambda x: x.unbind(1)[1] * 2, [R(4, 3)]),
        "cat": (lambda a, b: torch.cat([a, b, a], 1), [R(3, 4), R(3, 2)]),
        "cat_nothing": (lambda a: torch.cat([a[:, :0], a, a[:, 4:]], 1), [R(3, 4)]),
        "split_nothing": (lambda a: torch.split(a, [0, 3, 1], 1)[1] * 2, [R(3, 4)]),
        "stack": (lambda a, b: torch.stack([a, b], 1), [R(3, 4), R(3, 4)]),
        "pad": (lambda x: F.pad(x, (1, 2, 0, 3), value=1.5) * 2, [R(3, 4)]),
        "pad_crop": (lambda x: F.pad(x, (-1, 2)).exp(), [R(3, 4)]),
        "pad_one": (lambda x: F.pad(x, (1, 1)).cos(), [R(3, 1)]),
        "pad_reflect": (lambda x: F.pad(x, (2, 1), mode="reflect"), [R(2, 3, 5)]),
        "roll": (lambda x: x.roll((2, -1), (0, 1)), [R(5, 4)]),
        "flip": (lambda x: x.flip(1).cumsum(1).flip(1), [R(3, 5)]),
        "repeat": (lambda x: x.repeat(2, 3) * 2, [R(3, 4)]),
        "tril": (lambda a, b: torch.tril(a @ b), [R(5, 5), R(5, 5)]),
        "triu": (lambda x: x.triu(1), [R(4, 5)]),
        "gather": (lambda x, i: x.gather(1, i), [R(4, 5), torch.tensor([[0, 4], [1, 1], [2, 0], [3, 3]])]),
        "index_select": (lambda x, i: x.index_select(1, i), [R(4, 5), torch.tensor([3, 1, 1])]),
        "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2) + 1, [R(2, 8, 3, 5)]),
        "arange": (lambda x: x * torch.arange(5), [R(4, 5)]),
        "constant": (lambda x: torch.min(x, torch.tensor(0.1)), [R(4, 5)]),
        "constant_uniform": (lambda x: x * torch.tensor([[2, 2], [2, 2]]).repeat(2, 1), [R(4, 2)]),
        "constant_few": (lambda x: (x - torch.tensor([0.5, 0.25, -1.0])[:, None]) * 2, [R(2, 3, 4)]),
        "constant_half": (lambda x: x + torch.tensor([0.1, float("inf"), -3e-7], dtype=torch.half), [R(4, 3)]),
        "constant_bool": (lambda x: torch.where(torch.tensor([True, False, True]), x, 0), [R(4, 3)]),
        "zeros_cat": (lambda x: torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1).cumsum(1), [R(4, 5)]),
        "cumsum": (lambda x: x.cumsum(1), [R(3, 5, 2)]),
        "cumprod": (lambda x: x.cumprod(0), [R(3, 5)]),
        "output_view": (lambda x: x.view(3, 8), [R(3, 4, 2)]),
        "two_outputs": (lambda x: (x + 1, (x + 1).T), [R(3, 4)]),
        "dense": (Dense(), [R(2, 3, 5, 6)]),
    }


def loss_cases() -> dict[str, tuple]:
    t = torch.tensor([1, 0, -100, 3])
    p, q = torch.rand(4, 5), torch.rand(4, 5)
    return (
        {
            "cross_entropy": (lambda x: F.cross_entropy(x, t), [R(4, 5)]),
            "cross_entropy_input": (F.cross_entropy, [R(4, 5), torch.tensor([1, 0, 2, 3])]),
            "cross_entropy_inf": (
                lambda x: F.cross_entropy(x, t.abs() % 5, reduction="none"),
                [with_infinities(R(4, 5))],
            ),
            "cross_entropy_sum": (lambda x: F.cross_entropy(x, t, reduction="sum"), [R(4, 5)]),
            "cross_entropy_none": (lambda x: F.cross_entropy(x, t.abs() % 5, reduction="none"), [R(4, 5)]),
            "cross_entropy_2d": (F.cross_entropy, [R(2, 5, 3), torch.tensor([[1, 0, 2], [3, 4, 4]])]),
            "mse": (F.mse_loss, [R(4, 5), R(4, 5)]),
            "l1": (F.l1_loss, [R(4, 5), R(4, 5)]),
            "smooth_l1": (lambda a, b: F.smooth_l1_loss(a, b, beta=0.5), [R(4, 5), R(4, 5)]),
            "huber": (lambda a, b: F.huber_loss(a, b, delta=0.5), [R(4, 5), R(4, 5)]),
            "kl_div": (lambda a, b: F.kl_div(a.log(), b, reduction="batchmean"), [p, q]),
            "bce": (F.binary_cross_entropy, [p, q]),
            "bce_logits": (F.binary_cross_entropy_with_logits, [R(4, 5), q]),
            "hinge_embedding": (lambda x: F.hinge_embedding_loss(x, torch.tensor([1.0, -1, 1, -1])), [R(4)]),
            "cosine": (lambda a, b: F.cosine_similarity(a, b, dim=1), [R(4, 5), R(4, 5)]),
            "triplet": (F.triplet_margin_loss, [R(4, 5), R(4, 5), R(4, 5)]),
            "triplet_swap": (
                lambda a, b, c: F.triplet_margin_loss(a, b, c, p=3, swap=True, reduction="none"),
                [R(4, 5), R(4, 5), R(4, 5)],
            ),
        }
        | class_loss_cases()
        | pair_loss_cases()
    )


def class_loss_cases() -> dict[str, tuple]:
    t = torch.tensor([1, 0, -100, 3])
    w, p = torch.rand(5), torch.rand(4, 5)
    maps = torch.tensor([[1, 0, 2], [3, -100, 4]])
    entropy, nll = F.cross_entropy, F.nll_loss
    return {
        "cross_entropy_weight": (lambda x: entropy(x, t, weight=w), [R(4, 5)]),
        "cross_entropy_smoothing": (lambda x: entropy(x, t, label_smoothing=0.2), [R(4, 5)]),
        "cross_entropy_both": (
            lambda x, v: entropy(x, maps, weight=v, label_smoothing=0.2, reduction="none"),
            [R(2, 5, 3), w],
        ),
        "cross_entropy_probabilities": (entropy, [R(4, 5), p]),
        "cross_entropy_probabilities_all": (lambda x: entropy(x, p, weight=w, label_smoothing=0.2), [R(4, 5)]),
        "cross_entropy_one_row": (lambda x: entropy(x, torch.tensor(2)), [R(5)]),
        "nll": (lambda x: nll(x, t), [R(4, 5)]),
        "nll_weight": (lambda x, v: nll(x, maps, weight=v), [R(2, 5, 3), w]),
        "nll_ignored": (lambda x: nll(x, t.abs() % 5, ignore_index=3, reduction="sum"), [R(4, 5)]),
        "multilabel_margin": (F.multilabel_margin_loss, [R(2, 5), torch.tensor([[3, 0, -1, 1, 2], [4, -1, 0, 0, 0]])]),
    }


def pair_loss_cases() -> dict[str, tuple]:
    signs = torch.tensor([1.0, -1, 1, -1])
    q = torch.rand(4, 5)
    logits = F.binary_cross_entropy_with_logits
    return {
        "bce_weight": (F.binary_cross_entropy, [torch.rand(4, 5), q, torch.rand(5)]),
        "bce_logits_weights": (
            lambda x, v: logits(x, q, weight=v, pos_weight=torch.tensor([1.0, 2, 3, 4, 5])),
            [R(4, 5), torch.rand(4, 1)],
        ),
        "poisson_nll": (F.poisson_nll_loss, [R(4, 5), q]),
        "poisson_nll_full": (
            lambda x, t: F.poisson_nll_loss(x, t, log_input=False, full=True),
            [torch.rand(4, 5), 3 * q],
        ),
        "soft_margin": (lambda x: F.soft_margin_loss(x, signs[:, None].expand(4, 5)), [R(4, 5)]),
        "margin_ranking": (lambda a, b: F.margin_ranking_loss(a, b, signs, margin=0.3), [R(4), R(4)]),
        "cosine_embedding": (lambda a, b: F.cosine_embedding_loss(a, b, signs, margin=0.1), [R(4, 5), R(4, 5)]),
        "pairwise_distance": (lambda a, b: F.pairwise_distance(a, b, p=1.5, keepdim=True), [R(4, 5), R(4, 5)]),
        "cdist": (lambda a, b: torch.cdist(a, b, p=1.0), [R(2, 4, 5), R(2, 3, 5)]),
        "norm_3": (lambda x: x.norm(p=3, dim=1), [R(2, 5, 4)]),
    }


def grouped_queries(keep: torch.Tensor) -> dict[str, tuple]:
    q, k, v = R(2, 6, 4, 5), R(2, 2, 5, 5), R(2, 2, 5, 7)
    attend = functools.partial(F.scaled_dot_product_attention, enable_gqa=True)
    return {
        "plain": (attend, [q, k, v]),
        "causal": (lambda a, b, c: attend(a, b, c, is_causal=True, scale=0.3), [q, k, v]),
        "bool_mask": (lambda a, b, c: attend(a, b, c, attn_mask=keep), [q, k, v]),
        "float_mask": (lambda a, b, c, m: attend(a, b, c, attn_mask=m, scale=2.0), [q, k, v, R(2, 1, 4, 5)]),
        "mask_a_head": (lambda a, b, c, m: attend(a, b, c, attn_mask=m), [q, k, v, R(6, 4, 5)]),
        "one_head": (attend, [q, R(2, 1, 5, 5), R(2, 1, 5, 7)]),
        "as_many_heads": (attend, [q, R(2, 6, 5, 5), R(2, 6, 5, 7)]),
    }


def sequence_cases() -> dict[str, tuple]:
    q, k, v = R(2, 3, 4, 6), R(2, 3, 5, 6), R(2, 3, 5, 7)
    keep = torch.rand(4, 5) > 0.4
    keep[2] = False
    attend = F.scaled_dot_product_attention
    return {
        "sdpa": (attend, [q, k, v]),
        "sdpa_causal": (lambda a, b, c: attend(a, b, c, is_causal=True), [q, k, v]),
        "sdpa_scale": (lambda a, b, c: attend(a, b, c, scale=0.3), [q, k, v]),
        "sdpa_bool_mask": (lambda a, b, c: attend(a, b, c, attn_mask=keep), [q, k, v]),
        "sdpa_float_mask": (lambda a, b, c, m: attend(a, b, c, attn_mask=m), [q, k, v, R(4, 5)]),
        "sdpa_mask_a_head": (lambda a, b, c, m: attend(a, b, c, attn_mask=m), [q, k, v, R(3, 1, 5)]),
        "sdpa_no_dropout": (lambda a, b, c: attend(a, b, c, None, 0.0, True, scale=0.5), [q, k, v]),
        **{f"gqa_{name}": case for name, case in grouped_queries(keep).items()},
        "attention": (Attention(), [R(2, 5, 12)]),
        "lstm": (nn.LSTM(3, 4, 2), [R(5, 2, 3), (R(2, 2, 4), R(2, 2, 4))]),
        "lstm_both": (nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), [R(2, 5, 3), (R(4, 2, 4), R(4, 2, 4))]),
        "lstm_zero_state": (nn.LSTM(3, 4), [R(5, 2, 3)]),
        "gru": (gru(False), [R(2, 5, 3), R(2, 2, 4)]),
        "gru_both": (gru(True), [R(2, 5, 3), R(4, 2, 4)]),
        "lstm_projected": (nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True), [R(5, 2, 3), (R(4, 2, 2), R(4, 2, 4))]),
        "lstm_one_step": (nn.LSTM(3, 4, 2), [R(1, 2, 3), (R(2, 2, 4), R(2, 2, 4))]),
        "gru_one_row": (nn.GRU(1, 4), [R(5, 1), R(1, 4)]),
        "sdpa_one_key": (attend, [R(2, 3, 4, 6), R(2, 3, 1, 6), R(2, 3, 1, 7)]),
        "rnn": (nn.RNN(3, 4), [R(5, 2, 3), R(1, 2, 4)]),
        "rnn_relu": (nn.RNN(3, 4, nonlinearity="relu", bias=False), [R(5, 2, 3), R(1, 2, 4)]),
    }


def all_cases() -> dict[str, tuple[Any, list]]:
    groups = (
        unary_cases,
        binary_cases,
        contraction_cases,
        conv_cases,
        norm_cases,
        reduce_cases,
        window_cases,
        move_cases,
        loss_cases,
        sequence_cases,
        recurrence_cases,
        repeated_cases,
        loop_cases,
        index_cases,
        less_common_cases,
        number_cases,
        rare_cases,
        order_cases,
        field_cases,
    )
    return {name: case for group in groups for name, case in group().items()}
