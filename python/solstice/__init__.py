"""Solstice: a PyTorch module in, a verified and measured faster one out.

import solstice
faster = solstice.optimize(module, (x,), budget="60s,40trials", out="runs/mine")
"""

from __future__ import annotations

from typing import Any

__all__ = ["optimize"]


def optimize(module: Any, example_inputs: Any, **options: Any) -> Any:
    """See `solstice.optimizing.optimize`; imported on use, so that `import solstice` stays quick."""
    from .optimizing import optimize as run

    return run(module, example_inputs, **options)
