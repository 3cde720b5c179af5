"""Patches by a convolution, a class token, learnt positions, one encoder layer and a head."""

import torch
import torch.nn as nn


class VisionTransformer(nn.Module):
    def __init__(self, side=16, patch=4, width=24, heads=3, classes=7):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.cls_token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, 0.1, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
        return self.head(self.encoder(x)[:, 0])

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 3, 16, 16),)
