import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, w):
        return x @ w.t()


def get_inputs():
    return [torch.randn(512, 4096), torch.randn(512, 4096)]


def get_init_inputs():
    return []
