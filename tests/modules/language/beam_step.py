"""A step of beam search: scores of all continuations, the best of each sentence, and the beams they come from."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class BeamStep(nn.Module):
    def __init__(self, width=12, words=20, beams=3, penalty=0.6):
        super().__init__()
        self.beams, self.words, self.penalty = beams, words, penalty
        self.head = nn.Linear(width, words)

    def forward(self, hidden, scores, finished, length):
        b = scores.shape[0]
        logp = F.log_softmax(self.head(hidden), dim=-1).view(b, self.beams, self.words)
        logp = logp.masked_fill(finished[..., None], -1e9)
        total = scores[..., None] + logp
        norm = ((5.0 + length.to(total.dtype)) / 6.0) ** self.penalty
        best, place = torch.topk((total / norm[:, None, None]).view(b, -1), 2 * self.beams, dim=-1)
        beam = torch.div(place, self.words, rounding_mode="floor")
        token = place % self.words
        kept = torch.gather(finished, 1, beam)
        return best * norm[:, None], token, beam, kept

    @staticmethod
    def example_inputs():
        finished = torch.zeros(2, 3, dtype=torch.bool)
        finished[0, 1] = True
        return torch.randn(6, 12), torch.randn(2, 3), finished, torch.tensor([4, 6])
