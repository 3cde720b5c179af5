"""The one error type of the oracle: what went wrong, whose fault it is, where, and the way out.

Kinds: `input` (the user's file, module or request), `environment` (this machine lacks something),
`internal` (a defect of ours). Codes are stable; docs/protocol.md lists them.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from dataclasses import dataclass
from typing import Any, Optional

KINDS = ("input", "environment", "internal")

_LIBRARY_DIRS = (
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    sysconfig.get_paths()["stdlib"] + os.sep,
    "<frozen",
    "<string>",
)


class Error(RuntimeError):
    """What `solstice.optimize` raises; its text is the message."""

    kind: str
    code: str
    message: str
    file: Optional[str]
    line: Optional[int]
    hint: Optional[str]


@dataclass
class OracleError(Error):
    kind: str
    code: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    hint: Optional[str] = None

    def __post_init__(self) -> None:
        assert self.kind in KINDS, self.kind
        super().__init__(self.message)

    def to_json(self) -> dict[str, Any]:
        fields = {"kind": self.kind, "code": self.code, "message": self.message}
        optional = {"file": self.file, "line": self.line, "hint": self.hint}
        return {**fields, **{k: v for k, v in optional.items() if v is not None}}


def input_error(code: str, message: str, **where: Any) -> OracleError:
    return OracleError("input", code, message, **where)


def environment_error(code: str, message: str, **where: Any) -> OracleError:
    return OracleError("environment", code, message, **where)


def internal_error(code: str, message: str, **where: Any) -> OracleError:
    return OracleError("internal", code, message, **where)


def is_library_file(path: str) -> bool:
    """True for frames that say nothing to the user: installed packages, the interpreter, this package."""
    return "/site-packages/" in path or "/dist-packages/" in path or path.startswith(_LIBRARY_DIRS)


def user_location(error: BaseException) -> dict[str, Any]:
    """`{file, line}` of the innermost frame of the user's own code, or `{}` when there is none."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_library_file(f.filename)]
    return {"file": frames[-1].filename, "line": frames[-1].lineno} if frames else {}


def function_location(function: Any) -> dict[str, Any]:
    """`{file, line}` of a function of the user's own code, or `{}`."""
    code = getattr(function, "__code__", None)
    if code is None or is_library_file(code.co_filename):
        return {}
    return {"file": code.co_filename, "line": code.co_firstlineno}


def first_line(error: BaseException, limit: int = 400) -> str:
    """`Type: message`, one line, short enough for a report."""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}"[:limit] if text else type(error).__name__


def is_out_of_memory(error: BaseException) -> bool:
    import torch

    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    text = str(error)
    return "can't allocate memory" in text or "out of memory" in text


def as_oracle_error(error: Exception) -> OracleError:
    """What the other side is told. A defect of ours leaves its traceback on stderr: one line does not explain it."""
    if isinstance(error, OracleError):
        return error
    if is_out_of_memory(error):
        return environment_error(
            "oracle.out_of_memory",
            first_line(error),
            **user_location(error),
            hint="use smaller sizes, or a device with more memory",
        )
    traceback.print_exception(error, file=sys.stderr)
    return internal_error("oracle.unexpected", first_line(error), **user_location(error))
