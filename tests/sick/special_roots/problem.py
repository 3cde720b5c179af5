import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        y = x.abs()
        for j in range(1, 8):
            y = y + (x - j).abs()
        return y


def get_inputs():
    return [torch.randn(4096, 4096)]


def get_init_inputs():
    return []
