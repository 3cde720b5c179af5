"""Arithmetic on numbers that are read from tensors, and what a trace takes for granted of them."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable

import torch


class Unforeseen(RuntimeError):
    """This call's values are not as the trace took them to be: it does not hold for them."""


def check(holds: Any, what: str) -> None:
    if not holds:
        raise Unforeseen(what)


def refuse_early(error: Exception) -> None:
    """Of a call in front of the last check: it may be one that the original, which goes another way, does not make, or
    makes after it has written."""
    if isinstance(error, Unforeseen):
        raise error
    name = type(error).__name__
    raise Unforeseen(f"a call fails with {name} before it is known whether the trace holds") from error


def require(holds: Any, what: str) -> None:
    """check() behind what cannot be made undone: what the module itself asks for, or an operator always keeps."""
    if not holds:
        raise RuntimeError(what)


def shaped(tensor: torch.Tensor, shape: list[int]) -> None:
    """What is made of values whose number depends on data has the shape of the trace."""
    if list(tensor.shape) != shape:
        raise Unforeseen(f"a value has the shape {list(tensor.shape)}; recorded was {shape}")


def require_shape(tensor: torch.Tensor, shape: list[int]) -> None:
    """shaped() behind what cannot be made undone, where the shape is the same whatever the numbers are."""
    if list(tensor.shape) != shape:
        raise RuntimeError(f"a value has the shape {list(tensor.shape)}; recorded was {shape}")


_FUNCTIONS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.neg, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
    *(operator.and_, operator.or_, abs, round, math.ceil, math.floor, math.trunc),
    *(torch.sym_float, torch.sym_int, torch.sym_max, torch.sym_min, torch.sym_not, torch.sym_sum, torch.sym_ite),
    *(check, require, shaped, require_shape),
)
BY_NAME: dict[str, Callable] = {function.__name__: function for function in _FUNCTIONS}
