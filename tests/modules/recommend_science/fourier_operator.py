"""A layer of a Fourier neural operator: the lowest modes are mixed by complex weights."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class FourierLayer(nn.Module):
    def __init__(self, width=6, modes=4):
        super().__init__()
        self.modes = modes
        self.weights = nn.Parameter(torch.rand(width, width, modes, dtype=torch.cfloat) / width**2)
        self.w = nn.Conv1d(width, width, 1)

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        mixed = torch.zeros_like(spectrum)
        mixed[:, :, : self.modes] = torch.einsum("bix,iox->box", spectrum[:, :, : self.modes], self.weights)
        return F.gelu(torch.fft.irfft(mixed, n=x.size(-1)) + self.w(x))

    @staticmethod
    def example_inputs():
        return (torch.randn(2, 6, 16),)
