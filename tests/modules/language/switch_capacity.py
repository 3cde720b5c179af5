"""Routing to one expert with a capacity: later tokens of a full expert are passed through; a balancing loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SwitchLayer(nn.Module):
    def __init__(self, width=16, hidden=32, experts=4, capacity=5):
        super().__init__()
        self.experts, self.capacity = experts, capacity
        self.router = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, hidden) * 0.1)
        self.down = nn.Parameter(torch.randn(experts, hidden, width) * 0.1)

    def forward(self, x):
        probability = self.router(x).softmax(-1)
        gate, expert = probability.max(dim=-1)
        chosen = F.one_hot(expert, self.experts)
        place = torch.cumsum(chosen, dim=0) * chosen
        kept = chosen * (place <= self.capacity)
        slot = F.one_hot((place * kept).sum(-1), self.capacity + 1)[:, 1:]
        dispatch = kept[:, :, None].to(x.dtype) * slot[:, None, :].to(x.dtype)
        routed = torch.einsum("tec,td->ecd", dispatch, x)
        routed = torch.bmm(F.relu(torch.bmm(routed, self.up)), self.down)
        y = torch.einsum("tec,ecd->td", dispatch, routed) * gate[:, None]
        y = torch.where(kept.any(-1, keepdim=True), y, x)
        balance = self.experts * (chosen.to(x.dtype).mean(0) * probability.mean(0)).sum()
        return y, balance

    @staticmethod
    def example_inputs():
        return (torch.randn(18, 16),)
