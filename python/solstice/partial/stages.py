"""A stage as a module: the calls of one number, with the original's parameters and buffers under their own paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import torch
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from ..tensors import dtype_name, tensor_leaves
from .cut import Cut, bases, rewritten
from .own_graph import OwnGraph, is_projection, is_view


@dataclass(eq=False)  # each is itself
class Stage:
    number: int
    calls: list[Node]
    inputs: list[Node]  # values that enter it, also state that PyTorch's calls write
    state: list[Node]  # placeholders of parameters and buffers
    outputs: list[Node]
    graph: GraphModule  # of inputs, then state; returns a tuple

    def title(self) -> str:
        names = [n.target._schema.name.partition("::")[2] for n in self.calls if not is_projection(n)]
        return ", ".join(names[:4]) + (", .." if len(names) > 4 else "")


def stages_of(own: OwnGraph, found: Cut) -> list[Stage]:
    needed = _needed(own, found)
    made = [_stage(own, found, number, calls, needed) for number, calls in found.stages.items()]
    return [stage for stage in made if stage.outputs]


def _needed(own: OwnGraph, found: Cut) -> dict[Node, set[Any]]:
    """By whom each value is needed, through free calls: a stage's number, or None for PyTorch and the results."""
    needed: dict[Node, set[Any]] = {}
    for node, level in found.levels.items():
        who = None if node in found.why else level
        for base in bases(node, found.free):
            needed.setdefault(base, set()).add(who)
    for result in own.results:
        if isinstance(result, Node):
            found_bases = bases(result, found.free) if result in found.free else [result]
            for base in found_bases:
                needed.setdefault(base, set()).add(None)
    return needed


def _stage(own: OwnGraph, found: Cut, number: int, calls: list[Node], needed: dict[Node, set[Any]]) -> Stage:
    inside = set(calls)
    outputs = [n for n in calls if needed.get(n, set()) - {number} and isinstance(n.meta.get("val"), torch.Tensor)]
    members = _with_free(own, calls, found.free)
    order = {n: i for i, n in enumerate(own.graph.nodes)}
    outside = {n for m in members for n in m.all_input_nodes if n not in members and n not in inside}
    outer = sorted(outside, key=order.__getitem__)  # the same in every process: a run that goes on knows its stages
    changing = rewritten(own)
    is_state = lambda n: own.sources.get(n, ("", ""))[0] == "state" and own.memory[n] not in changing
    inputs, state = [n for n in outer if not is_state(n)], [n for n in outer if is_state(n)]
    graph, copied = Graph(), {}
    for node in (*inputs, *state):
        copied[node] = graph.placeholder(f"given_{node.name}")
        copied[node].meta["val"] = node.meta.get("val")
    for node in sorted(members, key=order.__getitem__):
        copied[node] = graph.node_copy(node, copied.__getitem__)
    graph.output(tuple(copied[n] for n in outputs))
    return Stage(number, calls, inputs, state, outputs, GraphModule(torch.nn.Module(), graph))


def _with_free(own: OwnGraph, calls: list[Node], free: set[Node]) -> set[Node]:
    members, waiting = set(calls), list(calls)
    while waiting:
        for node in waiting.pop().all_input_nodes:
            if node in free and node not in members and not _enters_whole(own, node, members, free):
                members.add(node)
                waiting.append(node)
    return members


def _enters_whole(own: OwnGraph, node: Node, inside: set[Node], free: set[Node]) -> bool:
    """Another shape of a value from outside, as it lies in memory, enters as it is: PyTorch makes it without a kernel,
    and equations over the shape before could not read it row by row."""
    sources = bases(node, free)
    value = node.meta.get("val")
    if len(sources) != 1 or sources[0] in inside or own.sources.get(sources[0], ("", ""))[0] == "state":
        return False
    source = sources[0].meta.get("val")
    both = isinstance(value, torch.Tensor) and isinstance(source, torch.Tensor)
    return both and value.is_contiguous() and value.numel() == source.numel() and is_view(node)


class StageModule(torch.nn.Module):
    """Its parameters and buffers are the original's own, under the same paths."""

    def __init__(self, stage: Stage, own: OwnGraph, original: torch.nn.Module) -> None:
        super().__init__()
        self._solstice_paths = [own.sources[node][1] for node in stage.state]
        for path in self._solstice_paths:
            _register(self, path, original)
        self.train(original.training)
        # No child, whose name could be one of the original's; what has such a name is no state either.
        object.__setattr__(self, "_solstice_calls", stage.graph)

    def calls(self) -> Graph:
        return self._solstice_calls.graph

    def forward(self, *inputs: torch.Tensor) -> tuple:
        state = [_tensor_at(self, path) for path in self._solstice_paths]
        if torch.fx.traceback.has_preserved_node_meta():  # a trace: its nodes keep their lines and names
            return torch.fx.Interpreter(self._solstice_calls).run(*inputs, *state)
        return self._solstice_calls(*inputs, *state)


def _register(into: torch.nn.Module, path: str, original: torch.nn.Module) -> None:
    *parents, name = path.split(".")
    owner = original.get_submodule(".".join(parents))
    for parent in parents:
        if parent not in into._modules:
            into.add_module(parent, torch.nn.Module())
        into = into._modules[parent]
    if name in owner._parameters:
        into.register_parameter(name, owner._parameters[name])
    else:
        into.register_buffer(name, owner._buffers[name], persistent=name not in owner._non_persistent_buffers_set)


def _tensor_at(module: torch.nn.Module, path: str) -> torch.Tensor:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def empties(stage: Stage, device: Optional[torch.device] = None) -> tuple:
    """What enters it, for its shapes alone."""
    values = [node.meta["val"] for node in stage.inputs]
    return tuple(
        torch.empty_strided(tuple(v.shape), tuple(v.stride()), dtype=v.dtype, **({"device": device} if device else {}))
        for v in values
    )


def form(stage: Stage) -> tuple:
    """The same for stages of the same calls, on values of the same shapes, dtypes and strides. The place that a view
    takes (`keep[i]` in a loop) may differ: a schedule does not depend on it."""
    numbers = {node: f"%{i}" for i, node in enumerate(stage.graph.graph.nodes)}

    def told(node: Node) -> tuple:
        given = torch.fx.map_arg((node.args, node.kwargs), numbers.__getitem__)
        if node.op == "call_function" and not is_projection(node) and is_view(node):
            given = pytree.tree_map_only(int, lambda number: "a place", given)
        values = [
            (str(t.dtype), str(tuple(t.shape)), str(t.stride()), str(t.device))
            for t in tensor_leaves(node.meta.get("val"))
        ]
        called = "" if node.op == "placeholder" else str(node.target)
        return node.op, called, repr(given), tuple(values)

    return tuple(map(told, stage.graph.graph.nodes))


def describe(stage: Stage, seconds: float) -> dict[str, Any]:
    return {
        "number": stage.number,
        "title": stage.title(),
        "names": [n.name for n in stage.calls if not is_projection(n)],
        "seconds": seconds,
        "inputs": [f"{dtype_name(n.meta['val'].dtype)}{list(n.meta['val'].shape)}" for n in stage.inputs],
    }
