"""Shapes of what calls make of values whose number of elements depends on data."""

from __future__ import annotations

import itertools
from typing import Any, Iterator, Optional

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

from ..tracing import quiet
from ..tracing.values import SYMBOLIC
from .own_graph import is_projection

_TRIED = (0, 1, 2, 3)  # of elements; one is what broadcasts
_MOST_TRIALS = 64


def is_the_same_for_all(node: Node) -> bool:
    """Whether no number of elements that is tried makes another shape than the trace's. Numbers with which the call
    fails say nothing: it fails in `forward` too."""
    call = node.args[0] if is_projection(node) else node
    given = pytree.tree_map_only(Node, lambda n: n.meta.get("val"), (call.args, call.kwargs))
    found = [_shape(node, call, given, numbers) for numbers in _numbers(given)]
    made = [shape for shape in found if shape is not None]
    return bool(made) and all(shape == list(node.meta["val"].shape) for shape in made)


def _numbers(given: Any) -> Iterator[dict[sympy.Symbol, int]]:
    leaves = [v for v in pytree.tree_leaves(given) if isinstance(v, (torch.Tensor, *SYMBOLIC))]
    symbols = sorted(set().union(*map(free_unbacked_symbols, leaves)), key=str)
    trials = itertools.product(_TRIED, repeat=len(symbols))
    if len(_TRIED) ** len(symbols) > _MOST_TRIALS:
        trials = (tuple(n + i for i in range(len(symbols))) for n in _TRIED)
    for numbers in trials:
        yield dict(zip(symbols, numbers))


def _shape(node: Node, call: Node, given: Any, numbers: dict[sympy.Symbol, int]) -> Optional[list[int]]:
    def at(value: Any) -> Any:
        if isinstance(value, SYMBOLIC):
            kind = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}[type(value)]
            return kind(value.node.expr.xreplace(numbers))
        if not isinstance(value, torch.Tensor):
            return value
        shape, stride = ([at(n) for n in each] for each in (value.shape, value.stride()))
        return torch.empty_strided(shape, stride, dtype=value.dtype, device=value.device)

    try:
        with quiet(), FakeTensorMode(), torch.no_grad():
            args, kwargs = pytree.tree_map(at, given)
            made = call.target(*args, **kwargs)
    except Exception:  # whatever an operator says of numbers that do not fit
        return None
    return list((made[node.args[1]] if call is not node else made).shape)
