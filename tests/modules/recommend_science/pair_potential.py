"""Energies and forces of a Lennard-Jones fluid in a periodic box, with a cutoff and a shift."""

import torch
import torch.nn as nn


class PairPotential(nn.Module):
    def __init__(self, box=4.0, cutoff=1.9):
        super().__init__()
        self.register_buffer("box", torch.tensor([box, box, 1.1 * box]))
        self.cutoff = cutoff
        self.shift = 4 * (cutoff**-12 - cutoff**-6)
        self.log_sigma = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        d = x[:, :, None, :] - x[:, None, :, :]
        d = d - self.box * torch.round(d / self.box)
        r2 = d.square().sum(-1)
        same = torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        near = (r2 < self.cutoff**2) & ~same
        inverse = torch.exp(2 * self.log_sigma) / r2.masked_fill(same, 1.0)
        s6 = inverse**3
        energy = torch.where(near, 4 * (s6 * s6 - s6) - self.shift, 0.0)
        slope = torch.where(near, 24 * (2 * s6 * s6 - s6) * inverse, 0.0)
        forces = (slope[..., None] * d).sum(2)
        virial = (slope * r2).sum((1, 2)) / 2
        return energy.sum((1, 2)) / 2, forces, virial

    @staticmethod
    def example_inputs():
        grid = torch.stack(torch.meshgrid(*3 * [torch.arange(2.0)], indexing="ij"), -1).reshape(-1, 3)
        return (1.7 * grid + 0.2 * torch.rand(2, 8, 3),)
