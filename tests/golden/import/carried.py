import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 5), nn.Linear(5, 5)
        self.norm = nn.BatchNorm1d(5)

    def forward(self, x):
        for _ in range(4):
            for _ in range(4):
                x = torch.tanh(self.a(x)) + 0.5
            x = self.norm(self.b(x))
        return x


def get_inputs():
    return [torch.empty(3, 5)]


def get_init_inputs():
    return []
