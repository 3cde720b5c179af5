"""A conditional random field: the partition function by a masked forward recursion, and a path's score."""

import torch
import torch.nn as nn


class Crf(nn.Module):
    def __init__(self, width=10, tags=5):
        super().__init__()
        self.emit = nn.Linear(width, tags)
        self.start = nn.Parameter(torch.randn(tags) * 0.1)
        self.end = nn.Parameter(torch.randn(tags) * 0.1)
        self.transitions = nn.Parameter(torch.randn(tags, tags) * 0.1)

    def partition(self, emissions, mask):
        score = self.start + emissions[0]
        for i in range(1, emissions.shape[0]):
            each = score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)
            score = torch.where(mask[i].unsqueeze(1), torch.logsumexp(each, dim=1), score)
        return torch.logsumexp(score + self.end, dim=1)

    def path(self, emissions, tags, mask):
        weight = mask.to(emissions.dtype)
        each = emissions.gather(2, tags.unsqueeze(2)).squeeze(2)
        moves = self.transitions[tags[:-1], tags[1:]]
        last = tags.gather(0, (mask.long().sum(0) - 1).unsqueeze(0)).squeeze(0)
        return self.start[tags[0]] + each[0] + ((each[1:] + moves) * weight[1:]).sum(0) + self.end[last]

    def forward(self, x, tags, mask):
        emissions = self.emit(x)
        return (self.partition(emissions, mask) - self.path(emissions, tags, mask)).mean()

    @staticmethod
    def example_inputs():
        mask = torch.arange(6)[:, None] < torch.tensor([6, 4, 5])
        return torch.randn(6, 3, 10), torch.randint(0, 5, (6, 3)), mask
