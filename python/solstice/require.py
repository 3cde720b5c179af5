"""What this Python has to have. Imports no PyTorch."""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec

from .errors import environment_error


def require_torch(what: str) -> None:
    """Error `environment.no_torch`: `what` needs PyTorch, and there is none here."""
    if find_spec("torch") is None:
        raise environment_error(
            "environment.no_torch",
            f"{what} needs PyTorch 2.11 or newer, and Python {platform.python_version()} ({sys.executable}) has none; "
            "install it there (https://pytorch.org/get-started), or use a Python that has it",
        )
