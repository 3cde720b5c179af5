"""Extents that depend on the values of tensors (`x[mask]`, `torch.where(mask)`, `unique`): numbers that every call has
to find out anew."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from ..tensors import tensor_leaves

_KNOWN_SHAPES = {
    "bincount": "count into a known number of bins: `torch.zeros(n, device=x.device)"
    ".scatter_add(0, x, torch.ones(len(x), device=x.device))`",
    "nonzero": "keep all elements and choose with torch.where, or multiply by the mask",
    "masked_select": "keep all elements and choose with torch.where, or multiply by the mask",
    "index": "keep all elements and choose with torch.where, or multiply by the mask",
    "where": "keep all elements and choose with torch.where(condition, x, y), or multiply by the mask",
    "_unique2": "pass the distinct values in, or sort and compare neighbours",
    "unique_consecutive": "compare neighbours, and keep all elements",
    "unique_dim": "pass the distinct values in, or sort and compare neighbours",
    "repeat_interleave": "gather by positions of a known length, as torch.searchsorted finds them in the summed counts",
    "one_hot": "give `num_classes`",
}
REASON = "its shape depends on the values of a tensor"


def depends_on_values(number: Any) -> bool:
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    symbolic = isinstance(number, (torch.SymInt, torch.SymFloat, torch.SymBool))
    return symbolic and bool(free_unbacked_symbols(number))


def varies(tensor: torch.Tensor) -> bool:
    """Its extents, strides or place in its storage depend on values."""
    if tensor.layout is not torch.strided:
        return False
    return any(depends_on_values(n) for n in (*tensor.shape, *tensor.stride(), tensor.storage_offset()))


def made_varies(node: Node) -> bool:
    return any(varies(t) for t in tensor_leaves(node.meta.get("val")))


def most(number: torch.SymInt) -> int:
    """The largest value that the tracer knows of; the smallest where it knows none, at least 1."""
    from torch.utils._sympy.value_ranges import bound_sympy

    known = bound_sympy(number.node.expr, number.node.shape_env.var_to_range)
    return int(known.upper) if known.upper.is_Integer else max(1, int(known.lower) if known.lower.is_Integer else 1)


def way_to_a_known_shape(operator: Any) -> str:
    name = operator.__name__.split(".")[0] if hasattr(operator, "__name__") else str(operator)
    return _KNOWN_SHAPES.get(name, "shapes must follow from the shapes of the inputs")
