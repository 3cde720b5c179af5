"""Which elements of a result stay the same whatever numbers stand in place of the NaN and infinities of its inputs.

PyTorch multiplies the zeros of a mask by whatever the other operand holds there, and 0 * NaN is NaN. A program that
leaves such terms out gives a number. Whether that is the right one is found with the float64 module alone: every
element of the inputs that is not finite is replaced by several finite values, and where a result is not finite, yet the
same to the last bit for all of these, the replaced elements had a factor of 0. What a candidate computes has no part in
it.

A maximum, a clamp or a sign would hide a small value, so the values are 0 and large ones of either sign, each element's
its own (two equal ones would cancel in a difference).
"""

from __future__ import annotations

from typing import Callable

import torch

from ..tensors import map_tensors
from . import families, running
from .copying import copy_module
from .double import run_double, widened
from .session import InputSet, Session

SEED = 2017
LARGE = 1024.0  # beyond all other values of the family `nan_inf`

_Draw = Callable[[torch.Tensor], torch.Tensor]  # numbers in [0, 1) to the values that replace what is not finite
DRAWS: tuple[_Draw, ...] = (
    torch.zeros_like,
    lambda u: LARGE * (1 + u),
    lambda u: -LARGE * (1 + u),
    lambda u: LARGE * (2 * u - 1),
)


def find(session: Session, inputs: InputSet) -> running.Values:
    """For each float result: its value for finite inputs where it is not finite and does not depend on their elements
    that are not; NaN elsewhere."""
    names = [name for name, value in inputs.expected.items() if value.dtype is torch.float64]
    double = copy_module(session.module(inputs.variant)).double()
    first: running.Values = {}
    same: running.Values = {}
    for number, draw in enumerate(DRAWS):
        session.progress("oracle", f"float64 result of finite inputs, {number + 1} of {len(DRAWS)}")
        values = run_double(double, *_finite(session, inputs, draw, number), inputs.seed)
        for name in names:
            if number == 0:
                first[name] = values[name]
                same[name] = values[name].isfinite() & ~inputs.expected[name].isfinite()
            else:
                same[name] &= values[name] == first[name]
    return {name: torch.where(same[name], first[name], torch.nan) for name in names}


def _finite(session: Session, inputs: InputSet, draw: _Draw, number: int) -> tuple[tuple, dict]:
    generator = families.generator_on(session.device, SEED + number)

    def replace(tensor: torch.Tensor) -> torch.Tensor:
        tensor = widened(tensor)
        if tensor.dtype is not torch.float64 or families.overlaps(tensor):
            return tensor.clone()
        uniform = torch.rand(tensor.shape, generator=generator, device=tensor.device, dtype=tensor.dtype)
        return torch.where(tensor.isfinite(), tensor, draw(uniform))

    return map_tensors(replace, (inputs.args, inputs.kwargs))
