import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, i):
        return self.head(self.embed(i)).argmax(-1)


def get_inputs():
    return [torch.zeros(2, 3, dtype=torch.int64)]


def get_init_inputs():
    return []
