"""Solstice: a PyTorch module in, a verified and measured faster one out.

import solstice
fast = solstice.optimize(module, (x,), budget="60s,40trials")
print(fast.solstice)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import Error
from .version import __version__

if TYPE_CHECKING:
    from .optimizing import optimize
    from .result import Result, result_of

__all__ = ["Error", "Result", "__version__", "optimize", "result_of"]

# Imported on use, so that `import solstice` stays quick: `optimize` needs PyTorch.
_PLACES = {"Result": "result", "optimize": "optimizing", "result_of": "result"}

if not TYPE_CHECKING:  # a checker would take any name for one of these

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module `solstice` has no attribute `{name}`")
        if name == "optimize":
            from .require import require_torch

            require_torch("solstice.optimize")
        return getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(name for name in {*globals(), *__all__} if name in __all__ or name.startswith("__"))
