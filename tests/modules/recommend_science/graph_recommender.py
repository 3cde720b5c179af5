"""Propagation over the edges of users and items, normalised by degrees, averaged over layers."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class GraphRecommender(nn.Module):
    def __init__(self, users=8, items=10, width=6, layers=2):
        super().__init__()
        self.users, self.layers = users, layers
        self.embedding = nn.Embedding(users + items, width)

    def forward(self, user, item, pairs):
        source, target = torch.cat((user, item + self.users)), torch.cat((item + self.users, user))
        x = self.embedding.weight
        ones = torch.ones(source.shape[0], dtype=x.dtype, device=x.device)
        degree = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device).scatter_add(0, target, ones)
        scale = degree.clamp(min=1).pow(-0.5)
        weight = (scale[source] * scale[target]).unsqueeze(1)
        total = x
        for _ in range(self.layers):
            x = torch.zeros_like(x).index_add(0, target, x[source] * weight)
            total = total + x
        total = total / (self.layers + 1)
        u, p, n = total[pairs[0]], total[pairs[1] + self.users], total[pairs[2] + self.users]
        return F.softplus((u * n).sum(1) - (u * p).sum(1)).mean()

    @staticmethod
    def example_inputs():
        pairs = torch.stack((torch.randint(0, 8, (5,)), torch.randint(0, 10, (5,)), torch.randint(0, 10, (5,))))
        return torch.randint(0, 8, (20,)), torch.randint(0, 10, (20,)), pairs
