"""Cases of tools/check_import.py for dtypes: casts, integers, narrow formats, bits. See import_cases.py."""

from __future__ import annotations

from typing import Any

import torch

R = torch.randn
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
Cases = dict[str, tuple[Any, tuple]]


def integers(*shape: int, most: int = 3000, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(-most, most, shape).to(dtype)


def filled(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(like)
    y[1:] = x[1:]
    return y


def cast_cases() -> Cases:
    i, small = integers(3, 7), integers(3, 7, most=9)
    large = torch.tensor([16777217, 16777219, -33554435, 5])
    narrow = R(3, 7).bfloat16()
    return {
        "int_to_bf16": (lambda i: i.to(torch.bfloat16).double() * 2, (i,)),
        "int_to_f16": (lambda i: i.to(torch.float16).double() * 2, (i.int(),)),
        "short_to_f16": (lambda i: i.half().double(), (i.short(),)),
        "byte_to_bf16": (lambda i: i.bfloat16().double(), (torch.arange(256).to(torch.uint8),)),
        "int_to_f32": (lambda i: i.float().double(), (large,)),
        "int32_to_f32": (lambda i: i.float().double() + 1, (large.int(),)),
        "int_to_e4m3": (lambda i: i.double().to(E4M3).double(), (torch.arange(-40, 40),)),
        "f64_to_f32": (lambda x: x.float().double(), (R(3, 5),)),
        "bool_to_bf16": (lambda x: (x > 0).bfloat16().double(), (R(3, 5),)),
        "range_to_bf16": (lambda x: x + torch.arange(300).bfloat16(), (R(300),)),
        "range_that_fits": (lambda x: x + torch.arange(200).bfloat16(), (R(200),)),
        "int_times_bf16": (lambda i, x: i * x.sign(), (i, narrow)),
        "int_plus_f16": (lambda i, x: (i + x * 0).double(), (i, narrow.half())),
        "cat_of_int_and_bf16": (lambda i, x: torch.cat([i, x], 1).double(), (i, narrow)),
        "stack_of_reals": (lambda i, x: torch.stack([i.bfloat16(), x]).double(), (i, narrow)),
        "where_of_int_and_bf16": (lambda i, x: torch.where(x > 0, i, x).double(), (i, narrow)),
        "copied_into_bf16": (lambda i, x: filled(i, x).double(), (i, narrow)),
        "copied_into_int": (lambda x, i: filled(x, i), (R(3, 7) * 5, i)),
        "copied_into_bool": (lambda x, i: filled(x, i > 0), (small, i)),
        "int_compared_with_f32": (lambda i, x: i == x, (large, large.float())),
        "f32_above_int": (lambda x, i: x >= i, (large.float(), large)),
        "bf16_compared_with_int": (lambda x, i: x == i, (i.bfloat16(), i)),
        "f64_number_beside_f32": (lambda x, c: x > c, (torch.tensor([0.1, 0.2]).float(), torch.tensor(0.1))),
        "int_number_beside_bf16": (lambda x, c: x == c, (torch.tensor([257.0, 258.0]).bfloat16(), torch.tensor(257))),
    }


def fp8_cases() -> Cases:
    beyond = torch.tensor([1000.0, 448.0, 464.0, 465.0, -1000.0, 300.0, 1.1, 0.001, float("inf"), float("nan")])
    return {
        "e4m3_beyond": (lambda x: x.to(E4M3).double(), (beyond,)),
        "e4m3_beyond_of_bf16": (lambda x: x.to(E4M3).double() * 2, (beyond.bfloat16(),)),
        "e4m3_of_a_product": (lambda x: (x * 3).to(E4M3).double(), (beyond,)),
        "e5m2_beyond": (lambda x: x.to(E5M2).double(), (beyond * 61,)),
        "e4m3_scaled": (lambda x: (x / x.abs().amax() * 448).to(E4M3).double(), (R(4, 5),)),
    }


def integer_cases() -> Cases:
    i, j = integers(3, 4, most=9), torch.randint(0, 5, (3, 4))
    x = R(4, 9) * 3
    mask = x > 0
    return {
        "two_to_the_int": (lambda i: 2**i, (torch.tensor([0, 1, 3, 10, -1]),)),
        "minus_one_to_the_int": (lambda i: (-1) ** i, (i,)),
        "zero_to_the_int": (lambda i: 0**i, (i,)),
        "int_to_the_int": (torch.pow, (i, j)),
        "int_to_a_negative_int": (torch.pow, (torch.tensor([0, 1, -1, 2, -2]), torch.tensor([-1, -2, -3, -1, 3]))),
        "int32_to_the_int32": (torch.pow, (i.int(), j.int())),
        "int_squared": (lambda i: i**2 + i**9, (i,)),
        "real_to_the_int": (torch.pow, (R(3, 4), j)),
        "sum_to_int": (lambda x: x.sum(1, dtype=torch.int32), (x,)),
        "sum_of_all_to_int": (lambda x: x.sum(dtype=torch.int64), (x,)),
        "sum_of_bf16_to_int": (lambda x: x.sum(0, keepdim=True, dtype=torch.int64), (x.bfloat16(),)),
        "sum_to_bool": (lambda x: torch.sum(x, -1, dtype=torch.bool), (x * 0,)),
        "sum_of_int_to_bf16": (lambda i: i.sum(1, dtype=torch.float32).double(), (integers(3, 4),)),
        "sum_of_int32": (lambda i: i.sum(-2), (i.int(),)),
        "sum_of_truths": (lambda m: m.sum((0, 1)), (mask,)),
        "prod_to_int": (lambda x: x.prod(1, dtype=torch.int64), (x.clamp(-3, 3),)),
        "prod_of_int32": (lambda i: i.prod(0, keepdim=True), (i.int(),)),
        "prod_of_truths": (lambda m: m.prod(1), (mask,)),
        "cumsum_to_int": (lambda x: x.cumsum(-1, dtype=torch.int64), (x,)),
        "cumsum_of_truths": (lambda m: m.cumsum(1), (mask,)),
        "cumsum_to_int32": (lambda m: m.cumsum(0, dtype=torch.int32), (mask,)),
        "cumprod_to_int": (lambda x: x.cumprod(1, dtype=torch.int64), (x.clamp(-2, 2),)),
        "cumprod_of_int": (lambda i: i.cumprod(1), (i,)),
        "mean_to_f32": (lambda i: i.mean(1, dtype=torch.float32).double(), (torch.arange(8).view(2, 4),)),
        "greatest_truth": (lambda m: (m.amax(1), m.amin(0), m.max(), m.min()), (mask,)),
        "truths_together": (lambda m, n: (torch.maximum(m, n), torch.minimum(m, n)), (mask, x > 1)),
        "truths_and_places": (lambda m: (*m.max(1), *m.min(0, keepdim=True)), (mask,)),
        "sign_of_truths": (torch.sign, (mask,)),
        "truths_scattered": (lambda m, i: m.scatter(1, i, m[:, :2]), (mask, torch.zeros(4, 2, dtype=torch.int64))),
        "truths_added": (lambda m, i: m.scatter_add(1, i, m[:, :2]), (mask, torch.zeros(4, 2, dtype=torch.int64))),
        "truths_added_by_rows": (lambda m: m.index_add(0, torch.tensor([0, 0, 1, 3]), m), (mask,)),
        "truths_written": (lambda m: m.index_put((torch.tensor([0, 2]),), m[:2]), (mask,)),
        "truths_reduced": (
            lambda m, i: m.scatter_reduce(1, i, m[:, :2], "amin"),
            (mask, torch.zeros(4, 2, dtype=torch.int64)),
        ),
        "filled_with_a_fraction": (lambda i: torch.full_like(i, 2.7) + torch.full((4,), -2.7, dtype=torch.int64), (i,)),
        "filled_where_masked": (lambda i, m: i.masked_fill(m, 2.7), (i, i > 0)),
        "truths_filled": (lambda m, n: m.masked_fill(n, 1), (mask, x > 1)),
        "truths_padded": (lambda m: torch.nn.functional.pad(m, (1, 2), value=True), (mask,)),
        "truths_padded_false": (lambda m: torch.nn.functional.pad(m, (1, 2)), (mask,)),
        "full_of_truths": (lambda m: m & torch.full((9,), 1, dtype=torch.bool), (mask,)),
        "int_index_filled": (lambda i: i.index_fill(1, torch.tensor([1, 3]), -1.9), (i,)),
    }


def bit_cases() -> Cases:
    i, j = integers(3, 4, most=1000), integers(3, 4, most=1000)
    places = torch.randint(0, 9, (3, 4))
    far = torch.tensor([[64, 40, -1, 3], [0, 1, 100, 5], [2, 50, 64, 8]])
    bits = torch.randint(0, 256, (3, 4)).to(torch.uint8)
    return {
        "shifts": (lambda x, n: (x << 3, x >> 2, x << n, x >> n), (i, places)),
        "shifts_beyond": (lambda x, n: x >> n, (i, far)),
        "shifts_to_nothing": (lambda x, n: (x << (n + 64), x << 70, x >> 70), (i, places)),
        "shifts_of_int32": (lambda x, n: (torch.bitwise_left_shift(x, n), x >> n), (i.int(), places.int())),
        "one_shifted": (lambda n: 1 << n, (places,)),
        "shift_by_a_number": (lambda x: (x << 40 >> 40, x >> 31), (i,)),
        "bits_of_tensors": (lambda a, b: (a & b, a | b, a ^ b), (i, j)),
        "bits_of_int32": (lambda a, b: (a & b, a | b, a ^ b), (i.int(), j.int())),
        "bits_of_bytes": (lambda a, b: (a & b, a | b, a ^ b, ~a), (bits, bits.flip(0))),
        "bits_of_numbers": (lambda a: (a & 255, a & 6, a & -4, a | 1, a ^ 5, a | -2, (a >> 4) & 15), (i,)),
        "bits_of_mixed": (lambda a, b: (a & b, a | b), (i, j.int())),
        "bits_of_truths": (lambda a, b: (a & b, a | b, a ^ b), (i > 0, j > 0)),
        "bits_and_truths": (lambda a, b: (a & (b > 0), a | (b > 0)), (i, j)),
        "unpacked_nibbles": (lambda x: torch.stack([x & 15, x >> 4], -1).flatten(1).double() - 8, (bits,)),
        "hashed_rows": (lambda x, w: w[((x * 31) ^ (x >> 3)) % 7], (i, R(7, 2))),
    }


def tie_cases() -> Cases:
    x, w = torch.rand(8, 65).bfloat16(), torch.rand(65).bfloat16()
    half = torch.rand(8, 65).half()
    return {
        "bf16_greatest": (lambda x, w: (x * w + x).argmax(-1), (x, w)),
        "bf16_equal": (lambda x, w: ((x * w + x) == (x * w + x).amax(-1, keepdim=True)).sum(-1), (x, w)),
        "bf16_above": (lambda x, w: (x * w + x > 1).sum(0), (x, w)),
        "bf16_ranked": (lambda x, w: (x * w + x - w).sort(dim=-1, descending=True, stable=True).indices, (x, w)),
        "bf16_sorted_rows": (lambda x, w: (x.T * 0.3 + x.T).argsort(dim=0, stable=True), (x, w)),
        "bf16_floor": (lambda x, w: ((x * 7 + w) * 3).floor(), (x, w)),
        "bf16_to_int": (lambda x, w: ((x * 7 + w) * 30).int(), (x, w)),
        "bf16_widened": (lambda x, w: ((x * w).float() > (w * x + 0).float()).sum(), (x, w)),
        "bf16_to_fp8": (lambda x, w: (x * w + x).to(E4M3).double(), (x, w)),
        "bf16_where": (lambda x, w: torch.where(x * w + x > 1, x, w).double(), (x, w)),
        "f16_greatest": (lambda x: (x * x + x).argmax(0), (half,)),
        "f16_equal": (lambda x: (x * 3 - x) == (x + x), (half,)),
    }


def number_cases() -> Cases:
    return cast_cases() | fp8_cases() | integer_cases() | bit_cases() | tie_cases()
