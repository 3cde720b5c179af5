"""Direct preference optimisation: log probabilities of two answers under a policy and a reference."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class PreferenceLoss(nn.Module):
    def __init__(self, width=12, words=25, beta=0.1):
        super().__init__()
        self.policy = nn.Linear(width, words)
        self.reference = nn.Linear(width, words)
        self.beta = beta

    def log_probability(self, head, hidden, labels, mask):
        logp = head(hidden).log_softmax(-1)
        each = torch.gather(logp, dim=2, index=labels.unsqueeze(2)).squeeze(2)
        return (each * mask).sum(-1)

    def forward(self, hidden, labels, mask):
        policy = self.log_probability(self.policy, hidden, labels, mask)
        with torch.no_grad():
            reference = self.log_probability(self.reference, hidden, labels, mask)
        ratio = (policy - reference).view(2, -1)
        margin = self.beta * (ratio[0] - ratio[1])
        return -F.logsigmoid(margin).mean(), (margin > 0).float().mean()

    @staticmethod
    def example_inputs():
        mask = (torch.arange(7) < torch.tensor([7, 5, 6, 3, 7, 4])[:, None]).float()
        return torch.randn(6, 7, 12), torch.randint(0, 25, (6, 7)), mask
