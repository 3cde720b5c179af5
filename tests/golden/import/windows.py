import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        n, h, w, c = x.shape
        x = x.view(n, h // 2, 2, w // 3, 3, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 6, c)
        return x.softmax(1)


def get_inputs():
    return [torch.empty(2, 4, 6, 5)]


def get_init_inputs():
    return []
