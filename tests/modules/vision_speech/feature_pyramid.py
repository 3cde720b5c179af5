"""A feature pyramid: lateral projections, upsampled sums, and scores of all levels in one list."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class FeaturePyramid(nn.Module):
    def __init__(self, channels=(8, 12, 16), width=8, anchors=2):
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(c, width, 1) for c in channels)
        self.smooth = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in channels)
        self.score = nn.Conv2d(width, anchors, 3, padding=1)

    def forward(self, features):
        top = self.lateral[-1](features[-1])
        levels = [self.smooth[-1](top)]
        for i in range(len(features) - 2, -1, -1):
            lateral = self.lateral[i](features[i])
            top = lateral + F.interpolate(top, size=lateral.shape[-2:], mode="nearest")
            levels.insert(0, self.smooth[i](top))
        scores = [self.score(F.relu(level)).permute(0, 2, 3, 1).flatten(1) for level in levels]
        return torch.cat(scores, dim=1).sigmoid()

    @staticmethod
    def example_inputs():
        return ([torch.randn(1, 8, 11, 9), torch.randn(1, 12, 6, 5), torch.randn(1, 16, 3, 3)],)
