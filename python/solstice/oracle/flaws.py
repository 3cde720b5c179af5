"""What KernelBench's check does not see of a problem, measured on its ordinary inputs (docs/measuring.md, "Flawed by
measurement"): a constant that passes it, inputs and weights whose removal passes it, an original that itself fails it
against float64. All distances are in multiples of the check's limit: at most 1 passes."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterator, Optional

import torch

from ..loading import SEED
from . import inputs as input_sets, reference, running
from .families import generator_on, overlaps
from .kernelbench import excess_of
from .session import InputSet, Session

OTHER_SEEDS = (SEED + 1, SEED + 2)
_MOST = 1e30  # what JSON can say of an infinite distance
_SPREAD = 8.0  # of other values of a tensor, in its rms; at least 1

Outputs = list[torch.Tensor]


def find(session: Session, budget: float) -> dict[str, Any]:
    """`budget`: seconds for looking at single tensors; the forward passes before that are few."""
    inputs, _ = input_sets.prepare(session, SEED, "default", "built")
    reference.compute(session, inputs)
    usual = _outputs(inputs.eager)
    off = excess_of(_outputs(inputs.expected), usual)
    inputs.expected, inputs.eager = {}, {}
    session.empty_cache()
    change = max(excess_of(usual, _run(session, _inputs(session, seed))) for seed in OTHER_SEEDS)
    constant = _constant(usual, change)
    found = {"constant": constant, "change": min(change, _MOST), "off": min(off, _MOST)}
    if constant:  # then no tensor can be seen
        return {**found, "unseen": [], "dead": [], "note": ""}
    return {**found, **_tensors(session, inputs, usual, budget)}


def _constant(usual: Outputs, change: float) -> str:
    if usual and excess_of(usual, [torch.zeros_like(t) for t in usual]) <= 1:
        return "zeros"
    return "the result for other inputs" if change <= 1 else ""


def _tensors(session: Session, inputs: InputSet, usual: Outputs, budget: float) -> dict[str, Any]:
    unseen, dead, looked_at = [], [], 0
    named = list(_named(session, inputs))
    until = time.monotonic() + budget
    for name, tensor in named:
        if time.monotonic() > until:
            break
        looked_at += 1
        if not bool(tensor.any()):
            continue  # zeros: nothing to remove
        if _distance(session, inputs, usual, tensor, torch.Tensor.zero_) > 1:
            continue
        seen = _distance(session, inputs, usual, tensor, _other_values) > 1
        (unseen if seen else dead).append(name)
    note = "" if looked_at == len(named) else f"only the first {looked_at} of {len(named)} tensors were looked at"
    return {"unseen": unseen, "dead": dead, "note": note}


def _named(session: Session, inputs: InputSet) -> Iterator[tuple[str, torch.Tensor]]:
    """Float inputs and parameters whose values can be replaced."""
    for index, leaf in enumerate(inputs.leaves()):
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and not overlaps(leaf):
            yield f"input.{index}", leaf
    for name, parameter in session.module(inputs.variant).named_parameters():
        if parameter.is_floating_point() and parameter.numel():
            yield name, parameter.data


def _distance(
    session: Session, inputs: InputSet, usual: Outputs, tensor: torch.Tensor, change: Callable[[torch.Tensor], Any]
) -> float:
    """How far the result is from the usual one while `change` has been done to `tensor`."""
    saved = tensor.clone()
    try:
        change(tensor)
        return excess_of(usual, _run(session, inputs))
    finally:
        tensor.copy_(saved)


def _other_values(tensor: torch.Tensor) -> None:
    """Other values, and larger ones."""
    rms = float(torch.linalg.vector_norm(tensor.float())) / max(tensor.numel(), 1) ** 0.5
    noise = torch.randn(tensor.shape, generator=generator_on(tensor.device, SEED), device=tensor.device)
    tensor.add_((noise * max(1.0, _SPREAD * rms)).to(tensor.dtype))


def _inputs(session: Session, seed: int) -> InputSet:
    """Other inputs for the draws that `forward` makes with the usual ones."""
    args, kwargs = input_sets.make_arguments(session, seed, "default")
    return InputSet(SEED, "default", "built", args, kwargs)


def _run(session: Session, inputs: InputSet) -> Outputs:
    values = running.run(session.module(inputs.variant), inputs.args, inputs.kwargs, inputs.seed)
    if running.wrote_inputs(values):
        input_sets.restore(session, inputs)
    return _outputs(values)


def _outputs(values: Optional[running.Values]) -> Outputs:
    return [value for name, value in (values or {}).items() if name.startswith("output.")]
