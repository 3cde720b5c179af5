"""Top-k routing over small experts: the choice stays PyTorch's, the experts are ours."""

import torch
import torch.nn.functional as F
from torch import nn

EXPERTS, CHOSEN, WIDTH = 8, 2, 512


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(1024, EXPERTS)
        self.up = nn.Linear(1024, EXPERTS * WIDTH)
        self.down = nn.Linear(EXPERTS * WIDTH, 1024)

    def forward(self, x):
        scores, experts = torch.topk(self.gate(x), CHOSEN, dim=-1, sorted=False)
        weights = torch.zeros(x.shape[0], EXPERTS, dtype=x.dtype, device=x.device)
        weights = weights.scatter(-1, experts, F.softmax(scores, dim=-1))
        hidden = F.gelu(self.up(x)).view(-1, EXPERTS, WIDTH) * weights[:, :, None]
        return self.down(hidden.flatten(1)), experts


def get_inputs():
    return [torch.randn(4096, 1024)]


def get_init_inputs():
    return []
