import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        s = x * x
        d = 5.0
        for k in (3, 1):
            d = k + s / d
        return x / d


def get_inputs():
    return [torch.randn(4096, 4096)]


def get_init_inputs():
    return []
