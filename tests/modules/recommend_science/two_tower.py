"""Two towers with a softmax over the batch, corrected by the items' frequencies, and recall at three."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTower(nn.Module):
    def __init__(self, users=15, items=20, width=8, temperature=0.1):
        super().__init__()
        self.user = nn.Sequential(
            nn.Embedding(users, width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )
        self.item = nn.Sequential(
            nn.Embedding(items, width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )
        self.temperature = temperature

    def forward(self, user, item, frequency):
        u, v = F.normalize(self.user(user), dim=-1), F.normalize(self.item(item), dim=-1)
        logits = u @ v.T / self.temperature
        corrected = logits - torch.log(frequency)[None, :]
        same = item[:, None] == item[None, :]
        eye = torch.eye(len(item), dtype=torch.bool, device=item.device)
        corrected = corrected.masked_fill(same & ~eye, -1e9)
        labels = torch.arange(len(item), device=item.device)
        loss = F.cross_entropy(corrected, labels)
        rank = (logits > logits.diagonal()[:, None]).sum(1)
        return loss, (rank < 3).to(logits.dtype).mean()

    @staticmethod
    def example_inputs():
        return torch.randint(0, 15, (8,)), torch.randint(0, 20, (8,)), torch.rand(8) * 0.2 + 0.01
