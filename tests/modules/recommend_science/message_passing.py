"""A message-passing network on molecules: edge networks, sums at atoms, gated updates, a set readout."""

import torch
import torch.nn as nn


class MessagePassing(nn.Module):
    def __init__(self, atoms=6, bonds=4, width=8, rounds=2):
        super().__init__()
        self.width, self.rounds = width, rounds
        self.project = nn.Linear(atoms, width)
        self.edge = nn.Sequential(nn.Linear(bonds, 12), nn.ReLU(), nn.Linear(12, width * width))
        self.gru = nn.GRUCell(width, width)
        self.gate, self.value = nn.Linear(2 * width, width), nn.Linear(width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, nodes, edges, source, target, molecule):
        start = h = torch.relu(self.project(nodes))
        maps = self.edge(edges).view(-1, self.width, self.width)
        for _ in range(self.rounds):
            message = torch.bmm(h[source].unsqueeze(1), maps).squeeze(1)
            gathered = torch.zeros_like(h).index_add_(0, target, message)
            h = self.gru(gathered, h)
        gated = torch.sigmoid(self.gate(torch.cat((h, start), 1))) * self.value(h)
        pooled = torch.zeros(3, self.width, dtype=h.dtype, device=h.device).index_add_(0, molecule, gated)
        return self.out(pooled)

    @staticmethod
    def example_inputs():
        ends = torch.randint(0, 10, (2, 16))
        return torch.randn(10, 6), torch.randn(16, 4), ends[0], ends[1], torch.tensor([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
