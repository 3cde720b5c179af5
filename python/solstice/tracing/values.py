"""Encodes the arguments and tensor descriptions of a graph (docs/protocol.md, "Graph")."""

from __future__ import annotations

import base64
import hashlib
import math
from pathlib import Path
from typing import Any, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ..errors import internal_error
from . import counts
from ..tensors import dtype_name

SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
SCALARS = (bool, int, float, *SYMBOLIC)
INLINE_BYTES = 4096


def number(value: Any) -> Any:
    """JSON has neither infinities nor expressions."""
    if isinstance(value, SYMBOLIC):
        return {"sym": str(value.node.expr)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return value


def extent(value: Any) -> Any:
    """A number also where the exporter found it late: of `torch.bincount(x, minlength=4)` beside four numbers. Of one
    that depends on values, the most that it can be."""
    if isinstance(value, int):
        return value
    if value.node.expr.is_Integer:
        return int(value.node.expr)
    return counts.most(value) if counts.depends_on_values(value) else str(value.node.expr)


def tensor_meta(tensor: torch.Tensor) -> dict[str, Any]:
    meta = {
        "dtype": dtype_name(tensor.dtype),
        "shape": [extent(n) for n in tensor.shape],
        "stride": [extent(n) for n in tensor.stride()],
        "device": tensor.device.type,
    }
    offset = tensor.storage_offset()
    if not isinstance(offset, int) or offset:
        meta["offset"] = extent(offset)
    return meta


def literal(value: Any) -> Any:
    """A static argument; the caller handles graph nodes and containers."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, SCALARS):
        return number(value)
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, torch.layout):
        return {"layout": str(value).rsplit(".", 1)[-1]}
    if isinstance(value, torch.memory_format):
        return {"memory_format": str(value).rsplit(".", 1)[-1]}
    if isinstance(value, complex):
        return {"complex": [number(value.real), number(value.imag)]}
    raise internal_error("trace.argument", f"no JSON form for an argument of type `{type(value).__name__}`")


def constant_data(tensor: torch.Tensor, blob_dir: Optional[str]) -> dict[str, Any]:
    """The contents of a constant: inline when small, otherwise a file named by its hash."""
    if isinstance(tensor, FakeTensor):
        return {"missing": "the module was built without storage"}
    if tensor.layout is not torch.strided:
        return {"missing": f"layout {tensor.layout}"}
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    if len(data) <= INLINE_BYTES:
        return {"base64": base64.b64encode(data).decode()}
    digest = hashlib.sha256(data).hexdigest()
    if blob_dir is not None:
        path = Path(blob_dir, digest)
        partial = path.with_suffix(".partial")
        partial.write_bytes(data)
        partial.replace(path)
    return {"blob": digest, "bytes": len(data)}
