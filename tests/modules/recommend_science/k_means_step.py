"""One step of k-means with empty clusters kept, and the inertia."""

import torch
import torch.nn as nn


class KMeansStep(nn.Module):
    def __init__(self, clusters=4, width=3):
        super().__init__()
        self.register_buffer("centres", torch.randn(clusters, width))

    def forward(self, x):
        distance = torch.cdist(x, self.centres)
        near, label = distance.min(dim=1)
        sums = torch.zeros_like(self.centres).scatter_add(0, label[:, None].expand(-1, x.shape[1]), x)
        counts = torch.bincount(label, minlength=self.centres.shape[0])
        means = sums / counts.clamp(min=1)[:, None].to(x.dtype)
        moved = torch.where(counts[:, None] > 0, means, self.centres)
        return moved, label, (near**2).sum()

    @staticmethod
    def example_inputs():
        return (torch.randn(14, 3),)
