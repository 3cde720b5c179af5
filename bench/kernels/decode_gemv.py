"""A projection while decoding: 4 sequences, one token each, a weight of 8192 x 8192 that is streamed once, bf16."""

import torch

ROWS, WIDTH, OUT = 4, 8192, 8192


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(WIDTH, OUT, bias=False, dtype=torch.bfloat16)

    def forward(self, x):
        return self.proj(x)


def get_inputs():
    return [torch.randn(ROWS, WIDTH, dtype=torch.bfloat16)]


def get_init_inputs():
    return []


def opponents(model):
    from triton_kernels import few_rows

    return {"Triton": lambda x: few_rows(x, model.proj.weight)}
