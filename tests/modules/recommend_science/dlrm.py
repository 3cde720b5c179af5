"""Dense features by a perceptron, bags of categories, and dot products of all pairs."""

import torch
import torch.nn as nn


def perceptron(sizes, last=None):
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        layers += [nn.Linear(a, b), nn.Sigmoid() if i == len(sizes) - 2 and last else nn.ReLU()]
    return nn.Sequential(*layers)


class Dlrm(nn.Module):
    def __init__(self, dense=5, rows=(20, 30, 12), width=8):
        super().__init__()
        self.bottom = perceptron([dense, 16, width])
        self.tables = nn.ModuleList(nn.EmbeddingBag(n, width, mode="sum") for n in rows)
        features = len(rows) + 1
        pairs = torch.tril_indices(features, features, offset=-1)
        self.register_buffer("li", pairs[0], persistent=False)
        self.register_buffer("lj", pairs[1], persistent=False)
        self.top = perceptron([width + len(self.li), 16, 1], last="sigmoid")

    def forward(self, dense, indices):
        x = self.bottom(dense)
        bags = [table(indices[i]) for i, table in enumerate(self.tables)]
        t = torch.cat([x] + bags, dim=1).view(x.shape[0], -1, x.shape[1])
        z = torch.bmm(t, t.transpose(1, 2))[:, self.li, self.lj]
        return self.top(torch.cat([x, z], dim=1)).clamp(1e-6, 1 - 1e-6)

    @staticmethod
    def example_inputs():
        return torch.rand(6, 5), torch.randint(0, 12, (3, 6, 2))
