"""Inputs of which one tensor, an input or a parameter, is scaled alone until the float64 results move by a given
distance. A kernel that leaves out what depends on it is then far from the result; where that has a small share of the
result, as a residual branch in a narrow format has, other values do not show it."""

from __future__ import annotations

from typing import Optional

import torch

from ..tensors import map_tensors
from . import distance, families
from .inputs import make_arguments, scaled_tensor
from .reference import float64_values
from .running import Values, kept_buffers
from .session import InputSet, Session

FACTORS = tuple(2.0**exponent for exponent in (2, 4, 6, 10, 14, 18))


def prepare(session: Session, seed: int, name: str, least: float) -> tuple[InputSet, bool]:
    """The set, and whether the tensor's size moves the results by `least`."""
    args, kwargs = make_arguments(session, seed, "default")
    args, kwargs = map_tensors(lambda t: t.clone(), (args, kwargs))  # two arguments may be one tensor
    session.fresh_variant(families.SCALED)
    inputs = InputSet(seed, families.SCALED, families.SCALED, args, kwargs)
    return inputs, scale(session, inputs, name, least)


@torch.no_grad()
def scale(session: Session, inputs: InputSet, name: str, least: float) -> bool:
    """Scales the tensor of a set that has a variant of its own, by the first of FACTORS that moves a result of the
    module by `least`, normwise. False where none does: the results do not depend on its size, or are not finite."""
    tensor = scaled_tensor(session, inputs, name)
    before = _results(session, inputs)
    if before is None or not tensor.numel():
        return False
    done = 1.0
    for factor in FACTORS:
        tensor.mul_(factor / done)
        done = factor
        now = _results(session, inputs)
        if now is None or not all(distance.all_finite(value) for value in now.values()):
            return False
        if _moved(before, now) >= least:
            inputs.scaled = (name, factor)
            return True
    return False


def _results(session: Session, inputs: InputSet) -> Optional[Values]:
    module = session.module(inputs.variant)
    with kept_buffers(module):
        found = float64_values(module, inputs.args, inputs.kwargs, inputs.seed)
    return found and {name: v for name, v in found.items() if v.is_floating_point() and not name.startswith("input.")}


def _moved(before: Values, now: Values) -> float:
    return max((distance.relative_error(before[name], now[name]) for name in now if name in before), default=0.0)
