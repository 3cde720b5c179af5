"""An encoder and decoder with skips, for images whose sides are no multiple of two."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Sequential):
    def __init__(self, a, b):
        super().__init__(
            nn.Conv2d(a, b, 3, padding=1, bias=False),
            nn.BatchNorm2d(b),
            nn.ReLU(inplace=True),
            nn.Conv2d(b, b, 3, padding=1, bias=False),
            nn.BatchNorm2d(b),
            nn.ReLU(inplace=True),
        )


class UNet(nn.Module):
    def __init__(self, channels=3, base=4, classes=2):
        super().__init__()
        self.inc = DoubleConv(channels, base)
        self.down1, self.down2 = DoubleConv(base, 2 * base), DoubleConv(2 * base, 4 * base)
        self.up1 = nn.ConvTranspose2d(4 * base, 2 * base, 2, stride=2)
        self.conv1 = DoubleConv(4 * base, 2 * base)
        self.conv2 = DoubleConv(3 * base, base)
        self.outc = nn.Conv2d(base, classes, 1)

    @staticmethod
    def join(x, skip):
        dy, dx = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
        return torch.cat([skip, F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])], dim=1)

    def forward(self, x):
        a = self.inc(x)
        b = self.down1(F.max_pool2d(a, 2))
        c = self.down2(F.max_pool2d(b, 2))
        y = self.conv1(self.join(self.up1(c), b))
        y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=True)
        return self.outc(self.conv2(self.join(y, a)))

    @staticmethod
    def example_inputs():
        return (torch.randn(1, 3, 11, 14),)
