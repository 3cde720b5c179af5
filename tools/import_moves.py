"""Cases of tools/check_import.py for views, copies and constants: see import_cases.py."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn


class Dense(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Sequential(nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 2, 3, padding=1))
        self.b = nn.Sequential(nn.BatchNorm2d(5), nn.ReLU(), nn.Conv2d(5, 2, 3, padding=1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([x, self.a(x)], 1)
        return torch.cat([x, self.b(x)], 1)


def shuffle(x: torch.Tensor) -> torch.Tensor:
    n, c, h, w = x.shape
    return x.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w) + 1


def windows(x: torch.Tensor) -> torch.Tensor:
    n, h, w, c = x.shape
    x = x.view(n, h // 2, 2, w // 3, 3, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 6, c)
    return x.softmax(1)


def move_cases() -> dict[str, tuple]:
    return {
        "view_split": (lambda x: x.view(2, 3, 4, 5).permute(2, 0, 3, 1) * 2, [R(6, 20)]),
        "view_merge": (lambda x: x.transpose(0, 1).reshape(-1) + 1, [R(4, 6)]),
        "view_odd": (lambda x: x.reshape(9, 4).exp(), [R(6, 6)]),
        "view_part_odd": (lambda x: x.reshape(2, 9, 6) * 2, [R(2, 6, 9)]),
        "shuffle": (shuffle, [R(2, 6, 3, 4)]),
        "windows": (windows, [R(2, 4, 6, 5)]),
        "flatten": (lambda x: x.flatten(1).sum(1), [R(2, 3, 4)]),
        "squeeze": (lambda x: x.unsqueeze(1).squeeze(2) + 1, [R(3, 1, 4)]),
        "expand": (lambda x: x.expand(3, -1, 5).sum((0, 2)), [R(4, 1)]),
        "select": (lambda x: x[:, -1] + x[:, 0], [R(3, 4, 5)]),
        "slice": (lambda x: x[:, 1:3] * x[:, -2:], [R(3, 4)]),
        "slice_step": (lambda x: x[:, ::2].exp(), [R(3, 7)]),
        "split": (lambda x: torch.mul(*x.split(3, 1)), [R(4, 6)]),
        "chunk": (lambda x: x.chunk(3, 1)[2] + 1, [R(4, 7)]),
        "unbind": (lambda x: x.unbind(1)[1] * 2, [R(4, 3)]),
        "cat": (lambda a, b: torch.cat([a, b, a], 1), [R(3, 4), R(3, 2)]),
        "cat_nothing": (lambda a: torch.cat([a[:, :0], a, a[:, 4:]], 1), [R(3, 4)]),
        "split_nothing": (lambda a: torch.split(a, [0, 3, 1], 1)[1] * 2, [R(3, 4)]),
        "stack": (lambda a, b: torch.stack([a, b], 1), [R(3, 4), R(3, 4)]),
        "pad": (lambda x: F.pad(x, (1, 2, 0, 3), value=1.5) * 2, [R(3, 4)]),
        "pad_crop": (lambda x: F.pad(x, (-1, 2)).exp(), [R(3, 4)]),
        "pad_one": (lambda x: F.pad(x, (1, 1)).cos(), [R(3, 1)]),
        "pad_reflect": (lambda x: F.pad(x, (2, 1), mode="reflect"), [R(2, 3, 5)]),
        "roll": (lambda x: x.roll((2, -1), (0, 1)), [R(5, 4)]),
        "flip": (lambda x: x.flip(1).cumsum(1).flip(1), [R(3, 5)]),
        "repeat": (lambda x: x.repeat(2, 3) * 2, [R(3, 4)]),
        "tril": (lambda a, b: torch.tril(a @ b), [R(5, 5), R(5, 5)]),
        "triu": (lambda x: x.triu(1), [R(4, 5)]),
        "gather": (lambda x, i: x.gather(1, i), [R(4, 5), torch.tensor([[0, 4], [1, 1], [2, 0], [3, 3]])]),
        "index_select": (lambda x, i: x.index_select(1, i), [R(4, 5), torch.tensor([3, 1, 1])]),
        "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2) + 1, [R(2, 8, 3, 5)]),
        "arange": (lambda x: x * torch.arange(5), [R(4, 5)]),
        "constant": (lambda x: torch.min(x, torch.tensor(0.1)), [R(4, 5)]),
        "constant_uniform": (lambda x: x * torch.tensor([[2, 2], [2, 2]]).repeat(2, 1), [R(4, 2)]),
        "constant_few": (lambda x: (x - torch.tensor([0.5, 0.25, -1.0])[:, None]) * 2, [R(2, 3, 4)]),
        "constant_half": (lambda x: x + torch.tensor([0.1, float("inf"), -3e-7], dtype=torch.half), [R(4, 3)]),
        "constant_bool": (lambda x: torch.where(torch.tensor([True, False, True]), x, 0), [R(4, 3)]),
        "zeros_cat": (lambda x: torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1).cumsum(1), [R(4, 5)]),
        "cumsum": (lambda x: x.cumsum(1), [R(3, 5, 2)]),
        "cumprod": (lambda x: x.cumprod(0), [R(3, 5)]),
        "output_view": (lambda x: x.view(3, 8), [R(3, 4, 2)]),
        "two_outputs": (lambda x: (x + 1, (x + 1).T), [R(3, 4)]),
        "dense": (Dense(), [R(2, 3, 5, 6)]),
    }
