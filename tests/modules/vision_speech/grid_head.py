"""A detection head over a grid: centres, sizes and confidences decoded in place."""

import torch
import torch.nn as nn


class GridHead(nn.Module):
    def __init__(self, channels=8, classes=3, stride=8, anchors=((10.0, 13.0), (16.0, 30.0))):
        super().__init__()
        self.outputs, self.stride = classes + 5, stride
        self.register_buffer("anchors", torch.tensor(anchors))
        self.conv = nn.Conv2d(channels, self.outputs * len(anchors), 1)

    def forward(self, x):
        b, _, h, w = x.shape
        n = self.anchors.shape[0]
        y = self.conv(x).view(b, n, self.outputs, h, w).permute(0, 1, 3, 4, 2).contiguous()
        rows, columns = torch.meshgrid(
            torch.arange(h, device=x.device), torch.arange(w, device=x.device), indexing="ij"
        )
        grid = torch.stack((columns, rows), 2).expand(1, n, h, w, 2).to(x.dtype)
        y = y.sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2 + (grid - 0.5)) * self.stride
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchors.view(1, n, 1, 1, 2)
        return y.view(b, -1, self.outputs)

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 8, 4, 5),)
