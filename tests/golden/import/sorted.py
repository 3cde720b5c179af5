import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        values, order = torch.sort(x.exp(), dim=1, stable=True)
        return values + order


def get_inputs():
    return [torch.empty(4, 5)]


def get_init_inputs():
    return []
