"""An operator that somebody registered with torch.library, between linear layers."""

import torch
from torch import nn


@torch.library.custom_op("solstice_example::squared_relu", mutates_args=())
def squared_relu(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x).square()


@squared_relu.register_fake
def _(x):
    return torch.empty_like(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(1024, 4096)
        self.down = nn.Linear(4096, 1024)

    def forward(self, x):
        return self.down(squared_relu(self.up(x)))


def get_inputs():
    return [torch.randn(4096, 1024)]


def get_init_inputs():
    return []
