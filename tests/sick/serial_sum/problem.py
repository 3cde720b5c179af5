import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.pow(2).sum(1)


def get_inputs():
    return [torch.randn(32768, 1024)]


def get_init_inputs():
    return []
