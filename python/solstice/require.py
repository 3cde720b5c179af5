"""What this Python has to have. Imports no PyTorch before it is asked for."""

from __future__ import annotations

import platform
import sys

from .errors import OracleError, environment_error, said


def require_torch(what: str) -> None:
    """Imports PyTorch. Error `environment.no_torch`: `what` needs it, and there is none here, or a broken one."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise _broken_torch(what, error) from error
        raise environment_error(
            "environment.no_torch",
            f"{what} needs PyTorch 2.11 or newer, and {sys.executable} (Python {platform.python_version()}) has no "
            "PyTorch",
            hint=f"install it there ({sys.executable} -m pip install torch), or set SOLSTICE_PYTHON to a Python that "
            "has it",
        ) from None
    except (ImportError, OSError) as error:
        raise _broken_torch(what, error) from error


def _broken_torch(what: str, error: BaseException) -> OracleError:
    return environment_error(
        "environment.no_torch",
        f"{what} needs PyTorch, and that of {sys.executable} cannot be imported",
        hint="install it anew there, or set SOLSTICE_PYTHON to another Python that has it",
        reasons=[f"PyTorch: {said(error)}"],
    )
