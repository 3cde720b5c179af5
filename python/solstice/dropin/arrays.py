"""Tensors and NumPy's arrays as text: small ones by content, large tensors by their form."""

from __future__ import annotations

import hashlib
import sys
from typing import Any

import torch

from . import identity, names

MOST_BYTES = 1 << 15  # of a tensor that is told by content; what a graph holds in line is smaller
_ARRAY = "numpy.ndarray("  # how the text of one begins
_SHOWN = 8  # elements that the text writes out
_TENSORS = (torch.Tensor, torch.nn.Parameter)


def is_array(value: Any) -> bool:
    """An array or a scalar of NumPy's, of numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value) is not numpy.ndarray and not isinstance(value, numpy.generic):
        return False
    return not value.dtype.hasobject and (type(value) is numpy.ndarray or type(value).__module__ == "numpy")


def text_of_tensor(tensor: torch.Tensor) -> str:
    if type(tensor) not in _TENSORS or tensor.layout is not torch.strided or tensor.is_quantized:
        return identity.text_of(tensor)
    form = form_of(tensor)
    return f"tensor({form}, {_content(tensor)})" if is_told_by_content(tensor) else f"tensor({form})"


def text_of_array(array: Any) -> str:
    shown = repr(array.tolist()) if array.size <= _SHOWN else hashlib.sha256(array.tobytes()).hexdigest()[:16]
    return f"{names.of(type(array))}({array.dtype}{list(array.shape)}, {shown})"


def has_array(text: str) -> bool:
    """Some of what it tells is an array of NumPy's."""
    return _ARRAY in text


def form_of(tensor: torch.Tensor) -> str:
    if torch.nn.parameter.is_lazy(tensor):
        return "not initialized"
    return f"{str(tensor.dtype)[6:]}{list(tensor.shape)}"


def is_told_by_content(tensor: torch.Tensor) -> bool:
    if type(tensor) not in _TENSORS or tensor.layout is not torch.strided or tensor.is_meta or tensor.is_quantized:
        return False
    return tensor.numel() * tensor.element_size() <= MOST_BYTES


def _content(tensor: torch.Tensor) -> str:
    if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
        return "not to be read while a graph is captured"
    host = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if host.numel() <= _SHOWN:
        return repr(host.tolist())
    return hashlib.sha256(bytes(host.reshape(-1).view(torch.uint8).tolist())).hexdigest()[:16]
