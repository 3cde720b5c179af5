import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return torch.nextafter(x.exp(), x.flip(1)) * 2


def get_inputs():
    return [torch.empty(4, 5)]


def get_init_inputs():
    return []
