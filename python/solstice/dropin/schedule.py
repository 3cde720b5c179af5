"""A drop-in that has PyTorch's calls between kernels: its schedule, and a call of it as one straight function.

The schedule (docs/protocol.md, "Schedule") is what the module does, step by step: a stage, whose kernels are recorded
in a folder of its own, or a call of PyTorch's. Whether the kernels may run is decided before the first step, since
calls may write and draw. A value whose layout is another than the recorded one is copied into that.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

import torch

from .errors import DropinError
from .numbers import BY_NAME, refuse_early
from .specs import TensorSpec, dtype_of
from .unrolled import Text


_HERE = {"device": "here"}
_LOOKS = ("py.check", "py.shaped")  # which raise Unforeseen
# Operators that count elements from the beginning of the storage, not of the tensor.
BY_PLACE = ("aten.as_strided", "aten.set_", "aten.resize_")


@dataclass(frozen=True)
class Schedule:
    steps: list[dict[str, Any]]
    given: dict[str, dict[str, Any]]  # values that are there at the beginning: argument, state or constant
    constants: dict[str, torch.Tensor]
    results: list[dict[str, Any]]
    written: frozenset[str]  # those of `given` that a step writes in place
    stages: dict[int, Any] = field(default_factory=dict)  # the recording of each

    def paths(self) -> list[str]:
        """Of parameters and buffers that the calls read."""
        return [source["state"] for source in self.given.values() if "state" in source]

    def read_by_place(self) -> set[str]:
        """Those of `given` whose storage a call may read beyond their elements, also through other calls between."""
        behind = {name: {name} for name in self.given}
        found: set[str] = set()
        for step in self.steps:
            reads = set().union(*(behind[name] for name in _reads(step)))
            for name in step["out"] if "stage" in step else [step["out"]]:
                behind[name] = reads
            if step.get("op", "").startswith(BY_PLACE):
                found |= reads
        return found

    def early(self) -> int:
        """As many steps come before the last look at what the trace takes for granted; none of them has effects."""
        return max((number for number, step in enumerate(self.steps) if step.get("op") in _LOOKS), default=-1) + 1

    def may_be_unforeseen(self) -> bool:
        return self.early() > 0

    def calls(self) -> list[dict[str, Any]]:
        """Those that PyTorch makes for a reason."""
        return [step for step in self.steps if "why" in step]


def read(record: dict[str, Any], stages: dict[int, Any]) -> Schedule:
    constants = {name: _constant(entry) for name, entry in record["constants"].items()}
    return Schedule(
        record["steps"], record["given"], constants, record["results"], frozenset(record["written"]), stages
    )


def _constant(entry: dict[str, Any]) -> torch.Tensor:
    data, dtype = bytearray(base64.b64decode(entry["base64"])), dtype_of(entry["dtype"])
    flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    return flat.reshape(entry["shape"]).clone()


def operator(name: str) -> Any:
    """`aten.topk.default`, or `py.mul` of numbers. Custom ones are there once the original's file was loaded."""
    namespace, call, *rest = name.split(".")
    if namespace == "py":
        return BY_NAME[call]
    (overload,) = rest
    try:
        return getattr(getattr(getattr(torch.ops, namespace), call), overload)
    except AttributeError:
        raise DropinError(f"the operator `{name}` is not registered; import what defines it") from None


def _value(entry: dict[str, Any]) -> Any:
    """A constant of a call, as tracing/values.py writes it."""
    (kind, what), *_ = entry.items()
    if kind == "dtype":
        return dtype_of(what)
    if kind == "device":
        return torch.device(what)
    if kind in ("layout", "memory_format"):
        return getattr(torch, what)
    if kind == "float":
        return float(what)
    if kind == "complex":
        return complex(*(float(part["float"]) if isinstance(part, dict) else part for part in what))
    raise DropinError(f"the schedule has an argument of the kind `{kind}`")


class Writer:
    """Writes the steps as text. `launch(number, names of what enters, names of results)` has the lines of a stage."""

    def __init__(self, text: Text, schedule: Schedule, state: dict[str, torch.Tensor], device: Any) -> None:
        self._text = text
        self._schedule = schedule
        self._device = device
        self._names: dict[str, str] = {}
        self._state = state

    def lines(self, launch: Callable[[int, list[str], list[str]], Iterator[str]]) -> Iterator[str]:
        for name, source in self._schedule.given.items():
            self._names[name] = self._given(source)
        last, early, calls = self._last_uses(), self._schedule.early(), []
        for number, step in enumerate(self._schedule.steps):
            if calls and ("stage" in step or number == early):
                yield from self._looked_after(calls)
                calls = []
            made = step["out"] if "stage" in step else [step["out"]]
            for name in made:
                self._names[name] = f"v{len(self._names)}"
            if "stage" in step:
                lines = [*launch(step["stage"], self._all(step["in"]), self._all(made))]
            else:
                lines = [f"    {self._names[step['out']]} = {self._call(step)}"]
            done = [self._names[name] for name, at in last.items() if at == number]
            if done:
                lines.append(f"    {' = '.join(done)} = None")
            if number < early and "stage" not in step:
                calls += lines
            else:
                yield from lines
        yield from self._looked_after(calls)

    def _looked_after(self, calls: list[str]) -> Iterator[str]:
        if calls:
            yield "    try:"
            yield from (f"    {line}" for line in calls)
            yield f"    except Exception as error: {self._text.bind('refuse', refuse_early)}(error)"

    def results(self) -> list[str]:
        return [self._names[r["v"]] if "v" in r else self._literal(r["value"]) for r in self._schedule.results]

    def _all(self, names: list[str]) -> list[str]:
        return [self._names[name] for name in names]

    def _given(self, source: dict[str, Any]) -> str:
        (kind, which), *_ = source.items()
        if kind == "argument":
            return f"x{which}"
        if kind == "state":
            return self._text.bind("state", self._state[which])
        constant = self._schedule.constants[which]
        return self._text.bind("constant", constant.to(self._device) if self._device else constant)

    def _call(self, step: dict[str, Any]) -> str:
        if "of" in step:
            return f"{self._names[step['of']]}[{step['result']}]"
        arguments = [self._literal(a) for a in step["args"]]
        arguments += [f"{name}={self._literal(a)}" for name, a in step["kwargs"].items()]
        return f"{self._text.bind('op', operator(step['op']))}({', '.join(arguments)})"

    def _literal(self, value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(self._literal(v) for v in value)}]"
        if isinstance(value, dict):
            if "v" in value:
                return self._names[value["v"]]
            return self._text.bind("value", self._device if value == _HERE else _value(value))
        return repr(value)

    def _last_uses(self) -> dict[str, int]:
        """The step after which nothing reads a value that a step made."""
        last: dict[str, int] = {}
        for number, step in enumerate(self._schedule.steps):
            for name in _reads(step):
                last[name] = number
            for name in step["out"] if "stage" in step else [step["out"]]:
                last.setdefault(name, number)
        kept = {r["v"] for r in self._schedule.results if "v" in r} | self._schedule.given.keys()
        return {name: number for name, number in last.items() if name not in kept}


def _reads(step: dict[str, Any]) -> Iterator[str]:
    if "stage" in step:
        yield from step["in"]
    elif "of" in step:
        yield step["of"]
    else:
        yield from _values_in([*step["args"], *step["kwargs"].values()])


def _values_in(values: Any) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _values_in(value)
        elif isinstance(value, dict) and "v" in value:
            yield value["v"]


def fit(spec: TensorSpec, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as the kernels take it."""
    if spec.has_layout(tensor) and not tensor.data_ptr() % spec.alignment and not tensor.is_neg():
        return tensor
    return torch.empty_strided(spec.shape, spec.stride, dtype=spec.dtype, device=tensor.device).copy_(tensor)
