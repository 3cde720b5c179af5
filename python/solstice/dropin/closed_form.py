"""Closed forms of buffers: a triangular mask, an identity, a range. The tracer finds them in a buffer's contents, the
importer states them (`assume`), and the drop-in compares the buffer with them before it trusts
kernels that were made so.

A form is a record (docs/protocol.md, "Graph"): `kind`, `axes` and numbers. Along other axes the elements repeat.

    triangle   `value` where axes[1] <= axes[0] + diagonal, `otherwise` elsewhere
    diagonal   `value` where axes[1] == axes[0] + diagonal, `otherwise` elsewhere
    arange     value + step * axes[0]

Zeros of either sign count as equal: the equations are over the reals.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import torch

Form = dict[str, Any]

MOST_ELEMENTS = 1 << 26
_FEWEST = 3  # of a range: two numbers always are one
_LARGEST = 1 << 53
_DTYPES = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
           torch.float16, torch.bfloat16, torch.float32, torch.float64)  # fmt: skip


def find(tensor: torch.Tensor) -> Optional[Form]:
    """The closed form of the contents, or None."""
    if tensor.layout is not torch.strided or tensor.dtype not in _DTYPES or not 0 < tensor.numel() <= MOST_ELEMENTS:
        return None
    tensor = tensor.detach()
    axes = [axis for axis, extent in enumerate(tensor.shape) if extent > 1]
    if len(axes) > 1:
        axes = [axis for axis in axes if not torch.equal(tensor, tensor.narrow(axis, 0, 1).expand_as(tensor))]
    if len(axes) not in (1, 2):
        return None
    plane = tensor[tuple(slice(None) if axis in axes else 0 for axis in range(tensor.dim()))]
    form = _range(plane) if len(axes) == 1 else _two_values(plane)
    if form is None:
        return None
    form["axes"] = axes
    return form if holds(tensor, form) else None


def holds(tensor: torch.Tensor, form: Form) -> bool:
    """Whether every element is what the form says."""
    tensor = tensor.detach()
    built = _built(tensor, form)
    if form["kind"] == "arange":  # not rounded or wrapped to what the buffer can hold
        exact = torch.float64 if tensor.is_floating_point() else torch.int64
        tensor, built = tensor.to(exact), built.to(exact)
    return torch.equal(tensor, built)


def _range(line: torch.Tensor) -> Optional[Form]:
    if len(line) < _FEWEST or line.dtype is torch.bool:
        return None
    ends = first, second, _ = [*line[:2].tolist(), line[-1].item()]
    if not all(math.isfinite(v) and v == int(v) and abs(v) < _LARGEST for v in ends) or first == second:
        return None
    return {"kind": "arange", "value": int(first), "step": int(second) - int(first)}


def _two_values(plane: torch.Tensor) -> Optional[Form]:
    low, high = plane[-1, 0].item(), plane[0, -1].item()
    row, column = plane[0].tolist(), plane[:, 0].tolist()
    if low != high:
        diagonal = row.count(low) - 1 if row[0] == low else -column.count(high)
        return _form("triangle", diagonal, low, high)
    # One element of the first row or of the first column lies on the diagonal.
    places = {c: v for c, v in enumerate(row) if v != low} | {-r: v for r, v in enumerate(column) if v != low}
    if len(places) != 1:
        return None
    ((diagonal, value),) = places.items()
    return _form("diagonal", diagonal, value, low)


def _form(kind: str, diagonal: int, value: Any, otherwise: Any) -> Optional[Form]:
    if any(v != v or math.isfinite(v) and isinstance(v, int) and abs(v) > _LARGEST for v in (value, otherwise)):
        return None
    return {"kind": kind, "diagonal": diagonal, "value": _recorded(value), "otherwise": _recorded(otherwise)}


def _recorded(value: Any) -> Any:
    """JSON has no infinities."""
    if isinstance(value, float) and math.isinf(value):
        return {"float": "inf" if value > 0 else "-inf"}
    return int(value) if isinstance(value, bool) else value


def _built(like: torch.Tensor, form: Form) -> torch.Tensor:
    places = [_places(like, axis) for axis in form["axes"]]
    if form["kind"] == "arange":
        return (form["value"] + form["step"] * places[0]).expand_as(like)
    distance = places[1] - places[0]
    inside = distance <= form["diagonal"] if form["kind"] == "triangle" else distance == form["diagonal"]
    return torch.where(inside, _number(form["value"], like), _number(form["otherwise"], like)).expand_as(like)


def _places(like: torch.Tensor, axis: int) -> torch.Tensor:
    shape = [1] * like.dim()
    shape[axis] = like.shape[axis]
    return torch.arange(like.shape[axis], device=like.device).view(shape)


def _number(value: Any, like: torch.Tensor) -> torch.Tensor:
    return torch.tensor(
        float(value["float"]) if isinstance(value, dict) else value, dtype=like.dtype, device=like.device
    )
