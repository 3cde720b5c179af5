"""Samples along rays: encoded positions, a small network, and volume rendering."""

import torch
import torch.nn as nn


class RadianceField(nn.Module):
    def __init__(self, frequencies=4, width=16, samples=8):
        super().__init__()
        self.samples = samples
        self.register_buffer("bands", 2.0 ** torch.arange(frequencies))
        self.trunk = nn.Sequential(nn.Linear(3 + 6 * frequencies, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.sigma, self.colour = nn.Linear(width, 1), nn.Sequential(nn.Linear(width + 3, width), nn.ReLU())
        self.rgb = nn.Linear(width, 3)

    def encode(self, x):
        scaled = (x[..., None, :] * self.bands[:, None]).flatten(-2)
        return torch.cat((x, torch.sin(scaled), torch.cos(scaled)), dim=-1)

    def forward(self, origins, directions):
        t = torch.linspace(2.0, 6.0, self.samples, device=origins.device).to(origins.dtype)
        points = origins[:, None, :] + directions[:, None, :] * t[:, None]
        h = self.trunk(self.encode(points))
        view = directions / torch.norm(directions, dim=-1, keepdim=True)
        colour = self.colour(torch.cat((h, view[:, None].expand(-1, self.samples, -1)), -1))
        step = torch.cat((t[1:] - t[:-1], torch.full_like(t[:1], 1e10)))
        alpha = 1.0 - torch.exp(-torch.relu(self.sigma(h))[..., 0] * step)
        clear = torch.cat((torch.ones_like(alpha[:, :1]), 1.0 - alpha[:, :-1] + 1e-10), -1)
        weights = alpha * torch.cumprod(clear, dim=-1)
        return (weights[..., None] * torch.sigmoid(self.rgb(colour))).sum(-2), (weights * t).sum(-1)

    @staticmethod
    def example_inputs():
        return torch.randn(5, 3), torch.randn(5, 3)
