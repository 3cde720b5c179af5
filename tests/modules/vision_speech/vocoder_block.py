"""A stage of a vocoder: transposed convolution, and residual blocks of several dilations averaged."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class ResidualBlock(nn.Module):
    def __init__(self, channels, kernel, dilations=(1, 3)):
        super().__init__()
        self.convs = nn.ModuleList(
            weight_norm(nn.Conv1d(channels, channels, kernel, dilation=d, padding=d * (kernel - 1) // 2))
            for d in dilations
        )

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(F.leaky_relu(x, 0.1))
        return x


class VocoderStage(nn.Module):
    def __init__(self, channels=8, factor=4, kernels=(3, 5)):
        super().__init__()
        self.up = weight_norm(nn.ConvTranspose1d(channels, channels // 2, 2 * factor, factor, padding=factor // 2))
        self.blocks = nn.ModuleList(ResidualBlock(channels // 2, k) for k in kernels)
        self.post = weight_norm(nn.Conv1d(channels // 2, 1, 7, padding=3))

    def forward(self, x):
        x = self.up(F.leaky_relu(x, 0.1))
        x = sum(block(x) for block in self.blocks) / len(self.blocks)
        return torch.tanh(self.post(F.leaky_relu(x)))

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 8, 10),)
