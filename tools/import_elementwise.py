"""Cases of tools/check_import.py element by element: see import_cases.py."""

from __future__ import annotations

from typing import Callable

import torch
import torch.nn.functional as F

R = torch.randn

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
