"""RMS norm and the projection behind it, as before every attention and MLP block: 4096 tokens, width 4096, bf16."""

import torch

TOKENS, WIDTH, OUT = 4096, 4096, 6144


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(1 + 0.1 * torch.randn(WIDTH, dtype=torch.bfloat16))
        self.proj = torch.nn.Linear(WIDTH, OUT, bias=False, dtype=torch.bfloat16)

    def forward(self, x):
        wide = x.float()
        normed = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)
        return self.proj((normed * self.scale.float()).to(torch.bfloat16))


def get_inputs():
    return [torch.randn(TOKENS, WIDTH, dtype=torch.bfloat16)]


def get_init_inputs():
    return []


def opponents(model):
    from triton_kernels import linear, rms_norm

    return {"Triton": lambda x: linear(rms_norm(x, model.scale, 1e-6), model.proj.weight)}
