"""Time mixing by a shift and a numerically safe weighted running average of values."""

import torch
import torch.nn as nn


class TimeMix(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.decay = nn.Parameter(torch.linspace(-2, 1, width))
        self.first = nn.Parameter(torch.full((width,), 0.3))
        self.mix_k, self.mix_v, self.mix_r = (nn.Parameter(torch.rand(1, 1, width)) for _ in range(3))
        self.shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.key, self.value, self.receptance, self.output = (nn.Linear(width, width, bias=False) for _ in range(4))

    def average(self, k, v):
        w, out = -torch.exp(self.decay), []
        num, den, most = torch.zeros_like(k[:, 0]), torch.zeros_like(k[:, 0]), torch.full_like(k[:, 0], -1e38)
        for t in range(k.shape[1]):
            top = torch.maximum(most, self.first + k[:, t])
            a, b = torch.exp(most - top), torch.exp(self.first + k[:, t] - top)
            out.append((a * num + b * v[:, t]) / (a * den + b))
            top = torch.maximum(most + w, k[:, t])
            a, b = torch.exp(most + w - top), torch.exp(k[:, t] - top)
            num, den, most = a * num + b * v[:, t], a * den + b, top
        return torch.stack(out, dim=1)

    def forward(self, x):
        previous = self.shift(x)
        k = self.key(x * self.mix_k + previous * (1 - self.mix_k))
        v = self.value(x * self.mix_v + previous * (1 - self.mix_v))
        r = self.receptance(x * self.mix_r + previous * (1 - self.mix_r))
        return self.output(torch.sigmoid(r) * self.average(k, v))

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 8, 12),)
