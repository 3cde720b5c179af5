"""A selective state-space block: causal depthwise convolution, input-dependent steps, the scan as a loop."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class MambaBlock(nn.Module):
    def __init__(self, width=8, expand=2, states=4, kernel=4, rank=2):
        super().__init__()
        inner = expand * width
        self.states, self.rank = states, rank
        self.in_proj = nn.Linear(width, 2 * inner, bias=False)
        self.conv1d = nn.Conv1d(inner, inner, kernel, groups=inner, padding=kernel - 1)
        self.x_proj = nn.Linear(inner, rank + 2 * states, bias=False)
        self.dt_proj = nn.Linear(rank, inner)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, states + 1).float().repeat(inner, 1)))
        self.D = nn.Parameter(torch.ones(inner))
        self.out_proj = nn.Linear(inner, width, bias=False)

    def scan(self, u, delta, a, b, c):
        batch, length, inner = u.shape
        decay = torch.exp(torch.einsum("bld,dn->bldn", delta, a))
        drive = torch.einsum("bld,bln,bld->bldn", delta, b, u)
        state = torch.zeros(batch, inner, self.states, device=u.device, dtype=u.dtype)
        out = []
        for t in range(length):
            state = decay[:, t] * state + drive[:, t]
            out.append(torch.einsum("bdn,bn->bd", state, c[:, t]))
        return torch.stack(out, dim=1) + u * self.D

    def forward(self, x):
        length = x.shape[1]
        u, gate = self.in_proj(x).chunk(2, dim=-1)
        u = F.silu(self.conv1d(u.transpose(1, 2))[..., :length].transpose(1, 2))
        dt, b, c = self.x_proj(u).split([self.rank, self.states, self.states], dim=-1)
        y = self.scan(u, F.softplus(self.dt_proj(dt)), -torch.exp(self.A_log), b, c)
        return self.out_proj(y * F.silu(gate))

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 9, 8),)
