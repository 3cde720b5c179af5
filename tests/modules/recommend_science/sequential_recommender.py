"""Self-attention over a user's items; scores of the next item against a drawn one."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SequentialRecommender(nn.Module):
    def __init__(self, items=40, width=16, longest=10, heads=2):
        super().__init__()
        self.item_emb = nn.Embedding(items, width, padding_idx=0)
        self.pos_emb = nn.Embedding(longest, width)
        self.attn_norm, self.ffn_norm, self.last_norm = (nn.LayerNorm(width, eps=1e-8) for _ in range(3))
        self.attn = nn.MultiheadAttention(width, heads, dropout=0.2, batch_first=True)
        self.conv1, self.conv2 = nn.Conv1d(width, width, 1), nn.Conv1d(width, width, 1)

    def forward(self, sequence, positive, negative):
        padded = sequence == 0
        x = self.item_emb(sequence) * self.item_emb.embedding_dim**0.5
        x = x + self.pos_emb(torch.arange(sequence.shape[1], device=x.device))
        x = x * ~padded.unsqueeze(-1)
        causal = ~torch.tril(torch.ones((x.shape[1], x.shape[1]), dtype=torch.bool, device=x.device))
        q = self.attn_norm(x)
        y, _ = self.attn(q, x, x, attn_mask=causal, need_weights=False)
        x = self.ffn_norm(q + y)
        x = x + self.conv2(F.relu(self.conv1(x.transpose(-1, -2)))).transpose(-1, -2)
        x = self.last_norm(x * ~padded.unsqueeze(-1))
        good, bad = (x * self.item_emb(positive)).sum(-1), (x * self.item_emb(negative)).sum(-1)
        weight = (positive != 0).to(x.dtype)
        loss = F.binary_cross_entropy_with_logits(good, torch.ones_like(good), weight=weight, reduction="sum")
        loss = loss + F.binary_cross_entropy_with_logits(bad, torch.zeros_like(bad), weight=weight, reduction="sum")
        return loss / weight.sum()

    @staticmethod
    def example_inputs():
        sequence, positive = torch.randint(1, 40, (3, 8)), torch.randint(1, 40, (3, 8))
        sequence[0, :3], positive[0, :2] = 0, 0
        return sequence, positive, torch.randint(1, 40, (3, 8))
