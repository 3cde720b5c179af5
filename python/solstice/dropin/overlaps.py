"""Memory that the calls of a schedule write, told from everything else that they read.

Reads and writes keep their order by name, hence what is written may lie in no other argument, parameter or buffer
(docs/partial.md, "Limits"). Extents are those of the recording, or the whole storage where a call reads it by the
place of its elements there (`as_strided`); addresses are asked on every call.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, Iterator, NamedTuple, Optional

import torch

from .binding import Binding
from .recording import Recording
from .specs import TensorSpec
from .unrolled import Text


class Place(NamedTuple):
    argument: Optional[int]  # None: a parameter or buffer
    path: str
    size: int  # in bytes, from the first element to the last
    written: bool
    whole: bool = False  # all of its storage counts, whose size is asked on every call

    def title(self) -> str:
        return f"`{self.path}`" if self.argument is None else f"argument {self.argument}"


def conditions(text: Text, recording: Recording, binding: Binding) -> Iterator[str]:
    """True where memory is shared. An argument is `x{position}`, its address `a{position}`; those of the state are the
    binding's."""
    state = _state(binding)
    for one, other in _pairs(recording):
        if one.argument is None and other.argument is None:
            if _meet(_span(one, state[one.path]), _span(other, state[other.path])):
                yield "True"
            continue
        (here, size), (there, other_size) = (_span_text(p, state) for p in (one, other))
        yield f"-{other_size} < {there} - {here} < {size}"


def refusal(recording: Recording, binding: Binding, leaves: Any) -> Optional[str]:
    state = _state(binding)
    span = lambda p: _span(p, state[p.path] if p.argument is None else leaves[p.argument])
    for one, other in _pairs(recording):
        if _meet(span(one), span(other)):
            what, with_what = (one, other) if one.written else (other, one)
            return f"{what.title()} is written in place and shares memory with {with_what.title()}"
    return None


def _span(place: Place, tensor: torch.Tensor) -> tuple[int, int]:
    """Address and bytes."""
    if place.whole:
        return tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()
    return tensor.data_ptr(), place.size


def _span_text(place: Place, state: dict[str, torch.Tensor]) -> tuple[str, str]:
    if place.argument is None:
        at, size = _span(place, state[place.path])
        return str(at), str(size)
    if place.whole:
        storage = f"x{place.argument}.untyped_storage()"
        return f"{storage}.data_ptr()", f"{storage}.nbytes()"
    return f"a{place.argument}", str(place.size)


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return -other[1] < other[0] - one[0] < one[1]


def _pairs(recording: Recording) -> Iterator[tuple[Place, Place]]:
    """Pairs of which one is written."""
    if recording.schedule is not None:
        for one, other in combinations(_places(recording), 2):
            empty = any(not p.size and not p.whole for p in (one, other))
            if (one.written or other.written) and not empty:
                yield one, other


def _places(recording: Recording) -> Iterator[Place]:
    schedule = recording.schedule
    specs = {spec.path: spec for spec in recording.state}
    whole = schedule.read_by_place()
    for name, source in schedule.given.items():
        facts = name in schedule.written, name in whole
        if "state" in source:
            yield Place(None, source["state"], _extent(specs[source["state"]]), *facts)
        elif "argument" in source and isinstance(recording.arguments[source["argument"]], TensorSpec):
            yield Place(source["argument"], "", _extent(recording.arguments[source["argument"]]), *facts)


def _extent(spec: TensorSpec) -> int:
    if not math.prod(spec.shape):
        return 0
    return (sum((n - 1) * step for n, step in zip(spec.shape, spec.stride)) + 1) * spec.dtype.itemsize


def _state(binding: Binding) -> dict[str, torch.Tensor]:
    return {owner.spec.path: owner.tensor for owner in binding.owners}
