"""Attention in shifted windows, with a table of relative biases and a mask made by the constructor."""

import torch
import torch.nn as nn


def partition(x, w):
    b, h, v, c = x.shape
    return x.view(b, h // w, w, v // w, w, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, w * w, c)


class ShiftedWindow(nn.Module):
    def __init__(self, width=12, heads=2, window=3, side=6, shift=1):
        super().__init__()
        self.window, self.heads, self.shift = window, heads, shift
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.02)
        grid = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        relative = (grid[:, :, None] - grid[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("index", relative[..., 0] * (2 * window - 1) + relative[..., 1])
        regions = torch.zeros(1, side, side, 1)
        cuts = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
        for i, h in enumerate(cuts):
            for j, w in enumerate(cuts):
                regions[:, h, w, :] = 3 * i + j
        regions = partition(regions, window).squeeze(-1)
        different = regions.unsqueeze(1) - regions.unsqueeze(2)
        self.register_buffer("mask", different.masked_fill(different != 0, -100.0))

    def forward(self, x):
        b, h, w, c = x.shape
        x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        windows = partition(x, self.window)
        n, t, _ = windows.shape
        q, k, v = self.qkv(windows).reshape(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        bias = self.table[self.index.view(-1)].view(t, t, -1).permute(2, 0, 1)
        scores = (q * (c // self.heads) ** -0.5) @ k.transpose(-2, -1) + bias
        scores = scores.view(b, -1, self.heads, t, t) + self.mask[:, None]
        y = (scores.view(-1, self.heads, t, t).softmax(-1) @ v).transpose(1, 2).reshape(n, t, c)
        y = self.proj(y).view(b, h // self.window, w // self.window, self.window, self.window, c)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(y, shifts=(self.shift, self.shift), dims=(1, 2))

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 6, 6, 12),)
