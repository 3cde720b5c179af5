"""Retention in its parallel form: decays by head and distance, normalised rows, a gated output."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Retention(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.g, self.o = (nn.Linear(width, width, bias=False) for _ in range(5))
        self.norm = nn.GroupNorm(heads, width, affine=False)
        decay = torch.log(1 - 2 ** (-5 - torch.arange(heads, dtype=torch.float)))
        self.register_buffer("decay", decay)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).permute(0, 2, 1, 3) for f in (self.q, self.k, self.v))
        index = torch.arange(t, device=x.device).to(self.decay)
        mask = torch.tril(torch.ones(t, t, device=x.device).to(self.decay))
        mask = torch.masked_fill(index[:, None] - index[None, :], ~mask.bool(), float("inf"))
        mask = torch.nan_to_num(torch.exp(mask * self.decay[:, None, None]))
        mask = mask / mask.sum(dim=-1, keepdim=True).sqrt()
        scores = (q @ k.transpose(-1, -2)) * (k.shape[-1] ** -0.5) * mask
        scores = scores / scores.detach().abs().sum(dim=-1, keepdim=True).clamp(min=1)
        y = (scores @ v).transpose(1, 2).reshape(b * t, c)
        return self.o(F.silu(self.g(x)) * self.norm(y).view(b, t, c))

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 9, 32),)
