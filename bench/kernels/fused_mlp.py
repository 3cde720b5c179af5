"""A gated MLP (SwiGLU): 4096 tokens, width 4096, hidden width 11008, bf16."""

import torch

TOKENS, WIDTH, HIDDEN = 4096, 4096, 11008


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(WIDTH, HIDDEN, bias=False, dtype=torch.bfloat16)
        self.up = torch.nn.Linear(WIDTH, HIDDEN, bias=False, dtype=torch.bfloat16)
        self.down = torch.nn.Linear(HIDDEN, WIDTH, bias=False, dtype=torch.bfloat16)

    def forward(self, x):
        return self.down(torch.nn.functional.silu(self.gate(x)) * self.up(x))


def get_inputs():
    return [torch.randn(TOKENS, WIDTH, dtype=torch.bfloat16)]


def get_init_inputs():
    return []


def opponents(model):
    from triton_kernels import gated, linear

    return {"Triton": lambda x: linear(gated(x, model.gate.weight, model.up.weight), model.down.weight)}
