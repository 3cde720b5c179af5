"""Loops within loops and loops that carry integers, for tools/check_import.py: what becomes a recurrence, and what stays."""

from __future__ import annotations

from typing import Any, Callable

import torch
import torch.nn as nn

R = torch.randn


class Loop(nn.Module):
    """Layers for a loop that a function writes."""

    def __init__(self, body: Callable) -> None:
        super().__init__()
        self.body = body
        self.a, self.b = nn.Linear(5, 5), nn.Linear(5, 5)
        self.norm, self.table = nn.BatchNorm1d(5), nn.Embedding(5, 5)
        self.weights = nn.Parameter(R(10, 5, 5))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> Any:
        return self.body(self, x)


def nested_alike(m: Loop, x: torch.Tensor) -> torch.Tensor:
    for _ in range(5):
        for _ in range(5):
            x = torch.tanh(m.a(x)) + 0.1
        x = torch.relu(m.b(x))
    return x


def nested_weights(m: Loop, x: torch.Tensor) -> torch.Tensor:
    for i in range(4):
        for j in range(5):
            x = torch.tanh(x @ m.weights[(i + j) % 10]) + 1
        x = torch.sigmoid(x)
    return x


def nested_same_weights(m: Loop, x: torch.Tensor) -> torch.Tensor:
    for _ in range(6):
        for j in range(6):
            x = torch.tanh(x @ m.weights[j])
    return x


def nested_two_loops(m: Loop, x: torch.Tensor) -> torch.Tensor:
    for _ in range(5):
        for j in range(5):
            x = torch.tanh(x @ m.weights[j])
        for j in range(5):
            x = torch.sigmoid(x @ m.weights[j + 5])
    return x


def nested_outer_state(m: Loop, x: torch.Tensor) -> tuple:
    y = x
    for _ in range(5):
        for _ in range(5):
            x = torch.tanh(m.a(x)) + y
        y = x * 2
    return x, y


def norm_called_again(m: Loop, x: torch.Tensor) -> torch.Tensor:
    for _ in range(5):
        x = torch.tanh(m.norm(m.a(x)))
    return x


def counter(m: Loop, x: torch.Tensor) -> torch.Tensor:
    for _ in range(6):
        m.count.add_(1)
        x = torch.tanh(m.a(x)) * m.count
    return x


def greedy(m: Loop, x: torch.Tensor) -> tuple:
    tokens, token = [], x.argmax(1)
    for _ in range(6):
        token = m.a(m.table(token)).argmax(1)
        tokens.append(token)
    return torch.stack(tokens, 1), token


def carried_mask(m: Loop, x: torch.Tensor) -> tuple:
    mask = x > 0
    for _ in range(6):
        x = torch.tanh(m.a(x))
        mask = mask & (x > -0.5)
    return x, mask


def loop_cases() -> dict[str, tuple[Any, list]]:
    bodies = (nested_alike, nested_weights, nested_same_weights, nested_two_loops, nested_outer_state, norm_called_again, counter,
              greedy, carried_mask)
    return {f"loop_{body.__name__}": (Loop(body), [R(3, 5)]) for body in bodies}
