"""Memory that the calls of a schedule write, told from everything else that they read.

Reads and writes keep their order by name, hence what is written may lie in no other argument, parameter or buffer
(docs/partial.md, "Limits"). Extents are those of the recording; addresses are asked on every call.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, Iterator, NamedTuple, Optional

from .binding import Binding
from .recording import Recording
from .specs import TensorSpec
from .unrolled import Text


class Place(NamedTuple):
    argument: Optional[int]  # None: a parameter or buffer
    path: str
    size: int  # in bytes, from the first element to the last
    written: bool

    def title(self) -> str:
        return f"`{self.path}`" if self.argument is None else f"argument {self.argument}"


def conditions(text: Text, recording: Recording, binding: Binding) -> Iterator[str]:
    """True where memory is shared. An argument's address is in `a{position}`; those of the state are the binding's."""
    state = _state(binding)
    for one, other in _pairs(recording):
        if one.argument is None and other.argument is None:
            if _meet(one, state[one.path], other, state[other.path]):
                yield "True"
            continue
        names = [str(state[p.path]) if p.argument is None else f"a{p.argument}" for p in (one, other)]
        yield f"{-other.size} < {names[1]} - {names[0]} < {one.size}"


def refusal(recording: Recording, binding: Binding, leaves: Any) -> Optional[str]:
    state = _state(binding)
    address = lambda p: state[p.path] if p.argument is None else leaves[p.argument].data_ptr()
    for one, other in _pairs(recording):
        if _meet(one, address(one), other, address(other)):
            what, with_what = (one, other) if one.written else (other, one)
            return f"{what.title()} is written in place and shares memory with {with_what.title()}"
    return None


def _meet(one: Place, at: int, other: Place, other_at: int) -> bool:
    return -other.size < other_at - at < one.size


def _pairs(recording: Recording) -> Iterator[tuple[Place, Place]]:
    """Pairs of which one is written."""
    if recording.schedule is not None:
        for one, other in combinations(_places(recording), 2):
            if (one.written or other.written) and one.size and other.size:
                yield one, other


def _places(recording: Recording) -> Iterator[Place]:
    schedule = recording.schedule
    specs = {spec.path: spec for spec in recording.state}
    for name, source in schedule.given.items():
        is_written = name in schedule.written
        if "state" in source:
            yield Place(None, source["state"], _extent(specs[source["state"]]), is_written)
        elif "argument" in source and isinstance(recording.arguments[source["argument"]], TensorSpec):
            yield Place(source["argument"], "", _extent(recording.arguments[source["argument"]]), is_written)


def _extent(spec: TensorSpec) -> int:
    if not math.prod(spec.shape):
        return 0
    return (sum((n - 1) * step for n, step in zip(spec.shape, spec.stride)) + 1) * spec.dtype.itemsize


def _state(binding: Binding) -> dict[str, int]:
    return {owner.spec.path: owner.pointer for owner in binding.owners}
