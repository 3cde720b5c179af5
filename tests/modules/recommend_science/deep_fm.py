"""First-order weights, pairwise interactions by the difference of squares, and a deep part."""

import torch
import torch.nn as nn


class DeepFM(nn.Module):
    def __init__(self, fields=(7, 5, 11, 4), width=6, hidden=16):
        super().__init__()
        total = sum(fields)
        self.first, self.second = nn.Embedding(total, 1), nn.Embedding(total, width)
        offsets = torch.tensor((0, *fields[:-1])).cumsum(0)
        self.register_buffer("offsets", offsets)
        self.bias = nn.Parameter(torch.zeros(1))
        self.deep = nn.Sequential(
            nn.Linear(len(fields) * width, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        x = x + self.offsets.unsqueeze(0)
        linear = self.first(x).sum(1) + self.bias
        e = self.second(x)
        pairs = 0.5 * (e.sum(1) ** 2 - (e**2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid((linear + pairs + self.deep(e.flatten(1))).squeeze(1))

    @staticmethod
    def example_inputs():
        return (torch.stack([torch.randint(0, n, (9,)) for n in (7, 5, 11, 4)], 1),)
