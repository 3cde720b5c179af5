"""Low-rank crosses mixed by gates, beside a deep network."""

import torch
import torch.nn as nn


class CrossNetwork(nn.Module):
    def __init__(self, width=12, rank=4, layers=2, experts=3):
        super().__init__()
        shape = (layers, experts)
        self.u = nn.Parameter(torch.randn(*shape, width, rank) * 0.2)
        self.v = nn.Parameter(torch.randn(*shape, width, rank) * 0.2)
        self.c = nn.Parameter(torch.randn(*shape, rank, rank) * 0.2)
        self.bias = nn.Parameter(torch.zeros(layers, width))
        self.gates = nn.ModuleList(nn.Linear(width, 1, bias=False) for _ in range(experts))
        self.deep = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.out = nn.Linear(width + 16, 1)

    def forward(self, x):
        x0 = xl = x
        for layer in range(self.u.shape[0]):
            outs, scores = [], []
            for e, gate in enumerate(self.gates):
                scores.append(gate(xl))
                v = torch.tanh(xl @ self.v[layer, e])
                v = torch.tanh(v @ self.c[layer, e].T)
                outs.append(x0 * (v @ self.u[layer, e].T + self.bias[layer]))
            weights = torch.stack(scores, 1).softmax(1)
            xl = torch.matmul(torch.stack(outs, 2), weights).squeeze(2) + xl
        return self.out(torch.cat((xl, self.deep(x)), -1)).squeeze(-1)

    @staticmethod
    def example_inputs():
        return (torch.randn(7, 12),)
