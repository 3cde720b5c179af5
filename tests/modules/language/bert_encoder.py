"""Token, position and segment embeddings, one encoder layer under a padding mask, and a pooled class."""

import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, words=50, width=24, heads=3, longest=20, classes=4):
        super().__init__()
        self.word = nn.Embedding(words, width, padding_idx=0)
        self.position = nn.Embedding(longest, width)
        self.segment = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.drop = nn.Dropout(0.1)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out, self.norm1 = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down, self.norm2 = nn.Linear(width, 64), nn.Linear(64, width), nn.LayerNorm(width, eps=1e-12)
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, classes)
        self.heads = heads
        self.register_buffer("position_ids", torch.arange(longest).expand((1, -1)), persistent=False)

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).permute(0, 2, 1, 3)

    def layer(self, x, bias):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / (q.shape[-1] ** 0.5) + bias
        context = torch.matmul(self.drop(nn.functional.softmax(scores, dim=-1)), v)
        context = context.permute(0, 2, 1, 3).contiguous().flatten(2)
        x = self.norm1(x + self.drop(self.out(context)))
        return self.norm2(x + self.drop(self.down(nn.functional.gelu(self.up(x)))))

    def forward(self, input_ids, token_type_ids, attention_mask):
        length = input_ids.size(1)
        x = self.word(input_ids) + self.segment(token_type_ids) + self.position(self.position_ids[:, :length])
        bias = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(torch.float32).min
        x = self.layer(self.drop(self.norm(x)), bias)
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))

    @staticmethod
    def example_inputs():
        lengths = torch.tensor([9, 5, 7])
        mask = (torch.arange(9) < lengths[:, None]).long()
        return torch.randint(1, 50, (3, 9)), torch.randint(0, 2, (3, 9)), mask
