"""A transposed convolution, which has no kernel family, between linear layers."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(1024, 4096)
        self.deconvolution = nn.ConvTranspose1d(16, 16, 4, stride=2, padding=1)
        self.down = nn.Linear(8192, 1024)

    def forward(self, x):
        y = F.gelu(self.up(x))
        y = self.deconvolution(y)
        return self.down(F.relu(y))


def get_inputs():
    return [torch.randn(128, 16, 1024)]


def get_init_inputs():
    return []
