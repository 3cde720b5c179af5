"""Focal and Dice losses of a segmentation head, and the overlap of classes."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SegmentationLoss(nn.Module):
    def __init__(self, channels=6, classes=3, gamma=2.0, smooth=1.0):
        super().__init__()
        self.head = nn.Conv2d(channels, classes, 1)
        self.classes, self.gamma, self.smooth = classes, gamma, smooth

    def forward(self, x, target):
        logits = self.head(x)
        logp = F.log_softmax(logits, dim=1)
        entropy = F.nll_loss(logp, target, reduction="none")
        focal = ((1 - torch.exp(-entropy)) ** self.gamma * entropy).mean()
        truth = F.one_hot(target, self.classes).permute(0, 3, 1, 2).to(logits.dtype)
        probability = logp.exp()
        inside = (probability * truth).sum((0, 2, 3))
        dice = (2 * inside + self.smooth) / (probability.sum((0, 2, 3)) + truth.sum((0, 2, 3)) + self.smooth)
        guess = logits.argmax(1)
        classes = torch.arange(self.classes, device=x.device).view(-1, 1, 1, 1)
        both = ((guess == classes) & (target == classes)).sum((1, 2, 3))
        either = ((guess == classes) | (target == classes)).sum((1, 2, 3))
        return focal + 1 - dice.mean(), both / either.clamp(min=1)

    @staticmethod
    def example_inputs():
        return torch.randn(2, 6, 5, 7), torch.randint(0, 3, (2, 5, 7))
