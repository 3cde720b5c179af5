"""Tensors without storage: fake ones, that can be traced, and ones on the meta device, that have a size.

Entering a FakeTensorMode imports PyTorch's compiler, which takes seconds; asking for sizes must not.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from ..errors import OracleError
from .device_map import CudaToCpu


@contextlib.contextmanager
def sizes_only() -> Iterator[None]:
    """Within it tensors are made on the meta device, whatever GPU the code names. Code that reads values fails."""
    with torch.device("meta"), CudaToCpu("meta"):
        yield


def sized_inputs(make: Callable[[], Any]) -> tuple[tuple, dict]:
    """Example inputs for their sizes. A maker that reads values runs for real, on the host."""
    try:
        with sizes_only():
            return make()
    except OracleError:
        with CudaToCpu():
            return make()


def fake_inputs(make: Callable[[], Any], device: torch.device) -> tuple[tuple, dict]:
    """Example inputs on `device` without storage, so that their size does not matter.

    A maker that reads values (`.item()`, numpy) runs for real.
    """
    place = CudaToCpu() if device.type == "cpu" else device
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), place:
            return make()
    except OracleError:
        with place:
            return make()
