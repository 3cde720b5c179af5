"""Programs of equations beside the PyTorch code that they must equal.

A case is a function whose docstring is the program (without its first line) and whose body is PyTorch: it takes the
program's inputs by name and returns the output, or several by name. Dots in names of inputs are written `__`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import torch


@dataclass
class Case:
    name: str
    text: str
    inputs: dict[str, torch.Tensor]
    reference: Callable[..., Any]

    def expected(self) -> dict[str, torch.Tensor] | torch.Tensor:
        return self.reference(**self.inputs)


CASES: list[Case] = []


def case(**inputs: torch.Tensor) -> Callable:
    def add(function: Callable) -> Callable:
        CASES.append(Case(function.__name__, f"program {function.__name__}\n{function.__doc__}", inputs, function))
        return function

    return add


def rand(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=_generator)


def integers(low: int, high: int, *shape: int) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=_generator)


def coin(*shape: int, p: float = 0.5) -> torch.Tensor:
    return torch.rand(*shape, generator=_generator) < p


_generator = torch.Generator().manual_seed(0)

from . import attention, gathers, losses, products, recurrences, rows, scans, shapes, windows  # noqa: E402, F401
