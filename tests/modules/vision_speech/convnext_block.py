"""A wide depthwise convolution, normalisation over channels, and a scaled residual."""

import torch
import torch.nn as nn


class ConvNextBlock(nn.Module):
    def __init__(self, width=12, scale=1e-1):
        super().__init__()
        self.dwconv = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.pwconv1, self.act, self.pwconv2 = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(scale * torch.ones(width))

    def forward(self, x):
        y = self.dwconv(x).permute(0, 2, 3, 1)
        y = self.gamma * self.pwconv2(self.act(self.pwconv1(self.norm(y))))
        return x + y.permute(0, 3, 1, 2)

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 12, 8, 9),)
