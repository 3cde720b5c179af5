"""The order in which a drop-in runs stages and PyTorch's calls: as data, and run here for reference.

A step is a stage, a call, or one of a call's results. Views are made where they are needed.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from ..dropin.numbers import check, require, require_shape, shaped
from ..errors import input_error
from ..tensors import dtype_name
from ..tracing.sources import SourceTable
from ..tracing.values import constant_data, literal
from .cut import Cut
from .order import Step, behind_effects, checks_first, shape_to_check
from .own_graph import OwnGraph, is_of_numbers, is_projection, is_view, written
from .stages import Stage


@dataclass
class Schedule:
    own: OwnGraph
    steps: list[Step]

    def run(
        self,
        arguments: list[Any],
        state: Callable[[str], torch.Tensor],
        until: Any = None,
        timed: Optional[Callable[[str, Callable[[], Any]], None]] = None,
    ) -> dict[Node, Any]:
        """Every value, with PyTorch for the stages too. Ends before the stage `until`. `timed` is given each call of
        PyTorch's by its name, to be called as often as it likes, before it is made; none that writes, which again
        would be another."""
        values = self._given(arguments, state)
        for step in self.steps:
            if step is until:
                break
            if isinstance(step, Stage):
                with torch.no_grad():
                    made = step.graph(*(values[n] for n in (*step.inputs, *step.state)))
                values.update(zip(step.outputs, made))
            else:
                if timed and not (is_projection(step) or is_view(step) or written(step)):
                    timed(step.name, functools.partial(call, step, values))
                values[step] = call(step, values)
        return values

    def _given(self, arguments: list[Any], state: Callable[[str], torch.Tensor]) -> dict[Node, Any]:
        makers = {
            "argument": lambda which: arguments[which],
            "state": state,
            "constant": lambda name: self.own.constants[name],
        }
        return {node: makers[kind](which) for node, (kind, which) in self.own.sources.items()}


def call(node: Node, values: Mapping[Node, Any]) -> Any:
    args, kwargs = pytree.tree_map_only(Node, values.__getitem__, (node.args, node.kwargs))
    return node.target(*args, **kwargs)


def schedule(own: OwnGraph, found: Cut, stages: list[Stage], kept: set[int]) -> Schedule:
    """Stages that are not `kept` are PyTorch's calls, in their place."""
    by_number = {stage.number: stage for stage in stages if stage.number in kept}
    writer = _Writer(own, found)
    theirs: dict[int, list[Node]] = {}
    for node, level in found.levels.items():
        theirs.setdefault(level, []).append(node)
    for level in sorted(theirs):
        mine = [node for node in theirs[level] if node not in found.why]
        if level in by_number:
            writer.stage(by_number[level])
        else:
            writer.calls(mine)
        writer.calls([node for node in theirs[level] if node in found.why])
    writer.calls([result for result in own.results if isinstance(result, Node)])
    return Schedule(own, checks_first(own, writer.steps))


class _Writer:
    def __init__(self, own: OwnGraph, found: Cut) -> None:
        self._cut = found
        self._there = set(own.sources)
        self.steps: list[Step] = []

    def stage(self, stage: Stage) -> None:
        self.calls(stage.inputs)
        self.steps.append(stage)
        self._there.update(stage.outputs)

    def calls(self, nodes: list[Node]) -> None:
        for node in nodes:
            self._need(node)

    def _need(self, node: Node) -> None:
        """The call, after free calls that it needs."""
        waiting = [node]
        while waiting:
            last = waiting[-1]
            missing = [n for n in last.all_input_nodes if n not in self._there]
            if missing and last not in self._there:
                waiting += missing
                continue
            waiting.pop()
            if last not in self._there:
                self.steps.append(last)
                self._there.add(last)


class Record:
    """The schedule as JSON (docs/protocol.md, "Schedule")."""

    def __init__(self, found: Schedule, why: Mapping[Node, str], display: dict[str, str]) -> None:
        self._schedule = found
        self._why = why
        self._sources = SourceTable(display)
        self._device = found.own.device()
        self._late = behind_effects(found.own, found.steps)

    def json(self) -> dict[str, Any]:
        own = self._schedule.own
        written = {root for roots in own.writes.values() for root in roots}
        steps = [record for step in self._schedule.steps for record in (self._step(step), *self._shape_of(step))]
        read = {n for step in self._schedule.steps for n in _read_by(step)}
        read |= {r for r in own.results if isinstance(r, Node)}
        given = {n.name: _given(n, *source) for n, source in own.sources.items() if n in read}
        constants = [g["constant"] for g in given.values() if "constant" in g]
        return {
            "given": given,
            "constants": {name: _constant(name, own.constants[name]) for name in constants},
            "steps": steps,
            "written": sorted(n.name for n in own.sources if n.name in given and own.memory[n] in written),
            "results": [{"v": r.name} if isinstance(r, Node) else {"value": literal(r)} for r in own.results],
            "files": self._sources.files,
        }

    def _step(self, step: Step) -> dict[str, Any]:
        if isinstance(step, Stage):
            names = lambda nodes: [n.name for n in nodes]
            return {"stage": step.number, "in": names(step.inputs), "out": names(step.outputs)}
        if is_projection(step):
            return {"out": step.name, "of": step.args[0].name, "result": step.args[1]}
        if not isinstance(step.target, torch._ops.OpOverload) and not is_of_numbers(step):
            raise input_error("trace.not_flat", f"the module cannot be cut: `{step.target}` is no operator")
        function = require if step in self._late and step.target is check else step.target
        record = {
            "out": step.name,
            "op": f"py.{function.__name__}" if is_of_numbers(step) else str(step.target),
            "args": [self._argument(a) for a in step.args],
            "kwargs": {name: self._argument(a) for name, a in step.kwargs.items()},
        }
        if step in self._why:
            record["why"] = self._why[step]
        where = self._sources.location(step.meta.get("stack_trace"))
        return {**record, "file": where["file"], "line": where["line"]} if where else record

    def _shape_of(self, step: Step) -> list[dict[str, Any]]:
        shape = shape_to_check(step)
        if shape is None:
            return []
        function, arguments = require_shape if step in self._late else shaped, [{"v": step.name}, shape]
        return [{"out": f"{step.name}.shape", "op": f"py.{function.__name__}", "args": arguments, "kwargs": {}}]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, Node):
            return {"v": value.name}
        if isinstance(value, (list, tuple)):
            return [self._argument(v) for v in value]
        is_here = isinstance(value, torch.device) and _is_on(value, self._device)
        return {"device": "here"} if is_here else literal(value)


def _is_on(wanted: torch.device, device: torch.device) -> bool:
    return wanted.type == device.type and wanted.index in (None, device.index)


def _given(node: Node, kind: str, which: Any) -> dict[str, Any]:
    value = node.meta.get("val")
    if kind != "state":
        return {kind: which}
    return {kind: which, "dtype": dtype_name(value.dtype), "shape": list(value.shape), "stride": list(value.stride())}


def _constant(name: str, tensor: torch.Tensor) -> dict[str, Any]:
    data = constant_data(tensor, None)
    if "base64" not in data:
        raise input_error(
            "trace.large_constant",
            f"the module cannot be cut: the constant `{name}` has {tensor.numel()} elements",
            hint="make it a buffer (`register_buffer`)",
        )
    return {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape), "base64": data["base64"]}


def _read_by(step: Step) -> list[Node]:
    return [*step.inputs, *step.state] if isinstance(step, Stage) else step.all_input_nodes
