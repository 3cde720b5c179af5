"""The gradient of a mixture's weights: 8192 tokens sorted by expert, in ragged groups, 16 experts,
width 4096 to 4096, bf16."""

import torch

TOKENS, EXPERTS, WIDTH, OUT = 8192, 16, 4096, 4096


class Model(torch.nn.Module):
    def forward(self, dy, x, ends):
        return torch.nn.functional.grouped_mm(dy.t(), x, offs=ends)


def get_inputs():
    tokens = torch.bincount(torch.randint(EXPERTS, (TOKENS,)), minlength=EXPERTS)
    dy, x = torch.randn(TOKENS, OUT, dtype=torch.bfloat16), torch.randn(TOKENS, WIDTH, dtype=torch.bfloat16)
    return [dy, x, tokens.cumsum(0).to(torch.int32)]


def get_init_inputs():
    return []


def opponents(model):
    from grouped_triton import grouped_gradient

    return {"Triton": lambda dy, x, ends: grouped_gradient(dy, x, ends)}
