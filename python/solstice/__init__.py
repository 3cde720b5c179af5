"""Solstice: a PyTorch module in, a verified and measured faster one out.

import solstice
fast = solstice.optimize(module, (x,), budget="60s,40trials")
print(fast.solstice)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import Error

if TYPE_CHECKING:
    from .optimizing import optimize
    from .result import Result

__all__ = ["Error", "Result", "optimize"]


def __getattr__(name: str) -> Any:
    """Imported on use, so that `import solstice` stays quick: `optimize` needs PyTorch."""
    if name == "optimize":
        from .optimizing import optimize

        return optimize
    if name == "Result":
        from .result import Result

        return Result
    raise AttributeError(f"module `solstice` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
