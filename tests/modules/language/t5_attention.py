"""Attention with logarithmic buckets of relative positions, unscaled."""

import math

import torch
import torch.nn as nn


class RelativeAttention(nn.Module):
    def __init__(self, width=24, heads=4, buckets=16, farthest=20):
        super().__init__()
        self.heads, self.buckets, self.farthest = heads, buckets, farthest
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(buckets, heads)

    def bucket(self, relative):
        buckets = self.buckets // 2
        result = (relative > 0).to(torch.long) * buckets
        relative = torch.abs(relative)
        exact = buckets // 2
        large = exact + (torch.log(relative.float() / exact) / math.log(self.farthest / exact) * (buckets - exact)).to(
            torch.long
        )
        large = torch.min(large, torch.full_like(large, buckets - 1))
        return result + torch.where(relative < exact, relative, large)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        context = torch.arange(t, device=x.device)[:, None]
        memory = torch.arange(t, device=x.device)[None, :]
        bias = self.relative_attention_bias(self.bucket(memory - context)).permute(2, 0, 1).unsqueeze(0)
        scores = torch.matmul(q, k.transpose(3, 2)) + bias
        weights = torch.softmax(scores.float(), dim=-1).type_as(scores)
        return self.o(torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, t, c))

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 40, 24),)
