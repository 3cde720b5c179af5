"""Dilated convolutions over frames, attentive statistics, and an angular-margin loss."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SpeakerEmbedding(nn.Module):
    def __init__(self, features=10, width=16, speakers=6, margin=0.2, scale=30.0):
        super().__init__()
        self.frames = nn.Sequential(
            nn.Conv1d(features, width, 5, padding=2), nn.ReLU(), nn.BatchNorm1d(width),
            nn.Conv1d(width, width, 3, dilation=2, padding=2), nn.ReLU(), nn.BatchNorm1d(width),
        )  # fmt: skip
        self.attention = nn.Sequential(nn.Conv1d(3 * width, 8, 1), nn.Tanh(), nn.Conv1d(8, width, 1))
        self.embed = nn.Linear(2 * width, 8)
        self.weight = nn.Parameter(torch.randn(speakers, 8))
        self.margin, self.scale = margin, scale

    def forward(self, x, speaker):
        h = self.frames(x)
        mean, std = h.mean(2, keepdim=True), h.var(2, keepdim=True).clamp(min=1e-5).sqrt()
        context = torch.cat((h, mean.expand_as(h), std.expand_as(h)), dim=1)
        weight = self.attention(context).softmax(dim=2)
        mu = (weight * h).sum(2)
        sigma = ((weight * h**2).sum(2) - mu**2).clamp(min=1e-5).sqrt()
        e = self.embed(torch.cat((mu, sigma), 1))
        cosine = F.linear(F.normalize(e), F.normalize(self.weight)).clamp(-1 + 1e-7, 1 - 1e-7)
        sine = torch.sqrt(1.0 - cosine**2)
        shifted = cosine * math.cos(self.margin) - sine * math.sin(self.margin)
        shifted = torch.where(cosine > math.cos(math.pi - self.margin), shifted, cosine - 0.04)
        hot = torch.zeros_like(cosine).scatter_(1, speaker.view(-1, 1), 1.0)
        return F.cross_entropy(self.scale * (hot * shifted + (1.0 - hot) * cosine), speaker), e

    @staticmethod
    def example_inputs():
        return torch.randn(3, 10, 12), torch.tensor([1, 5, 0])
