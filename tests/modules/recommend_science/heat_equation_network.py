"""A physics-informed loss: residual of the heat equation by automatic differentiation of a network."""

import torch
import torch.nn as nn


class HeatLoss(nn.Module):
    def __init__(self, width=12, diffusivity=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        self.diffusivity = diffusivity

    @torch.enable_grad()
    def forward(self, t, x):
        t, x = t.detach().requires_grad_(True), x.detach().requires_grad_(True)
        u = self.net(torch.cat((t, x), 1))
        u_t, u_x = torch.autograd.grad(u.sum(), (t, x), create_graph=True)
        u_xx = torch.autograd.grad(u_x.sum(), x, create_graph=True)[0]
        residual = u_t - self.diffusivity * u_xx
        start = self.net(torch.cat((torch.zeros_like(t), x), 1)) - torch.sin(torch.pi * x)
        return (residual.pow(2).mean() + start.pow(2).mean()).detach(), residual.detach()

    @staticmethod
    def example_inputs():
        return torch.rand(10, 1), torch.rand(10, 1)
