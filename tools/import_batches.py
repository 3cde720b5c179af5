"""Cases traced together: PyTorch's exporter takes a fifth of a second for any module, and little more for thirty."""

from __future__ import annotations

from typing import Any, Callable, Sequence, TypeVar

import torch

SIZE = 32

Item = TypeVar("Item")
Verdict = TypeVar("Verdict")


class Together(torch.nn.Module):
    """Calls each module with its own arguments: one pair of positional and keyword arguments a module."""

    def __init__(self, modules: Sequence[torch.nn.Module]) -> None:
        super().__init__()
        self.case = torch.nn.ModuleList(modules)

    def forward(self, *calls: Any) -> list:
        return [module(*args, **kwargs) for module, (args, kwargs) in zip(self.case, calls)]


def together(cases: Sequence[tuple]) -> tuple:
    """One case of several, each a module with its positional and keyword arguments; a single one as it is."""
    if len(cases) == 1:
        return cases[0]
    return Together([module for module, _, _ in cases]), tuple((tuple(args), kwargs) for _, args, kwargs in cases), {}


def settle(items: Sequence[Item], judge: Callable[[Sequence[Item]], Verdict], good: Callable[[Verdict], bool]) -> dict:
    """The verdict on each item. Items are judged in batches; a batch that is not good is halved until one is left."""
    out: dict = {}

    def settle_batch(batch: Sequence[Item]) -> None:
        verdict = judge(batch)
        if len(batch) == 1 or good(verdict):
            out.update((item, verdict) for item in batch)
            return
        settle_batch(batch[: len(batch) // 2])
        settle_batch(batch[len(batch) // 2 :])

    for start in range(0, len(items), SIZE):
        settle_batch(items[start : start + SIZE])
    return out
