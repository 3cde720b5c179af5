"""Boxes from anchors and offsets, their overlaps with targets, and the anchor that fits each target best."""

import torch
import torch.nn as nn


class BoxDecoder(nn.Module):
    def __init__(self, width=10, classes=4, variances=(0.1, 0.2)):
        super().__init__()
        self.offsets, self.classes = nn.Linear(width, 4), nn.Linear(width, classes)
        self.variances = variances

    def forward(self, features, anchors, targets):
        d = self.offsets(features)
        centre = anchors[:, :2] + d[..., :2] * self.variances[0] * anchors[:, 2:]
        size = anchors[:, 2:] * torch.exp(torch.clamp(d[..., 2:] * self.variances[1], max=4.135))
        boxes = torch.cat((centre - size / 2, centre + size / 2), dim=-1).clamp(0, 1)
        low = torch.max(boxes[:, :, None, :2], targets[:, None, :, :2])
        high = torch.min(boxes[:, :, None, 2:], targets[:, None, :, 2:])
        inside = (high - low).clamp(min=0).prod(-1)
        area = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
        whole = (targets[..., 2] - targets[..., 0]) * (targets[..., 3] - targets[..., 1])
        overlap = inside / (area[:, :, None] + whole[:, None] - inside).clamp(min=1e-6)
        score, label = self.classes(features).softmax(-1).max(-1)
        return boxes, score, label, overlap.max(dim=1).values, overlap.argmax(dim=1)

    @staticmethod
    def example_inputs():
        low = torch.rand(2, 3, 2) * 0.5
        anchors = torch.cat((torch.rand(9, 2), 0.2 + 0.3 * torch.rand(9, 2)), 1)
        return torch.randn(2, 9, 10), anchors, torch.cat((low, low + 0.4), -1)
