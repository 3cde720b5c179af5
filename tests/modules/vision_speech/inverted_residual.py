"""An inverted residual with squeeze and excitation and hard activations."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        scale = F.relu(self.fc1(F.adaptive_avg_pool2d(x, 1)))
        return F.hardsigmoid(self.fc2(scale)) * x


class InvertedResidual(nn.Module):
    def __init__(self, channels=6, expanded=18, kernel=5):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(channels, expanded, 1, bias=False),
            nn.BatchNorm2d(expanded, eps=0.001, momentum=0.01),
            nn.Hardswish(inplace=True),
            nn.Conv2d(expanded, expanded, kernel, padding=kernel // 2, groups=expanded, bias=False),
            nn.BatchNorm2d(expanded, eps=0.001, momentum=0.01),
            nn.Hardswish(inplace=True),
            SqueezeExcite(expanded, 8),
            nn.Conv2d(expanded, channels, 1, bias=False),
            nn.BatchNorm2d(channels, eps=0.001, momentum=0.01),
        )

    def forward(self, x):
        return x + self.block(x)

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 6, 7, 8),)
