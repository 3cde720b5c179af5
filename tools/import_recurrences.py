"""Linear recurrences in Python loops, as people write them, for tools/check_import.py: the flat form has them
rolled."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

R = torch.randn
STEPS = 18


def from_zeros(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, out = torch.zeros_like(x[:, 0]), []
    for t in range(STEPS):
        h = a[:, t] * h + x[:, t]
        out.append(h)
    return torch.stack(out, 1)


def running_sum(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, out = torch.zeros_like(x[:, 0]), []
    for t in range(STEPS):
        h = h + a[:, t] * x[:, t]
        out.append(h)
    return torch.stack(out, 1)


def from_a_part(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h = x[:, 0]
    out = [h]
    for t in range(1, STEPS):
        h = 0.9 * h + 0.1 * x[:, t] * a[:, t]
        out.append(h)
    return torch.stack(out, 1)


def from_an_input(a: torch.Tensor, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    out = []
    for gate, value in zip(a.unbind(1), x.unbind(1)):
        h = torch.sigmoid(gate) * h + value
        out.append(torch.tanh(h).unsqueeze(1))
    return torch.cat(out, 1), h


def backwards(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, out = torch.zeros_like(x[:, 0]), []
    for t in reversed(range(STEPS)):
        h = a[:, t] * h + x[:, t]
        out.insert(0, h)
    return torch.stack(out, 1)


def two_states(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, g, out = torch.zeros_like(x[:, 0]), torch.ones_like(x[:, 0]), []
    for t in range(STEPS):
        h = a[:, t] * h + x[:, t]
        g = a[:, t] * g + 1
        out.append(h / g)
    return torch.stack(out, 1)


def state_of_a_state(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, g, out = torch.zeros_like(x[:, 0]), torch.zeros_like(x[:, 0]), []
    for t in range(STEPS):
        h = a[:, t] * h + x[:, t]
        g = 0.5 * g + h
        out.append(g)
    return torch.stack(out, 1)


def matrix_state(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    s, out = torch.zeros(x.shape[0], x.shape[2], x.shape[2], dtype=x.dtype), []
    for t in range(STEPS):
        s = a[:, t].unsqueeze(-1) * s + x[:, t].unsqueeze(-1) * a[:, t].unsqueeze(-2)
        out.append(torch.einsum("bij,bj->bi", s, x[:, t]))
    return torch.stack(out, 1)


def selective_scan(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    step, b, c = F.softplus(a), x.roll(1, -1), x.flip(-1)
    kept = torch.exp(-step.unsqueeze(-1) * torch.arange(1.0, 4.0, dtype=x.dtype))
    added = (step * x).unsqueeze(-1) * b[..., None, :3]
    h, out = torch.zeros(x.shape[0], x.shape[2], 3, dtype=x.dtype), []
    for t in range(STEPS):
        h = kept[:, t] * h + added[:, t]
        out.append((h * c[:, t, None, :3]).sum(-1))
    return torch.stack(out, 1)


def chosen_by_a_condition(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, out = torch.zeros_like(x[:, 0]), []
    for t in range(STEPS):
        h = torch.where(a[:, t] > 0, x[:, t], 0.5 * h)
        out.append(h)
    return torch.stack(out, 1)


def last_of_many(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h = torch.zeros_like(x[:, 0])
    for t in range(100):
        h = torch.lerp(h, x[:, t % STEPS], 0.3) * (1 + t)
    return h


def last(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h = torch.zeros_like(x[:, 0])
    for t in range(STEPS):
        h = torch.lerp(h, x[:, t], a[:, t])
    return h


def of_other_elements(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, out = torch.zeros_like(x[:, 0]), []
    for t in range(STEPS):
        h = a[:, t] * h.roll(1, -1) + x[:, t]
        out.append(h)
    return torch.stack(out, 1)


def of_its_mean(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, out = torch.zeros_like(x[:, 0]), []
    for t in range(STEPS):
        h = a[:, t] * h + x[:, t] - h.mean(-1, keepdim=True)
        out.append(h)
    return torch.stack(out, 1)


def written_into(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, out = torch.zeros_like(x[:, 0]), torch.empty_like(x)
    for t in range(STEPS):
        h = a[:, t] * h + x[:, t]
        out[:, t] = h
    return out


def in_place(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    out = x.clone()
    for t in range(1, STEPS):
        out[:, t] += a[:, t] * out[:, t - 1]
    return out


def recurrence_cases() -> dict[str, tuple[Any, list]]:
    loops = (
        from_zeros, running_sum, from_a_part, backwards, two_states, state_of_a_state, matrix_state, selective_scan,
        chosen_by_a_condition, last_of_many, last, of_other_elements, of_its_mean, written_into, in_place,
    )  # fmt: skip
    inputs = [R(2, STEPS, 4), R(2, STEPS, 4)]
    cases = {f"recurrence_{loop.__name__}": (loop, inputs) for loop in loops}
    return {**cases, "recurrence_from_an_input": (from_an_input, [*inputs, R(2, 4)])}
