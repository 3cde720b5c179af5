import torch
import torch.nn as nn


class DenseBlock(nn.Module):
    def __init__(self, count, channels, growth):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(count):
            width = channels + i * growth
            self.layers.append(nn.Sequential(nn.BatchNorm2d(width), nn.Conv2d(width, growth, 3, padding=1, bias=False)))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(x))
            x = torch.cat(features, 1)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = DenseBlock(3, 4, 2)
        self.pool = nn.AvgPool2d(2)
        self.second = DenseBlock(3, 10, 2)

    def forward(self, x):
        return self.second(self.pool(self.first(x)))


def get_inputs():
    return [torch.empty(2, 4, 6, 8)]


def get_init_inputs():
    return []
