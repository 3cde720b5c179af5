"""Loops within loops and loops that carry integers, for tools/check_import.py: some become recurrences, others
stay."""

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


def step_in_condition(m: Loop, x: torch.Tensor) -> tuple:
    h, steps, lengths = x, [], torch.tensor([2, 7, 5])
    for t in range(7):
        h = torch.where((t < lengths)[:, None], torch.tanh(m.a(h)), h)
        steps.append(h * (lengths > 2 * t - 3)[:, None])
    return torch.stack(steps, 1), h


def step_as_value(m: Loop, x: torch.Tensor) -> tuple:
    """Over zero in both directions, and by fractions that f32 holds."""
    y = z = x
    for t in range(8):
        x = torch.tanh(m.a(x)) * (t - 4)
        y = torch.tanh(m.a(y)) * (5 - 2 * t) + (1.5 - 0.5 * t)
        z = torch.tanh(m.a(z)) + 0.25 * t
    return x, y, z


def step_in_integers(m: Loop, x: torch.Tensor) -> tuple:
    k, steps = (x * 10).long(), []
    for t in range(6):
        k = (k * (t - 2) + 5 * t) % (t + 3) + k // (t + 1)
        steps.append(m.a(x) ** t + k)
    return torch.stack(steps), k


def step_of_two_loops(m: Loop, x: torch.Tensor) -> torch.Tensor:
    for t in range(6):
        x = torch.tanh(m.a(x)) * t + 1
    for t in range(6):
        x = torch.tanh(m.a(x)) * (3 * t) + 1
    for _ in range(6):
        x = torch.tanh(m.a(x)) * 7 + 2
    return x


def step_uneven(m: Loop, x: torch.Tensor) -> torch.Tensor:
    """Powers of two, and tenths, which f32 does not hold."""
    for t in (1, 2, 4, 8, 16, 32):
        x = torch.tanh(m.a(x)) * t
    for t in range(6):
        x = torch.tanh(m.a(x)) * (0.1 * t)
    return x


def loop_cases() -> dict[str, tuple[Any, list]]:
    bodies = (
        nested_alike,
        nested_weights,
        nested_same_weights,
        nested_two_loops,
        nested_outer_state,
        norm_called_again,
        counter,
        greedy,
        carried_mask,
        step_in_condition,
        step_as_value,
        step_in_integers,
        step_of_two_loops,
        step_uneven,
    )
    return {f"loop_{body.__name__}": (Loop(body), [R(3, 5)]) for body in bodies}
