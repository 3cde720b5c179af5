import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, s, t):
        return x * s[None, :, None, None] + t[None, None, :, None]


def get_inputs():
    return [torch.randn(16, 60, 120, 140), torch.randn(60), torch.randn(120)]


def get_init_inputs():
    return []
