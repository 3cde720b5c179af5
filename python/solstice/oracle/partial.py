"""Requests about the parts of a module that is cut (solstice.partial); docs/protocol.md is their reference page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import torch

from ..dropin.numbers import Unforeseen
from ..errors import input_error
from ..tensors import leaves, map_tensors
from . import kernelbench, running
from .session import Session

if TYPE_CHECKING:
    from ..partial.parts import Parts
    from ..partial.schedule import Schedule

_WARMUPS, _REPS = 3, 20
_LONGEST = 1e-3  # predicted seconds on a GPU of what a CPU is asked to run


def calls(self: Session) -> dict[str, Any]:
    """Every call of the module, as it calls PyTorch."""
    from ..partial.parts import calls_of, describe_calls

    self.progress("calls", "tracing the module's calls")
    return describe_calls(calls_of(self))


def cut(self: Session, *, refused: dict[str, str] = {}, seconds: dict[str, float]) -> dict[str, Any]:
    """`refused`: why calls, by their names in an earlier cut, are no part of ours. `seconds`: predicted, of the calls
    by their names."""
    from ..partial.parts import describe_parts, make_parts

    self.progress("cut", "dividing the module")
    self.parts = make_parts(self, refused, seconds)
    self.parts.record({stage.number for stage in self.parts.stages})  # what it cannot hold is refused now
    return describe_parts(self.parts)


def enter_stage(self: Session, *, number: Optional[int] = None) -> dict[str, Any]:
    """The stage is the session's problem from here on; without a number the whole module is again."""
    from ..partial.parts import stage_subject

    parts = _need_parts(self)
    whole = number is None
    self.enter(parts.original if whole else stage_subject(self, parts, parts.stage(number)))
    return {}


def key_of_stage(module: torch.nn.Module, decompose: list[str]) -> Optional[tuple]:
    """The same for traces of the same stage; nothing for a module that is none."""
    from ..partial.stages import StageModule

    return (str(module.calls()), *decompose) if isinstance(module, StageModule) else None


def schedule(self: Session, *, kept: list[int]) -> dict[str, Any]:
    """`kept`: the stages that have kernels; the calls of all others are PyTorch's."""
    return {"schedule": _need_parts(self).record(set(kept))}


def check_schedule(self: Session, *, seed: int = 42) -> dict[str, Any]:
    """Stages and calls in their order, all of them PyTorch's, against the module: results, buffers, written inputs.
    `left_out`: why nothing was compared."""
    parts = _need_parts(self)
    seconds = parts.weights.total(parts.found.levels)
    if self.device.type != "cuda" and seconds > _LONGEST:
        return {"differences": [], "left_out": f"there is no GPU, on which it would take {seconds * 1e3:.3g} ms"}
    module = self.module()
    make = lambda: map_tensors(lambda t: t.to(self.device), self.example_inputs(seed))
    expected = running.run(module, *make(), seed)
    try:
        found = running.run(_Scheduled(module, parts.schedule()), *make(), seed)
    except Unforeseen as error:
        return {"differences": [f"the trace does not hold for the example inputs: {error}"]}
    found = {name.replace(f"buffer.{_Scheduled.INNER}.", "buffer."): value for name, value in found.items()}
    return {"differences": _differences(expected, found)}


def _differences(expected: running.Values, found: running.Values) -> list[str]:
    out = [f"{name} is written by one of them only" for name in sorted(expected.keys() ^ found.keys())]
    for name in expected.keys() & found.keys():
        a, b = expected[name], found[name]
        if a.shape != b.shape or a.dtype is not b.dtype:
            out.append(f"{name} has another shape or dtype")
        elif a.device != b.device:
            out.append(f"{name} is on {b.device} instead of {a.device}")
        elif not kernelbench.excess_of([a], [b]) <= 1:
            out.append(f"{name} differs")
    return out


class _Scheduled(torch.nn.Module):
    INNER = "original"

    def __init__(self, original: torch.nn.Module, found: "Schedule") -> None:
        super().__init__()
        self.original = original
        self._found = found
        self.train(original.training)

    def forward(self, *args: Any, **kwargs: Any) -> list[Any]:
        from ..partial.parts import state_of

        values = self._found.run(leaves((args, kwargs)), state_of(self.original).__getitem__)
        return [values[r] if isinstance(r, torch.fx.Node) else r for r in self._found.own.results]


def time_calls(self: Session, *, set: str, kept: list[int]) -> dict[str, Any]:
    """Seconds of each call of PyTorch's that writes nothing, called again and again on the values that it meets."""
    from ..partial.parts import state_of

    chosen, parts, module = self.need_set(set), _need_parts(self), self.module()
    state = state_of(module)
    arguments = [a.clone() if isinstance(a, torch.Tensor) else a for a in chosen.leaves()]
    times: dict[str, float] = {}

    def timed(name: str, again: Any) -> None:
        times[name] = _seconds(self, again)

    with torch.no_grad(), running.kept_buffers(module):
        parts.schedule(_known(parts, kept)).run(arguments, state.__getitem__, timed=timed)
    return {"calls": [{"name": name, "seconds": seconds} for name, seconds in times.items()]}


def _known(parts: "Parts", kept: list[int]) -> set[int]:
    return {parts.stage(number).number for number in kept}


def _seconds(session: Session, again: Any) -> float:
    if session.device.type != "cuda":
        raise input_error("timing.no_gpu", "calls are timed on a GPU")
    for _ in range(_WARMUPS):
        again()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(_REPS):
        again()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3 / _REPS


def _need_parts(session: Session) -> "Parts":
    if session.parts is None:
        raise input_error("partial.no_cut", "the module was not cut", hint="send `cut` first")
    return session.parts
