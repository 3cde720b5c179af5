"""Keeps `nn.Transformer` from looking at the values of its masks while it is traced.

Its encoder and decoder compare a given mask with the causal one to choose a faster path of the same
result; a traced mask has no values. During the trace the mask is not recognised and applied as it is.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional

from torch.nn.modules import transformer


def _not_recognised(mask: Any, is_causal: Optional[bool] = None, size: Optional[int] = None) -> bool:
    return bool(is_causal)


@contextlib.contextmanager
def masks_as_given() -> Iterator[None]:
    original = transformer._detect_is_causal_mask
    transformer._detect_is_causal_mask = _not_recognised
    try:
        yield
    finally:
        transformer._detect_is_causal_mask = original
