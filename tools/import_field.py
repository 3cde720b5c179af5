"""Cases of tools/check_import.py at the ends of types, on ties, with filled extents and overflow: where compilers are
known to go wrong. See import_cases.py."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
INF, NAN = float("inf"), float("nan")
Cases = dict[str, tuple[Any, tuple]]


def ends(dtype: torch.dtype) -> torch.Tensor:
    info = torch.iinfo(dtype)
    return torch.tensor([info.min, info.min + 1, -7 if info.min else 7, 0, 1, 100, info.max - 1, info.max], dtype=dtype)


def division_cases() -> Cases:
    def by_numbers(x: torch.Tensor) -> tuple:
        return x // 7, x % 7, x // -3, x % -3, torch.div(x, 7, rounding_mode="trunc"), torch.fmod(x, 5)

    def by_tensors(x: torch.Tensor, y: torch.Tensor) -> tuple:
        return x // y, x % y, torch.div(x, y, rounding_mode="trunc"), torch.fmod(x, y)

    divisors = torch.tensor([3, -3, 2, 7, -7, 11, 13, -13])
    large = torch.tensor([2**52 + 1, -(2**52) - 1, 10**15 + 7, -123456789012345, 2000000011])
    reals = torch.tensor([1.0, 6.0, -1.0, 0.3, -0.3, 5.5, 1e17, -1e-20])
    return {
        "divided_i32": (by_numbers, (ends(torch.int32),)),
        "divided_i16": (by_numbers, (ends(torch.int16),)),
        "divided_i8": (lambda x: (x // 7, x % 7, x // -3, x % -3), (ends(torch.int8),)),
        "divided_u8": (lambda x: (x // 7, x % 7, torch.fmod(x, 5)), (ends(torch.uint8),)),
        "divided_i64": (by_numbers, (large,)),
        "divided_large": (lambda x: (x // 1000000007, x % 1000000007, x // 2, x % 1000), (large,)),
        "divided_i32_by_i32": (by_tensors, (ends(torch.int32), divisors.int())),
        "divided_i64_by_i32": (by_tensors, (ends(torch.int32).long(), divisors.int())),
        "divided_i8_by_i8": (lambda x, y: (x // y, x % y), (ends(torch.int8), divisors.to(torch.int8))),
        "number_divided": (lambda y: (100 // y, 100 % y, -100 // y, -100 % y), (divisors,)),
        "truth_divided": (lambda m, y: (m // y, m % y), (divisors > 0, divisors)),
        "int_divided_by_real": (lambda x: (x // 0.3, x % 0.3), (divisors,)),
        "real_divided": (lambda x: (x // 0.1, x % 0.1, torch.fmod(x, 0.1), x // -0.2), (reals[:6],)),
        "real_divided_by_one": (lambda x: (x // 1, x % 1.0, x.fmod(1), x.frac()), (reals,)),
        "real_divided_by_infinity": (lambda x: (x % INF, x % -INF, x.fmod(INF)), (reals,)),
        "real_divided_by_nothing": (lambda x: (x // 0.0, x % 0.0, x / 0.0), (reals,)),
        "divided_f32": (
            lambda x: (x // 0.1, x.remainder(0.1), torch.div(x, 0.3, rounding_mode="trunc")),
            (reals[:6].float(),),
        ),
        "places_of_a_grid": (lambda i: (i // 5 % 3, i % 5, (i + 2) // 5 * 5 - i), (torch.arange(-8, 20),)),
        "hour_of_day": (lambda t: (t // 3600 % 24, (t // 86400 + 4) % 7), (torch.tensor([-1, 0, 86399, 1700000000]),)),
        "upward_division": (lambda i: (-(-i // 4), (i + 3) // 4), (torch.arange(-6, 9),)),
        "bf16_quotients": (
            lambda x, y: torch.floor(x / y).double(),
            (torch.rand(40).bfloat16() * 9, torch.rand(40).bfloat16() + 0.1),
        ),
    }


def cast_cases() -> Cases:
    wide = torch.tensor([-1, 256, 300, -129, 128, 70000, -70000, 2**31 + 5, -(2**31) - 1, 0])
    reals = torch.tensor([-1.0, -0.5, 255.9, 256.2, 300.7, -129.3, 1e6, -3.99, 0.0])
    return {
        "int_to_u8": (lambda x: x.to(torch.uint8), (wide,)),
        "int_to_i8": (lambda x: x.to(torch.int8), (wide,)),
        "rounded_up_to_u8": (lambda x: x.clamp(0, 255.99).half().to(torch.uint8), (torch.tensor([255.99, 3.5, -9.0]),)),
        "crossed_clamp_to_i8": (lambda x: x.clamp(200, 100).to(torch.int8), (torch.tensor([150.0, -3.0, 500.0]),)),
        "int_to_i16": (lambda x: x.to(torch.int16).long() * 2, (wide,)),
        "i32_to_u8": (lambda x: x.to(torch.uint8).long() + 1, (ends(torch.int32),)),
        "i8_to_u8": (lambda x: x.to(torch.uint8), (ends(torch.int8),)),
        "u8_to_i8": (lambda x: x.to(torch.int8), (ends(torch.uint8),)),
        "real_to_u8": (lambda x: x.to(torch.uint8), (reals,)),
        "f32_to_u8": (lambda x: (x * 1.5).to(torch.uint8).double(), (reals.float(),)),
        "pixels": (lambda x: (x * 255).round().clamp(0, 255).to(torch.uint8), (R(3, 5),)),
        "pixels_back": (lambda x: x.to(torch.float64) / 255 - 0.5, (ends(torch.uint8),)),
        "pixels_inverted": (lambda x: 255 - x, (ends(torch.uint8),)),
        "u8_stored": (lambda x: torch.zeros(9, dtype=torch.uint8).copy_(x), (reals,)),
        "u8_written": (
            lambda x, i: i.index_put((torch.tensor([0, 2]),), x[:2].to(torch.uint8)),
            (reals, ends(torch.uint8)),
        ),
        "real_to_int": (lambda x: (x.to(torch.int32), x.long(), x.to(torch.int16)), (reals[:6],)),
        "f16_overflow": (lambda x: x.half().double(), (torch.tensor([65504.0, 65519.0, 65520.0, -1e6, 6e-8, 2e-8]),)),
        "int_to_f16_overflow": (lambda x: x.half().double(), (torch.tensor([65504, 65519, 65520, -70000, 2049]),)),
        "bf16_halfway": (
            lambda x: x.bfloat16().double(),
            (torch.tensor([257.0, 258.0, 259.0, 1.00390625, -257.0, 3.4e38]),),
        ),
        "rounded_twice": (lambda x: (x.float().bfloat16().double(), x.bfloat16().double()), (1 + R(64) * 2**-8,)),
        "through_f16": (lambda x: x.half().float().double() * 3, (R(40),)),
        "u8_wraps": (
            lambda x, y: (x + y, x - y, x * y, -x, 3 - x),
            (ends(torch.uint8), ends(torch.uint8).flip(0) // 3),
        ),
        "i8_wraps": (
            lambda x, y: (x + y, x - y, x * 3, -x, x.abs()),
            (ends(torch.int8), ends(torch.int8).flip(0) // 3),
        ),
        "i16_wraps": (lambda x: (x + x, x * x, x - 30000), (ends(torch.int16),)),
        "u8_average": (lambda x, y: (x + y) // 2, (ends(torch.uint8), ends(torch.uint8).flip(0))),
        "truth_to_numbers": (
            lambda x: ((x > 0).to(torch.uint8) + 1, (x > 0).half().double(), (x > 0).int() * -1),
            (R(7),),
        ),
        "real_to_truth": (
            lambda x: (x.bool(), (~x.bool()).float().double()),
            (torch.tensor([0.0, -0.0, 1e-300, NAN, -INF]),),
        ),
        "nan_to_numbers": (lambda x: x.nan_to_num(1.5, 2.5, -2.5), (torch.tensor([NAN, INF, -INF, 0.0]),)),
        "nan_to_ends": (lambda x: x.float().nan_to_num().double(), (torch.tensor([NAN, INF, -INF, 0.0]),)),
    }


def narrow_tie_cases() -> Cases:
    x, w = torch.rand(6, 40).bfloat16(), torch.rand(40).bfloat16()
    h = torch.rand(6, 40).half()
    edges = torch.linspace(0, 2, 9).bfloat16()
    return {
        "bf16_least": (lambda x, w: (x * w - x).argmin(-1), (x, w)),
        "bf16_running": (lambda x, w: torch.cummax(x * w + w, 1).indices, (x, w)),
        "bf16_pooled": (lambda x, w: F.max_pool1d(x * w + x, 5, return_indices=True)[1], (x, w)),
        "bf16_bucket": (lambda x, w: torch.bucketize(x * w + x, edges), (x, w)),
        "bf16_search": (lambda x, w: torch.searchsorted(edges, x + w, right=True), (x, w)),
        "bf16_best": (lambda x, w: (x * w).topk(3).values > 0.9, (x, w)),
        "bf16_median": (lambda x, w: x * w + w > (x * w + w).median(1, keepdim=True).values, (x, w)),
        "bf16_clamped": (lambda x, w: ((x + w).clamp(0.5, 1) == 1).sum(), (x, w)),
        "bf16_counts": (lambda x, w: torch.histc((x + w).float(), 8, 0, 2).double(), (x, w)),
        "bf16_signs": (lambda x, w: torch.sign(x * w - w).double(), (x, w)),
        "bf16_rounded": (lambda x, w: torch.round(x * w * 16).double(), (x, w)),
        "bf16_place": (lambda x, w: (x * w * 8).long(), (x, w)),
        "bf16_sorted_f32": (lambda x, w: (x.float() * w.float()).bfloat16().argsort(stable=True), (x, w)),
        "f16_least": (lambda x: (x * x - x).argmin(0), (h,)),
        "f16_above_mean": (lambda x: x * 2 > x + x, (h,)),
        "f16_ranked": (lambda x: (x + 1).argsort(dim=0, stable=True, descending=True), (h,)),
        "f16_unequal": (lambda x: (x / 3 * 3 != x).sum(1), (h,)),
        "f16_truth": (lambda x: (x - x * 0.9999).bool(), (h,)),
        "f32_equal": (lambda x: x / 3 * 3 == x, (torch.arange(40.0).float(),)),
        "f32_floor": (lambda x: (x * 10).floor().long(), (torch.arange(0, 2, 0.1).float(),)),
    }


class Block(nn.Module):
    """Called on rows of several lengths, so that its body becomes one def."""

    def __init__(self, how: Any, width: int = 6) -> None:
        super().__init__()
        self.lin, self.how = nn.Linear(width, width), how
        self.register_buffer("table", R(9, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.how(self.lin(x) + 0.5, self.table) * 2)


class Several(nn.Module):
    def __init__(self, how: Any) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(how) for _ in range(4))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple:
        a, b, c, d = self.blocks
        return a(x).sum(1), b(y).sum(1), c(x).sum(1), d(y[:, :1]).sum(1)


def assigned(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    out = torch.zeros(x.shape[0], 7, x.shape[2], dtype=x.dtype)
    out[:, : x.shape[1]] = x
    return out


def fold_cases() -> Cases:
    ways = {
        "pad_before": lambda x, t: F.pad(x, (0, 0, 7 - x.shape[1], 0)),
        "pad_both": lambda x, t: F.pad(x, (0, 0, 1, 6 - x.shape[1])),
        "pad_to_multiple": lambda x, t: F.pad(x, (0, 0, 0, -x.shape[1] % 4)),
        "zeros_after": lambda x, t: torch.cat([x, x.new_zeros(x.shape[0], 7 - x.shape[1], x.shape[2])], 1),
        "assigned": assigned,
        "cut": lambda x, t: torch.cat([x, x, x], 1)[:, :3],
        "cut_end": lambda x, t: torch.cat([x, x, x], 1)[:, -2:],
        "resized": lambda x, t: F.interpolate(x.mT, size=5, mode="nearest").mT,
        "stretched": lambda x, t: F.interpolate(x.mT, size=6, mode="linear").mT,
        "pooled": lambda x, t: F.adaptive_avg_pool1d(x.mT, 3).mT,
        "positions": lambda x, t: x + t[: x.shape[1]],
        "last_positions": lambda x, t: x + t[-x.shape[1] :],
        "reversed_positions": lambda x, t: x + t[torch.arange(x.shape[1]).flip(0)],
        "causal": lambda x, t: torch.tril(torch.ones(x.shape[1], x.shape[1], dtype=x.dtype)) @ x,
        "rolled": lambda x, t: x.roll(1, 1) - x,
        "counted": lambda x, t: x * (1 + torch.arange(x.shape[1]))[:, None] / x.shape[1],
        "with_token": lambda x, t: torch.cat([t[:1].expand(x.shape[0], 1, -1), x], 1),
        "repeated": lambda x, t: x.repeat(1, 2, 1),
        "halves": lambda x, t: x[:, : (x.shape[1] + 1) // 2] * 3,
        "merged": lambda x, t: x.reshape(x.shape[0], -1, 3),
    }
    given = (R(2, 5, 6), R(2, 2, 6))
    return {f"fold_{name}": (Several(how), given) for name, how in ways.items()}


def bound_cases() -> Cases:
    x, mask, ids = R(4, 9), torch.rand(4, 9) > 0.4, torch.randint(0, 9, (4, 5))
    mask[:, 0] = True
    flags, bytes_ = mask.int(), mask.to(torch.uint8)
    table = R(6, 3)
    return {
        "last_of_mask": (lambda x, m: x.gather(1, m.sum(1, keepdim=True) - 1), (x, mask)),
        "last_of_flags": (lambda x, m: x.gather(1, (m == 1).sum(1, keepdim=True) - 1), (x, flags)),
        "last_of_sums": (lambda x, m: x.gather(1, m.sum(1, keepdim=True) - 1), (x, flags)),
        "last_of_bytes": (lambda x, m: x.gather(1, m.sum(1, keepdim=True) - 1), (x, bytes_)),
        "last_step": (lambda x, m: x.mT.gather(0, m.long().sum(1)[None] - 1).squeeze(0), (x, mask)),
        "tag_of_last": (lambda t, i, m: t[i.gather(1, m[:, :5].sum(1, keepdim=True) - 1)], (R(9), ids, mask)),
        "before_greatest": (lambda x: x.gather(1, (x.argmax(1, keepdim=True) - 1).clamp(min=0)), (x,)),
        "beside_greatest": (lambda x: x[torch.arange(4), (x.argmax(1) + 1) % 9], (x,)),
        "from_the_end": (lambda x, m: x.gather(1, 8 - m.flip(1).int().argmax(1, keepdim=True)), (x, mask)),
        "first_true": (lambda x, m: x.gather(1, m.int().argmax(1, keepdim=True)), (x, mask)),
        "middle": (lambda x, m: x[torch.arange(4), m.sum(1) // 2], (x, mask)),
        "running_place": (lambda t, m: t[(m.cumsum(1) - 1).clamp(0, 5)], (table, mask)),
        "masked_ids": (lambda t, i, m: t[(i * m[:, :5]) % 6], (table, ids, mask)),
        "bucket_before": (lambda t, x: t[torch.bucketize(x, t[:, 0].sort().values) - 1], (table, x)),
        "difference_of_ids": (lambda t, i: t[(i[:, None] - i[..., None]).clamp(-2, 3) + 2], (table, ids)),
        "equal_ids": (lambda x, i: x.gather(1, (i[:, :1] == i).sum(1, keepdim=True) - 1), (x, ids)),
        "flag_as_place": (lambda t, m: t[m.long()] + t[(~m).int() * 2], (table, mask)),
        "products_of_flags": (lambda t, m: t[m[:, 0] * m[:, 1] * 2 + m[:, 2]], (table, flags)),
        "narrow_places": (lambda t, i: t[i.to(torch.uint8).long() % 6], (table, ids)),
        "embedded_count": (lambda w, m: F.embedding(m.sum(1) // 2, w), (table, mask)),
    }


def integer_cases() -> Cases:
    small = torch.randint(-5, 6, (3, 4))
    bytes_ = torch.randint(0, 256, (3, 40)).to(torch.uint8)
    return {
        "sum_of_bytes": (lambda x: (x.sum(), x.sum(1), x.cumsum(1)), (bytes_,)),
        "sum_of_i8": (lambda x: (x.sum(0), x.prod(1), x.cumprod(0)), (small.to(torch.int8),)),
        "sum_of_i16": (lambda x: x.sum((0, 1), dtype=torch.int32), (small.to(torch.int16),)),
        "mean_of_bytes": (lambda x: (x.double().mean(1), x.mean(1, dtype=torch.float64)), (bytes_,)),
        "extremes_of_bytes": (lambda x: (x.amax(1), x.min(), x.argmax(1)), (bytes_,)),
        "squares_of_i32": (lambda x: (x**2, x.square(), x**3, x**0), (small.int(),)),
        "powers_of_two": (lambda i: (2**i, 2 ** i.int(), torch.pow(torch.tensor(2), i)), (small.abs(),)),
        "power_of_reals": (lambda i: (i**0.5, 2.0**i, i**-1.0), (small.abs() + 1,)),
        "dot_of_integers": (lambda a: (a @ a.T, (a * a).sum(1), torch.einsum("ij,kj->ik", a, a)), (small,)),
        "average_of_pairs": (lambda x: (x[:, 1:].int() + x[:, :-1].int()) // 2, (bytes_,)),
        "differences": (lambda x: (x.diff(dim=1), x.abs(), -x, x.sign()), (small,)),
        "clamped_integers": (lambda x: (x.clamp(-2, 3), x.clamp(min=0), torch.clamp(x, max=1)), (small,)),
        "integers_with_reals": (lambda x: (x + 0.5, x * 1.5, x / 2, 3 - x, x > 0.5), (small,)),
        "counts_of_truths": (
            lambda x: ((x > 0).sum(1), (x > 0).count_nonzero(), (x > 0).float().mean().double()),
            (small,),
        ),
        "lcm_of_strides": (lambda x: (x.bitwise_and(3), x << 2, x >> 1, ~x), (small,)),
    }


def spread_cases() -> Cases:
    x, same = R(4, 6), torch.full((3, 5), 0.1)
    return {
        "spread_of_one": (lambda x: (x.var(0), x.std(0), x.var(0, unbiased=False)), (R(1, 4),)),
        "spread_of_two_axes": (lambda x: x.std((1, 2), correction=12), (R(2, 3, 4),)),
        "spread_by_fraction": (lambda x: torch.var(x, 1, correction=0.5), (x,)),
        "spread_of_equal": (
            lambda x: (x.var(1), (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-6)),
            (same,),
        ),
        "scored": (lambda x: (x - x.mean(0)) / x.std(0, correction=0), (x,)),
        "layer_norm_of_one": (nn.LayerNorm(1), (R(3, 1),)),
        "group_norm_of_one": (nn.GroupNorm(2, 4), (R(3, 4),)),
        "batch_norm_of_large": (nn.BatchNorm1d(3), (R(6, 3) * 1e6 + 1e8,)),
        "spread_infinite": (lambda x: (x.var(1), x.mean(1)), (torch.tensor([[1.0, INF, 2.0], [1.0, 2.0, NAN]]),)),
        "corrected_covariance": (lambda x: torch.cov(x.T, correction=3), (R(4, 3),)),
    }


def resize_cases() -> Cases:
    def sized(mode: str, *size: int, **given: Any) -> Any:
        return lambda x: F.interpolate(x, size=size, mode=mode, **given)

    x = R(2, 3, 4, 5)
    return {
        "nearest_exact_volume": (
            lambda x: F.interpolate(x, scale_factor=2.0, mode="nearest-exact"),
            (R(1, 2, 3, 2, 4),),
        ),
        "nearest_third": (lambda x: F.interpolate(x, scale_factor=1 / 3, mode="nearest"), (R(1, 2, 9, 7),)),
        "bilinear_kept_height": (sized("bilinear", 4, 9), (x,)),
        "bilinear_corners": (sized("bilinear", 7, 5, align_corners=True), (x,)),
        "bilinear_to_one": (sized("bilinear", 1, 3, align_corners=True), (x,)),
        "bilinear_of_one": (sized("bilinear", 3, 4, align_corners=True), (R(1, 2, 1, 1),)),
        "bicubic_kept_width": (sized("bicubic", 7, 5), (x,)),
        "area": (sized("area", 3, 2), (x,)),
        "trilinear": (sized("trilinear", 3, 4, 5), (R(1, 2, 2, 4, 3),)),
    }


def fp8_cases() -> Cases:
    near = torch.tensor([447.0, 448.0, 456.0, 464.0, 472.0, 480.0, 1e4, -463.9, -464.0, -500.0])
    tiny = torch.tensor([2.0**-9, 2.0**-10, 1.5 * 2**-10, 2.0**-11, 3 * 2.0**-11, -(2.0**-9), 1e-30])
    halves = torch.tensor([1.0625, 1.1875, 17.0, 19.0, 21.0, -17.0, 0.0])
    far = torch.tensor([57344.0, 61439.0, 61440.0, 65536.0, -1e9, INF, -INF, NAN])
    return {
        "e4m3_limit": (lambda x: x.to(E4M3).double(), (near,)),
        "e4m3_limit_of_f16": (lambda x: x.to(E4M3).double(), (near.half(),)),
        "e4m3_tiny": (lambda x: x.to(E4M3).double(), (tiny,)),
        "e4m3_halfway": (lambda x: x.to(E4M3).double(), (halves,)),
        "e5m2_limit": (lambda x: x.to(E5M2).double(), (far,)),
        "e5m2_halfway": (lambda x: x.to(E5M2).double(), (halves * 1.125,)),
        "e5m2_tiny": (lambda x: x.to(E5M2).double(), (tiny * 2**-7,)),
        "e4m3_blocks": (
            lambda x: (x / (s := x.abs().amax(1, keepdim=True) / 448)).to(E4M3).double() * s,
            (R(3, 16),),
        ),
        "e4m3_stored_twice": (lambda x: x.to(E4M3).to(E5M2).double(), (halves,)),
        "e4m3_clamped": (lambda x: x.clamp(-448, 448).to(E4M3).double(), (near,)),
    }


def overflow_cases() -> Cases:
    big = torch.tensor([[1e200, 1e200, -1e200], [1e308, 10.0, 0.1], [0.0, INF, 1.0]])
    special = torch.tensor([0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, -2.0, 0.5])
    return {
        "product_overflows": (lambda x: (x.prod(1), x.cumprod(1), x * x), (big,)),
        "sum_overflows": (lambda x: ((x * 1e108).sum(1), x.mean(1)), (big,)),
        "norm_overflows": (lambda x: (x.norm(dim=1), x.norm(p=1, dim=1)), (big[:2],)),
        "powers": (lambda x: (x**2, x**0, x**-1, x**0.5, x**3, x**-2), (special,)),
        "powers_of_pairs": (lambda x: x[:, None] ** x, (special,)),
        "exponentials": (lambda x: (x.exp(), x.expm1(), x.sigmoid(), x.tanh(), x.erf()), (special * 800,)),
        "logarithms": (lambda x: (x.log(), x.log1p(), x.log2(), x.sqrt(), x.rsqrt()), (special,)),
        "activations": (lambda x: (F.softplus(x), F.silu(x), F.gelu(x), F.mish(x), F.elu(x)), (special[:5] * 1000,)),
        "softmax_of_large": (lambda x: (x.softmax(1), x.log_softmax(1), x.logsumexp(1)), (big[:2] * 1e-195,)),
        "softmax_of_nothing": (lambda x: x.masked_fill(x < 1e300, -INF).softmax(1), (big[:2],)),
        "quotients": (lambda x: x[:, None] / x, (special,)),
        "extremes": (lambda x: (x.max(), x.amin(), torch.maximum(x, x.flip(0)), x.clamp(-1, 1), x.relu()), (special,)),
        "places_of_nan": (lambda x: (x.argmax(), x.argmin(), *x[:, None].max(0)), (special,)),
        "comparisons": (lambda x: (x[:, None] < x, x[:, None] != x, x[:, None] >= x), (special,)),
        "logaddexp": (lambda x: (torch.logaddexp(x[:, None], x), torch.logaddexp2(x, x.flip(0))), (special,)),
        "means_of_nan": (lambda x: (x.nanmean(), x.nansum(), x.isnan().sum(), x.isfinite()), (special,)),
        "xlogy": (lambda x: (torch.xlogy(x[:, None].abs(), x.abs()), torch.special.entr(x)), (special,)),
        "distances": (lambda x: (torch.cdist(x, x * 2), F.cosine_similarity(x, x.flip(0))), (R(3, 4) * 1e150,)),
    }


def scatter_cases() -> Cases:
    base, x, i = R(5, 4), R(7, 4), torch.tensor([0, 2, 2, 4, 0, 2, 4])
    wide = i[:, None].expand(7, 4)
    broken = x.clone()
    broken[1, 0], broken[3, 2] = NAN, INF
    whole = torch.randint(-9, 10, (7, 4))
    scattered = torch.Tensor.scatter_reduce
    return {
        "scattered_nan": (
            lambda b, i, x: tuple(
                scattered(b, 0, i, x, how, include_self=s)
                for how in ("amax", "amin", "sum", "mean")
                for s in (True, False)
            ),
            (base, wide, broken),
        ),
        "scattered_integers": (
            lambda b, i, x: tuple(scattered(b, 0, i, x, how) for how in ("amax", "amin", "sum", "mean", "prod")),
            (whole[:5] // 3, wide, whole // 3),
        ),
        "scattered_alone": (
            lambda b, i, x: tuple(scattered(b, 0, i, x, how, include_self=False) for how in ("mean", "prod", "amin")),
            (whole[:5].clone(), wide, whole // 4),
        ),
        "scattered_counts": (lambda i, x: torch.zeros(5).scatter_add(0, i, torch.ones(7)) + x[:5, 0], (i, x)),
        "scattered_by_segments": (lambda i, x: F.one_hot(i, 5).T.to(x.dtype) @ x, (i, x)),
        "added_twice": (lambda b, i, x: b.index_add(0, i, x).index_add(0, i, x, alpha=-0.5), (base, i, x)),
        "put_twice": (lambda b, i, x: b.index_put((i,), x, accumulate=True), (base, i, x)),
        "put_places": (lambda b, i, x: b.index_put((i, i % 4), x[:, 0], accumulate=True), (base, i, x)),
        "last_wins": (lambda b, i, x: (b.scatter(0, i[:, None].expand(7, 4), x), b.index_copy(0, i, x)), (base, i, x)),
        "softmax_by_segments": (segments, (i, x[:, 0])),
        "scattered_truths": (lambda i: torch.zeros(5, dtype=torch.bool).index_fill(0, i[:3], True), (i,)),
        "reduced_narrow": (lambda b, i, x: scattered(b, 0, i, x, "amax").double(), (base.half(), wide, x.half())),
        "taken": (lambda x, i: (x.take(i * 3), x.take_along_dim(i[:5, None] % 4, 1)), (base, i)),
    }


def segments(i: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    top = torch.full((5,), -INF, dtype=x.dtype).scatter_reduce(0, i, x, "amax")
    e = (x - top[i]).exp()
    return e / torch.zeros(5, dtype=x.dtype).scatter_add(0, i, e)[i]


def field_cases() -> Cases:
    groups = (division_cases, cast_cases, narrow_tie_cases, fold_cases, bound_cases, integer_cases, spread_cases)
    groups += (resize_cases, fp8_cases, overflow_cases, scatter_cases)
    return {f"field_{name}": case for group in groups for name, case in group().items()}
