"""The convolution and feed-forward modules of a conformer, padded frames masked out."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Conformer(nn.Module):
    def __init__(self, width=12, kernel=5):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.pointwise1, self.pointwise2 = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 1)
        self.depthwise = nn.Conv1d(width, width, kernel, padding=(kernel - 1) // 2, groups=width)
        self.batch_norm = nn.BatchNorm1d(width)
        self.feed = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Dropout(0.1), nn.Linear(4 * width, width)
        )
        self.last = nn.LayerNorm(width)

    def forward(self, x, lengths):
        padded = torch.arange(x.size(1), device=x.device)[None, :] >= lengths[:, None]
        x = x + 0.5 * self.feed(x)
        y = self.norm(x).transpose(1, 2).masked_fill(padded[:, None, :], 0.0)
        y = F.glu(self.pointwise1(y), dim=1)
        y = F.silu(self.batch_norm(self.depthwise(y)))
        y = self.pointwise2(y).masked_fill(padded[:, None, :], 0.0).transpose(1, 2)
        return self.last(x + y)

    @staticmethod
    def example_inputs():
        return torch.randn(2, 9, 12), torch.tensor([9, 6])
