"""PyTorch's switches for TF32."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import torch


@contextlib.contextmanager
def tf32_allowed() -> Iterator[None]:
    """`float32_matmul_precision("high")` and cuDNN's switch; afterwards every switch is as it was."""
    newer = [(switch, switch.fp32_precision) for switch in _newer_switches()]
    try:
        older = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    except RuntimeError:  # the newer ones were set, and the older ones say nothing then
        older = None
    try:
        if older is None:
            for switch, _ in newer:
                switch.fp32_precision = "tf32"
        else:
            torch.set_float32_matmul_precision("high")
            torch.backends.cudnn.allow_tf32 = True
        yield
    finally:
        if older is not None:
            torch.set_float32_matmul_precision(older[0])
            torch.backends.cudnn.allow_tf32 = older[1]
        for switch, value in newer:
            switch.fp32_precision = value


def _newer_switches() -> list[Any]:
    """Those of PyTorch 2.9 and later, the general ones first: they set those below them."""
    backends = torch.backends
    paths = (
        (backends.cuda, "matmul"),
        (backends.cudnn,),
        (backends.cudnn, "conv"),
        (backends.cudnn, "rnn"),
        (backends.mkldnn, "matmul"),
    )
    found = [getattr(path[0], path[1], None) if len(path) > 1 else path[0] for path in paths]
    return [switch for switch in found if hasattr(switch, "fp32_precision")]
