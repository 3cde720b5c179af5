import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        x = (x - torch.tensor([0.485, 0.456, 0.406])[:, None, None]) * 4
        return torch.min(x, torch.tensor(0.1))


def get_inputs():
    return [torch.empty(2, 3, 4, 5)]


def get_init_inputs():
    return []
