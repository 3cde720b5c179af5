"""How far results lie from each other."""

from __future__ import annotations

import math
from typing import Iterator

import torch

BLOCK_ELEMENTS = 1 << 26


def relative_error(value: torch.Tensor, reference: torch.Tensor) -> float:
    """Normwise, over elements that are finite in both; infinite where they are non-finite in different ways."""
    error_squared = scale_squared = 0.0
    for v, r in _blocks(value, reference):
        v, r = v.double(), r.double()
        finite = r.isfinite()
        if not torch.equal(finite, v.isfinite()):
            return float("inf")
        v, r = torch.where(finite, v, 0.0), torch.where(finite, r, 0.0)
        scale_squared += torch.linalg.vector_norm(r).item() ** 2
        error_squared += torch.linalg.vector_norm(v.sub_(r)).item() ** 2
    if scale_squared == 0:
        return 0.0 if error_squared == 0 else float("inf")
    return math.sqrt(error_squared / scale_squared)


def _blocks(first: torch.Tensor, second: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Pieces small enough that float64 copies of them always fit."""
    if first.is_contiguous() and second.is_contiguous():
        first, second = first.view(-1), second.view(-1)
    elif first.dim() == 0 or first.numel() <= BLOCK_ELEMENTS:
        first, second = first.reshape(-1), second.reshape(-1)
    rows = max(1, BLOCK_ELEMENTS * first.shape[0] // max(1, first.numel()))
    yield from zip(first.split(rows), second.split(rows))


def all_finite(value: torch.Tensor) -> bool:
    return all(bool(block.isfinite().all()) for block, _ in _blocks(value, value))
