import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        y = x
        for _ in range(6):
            y = torch.tanh(y * 1.5)
        return y


def get_inputs():
    return [torch.randn(4096, 4096)]


def get_init_inputs():
    return []
