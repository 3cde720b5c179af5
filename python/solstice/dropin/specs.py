"""Tensors as recordings describe them."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
    "b1": torch.bool,
}


def dtype_of(name: str) -> torch.dtype:
    """By the records' short name; a dtype without one has PyTorch's."""
    return DTYPES[name] if name in DTYPES else getattr(torch, name.removeprefix("torch."))


@dataclass(frozen=True)
class TensorSpec:
    """A tensor that the kernels take: `slot` is its place among the plan's interface buffers."""

    slot: int
    dtype: torch.dtype
    shape: tuple
    stride: tuple
    alignment: int
    path: str = ""  # of a parameter or module buffer
    written: bool = False
    contiguous: bool = field(init=False)

    def __post_init__(self) -> None:
        sizes = torch.empty(self.shape, device="meta")
        object.__setattr__(self, "contiguous", sizes.stride() == self.stride)

    def has_layout(self, tensor: torch.Tensor) -> bool:
        """Strides of extents of 1 mean nothing, so contiguous is contiguous."""
        return tensor.is_contiguous() if self.contiguous else tensor.stride() == self.stride

    def text(self) -> str:
        return f"{str(self.dtype)[6:]}{list(self.shape)} stride {list(self.stride)}"
