"""A decoder layer with RMS normalisation, rotary positions, grouped queries and a gated MLP."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * (x.float() * scale).type_as(x)


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Layer(nn.Module):
    def __init__(self, width=32, heads=4, groups=2, hidden=48):
        super().__init__()
        self.heads, self.groups, self.head = heads, groups, width // heads
        self.input_norm, self.post_norm = RMSNorm(width), RMSNorm(width)
        self.q_proj = nn.Linear(width, heads * self.head, bias=False)
        self.k_proj = nn.Linear(width, groups * self.head, bias=False)
        self.v_proj = nn.Linear(width, groups * self.head, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        steps = torch.arange(0, self.head, 2, dtype=torch.int64).float() / self.head
        self.register_buffer("inv_freq", 1.0 / 10000**steps, persistent=False)

    def attend(self, x):
        b, t, _ = x.shape
        angles = torch.outer(torch.arange(t, device=x.device).type_as(self.inv_freq), self.inv_freq)
        cos, sin = torch.cat((angles, angles), -1).cos(), torch.cat((angles, angles), -1).sin()
        q = self.q_proj(x).view(b, t, self.heads, self.head).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.groups, self.head).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.groups, self.head).transpose(1, 2)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = (z.repeat_interleave(self.heads // self.groups, dim=1) for z in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, -1))

    def forward(self, x):
        x = x + self.attend(self.input_norm(x))
        h = self.post_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 10, 32),)
