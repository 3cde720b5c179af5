"""Weights of PyTorch's calls: their predicted time, which the program gives, and whether they multiply. They share the
budget out among the stages, and tell without a GPU which part of the time is whose."""

from __future__ import annotations

from typing import Iterable, Mapping

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.fx import Node
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import FlopCounterMode

from .own_graph import is_projection, is_view, mutates


# Of a call on tensors without values, and of formulas that hold for some of an operator's shapes only (attention, where
# keys have fewer heads than queries).
_REFUSALS = (RuntimeError, AssertionError)
_OF_VALUES = (DataDependentOutputException, DynamicOutputShapeException)  # such operators have no formula


class Weights:
    """`seconds`: predicted, of every call that moves data, by its name (request `calls`)."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds
        self._multiplies: dict[Node, bool] = {}

    def total(self, nodes: Iterable[Node]) -> float:
        return sum(self.seconds(node) for node in nodes)

    def seconds(self, node: Node) -> float:
        """Numbers that are read from tensors have no time: the graph's record folds them away."""
        return 0.0 if is_projection(node) or is_view(node) else float(self._seconds.get(node.name, 0.0))

    def multiplies(self, node: Node) -> bool:
        if node not in self._multiplies:
            self._multiplies[node] = not is_projection(node) and _multiplies(node)
        return self._multiplies[node]


def _multiplies(node: Node) -> bool:
    """PyTorch has a formula for its products; also where the formula refuses these shapes."""
    args, kwargs = pytree.tree_map_only(Node, lambda n: n.meta.get("val"), (node.args, node.kwargs))
    mode = torch._guards.detect_fake_mode((args, kwargs))
    if mode is None or not isinstance(node.target, torch._ops.OpOverload) or node.target.namespace != "aten":
        return False
    if mutates(node):
        return False
    counter = FlopCounterMode(display=False)
    try:
        with mode, counter, torch.no_grad():
            node.target(*args, **kwargs)
    except _OF_VALUES:
        return False
    except _REFUSALS:
        return True
    return counter.get_total_flops() > 0
