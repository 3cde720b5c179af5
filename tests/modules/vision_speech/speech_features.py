"""A stack of strided convolutions over samples, and positions by a grouped convolution with normalised weights."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SpeechFeatures(nn.Module):
    def __init__(self, width=12, layers=((10, 5), (3, 2), (2, 2))):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv1d(1 if i == 0 else width, width, k, stride=s, bias=False) for i, (k, s) in enumerate(layers)
        )
        self.group_norm = nn.GroupNorm(width, width)
        self.norm, self.proj = nn.LayerNorm(width), nn.Linear(width, 16)
        self.positions = nn.utils.parametrizations.weight_norm(
            nn.Conv1d(16, 16, 8, padding=4, groups=4), name="weight", dim=2
        )
        self.masked = nn.Parameter(torch.rand(16))

    def forward(self, wave, mask):
        x = wave[:, None]
        for i, conv in enumerate(self.convs):
            x = conv(x)
            x = F.gelu(self.group_norm(x) if i == 0 else x)
        x = self.proj(self.norm(x.transpose(1, 2)))
        x = torch.where(mask[..., None], self.masked, x)
        positions = self.positions(x.transpose(1, 2))[:, :, :-1]
        return x + F.gelu(positions).transpose(1, 2)

    @staticmethod
    def example_inputs():
        return torch.randn(2, 150), torch.rand(2, 7) < 0.3
