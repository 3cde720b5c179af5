"""Nearest codes of a codebook, the straight-through gradient, commitment loss and perplexity."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class VectorQuantizer(nn.Module):
    def __init__(self, codes=12, width=6, cost=0.25):
        super().__init__()
        self.codes, self.width, self.cost = codes, width, cost
        self.embedding = nn.Embedding(codes, width)

    def forward(self, x):
        x = x.permute(0, 2, 3, 1).contiguous()
        flat = x.view(-1, self.width)
        weight = self.embedding.weight
        distance = (flat**2).sum(1, keepdim=True) + (weight**2).sum(1) - 2 * torch.matmul(flat, weight.t())
        index = torch.argmin(distance, dim=1).unsqueeze(1)
        chosen = torch.zeros(index.shape[0], self.codes, device=x.device).scatter_(1, index, 1)
        quantized = torch.matmul(chosen.to(weight.dtype), weight).view(x.shape)
        loss = F.mse_loss(quantized.detach(), x) * self.cost + F.mse_loss(quantized, x.detach())
        quantized = x + (quantized - x).detach()
        share = torch.mean(chosen, dim=0)
        perplexity = torch.exp(-torch.sum(share * torch.log(share + 1e-10)))
        return loss, quantized.permute(0, 3, 1, 2).contiguous(), perplexity, index

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 6, 4, 5),)
