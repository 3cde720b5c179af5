"""A product of 8-bit integers in front of a float layer: rounding and product stay PyTorch's."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (1024, 4096), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(4096) / 4096)
        self.steps = 32.0  # of an input's unit
        self.down = nn.Linear(4096, 1024)

    def forward(self, x):
        rounded = torch.clamp(torch.round(x * self.steps), -127, 127).to(torch.int8)
        hidden = torch._int_mm(rounded, self.weight).float() * (self.scale / self.steps)
        return self.down(F.gelu(hidden))


def get_inputs():
    return [torch.randn(4096, 1024)]


def get_init_inputs():
    return []
