"""A training step's forward: dropout draws in PyTorch, from the same generator and in the same order."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(1024, 4096)
        self.dropout = nn.Dropout(0.1)
        self.down = nn.Linear(4096, 1024)

    def forward(self, x):
        return self.down(self.dropout(F.gelu(self.up(x))))


def get_inputs():
    return [torch.randn(4096, 1024)]


def get_init_inputs():
    return []
