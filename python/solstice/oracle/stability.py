"""Which elements of a result its inputs do not determine at a precision.

Of two equal maxima of a softmax one rounding makes either the winner: no accuracy of a kernel's decides that, and none
of PyTorch's. Such elements are found with the float64 module alone, on inputs and parameters moved by random relative
steps of the size of the precision's own errors, each followed by half the opposite step. What a candidate computes has
no part in it.

Where a result is determined, the half step moves it half as far to the other side, but for the square of the step.
Where something switches in between, it does not: what the step and twice the half step leave together is the bend (a
third of it). An element is undetermined where its bend is more than its limit, and far more than the moves of nearly
all others of its result, as are those of its row (of the last axis) that bend with it. Where that holds for more than a
small share of a result, it holds for none: what is sensitive throughout shows in PyTorch's own error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
import torch

from ..tensors import map_tensors
from . import families, running
from .copying import copy_module
from .double import run_double, widened
from .session import InputSet, Session

PAIRS = 4
STEP = 4.0  # of the precision's error: what a candidate's own errors switch, these switch too
OUTLIER = 4.0  # times what 99 % of the elements move by; a kink (of a ReLU) bends by a third of a move
SHARE = 1e-3  # of a result, at most
ROOM = 2.0  # a result may lie this far from the exact one, in the largest moves that were seen
SEED = 2003
_SAMPLE = 1 << 20
_LEAST_ROW = 64  # as the judge's rows
_FLOOR = 2e-31


@dataclass
class Moves:
    """How far each element of a result was moved."""

    bend: torch.Tensor  # sum of squares, over the pairs
    largest: torch.Tensor
    usual: float = 0.0  # what 99 % of the elements keep, of their scale

    def add(self, exact: torch.Tensor, there: torch.Tensor, back: torch.Tensor) -> None:
        there, back = _step(there, exact), _step(back, exact)
        bend = there.add(back, alpha=2).div_(3)
        self.bend.addcmul_(bend, bend)
        for step in (there.abs_(), back.abs_()):
            torch.maximum(self.largest, step, out=self.largest)


def find(
    session: Session, inputs: InputSet, error: float, limits: dict[str, float]
) -> dict[str, tuple[int, torch.Tensor]]:
    """For each value named in `limits` (elementwise, of its own scale): how many of its elements errors of `error`
    leave undetermined, and how far from the exact result each of them may lie; negative for all others."""
    exact = {name: inputs.expected[name] for name in limits}
    moves = {name: Moves(torch.zeros_like(value), torch.zeros_like(value)) for name, value in exact.items()}
    double = copy_module(session.module(inputs.variant)).double()
    for pair in range(PAIRS):
        session.progress("oracle", f"stability of the float64 result, {pair + 1} of {PAIRS}")
        there, back = (_perturbed(session, inputs, double, pair, part * STEP * error) for part in (1, -0.5))
        for name, moved in moves.items():
            if pair == 0:
                moved.usual = _usual(_step(there[name], exact[name]).abs_().div_(_scale(exact[name])))
            moved.add(exact[name], there[name], back[name])
        del there, back
    return {name: room(exact[name], moved, limits[name]) for name, moved in moves.items()}


def room(exact: torch.Tensor, moved: Moves, limit: float) -> tuple[int, torch.Tensor]:
    bend = moved.bend.div(PAIRS).sqrt_().div_(_scale(exact))
    switched = bend > max(limit, OUTLIER * moved.usual)
    if exact.dim():
        switched = switched.any(-1, keepdim=True)
    # A switch that one step of all made leaves a sixth of itself, in the root mean square.
    undetermined = switched & (bend > limit / (2 * PAIRS))
    count = int(undetermined.sum())
    if count > SHARE * exact.numel():
        count = 0
        undetermined = torch.zeros_like(undetermined)
    return count, torch.where(undetermined, ROOM * moved.largest, -1.0).float()


def _step(moved: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """0 where one of them is not finite: classes are compared, not sizes."""
    step = moved - exact
    return torch.where(step.isfinite(), step, 0.0)


def _perturbed(session: Session, inputs: InputSet, double: torch.nn.Module, pair: int, size: float) -> running.Values:
    generator = families.generator_on(session.device, SEED + pair)

    def move(tensor: torch.Tensor) -> torch.Tensor:
        tensor = widened(tensor)
        if tensor.dtype is not torch.float64 or families.overlaps(tensor):
            return tensor
        steps = torch.rand(tensor.shape, generator=generator, device=tensor.device, dtype=tensor.dtype)
        # Uniform, with the root mean square `size`.
        return steps.mul_(2).sub_(1).mul_(size * math.sqrt(3)).add_(1).mul_(tensor)

    args, kwargs = map_tensors(move, (inputs.args, inputs.kwargs))
    with torch.no_grad():
        for parameter, value in zip(double.parameters(), session.module(inputs.variant).parameters()):
            parameter.copy_(move(value))
    return run_double(double, args, kwargs, inputs.seed)


def _scale(exact: torch.Tensor) -> torch.Tensor:
    """What the judge measures an error against (docs/measuring.md), but for the runs of very long rows."""
    exact = torch.where(exact.isfinite(), exact, 0.0)
    row = 1
    for extent in reversed(exact.shape):
        if row >= _LEAST_ROW:
            break
        row *= extent
    rows = exact.reshape(-1, max(row, 1))
    rms = rows.square().mean(1, keepdim=True).sqrt_()
    clamped = (rows == 0).double().mean(1, keepdim=True) >= 7 / 8
    rms = torch.where(clamped, rms.square().mean().sqrt(), rms)
    return torch.maximum(rows.abs(), rms).clamp_(min=_FLOOR).reshape(exact.shape)


def _usual(relative: torch.Tensor) -> float:
    """What 99 % of the elements, or of a sample of them, keep."""
    flat = relative.reshape(-1)
    if flat.numel() > _SAMPLE:
        flat = flat[
            torch.randint(
                flat.numel(), (_SAMPLE,), generator=families.generator_on(flat.device, SEED), device=flat.device
            )
        ]
    return flat.kthvalue(max(1, math.ceil(0.99 * flat.numel()))).values.item() if flat.numel() else 0.0
