"""Attention over a cache that the caller gives and `forward` writes in place."""

import torch
import torch.nn.functional as F
from torch import nn

HEADS, WIDTH = 16, 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(1024, 3 * HEADS * WIDTH)
        self.out = nn.Linear(HEADS * WIDTH, 1024)

    def forward(self, x, keys, values, positions):
        rows, steps, _ = x.shape
        q, k, v = self.qkv(x).view(rows, steps, 3, HEADS, WIDTH).unbind(2)
        keys.index_copy_(1, positions, k)
        values.index_copy_(1, positions, v)
        mixed = F.scaled_dot_product_attention(q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2))
        return F.gelu(self.out(mixed.transpose(1, 2).reshape(rows, steps, HEADS * WIDTH)))


def get_inputs():
    cache = (64, 256, HEADS, WIDTH)
    return [torch.randn(64, 64, 1024), torch.zeros(cache), torch.zeros(cache), torch.arange(64)]


def get_init_inputs():
    return []
