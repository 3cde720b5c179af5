"""A residual block of a diffusion model: sinusoidal time, scale and shift, and attention over pixels."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class DiffusionBlock(nn.Module):
    def __init__(self, channels=8, out=12, time=16, groups=4):
        super().__init__()
        self.time = time
        self.mlp = nn.Sequential(nn.Linear(time, time), nn.SiLU(), nn.Linear(time, 2 * out))
        self.norm1, self.conv1 = nn.GroupNorm(groups, channels), nn.Conv2d(channels, out, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(groups, out), nn.Conv2d(out, out, 3, padding=1)
        self.skip = nn.Conv2d(channels, out, 1)
        self.norm3, self.qkv, self.proj = nn.GroupNorm(1, out), nn.Conv1d(out, 3 * out, 1), nn.Conv1d(out, out, 1)

    def embed(self, t):
        half = self.time // 2
        frequencies = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
        angles = t[:, None].float() * frequencies[None]
        return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)

    def attend(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm3(x).view(b, c, -1)).chunk(3, dim=1)
        weight = torch.einsum("bct,bcs->bts", q * c**-0.25, k * c**-0.25).softmax(-1)
        return x + self.proj(torch.einsum("bts,bcs->bct", weight, v)).view(b, c, h, w)

    def forward(self, x, t):
        scale, shift = self.mlp(self.embed(t).to(x.dtype))[:, :, None, None].chunk(2, dim=1)
        h = self.conv1(F.silu(self.norm1(x)))
        h = self.conv2(F.silu(self.norm2(h) * (1 + scale) + shift))
        return self.attend(self.skip(x) + h)

    @staticmethod
    def example_inputs():
        return torch.randn(2, 8, 5, 6), torch.randint(0, 1000, (2,))
