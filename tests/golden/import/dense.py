import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.grow = nn.Conv2d(3, 2, 3, padding=1, bias=False)

    def forward(self, x):
        x = torch.cat([x, self.grow(x)], 1)
        return F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)


def get_inputs():
    return [torch.empty(2, 3, 6, 8)]


def get_init_inputs():
    return []
