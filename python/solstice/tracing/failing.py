"""Refusals of modules that PyTorch itself does not run on their example inputs."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from ..errors import OracleError, function_location, input_error, is_of_the_user, said, user_location

_SHAPES = "check the shapes and dtypes of the example inputs"
_MEND = "mend it there, or give other example inputs: PyTorch alone fails in the same way"


def forward_failed(code: str, error: BaseException) -> OracleError:
    """PyTorch's operators complain about what they are given; anything else is the module's own."""
    of_operator = isinstance(error, (RuntimeError, IndexError, ValueError)) and not is_of_the_user(error)
    return input_error(
        code,
        f"`forward` fails on the example inputs: {said(error)}",
        hint=_SHAPES if of_operator else _MEND,
        **user_location(error),
    )


def refuse_wrong_call(module: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
    """Example inputs that are not the arguments of `forward`."""
    forward = type(module).forward
    try:
        signature = inspect.signature(forward)
    except (TypeError, ValueError):  # of a C extension
        return
    try:
        signature.bind(module, *args, **kwargs)
    except TypeError as error:
        taken = ", ".join(str(p).split(":")[0].split("=")[0] for p in list(signature.parameters.values())[1:])
        names = f" and {', '.join(f'`{name}`' for name in kwargs)} by name" if kwargs else ""
        raise input_error(
            "trace.forward_failed",
            f"`forward({taken})` cannot be called with the example inputs, {len(args)} by position{names}: {error}",
            hint="example inputs are the arguments of `forward`: a list, or a dict of those that go by name",
            **function_location(forward),
        ) from None
