"""Log-mel features: pre-emphasis, overlapping frames, the spectrum by products, normalised by channel."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MelFrontend(nn.Module):
    def __init__(self, frame=32, hop=12, mels=10):
        super().__init__()
        self.frame, self.hop = frame, hop
        bins = frame // 2 + 1
        angle = 2 * math.pi * torch.outer(torch.arange(bins), torch.arange(frame)) / frame
        self.register_buffer("real", torch.cos(angle))
        self.register_buffer("imag", -torch.sin(angle))
        self.register_buffer("window", torch.hann_window(frame))
        centres = torch.linspace(0, bins - 1, mels + 2)
        position = torch.arange(bins)[None, :]
        rise = (position - centres[:-2, None]) / (centres[1:-1] - centres[:-2])[:, None]
        fall = (centres[2:, None] - position) / (centres[2:] - centres[1:-1])[:, None]
        self.register_buffer("filters", torch.clamp(torch.minimum(rise, fall), min=0))

    def forward(self, wave):
        wave = torch.cat((wave[:, :1], wave[:, 1:] - 0.97 * wave[:, :-1]), dim=1)
        wave = F.pad(wave[:, None], (self.frame // 2, self.frame // 2), mode="reflect")[:, 0]
        frames = wave.unfold(-1, self.frame, self.hop) * self.window
        power = (frames @ self.real.T) ** 2 + (frames @ self.imag.T) ** 2
        mel = torch.clamp(power @ self.filters.T, min=1e-10).log10()
        mel = torch.maximum(mel, mel.amax(dim=(1, 2), keepdim=True) - 8.0)
        return ((mel - mel.mean(1, keepdim=True)) / (mel.std(1, keepdim=True) + 1e-5)).transpose(1, 2)

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 150),)
