"""A sentence classifier: convolutions of several widths over words, the maximum over time."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class TextCnn(nn.Module):
    def __init__(self, words=60, width=16, maps=8, widths=(2, 3, 4), classes=5):
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=0)
        self.convs = nn.ModuleList(nn.Conv2d(1, maps, (k, width)) for k in widths)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(maps * len(widths), classes)

    def forward(self, x):
        x = self.embed(x).unsqueeze(1)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        x = torch.cat([F.max_pool1d(z, z.size(2)).squeeze(2) for z in x], 1)
        return F.log_softmax(self.fc(self.drop(x)), dim=-1)

    @staticmethod
    def example_inputs():
        return (torch.randint(0, 60, (4, 11)),)
