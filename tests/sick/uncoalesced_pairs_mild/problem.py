import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.pow(2).sum(1)


def get_inputs():
    return [torch.randn(2048, 16384)]


def get_init_inputs():
    return []
