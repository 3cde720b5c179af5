"""The loss of a causal language model: shifted labels, label smoothing, ignored positions and a z-loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, width=16, words=30, smoothing=0.1, z=1e-4):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, words, bias=False)
        self.smoothing, self.z = smoothing, z

    def forward(self, hidden, labels):
        logits = self.lm_head(self.norm(hidden))[..., :-1, :].contiguous()
        labels = labels[..., 1:].contiguous()
        flat = logits.view(-1, logits.size(-1))
        loss = F.cross_entropy(flat, labels.view(-1), ignore_index=-100, label_smoothing=self.smoothing)
        kept = (labels != -100).to(flat.dtype)
        spread = (torch.logsumexp(logits, -1).square() * kept).sum() / kept.sum()
        right = ((logits.argmax(-1) == labels) & (labels != -100)).sum()
        return loss + self.z * spread, right

    @staticmethod
    def example_inputs():
        labels = torch.randint(0, 30, (3, 8))
        labels[0, :3] = -100
        return torch.randn(3, 8, 16), labels
