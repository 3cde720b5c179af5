"""Names and sizes of tensors as the records write them."""

from __future__ import annotations

import contextlib
from typing import Any, Iterable, Iterator

import torch

from .dropin import forms

DTYPE_NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "e4m3",
    torch.float8_e5m2: "e5m2",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "b1",
    torch.complex64: "c64",
    torch.complex128: "c128",
}
DTYPES = {name: dtype for dtype, name in DTYPE_NAMES.items()}


def dtype_name(dtype: torch.dtype) -> str:
    """Short name; a dtype without one (other float8 forms, quantised) keeps PyTorch's, so that nothing is invented."""
    return DTYPE_NAMES.get(dtype, str(dtype))


def logical_bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def module_tensors(module: torch.nn.Module) -> list[torch.Tensor]:
    return [*module.parameters(), *module.buffers()]


@contextlib.contextmanager
def buffers_kept(module: torch.nn.Module) -> Iterator[None]:
    """What a call within it writes to buffers is undone; those that a lazy module waits for are left to it."""
    saved = [(b, b.clone()) for b in module.buffers() if not torch.nn.parameter.is_lazy(b)]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, held in saved:
                buffer.copy_(held)


def leaves(tree: Any) -> list[Any]:
    """Also of dataclasses and of dicts of a class of their own."""
    return torch.utils._pytree.tree_leaves(forms.plain(tree))


def tensor_leaves(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in leaves(tree) if isinstance(leaf, torch.Tensor)]


def map_tensors(function: Any, tree: Any) -> Any:
    return torch.utils._pytree.tree_map_only(torch.Tensor, function, tree)
