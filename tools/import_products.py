"""Cases of tools/check_import.py for products and convolutions: see import_cases.py."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn
ENDS = torch.tensor([4, 4, 9], dtype=torch.int32)  # of groups


def whole(*shape: int) -> torch.Tensor:
    return torch.randint(-3, 4, shape).to(torch.bfloat16)


class Gated(nn.Module):
    """Shared weights, an unused parameter, a state update and a chain of views."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(6, 8)
        self.spare = nn.Linear(3, 2)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps.add_(1)
        y = self.up(x).view(x.shape[0], 2, 4).transpose(1, 2)
        return y.reshape(x.shape[0], 8) * 0.1 + F.gelu(self.up(x))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, i: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(i))


def contraction_cases() -> dict[str, tuple]:
    return {
        "linear": (nn.Linear(6, 4), [R(5, 6)]),
        "linear_3d": (nn.Linear(6, 4, bias=False), [R(3, 5, 6)]),
        "linear_1d": (nn.Linear(6, 4), [R(6)]),
        "matmul_2d": (torch.matmul, [R(4, 5), R(5, 6)]),
        "matmul_transposed": (lambda a, b: a.T @ b.T, [R(5, 4), R(6, 5)]),
        "matmul_vector": (torch.matmul, [R(4, 5), R(5)]),
        "matmul_dot": (torch.matmul, [R(5), R(5)]),
        "matmul_4d": (torch.matmul, [R(2, 3, 4, 5), R(5, 6)]),
        "matmul_batched": (torch.matmul, [R(2, 1, 4, 5), R(3, 5, 6)]),
        "bmm": (torch.bmm, [R(3, 4, 5), R(3, 5, 6)]),
        "baddbmm": (lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5, alpha=2), [R(3, 1, 6), R(3, 4, 5), R(3, 5, 6)]),
        "addmm": (lambda c, a, b: torch.addmm(c, a, b), [R(6), R(4, 5), R(5, 6)]),
        "einsum": (lambda a, b: torch.einsum("bijl,lk->bijk", a, b), [R(2, 3, 4, 5), R(5, 6)]),
        "einsum_three": (
            lambda a, b, c: torch.einsum("bclhn,bhcl,bclhp->bchpn", a, b, c),
            [R(2, 3, 4, 2, 5), R(2, 2, 3, 4), R(2, 3, 4, 2, 6)],
        ),
        "einsum_implicit": (lambda a, b: torch.einsum("ij,jk", a, b), [R(4, 5), R(5, 6)]),
        "bilinear": (nn.Bilinear(3, 4, 5), [R(2, 3), R(2, 4)]),
        # In bf16, the one dtype that can be traced: small whole numbers, whose sums are exact.
        "grouped_mm": (
            lambda a, w, ends: F.grouped_mm(a, w.transpose(1, 2), offs=ends),
            [whole(9, 8), whole(3, 16, 8), ENDS],
        ),
        "grouped_mm_of_each": (lambda d, x, ends: F.grouped_mm(d.t(), x, offs=ends), [whole(9, 16), whole(9, 8), ENDS]),
        "gated": (Gated(), [R(5, 6)]),
        "tied": (Tied(), [torch.tensor([[1, 5], [0, 6]])]),
    }


def conv_cases() -> dict[str, tuple]:
    return {
        "conv1d": (nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2), [R(2, 4, 11)]),
        "conv2d_same": (nn.Conv2d(3, 5, 3, padding=1), [R(2, 3, 6, 7)]),
        "conv2d_even_same": (nn.Conv2d(3, 5, (2, 4), padding="same"), [R(2, 3, 6, 7)]),
        "conv2d_stride": (nn.Conv2d(3, 5, (5, 3), stride=(2, 1), padding=(2, 0)), [R(2, 3, 9, 7)]),
        "conv2d_groups": (nn.Conv2d(4, 6, 3, groups=2), [R(2, 4, 6, 7)]),
        "conv2d_depthwise": (nn.Conv2d(4, 4, 3, padding=1, groups=4), [R(2, 4, 6, 7)]),
        "conv2d_multiplier": (nn.Conv2d(4, 8, 3, groups=4, bias=False), [R(2, 4, 6, 7)]),
        "conv2d_unbatched": (nn.Conv2d(3, 5, 3), [R(3, 6, 7)]),
        "conv2d_one_row": (nn.Conv2d(3, 5, (3, 3), padding=(1, 0)), [R(2, 3, 1, 7)]),
        "conv2d_pointwise": (nn.Conv2d(3, 5, 1, bias=False), [R(2, 3, 6, 7)]),
        "conv2d_reflect": (nn.Conv2d(3, 5, 3, padding=2, padding_mode="reflect"), [R(2, 3, 6, 7)]),
        "conv2d_circular": (nn.Conv2d(3, 5, 3, padding=2, padding_mode="circular"), [R(2, 3, 6, 7)]),
        "conv2d_replicate": (nn.Conv2d(3, 5, 3, padding=2, padding_mode="replicate"), [R(2, 3, 6, 7)]),
        "conv2d_shuffled": (
            nn.Sequential(nn.Conv2d(4, 6, 1, groups=2), nn.ChannelShuffle(3), nn.Conv2d(6, 6, 3, padding=1, groups=3)),
            [R(2, 4, 5, 6)],
        ),
        "conv3d": (nn.Conv3d(2, 3, (2, 3, 3), padding=(1, 1, 0)), [R(2, 2, 4, 5, 6)]),
        "conv_t1d": (nn.ConvTranspose1d(3, 4, 3, stride=2, padding=1, dilation=2), [R(2, 3, 5)]),
        "conv_t2d": (nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), [R(2, 3, 4, 5)]),
        "conv_t2d_groups": (
            nn.ConvTranspose2d(4, 6, (3, 5), stride=(2, 3), padding=(1, 2), groups=2, dilation=(2, 1)),
            [R(2, 4, 4, 5)],
        ),
        "conv_t3d": (nn.ConvTranspose3d(2, 3, 3, stride=2, padding=1, bias=False), [R(1, 2, 3, 4, 3)]),
    }
