"""Outer products of feature maps compressed by convolutions, and attention between fields."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class CompressedInteraction(nn.Module):
    def __init__(self, fields=4, values=9, width=6, maps=(5, 3), heads=2):
        super().__init__()
        self.embed = nn.ModuleList(nn.Embedding(values, width) for _ in range(fields))
        sizes = (fields, *maps)
        self.convs = nn.ModuleList(nn.Conv1d(fields * a, b, 1) for a, b in zip(sizes, sizes[1:]))
        self.attention = nn.MultiheadAttention(width, heads)
        self.residual = nn.Linear(width, width)
        self.out = nn.Linear(sum(maps) + fields * width, 1)

    def forward(self, x):
        e = torch.stack([table(x[:, i]) for i, table in enumerate(self.embed)], dim=1)
        h, pooled = e, []
        for conv in self.convs:
            outer = torch.einsum("bhd,bmd->bhmd", h, e)
            h = F.relu(conv(outer.reshape(x.shape[0], -1, e.shape[-1])))
            pooled.append(h.sum(-1))
        cross = e.transpose(0, 1)
        cross = self.attention(cross, cross, cross)[0].transpose(0, 1) + self.residual(e)
        return torch.sigmoid(self.out(torch.cat((*pooled, F.relu(cross).flatten(1)), 1))).squeeze(1)

    @staticmethod
    def example_inputs():
        return (torch.randint(0, 9, (7, 4)),)
