import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1)
        self.scale = nn.Parameter(torch.ones(6, 1, 1))

    def forward(self, x):
        return torch.clamp(self.up(x) + self.scale, 0.0, 1.0) / 2.0


def get_inputs():
    return [torch.empty(3, 4, 5, 7)]


def get_init_inputs():
    return []
