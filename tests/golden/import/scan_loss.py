import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, t):
        return F.cross_entropy(x.flip(1).cumsum(1).flip(1), t)


def get_inputs():
    return [torch.empty(4, 5), torch.zeros(4, dtype=torch.int64)]


def get_init_inputs():
    return []
