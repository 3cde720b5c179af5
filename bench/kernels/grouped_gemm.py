"""A grouped product, one matrix of a mixture's experts for each run of tokens: 8192 tokens sorted by expert, in
ragged groups, 16 experts, width 4096 to 4096, bf16."""

import torch

TOKENS, EXPERTS, WIDTH, OUT = 8192, 16, 4096, 4096


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(EXPERTS, OUT, WIDTH, dtype=torch.bfloat16) / WIDTH**0.5)

    def forward(self, x, ends):
        return torch.nn.functional.grouped_mm(x, self.weight.transpose(1, 2), offs=ends)


def get_inputs():
    tokens = torch.bincount(torch.randint(EXPERTS, (TOKENS,)), minlength=EXPERTS)
    return [torch.randn(TOKENS, WIDTH, dtype=torch.bfloat16), tokens.cumsum(0).to(torch.int32)]


def get_init_inputs():
    return []


def opponents(model):
    from grouped_triton import grouped_mm

    return {"Triton": lambda x, ends: grouped_mm(x, model.weight, ends)}
