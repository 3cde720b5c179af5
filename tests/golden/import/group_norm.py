import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gn = nn.GroupNorm(3, 12)

    def forward(self, x):
        return self.gn(x)


def get_inputs():
    return [torch.empty(2, 12, 5, 7)]


def get_init_inputs():
    return []
