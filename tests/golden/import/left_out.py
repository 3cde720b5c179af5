"""What a program cannot say, and the import notes: checks of values, signs of zeros, integers that wrap around."""

import torch


class Model(torch.nn.Module):
    def forward(self, x, levels):
        assert (x > -100).all(), "x is too low"
        brighter = levels + 200
        return torch.copysign(x, x.sin()), brighter * 2, torch.nn.functional.one_hot(levels.long(), 6)


def get_inputs():
    return [torch.randn(3, 4), torch.randint(0, 6, (5,), dtype=torch.uint8)]


def get_init_inputs():
    return []
