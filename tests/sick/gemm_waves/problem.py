import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, w):
        return x @ w.t()


def get_inputs():
    return [torch.randn(1536, 8192), torch.randn(1536, 8192)]


def get_init_inputs():
    return []
