"""A localisation network whose affine map resamples the image."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(
            nn.Conv2d(1, 4, 5), nn.MaxPool2d(2, stride=2), nn.ReLU(True), nn.Conv2d(4, 6, 3), nn.ReLU(True)
        )
        self.fc_loc = nn.Sequential(nn.Linear(6 * 3 * 3, 8), nn.ReLU(True), nn.Linear(8, 6))
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def forward(self, x):
        xs = self.localization(x)
        theta = self.fc_loc(xs.view(-1, 6 * 3 * 3)).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 1, 14, 14),)
