"""Reaction and diffusion on a periodic grid: explicit steps with rolled neighbours."""

import torch
import torch.nn as nn


class GrayScott(nn.Module):
    def __init__(self, steps=3, feed=0.055, kill=0.062, du=0.16, dv=0.08):
        super().__init__()
        self.steps, self.feed, self.kill, self.du, self.dv = steps, feed, kill, du, dv

    @staticmethod
    def laplacian(x):
        near = sum(torch.roll(x, s, dims=d) for s in (1, -1) for d in (-2, -1))
        return near - 4 * x

    def forward(self, u, v):
        for _ in range(self.steps):
            reaction = u * v * v
            u = u + self.du * self.laplacian(u) - reaction + self.feed * (1 - u)
            v = v + self.dv * self.laplacian(v) + reaction - (self.feed + self.kill) * v
        return u, v

    @staticmethod
    def example_inputs():
        return torch.rand(2, 8, 9), torch.rand(2, 8, 9)
