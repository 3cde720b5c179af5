"""Continuous-filter convolutions over neighbours: radial bases, a cosine cutoff, shifted softplus."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class ContinuousFilter(nn.Module):
    def __init__(self, species=5, width=8, bases=6, cutoff=3.0):
        super().__init__()
        self.cutoff = cutoff
        self.embedding = nn.Embedding(species, width)
        self.register_buffer("offsets", torch.linspace(0, cutoff, bases))
        self.coefficient = -0.5 / (cutoff / (bases - 1)) ** 2
        self.filter1, self.filter2 = nn.Linear(bases, width), nn.Linear(width, width)
        self.lin1, self.lin2 = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        self.energy = nn.Linear(width, 1)

    @staticmethod
    def shifted(x):
        return F.softplus(x) - math.log(2.0)

    def forward(self, species, positions):
        x = self.embedding(species)
        d = torch.linalg.vector_norm(positions[:, :, None] - positions[:, None] + 1e-9, dim=-1)
        bases = torch.exp(self.coefficient * (d[..., None] - self.offsets) ** 2)
        cut = 0.5 * (torch.cos(d * math.pi / self.cutoff) + 1.0) * (d < self.cutoff)
        cut = cut * (1 - torch.eye(d.shape[-1], dtype=d.dtype, device=d.device))
        w = self.filter2(self.shifted(self.filter1(bases))) * cut[..., None]
        y = torch.einsum("bjf,bijf->bif", self.lin1(x), w)
        x = x + self.lin2(self.shifted(y))
        return self.energy(x).sum((1, 2))

    @staticmethod
    def example_inputs():
        return torch.randint(0, 5, (2, 6)), 2 * torch.randn(2, 6, 3)
