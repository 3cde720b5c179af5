import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    """Rows filled up to seven: the zeros are part of the sum, however many they are."""

    def __init__(self, d):
        super().__init__()
        self.o = nn.Linear(d, d)

    def forward(self, x):
        y = self.o(F.pad(x, (0, 0, 0, 7 - x.shape[1])))
        return x + torch.tanh(y).sum(1, keepdim=True)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = (Block(6) for _ in range(4))

    def forward(self, x):
        x = self.b(self.a(x))
        return self.d(self.c(x[:, ::2]))


def get_inputs():
    return [torch.empty(2, 4, 6)]


def get_init_inputs():
    return []
