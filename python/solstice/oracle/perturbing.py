"""Float buffers of the perturbed module: one of ones or zeros that kept its value would pass kernels that ignore it.

Where forward cannot take the moved values (a logarithm, a table of indices kept as floats), the buffers at fault keep
what they were built with, and a note says so. Buffers that forward writes are results and stay as they are; so do those
whose closed form a program may assume (tracing/closed_forms.py), since a drop-in compares them with it.
"""

from __future__ import annotations

import torch

from ..errors import OracleError
from ..tracing.closed_forms import closed_forms
from . import families, running
from .inputs import restore
from .session import InputSet, Session

SEED = 1001
_NORM = torch.nn.modules.batchnorm._NormBase  # whose statistics families.perturb_weights() moves

Buffers = dict[str, torch.Tensor]


@torch.no_grad()
def settle(session: Session, inputs: InputSet) -> None:
    """Moves the buffers of the perturbed module, once. These inputs show whether forward takes them."""
    if inputs.variant != "perturbed" or session.buffers_settled:
        return
    module = session.module(inputs.variant)
    assumed = closed_forms(module)
    buffers = {name: buffer for name, buffer in _float_buffers(module).items() if name not in assumed}
    if buffers:
        results = _run(session, module, inputs)
        kept = _move(session, module, inputs, [b for n, b in buffers.items() if f"buffer.{n}" not in results], results)
        names = ", ".join(f"`{name}`" for name, buffer in buffers.items() if any(buffer is k for k in kept))
        if names:
            session.notes["perturbed"] = [f"`forward` takes no other values in {names}: not perturbed"]
    session.buffers_settled = True


def _float_buffers(module: torch.nn.Module) -> Buffers:
    """Each once."""
    statistics = {id(b) for child in module.modules() if isinstance(child, _NORM) for b in child._buffers.values()}
    return {
        name: buffer
        for name, buffer in module.named_buffers()
        if buffer.is_floating_point() and not families.overlaps(buffer) and id(buffer) not in statistics
    }


def _move(
    session: Session,
    module: torch.nn.Module,
    inputs: InputSet,
    buffers: list[torch.Tensor],
    results: running.Values,
) -> list[torch.Tensor]:
    """All at once or, where forward does not take that, one after the other. Those that keep their values."""
    built = [buffer.clone() for buffer in buffers]
    moved = [perturbed(buffer, SEED + index) for index, buffer in enumerate(buffers)]
    _put(buffers, moved)
    if _takes(session, module, inputs, results):
        return []
    _put(buffers, built)
    kept = []
    for buffer, before, after in zip(buffers, built, moved):
        buffer.copy_(after)
        if not _takes(session, module, inputs, results):
            buffer.copy_(before)
            kept.append(buffer)
    return kept


def _put(buffers: list[torch.Tensor], values: list[torch.Tensor]) -> None:
    for buffer, value in zip(buffers, values):
        buffer.copy_(value)


def perturbed(buffer: torch.Tensor, seed: int) -> torch.Tensor:
    """Other values of the same kind: what is infinite stays, and what is nowhere negative stays so. Whole numbers may
    be indices, which one too large would take out of bounds: they change places."""
    generator = families.generator_on(buffer.device, seed)
    out = buffer.clone()
    where = buffer.isfinite()
    values = buffer[where]
    if not values.numel():
        return out
    low, high = values.min(), values.max()
    if low < high and max(abs(low), abs(high)) >= 2 and torch.equal(values, values.round()):
        out[where] = values[torch.randperm(values.numel(), generator=generator, device=values.device)]
        return out
    spread = values.double().square().mean().sqrt().item()
    moved = values * (1 + 0.5 * families.FILLS["uniform"](values, generator))
    moved += families.FILLS["normal"](values, generator) * (0.1 * min(spread or 1.0, 1.0))
    limit = torch.finfo(buffer.dtype).max
    out[where] = (moved.abs() if low >= 0 else moved).clamp_(-limit, limit)
    return out


def _takes(session: Session, module: torch.nn.Module, inputs: InputSet, before: running.Values) -> bool:
    try:
        now = _run(session, module, inputs)
    except OracleError:
        return False
    return all(_any_finite(now[name]) for name, value in before.items() if name in now and _any_finite(value))


def _any_finite(value: torch.Tensor) -> bool:
    return not value.is_floating_point() or not value.numel() or bool(value.isfinite().any())


def _run(session: Session, module: torch.nn.Module, inputs: InputSet) -> running.Values:
    results = running.run(module, inputs.args, inputs.kwargs, inputs.seed)
    if running.wrote_inputs(results):
        restore(session, inputs)
    return results
