import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, w):
        return x @ w.t()


def get_inputs():
    return [torch.randn(1024, 16384), torch.randn(512, 16384)]


def get_init_inputs():
    return []
