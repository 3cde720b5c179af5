"""A recurrent session model: scores against in-batch negatives, BPR and TOP1 losses."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SessionRanker(nn.Module):
    def __init__(self, items=25, width=10, hidden=12):
        super().__init__()
        self.look_up = nn.Embedding(items, width)
        self.gru = nn.GRU(width, hidden, batch_first=True)
        self.out = nn.Linear(hidden, width)

    def forward(self, clicks, lengths, target):
        hidden, _ = self.gru(self.look_up(clicks))
        last = hidden[torch.arange(clicks.size(0), device=clicks.device), lengths - 1]
        scores = self.out(last) @ self.look_up(target).T
        positive = scores.diagonal().unsqueeze(1)
        bpr = -F.logsigmoid(positive - scores).mean()
        top1 = (torch.sigmoid(scores - positive) + torch.sigmoid(scores**2)).mean()
        return bpr + 0.5 * top1, scores

    @staticmethod
    def example_inputs():
        return torch.randint(0, 25, (5, 6)), torch.tensor([6, 2, 4, 1, 5]), torch.randint(0, 25, (5,))
