"""Cases of tools/check_import.py for attention and recurrent layers: see import_cases.py."""

from __future__ import annotations

import functools

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(12, 36)
        self.proj = nn.Linear(12, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(c, dim=2)
        q, k, v = (z.view(b, t, 3, 4).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).contiguous().view(b, t, c))


def gru(directions: bool) -> nn.Module:
    return nn.GRU(3, 4, 2, batch_first=True, bidirectional=directions)


def grouped_queries(keep: torch.Tensor) -> dict[str, tuple]:
    q, k, v = R(2, 6, 4, 5), R(2, 2, 5, 5), R(2, 2, 5, 7)
    attend = functools.partial(F.scaled_dot_product_attention, enable_gqa=True)
    return {
        "plain": (attend, [q, k, v]),
        "causal": (lambda a, b, c: attend(a, b, c, is_causal=True, scale=0.3), [q, k, v]),
        "bool_mask": (lambda a, b, c: attend(a, b, c, attn_mask=keep), [q, k, v]),
        "float_mask": (lambda a, b, c, m: attend(a, b, c, attn_mask=m, scale=2.0), [q, k, v, R(2, 1, 4, 5)]),
        "mask_a_head": (lambda a, b, c, m: attend(a, b, c, attn_mask=m), [q, k, v, R(6, 4, 5)]),
        "one_head": (attend, [q, R(2, 1, 5, 5), R(2, 1, 5, 7)]),
        "as_many_heads": (attend, [q, R(2, 6, 5, 5), R(2, 6, 5, 7)]),
    }


def sequence_cases() -> dict[str, tuple]:
    q, k, v = R(2, 3, 4, 6), R(2, 3, 5, 6), R(2, 3, 5, 7)
    keep = torch.rand(4, 5) > 0.4
    keep[2] = False
    attend = F.scaled_dot_product_attention
    return {
        "sdpa": (attend, [q, k, v]),
        "sdpa_causal": (lambda a, b, c: attend(a, b, c, is_causal=True), [q, k, v]),
        "sdpa_scale": (lambda a, b, c: attend(a, b, c, scale=0.3), [q, k, v]),
        "sdpa_bool_mask": (lambda a, b, c: attend(a, b, c, attn_mask=keep), [q, k, v]),
        "sdpa_float_mask": (lambda a, b, c, m: attend(a, b, c, attn_mask=m), [q, k, v, R(4, 5)]),
        "sdpa_mask_a_head": (lambda a, b, c, m: attend(a, b, c, attn_mask=m), [q, k, v, R(3, 1, 5)]),
        "sdpa_no_dropout": (lambda a, b, c: attend(a, b, c, None, 0.0, True, scale=0.5), [q, k, v]),
        **{f"gqa_{name}": case for name, case in grouped_queries(keep).items()},
        "attention": (Attention(), [R(2, 5, 12)]),
        "lstm": (nn.LSTM(3, 4, 2), [R(5, 2, 3), (R(2, 2, 4), R(2, 2, 4))]),
        "lstm_both": (nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), [R(2, 5, 3), (R(4, 2, 4), R(4, 2, 4))]),
        "lstm_zero_state": (nn.LSTM(3, 4), [R(5, 2, 3)]),
        "gru": (gru(False), [R(2, 5, 3), R(2, 2, 4)]),
        "gru_both": (gru(True), [R(2, 5, 3), R(4, 2, 4)]),
        "lstm_projected": (nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True), [R(5, 2, 3), (R(4, 2, 2), R(4, 2, 4))]),
        "lstm_one_step": (nn.LSTM(3, 4, 2), [R(1, 2, 3), (R(2, 2, 4), R(2, 2, 4))]),
        "gru_one_row": (nn.GRU(1, 4), [R(5, 1), R(1, 4)]),
        "sdpa_one_key": (attend, [R(2, 3, 4, 6), R(2, 3, 1, 6), R(2, 3, 1, 7)]),
        "rnn": (nn.RNN(3, 4), [R(5, 2, 3), R(1, 2, 4)]),
        "rnn_relu": (nn.RNN(3, 4, nonlinearity="relu", bias=False), [R(5, 2, 3), R(1, 2, 4)]),
    }
