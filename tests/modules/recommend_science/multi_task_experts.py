"""Shared experts and a gate for each task; uncertainties weigh the tasks' losses."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiTask(nn.Module):
    def __init__(self, width=12, experts=3, tasks=2, hidden=8):
        super().__init__()
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(width, hidden), nn.ReLU()) for _ in range(experts))
        self.gates = nn.ModuleList(nn.Linear(width, experts, bias=False) for _ in range(tasks))
        self.towers = nn.ModuleList(
            nn.Sequential(nn.Linear(hidden, 8), nn.ReLU(), nn.Linear(8, 1)) for _ in range(tasks)
        )
        self.log_vars = nn.Parameter(torch.zeros(tasks))

    def forward(self, x, clicks):
        expert = torch.stack([e(x) for e in self.experts], dim=1)
        outs = []
        for gate, tower in zip(self.gates, self.towers):
            mixed = (gate(x).softmax(-1).unsqueeze(-1) * expert).sum(1)
            outs.append(tower(mixed).squeeze(-1))
        click = torch.sigmoid(outs[0])
        both = click * torch.sigmoid(outs[1])
        losses = torch.stack((F.binary_cross_entropy(click, clicks[:, 0]), F.binary_cross_entropy(both, clicks[:, 1])))
        return (torch.exp(-self.log_vars) * losses + self.log_vars).sum(), both

    @staticmethod
    def example_inputs():
        return torch.randn(9, 12), (torch.rand(9, 2) > 0.5).float()
