"""Low-rank adapters beside frozen projections, several of them chosen by row."""

import torch
import torch.nn as nn


class LoraLinear(nn.Module):
    def __init__(self, width=32, out=48, rank=4, adapters=3, alpha=8):
        super().__init__()
        self.base = nn.Linear(width, out)
        self.base.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(adapters, rank, width) * 0.02)
        self.lora_b = nn.Parameter(torch.randn(adapters, out, rank) * 0.02)
        self.scaling = alpha / rank
        self.drop = nn.Dropout(0.05)

    def forward(self, x, adapter):
        a, b = self.lora_a[adapter], self.lora_b[adapter]
        delta = torch.bmm(torch.bmm(self.drop(x), a.transpose(1, 2)), b.transpose(1, 2))
        return self.base(x) + delta * self.scaling

    @staticmethod
    def example_inputs():
        return torch.randn(4, 6, 32), torch.tensor([0, 2, 1, 2])
