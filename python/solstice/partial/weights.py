"""Predicted time of PyTorch's calls: a roofline of each, and a launch. It shares the budget out among the stages, and
tells without a GPU which part of the time is whose."""

from __future__ import annotations

from typing import Iterable, Mapping, Union

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.fx import Node
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import FlopCounterMode

from ..errors import first_line
from ..tensors import dtype_name, logical_bytes, tensor_leaves
from .own_graph import is_projection, is_view, mutates


# Of a call on tensors without values, and of formulas that hold for some of an operator's shapes only (attention, where
# keys have fewer heads than queries).
_REFUSALS = (RuntimeError, AssertionError)
_OF_VALUES = (DataDependentOutputException, DynamicOutputShapeException)  # such operators have no formula


class Weights:
    """`machine`: `bandwidth` in bytes a second, `launch` in seconds, `flops` a second by dtype (`f32`, `f16`, ..).
    `uncounted`: operators that count by their bytes alone though they may multiply, and why."""

    def __init__(self, machine: Mapping[str, object]) -> None:
        self._bandwidth = float(machine["bandwidth"])
        self._launch = float(machine["launch"])
        self._peaks: Mapping[str, float] = machine["flops"]
        self._flops: dict[Node, int] = {}
        self.uncounted: dict[str, str] = {}

    def total(self, nodes: Iterable[Node]) -> float:
        return sum(self.seconds(node) for node in nodes)

    def seconds(self, node: Node) -> float:
        if is_projection(node) or is_view(node):
            return 0.0
        made = tensor_leaves(node.meta.get("val"))
        read = [t for n in node.all_input_nodes for t in tensor_leaves(n.meta.get("val"))]
        moved = logical_bytes(self._touched(node, read, made)) / self._bandwidth
        kind = dtype_name(made[0].dtype) if made else "f32"
        work = self.flops(node) / self._peaks.get(kind, self._peaks["f32"])
        return max(moved, work) + self._launch

    def multiplies(self, node: Node) -> bool:
        return self.flops(node) > 0

    def flops(self, node: Node) -> int:
        if node not in self._flops:
            found = 0 if is_projection(node) else _count(node)
            if isinstance(found, str):
                self.uncounted[str(node.target)] = found
            self._flops[node] = 0 if isinstance(found, str) else found
        return self._flops[node]

    @staticmethod
    def _touched(node: Node, read: list[torch.Tensor], made: list[torch.Tensor]) -> list[torch.Tensor]:
        """A write in place of a part moves the part: what it takes, twice."""
        if mutates(node) and len(read) > 1:
            return [*read[1:], *read[1:]]
        return [*read, *made]


def _count(node: Node) -> Union[int, str]:
    """Zero where PyTorch has no formula; why it was not counted, where it may have one."""
    args, kwargs = pytree.tree_map_only(Node, lambda n: n.meta.get("val"), (node.args, node.kwargs))
    mode = torch._guards.detect_fake_mode((args, kwargs))
    if mode is None or not isinstance(node.target, torch._ops.OpOverload) or node.target.namespace != "aten":
        return 0
    if mutates(node):
        return 0
    counter = FlopCounterMode(display=False)
    try:
        with mode, counter, torch.no_grad():
            node.target(*args, **kwargs)
    except _OF_VALUES:
        return 0
    except _REFUSALS as error:
        return first_line(error, 200)
    return counter.get_total_flops()
