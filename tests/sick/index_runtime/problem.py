import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, s, t):
        return x * s[None, :, None, None] + t[None, None, :, None]


def get_inputs():
    return [torch.randn(16, 64, 32, 512), torch.randn(64), torch.randn(32)]


def get_init_inputs():
    return []
