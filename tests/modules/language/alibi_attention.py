"""Attention with linear biases by distance, slopes from the number of heads."""

import torch
import torch.nn as nn


def slopes(heads):
    start = 2 ** (-8 / heads)
    return torch.tensor([start ** (i + 1) for i in range(heads)])


class AlibiAttention(nn.Module):
    def __init__(self, width=32, heads=8):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.dense = nn.Linear(width, width)
        self.register_buffer("slopes", slopes(heads))

    def forward(self, x, mask):
        b, t, c = x.shape
        fused = self.query_key_value(x).view(b, t, self.heads, 3, c // self.heads)
        q, k, v = (fused[..., i, :].transpose(1, 2).reshape(b * self.heads, t, -1) for i in range(3))
        positions = ((mask.cumsum(dim=-1) - 1) * mask)[:, None, :]
        alibi = (self.slopes[..., None] * positions).reshape(b * self.heads, 1, t)
        scores = torch.baddbmm(alibi.expand(-1, t, -1), q, k.transpose(1, 2), beta=1.0, alpha=(c // self.heads) ** -0.5)
        causal = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        scores = scores.view(b, self.heads, t, t).masked_fill(causal, torch.finfo(x.dtype).min)
        y = torch.bmm(scores.softmax(-1).view(b * self.heads, t, t), v)
        return self.dense(y.view(b, self.heads, t, -1).transpose(1, 2).reshape(b, t, c))

    @staticmethod
    def example_inputs():
        mask = torch.ones(2, 7, dtype=torch.int64)
        mask[1, :2] = 0
        return torch.randn(2, 7, 32), mask
