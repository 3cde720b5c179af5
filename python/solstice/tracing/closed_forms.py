"""Buffers whose contents are a mask, an identity or a range, as far as a program may say so (`assume`): those that keep
their memory to themselves. Running statistics are data, whatever they happen to hold."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Iterable

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ..dropin import closed_form
from ..tensors import module_tensors

_NORM = torch.nn.modules.batchnorm._NormBase


def closed_forms(module: torch.nn.Module, written: Iterable[str] = ()) -> dict[str, closed_form.Form]:
    """By path, under every name of a buffer; without those that `forward` writes."""
    named = dict(module.named_buffers(remove_duplicate=False))
    apart = {id(named[name]) for name in written if name in named}
    apart |= {id(b) for child in module.modules() if isinstance(child, _NORM) for b in child._buffers.values()}
    apart |= _sharing(module)
    found: dict[int, Any] = {}
    for buffer in named.values():
        if id(buffer) not in found and id(buffer) not in apart and _is_readable(buffer):
            found[id(buffer)] = closed_form.find(buffer)
    return {name: found[id(buffer)] for name, buffer in named.items() if found.get(id(buffer))}


def _is_readable(buffer: torch.Tensor) -> bool:
    return (
        type(buffer) is torch.Tensor
        and not isinstance(buffer, FakeTensor)
        and not buffer.is_meta
        and not buffer.requires_grad
    )


def _sharing(module: torch.nn.Module) -> set[int]:
    """Tensors whose memory another one has too."""
    owners: dict[int, set[int]] = defaultdict(set)
    for tensor in module_tensors(module):
        if tensor.layout is torch.strided:
            owners[tensor.untyped_storage()._cdata].add(id(tensor))
    return set().union(*(ids for ids in owners.values() if len(ids) > 1))
