import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Casts that change values, a count as an index, a decision behind two operations, bits."""

    def forward(self, x, w, i):
        best = (x * w + x).argmax(-1)
        last = x.gather(1, (x > 0).sum(1, keepdim=True) - 1)
        return best, last, i.bfloat16() * 2, x.float().to(torch.float8_e4m3fn).float(), 2**i | 1


def get_inputs():
    return [
        torch.empty(4, 9, dtype=torch.bfloat16),
        torch.empty(9, dtype=torch.bfloat16),
        torch.empty(6, dtype=torch.int64),
    ]


def get_init_inputs():
    return []
