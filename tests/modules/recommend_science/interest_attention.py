"""Attention of a candidate over a user's history, masked by its length, with a Dice activation."""

import torch
import torch.nn as nn


class Dice(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bn = nn.BatchNorm1d(width, eps=1e-8, affine=False)
        self.alpha = nn.Parameter(torch.full((width,), 0.25))

    def forward(self, x):
        p = torch.sigmoid(self.bn(x.reshape(-1, x.shape[-1])).view_as(x))
        return p * x + (1 - p) * self.alpha * x


class InterestAttention(nn.Module):
    def __init__(self, items=30, width=8):
        super().__init__()
        self.items = nn.Embedding(items, width, padding_idx=0)
        self.attention = nn.Sequential(nn.Linear(4 * width, 16), Dice(16), nn.Linear(16, 1))
        self.out = nn.Sequential(nn.Linear(3 * width, 16), nn.PReLU(16), nn.Linear(16, 2))

    def forward(self, candidate, history, lengths):
        q, keys = self.items(candidate), self.items(history)
        queries = q.unsqueeze(1).expand(-1, keys.size(1), -1)
        scores = self.attention(torch.cat([queries, keys, queries - keys, queries * keys], dim=-1)).transpose(1, 2)
        mask = torch.arange(keys.size(1), device=keys.device)[None, :] < lengths[:, None]
        scores = torch.where(mask.unsqueeze(1), scores, torch.full_like(scores, -(2.0**32) + 1))
        interest = torch.bmm((scores / keys.size(-1) ** 0.5).softmax(-1), keys).squeeze(1)
        return self.out(torch.cat((q, interest, q * interest), -1)).log_softmax(-1)

    @staticmethod
    def example_inputs():
        return torch.randint(1, 30, (5,)), torch.randint(0, 30, (5, 7)), torch.tensor([7, 3, 5, 1, 6])
