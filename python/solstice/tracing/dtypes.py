"""Calls whose tensors are of several dtypes. Tensors without memory let products pass that eager PyTorch refuses
(`mat1 and mat2 must have the same dtype`), so such a call is made for real: on tensors that repeat one zero.
"""

from __future__ import annotations

from typing import Any, Iterator, Optional

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from ..errors import OracleError
from ..tensors import leaves, tensor_leaves
from .failing import forward_failed
from .refusals import place_of
from .values import SYMBOLIC

_AUTOCAST = torch.ops.higher_order.wrap_with_autocast
_PRODUCTS = ("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "conv")  # refused before anything is computed
_MOST_ELEMENTS = 1 << 24  # of other calls' results, which are computed


def casts_by_itself(program: torch.export.ExportedProgram) -> bool:
    """Under an autocast dtypes are what PyTorch makes of them on the module's device."""
    graphs = (part for part in program.graph_module.modules() if isinstance(part, torch.fx.GraphModule))
    return torch.is_autocast_enabled("cpu") or any(n.target is _AUTOCAST for g in graphs for n in g.graph.nodes)


def refuse_mixed(program: torch.export.ExportedProgram) -> None:
    for node in _mixed(program):
        error = _refusal(node)
        if error is not None:
            raise _said_at(node, error) from error


def _mixed(program: torch.export.ExportedProgram) -> Iterator[Node]:
    """One call of each operator and dtypes."""
    seen = set()
    for node in program.graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload) or torch.Tag.pointwise in node.target.tags:
            continue
        tensors = tensor_leaves([n.meta.get("val") for n in node.all_input_nodes])
        dtypes = tuple(v.dtype for v in tensors)
        key = node.target, dtypes
        on_host = all(v.device.type == "cpu" for v in tensors)
        if len(set(dtypes)) > 1 and on_host and key not in seen and _is_known(node) and _is_cheap(node):
            seen.add(key)
            yield node


def _is_known(node: Node) -> bool:
    """No extent depends on values."""
    given = leaves([n.meta.get("val") for n in (node, *node.all_input_nodes)])
    extents = [n for v in given if isinstance(v, torch.Tensor) for n in v.shape]
    return not any(isinstance(v, SYMBOLIC) for v in (*given, *extents))


def _is_cheap(node: Node) -> bool:
    name = node.target._schema.name.partition("::")[2]
    return name.startswith(_PRODUCTS) or sum(t.numel() for t in tensor_leaves(node.meta.get("val"))) <= _MOST_ELEMENTS


def _refusal(node: Node) -> Optional[Exception]:
    """What eager PyTorch raises, where one dtype for all would do."""
    error = _raised(node, None)
    if error is None:
        return None
    dtypes = {t.dtype for n in node.all_input_nodes for t in tensor_leaves(n.meta.get("val"))}
    floats = [dtype for dtype in dtypes if dtype.is_floating_point]
    return error if any(_raised(node, dtype) is None for dtype in floats) else None


def _raised(node: Node, dtype: Optional[torch.dtype]) -> Optional[Exception]:
    """`dtype`: of all tensors in place of their own."""

    def real(value: Any) -> Any:
        held = value.meta.get("val") if isinstance(value, Node) else value
        if not isinstance(held, torch.Tensor):
            return held
        return torch.zeros((), dtype=dtype or held.dtype, device="cpu").expand(tuple(held.shape))

    args, kwargs = pytree.tree_map(real, (node.args, node.kwargs))
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            node.target(*args, **kwargs)
    except Exception as error:
        return error
    return None


def _said_at(node: Node, error: Exception) -> OracleError:
    said = forward_failed("trace.forward_failed", error)
    said.__dict__.update(place_of(node))
    return said
