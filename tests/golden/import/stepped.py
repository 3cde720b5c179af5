import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x, lengths):
        h, g, steps = x[:, 0] * 2, x[:, 1], []
        for t in range(6):
            h = torch.where((t < lengths)[:, None], torch.tanh(self.a(h)), h)
            steps.append(h * (3 - 2 * t) + (t - 2) + 0.75 * t - 0.5)
        for t in range(6):
            h = torch.tanh(self.a(h)) * t
        for t in range(6):
            h = torch.tanh(self.a(h)) * (3 * t)
        for t in range(6):
            g = torch.tanh(self.a(g)) * (0.1 * t)
        for t in range(6):
            g = torch.tanh(self.a(g)) * 2**t
        return torch.stack(steps, 1), h, g


def get_inputs():
    return [torch.empty(2, 7, 4), torch.ones(2, dtype=torch.int64)]


def get_init_inputs():
    return []
