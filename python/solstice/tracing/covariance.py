"""`torch.cov` and `torch.corrcoef` by operators that a trace can hold.

PyTorch's own look at a value, the divisor, to warn where it is not positive; a traced tensor has none. The same values:
the divisor is at least 0, weights of frequency and of reliability multiply.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.overrides import TorchFunctionMode


def _divisor(count: Any, weights: Optional[torch.Tensor], aweights: Optional[torch.Tensor], correction: int) -> Any:
    if weights is None:
        return max(count - correction, 0)
    lost = correction if aweights is None or correction == 0 else correction * (weights * aweights).sum() / count
    return (count - lost).clamp(min=0)


def cov(
    input: torch.Tensor,
    *,
    correction: int = 1,
    fweights: Optional[torch.Tensor] = None,
    aweights: Optional[torch.Tensor] = None,
) -> torch.Tensor:
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    count = rows.shape[1] if weights is None else weights.sum()
    average = (rows if weights is None else rows * weights).sum(1) / count
    apart = rows - average.unsqueeze(1)
    weighed = apart if weights is None else apart * weights
    return (torch.mm(apart, weighed.t().conj()) / _divisor(count, weights, aweights, correction)).squeeze()


def corrcoef(input: torch.Tensor) -> torch.Tensor:
    covariance = cov(input)
    if covariance.dim() == 0:
        return covariance / covariance
    spread = covariance.diagonal().sqrt()
    return (covariance / spread.unsqueeze(1) / spread.unsqueeze(0)).clamp(-1, 1)


_INSTEAD = {torch.cov: cov, torch.Tensor.cov: cov, torch.corrcoef: corrcoef, torch.Tensor.corrcoef: corrcoef}


class TraceableCovariance(TorchFunctionMode):
    """Within it both functions are those of this file."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _INSTEAD.get(func, func)(*args, **(kwargs or {}))
