"""Solstice: a PyTorch module in, a verified and measured faster one out.

import solstice
fast = solstice.optimize(module, (x,), budget="60s,40trials")
print(fast.solstice)
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .errors import Error
from .version import __version__

if TYPE_CHECKING:
    from .optimizing import optimize
    from .result import Result

__all__ = ["Error", "Result", "__version__", "optimize"]


def __getattr__(name: str) -> Any:
    """Imported on use, so that `import solstice` stays quick: `optimize` needs PyTorch."""
    if name == "optimize":
        _require_torch()
        from .optimizing import optimize

        return optimize
    if name == "Result":
        from .result import Result

        return Result
    raise AttributeError(f"module `solstice` has no attribute `{name}`")


def _require_torch() -> None:
    if find_spec("torch") is None:
        from .errors import environment_error

        raise environment_error(
            "optimize.no_torch",
            f"solstice.optimize needs PyTorch 2.11 or newer, and {sys.executable} has none; install it there "
            "(https://pytorch.org/get-started)",
        )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
