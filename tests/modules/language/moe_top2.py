"""A sparse mixture of experts: two of four by softmax, weights renormalised, experts by masks."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w3 = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.w2 = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoe(nn.Module):
    def __init__(self, width=16, hidden=24, experts=4, chosen=2):
        super().__init__()
        self.chosen = chosen
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(Expert(width, hidden) for _ in range(experts))

    def forward(self, x):
        tokens = x.view(-1, x.shape[-1])
        weights = F.softmax(self.gate(tokens), dim=1, dtype=torch.float)
        weights, selected = torch.topk(weights, self.chosen, dim=-1)
        weights = (weights / weights.sum(dim=-1, keepdim=True)).to(x.dtype)
        out = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            share = (weights * (selected == i)).sum(dim=-1, keepdim=True)
            out = out + share * expert(tokens)
        return out.view_as(x)

    @staticmethod
    def example_inputs():
        return (torch.randn(3, 5, 16),)
