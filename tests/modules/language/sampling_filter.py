"""What comes before a draw: repetition penalty, temperature, the k best and the nucleus of probability p."""

import torch
import torch.nn as nn


class SamplingFilter(nn.Module):
    def __init__(self, k=12, p=0.9, temperature=0.8, penalty=1.2):
        super().__init__()
        self.k, self.p, self.temperature, self.penalty = k, p, temperature, penalty

    def forward(self, logits, past):
        score = torch.gather(logits, 1, past)
        score = torch.where(score < 0, score * self.penalty, score / self.penalty)
        logits = logits.scatter(1, past, score) / self.temperature
        worst = torch.topk(logits, self.k)[0][..., -1, None]
        logits = logits.masked_fill(logits < worst, -float("inf"))
        ordered, indices = torch.sort(logits, descending=True)
        cumulative = torch.cumsum(torch.softmax(ordered, dim=-1), dim=-1)
        remove = cumulative > self.p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        logits = logits.masked_fill(remove.scatter(1, indices, remove), -float("inf"))
        return torch.softmax(logits, dim=-1)

    @staticmethod
    def example_inputs():
        return 2 * torch.randn(3, 40), torch.stack([torch.randperm(40)[:6] for _ in range(3)])
