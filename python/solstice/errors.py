"""The one error type of the oracle: what went wrong, whose fault it is, where, and the way out.

Kinds: `input` (the user's file, module or request), `environment` (this machine lacks something),
`internal` (a defect of ours). Codes are stable; docs/protocol.md lists them.
"""

from __future__ import annotations

import os
import re
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
    """What `solstice.optimize` raises; its text is the message and the way out."""

    kind: str
    code: str
    message: str
    file: Optional[str]
    line: Optional[int]
    hint: Optional[str]
    column: Optional[int]
    width: Optional[int]


@dataclass
class OracleError(Error):
    kind: str
    code: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    hint: Optional[str] = None
    column: Optional[int] = None  # of the line, in bytes, from 1
    width: Optional[int] = None  # bytes from there
    reasons: Optional[list[str]] = None  # what a library says, for whoever asks why

    def __post_init__(self) -> None:
        assert self.kind in KINDS, self.kind
        super().__init__(f"{self.message}; {self.hint}" if self.hint else self.message)

    def to_json(self) -> dict[str, Any]:
        fields = {"kind": self.kind, "code": self.code, "message": self.message}
        optional = {name: getattr(self, name) for name in ("file", "line", "column", "width", "hint", "reasons")}
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
    """`{file, line, column, width}` of the innermost frame of the user's own code, or `{}` when there is none."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_library_file(f.filename)]
    if not frames:
        return {}
    frame, where = frames[-1], {"file": frames[-1].filename, "line": frames[-1].lineno}
    if getattr(frame, "colno", None) is None or frame.end_colno is None or frame.end_lineno != frame.lineno:
        return where
    return {**where, "column": frame.colno + 1, "width": frame.end_colno - frame.colno}


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


def is_of_the_user(error: BaseException) -> bool:
    """Whether the user's own code raised it: the innermost frame is no library's."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and not is_library_file(frames[-1].filename)


_SHORT = 140


def _shortened(text: str) -> str:
    """The first sentence, and what follows as long as all is short."""
    sentences = re.split(r"(?<=[a-z)\]])\.(?=\s|$)", text)
    out = sentences[0]
    for sentence in sentences[1:]:
        if not sentence.strip() or len(out) + len(sentence) > _SHORT:
            break
        out += f".{sentence}"
    return out


def said(error: BaseException, limit: int = 200) -> str:
    """What an exception says, shortly: with its class where it is the user's or Python's own and says little without
    it, else without."""
    text = _shortened(" ".join(str(error).split("\n")[0].split()))
    text = f"{text[: limit - 3]}..." if len(text) > limit else text
    own = is_of_the_user(error) or isinstance(error, (KeyError, StopIteration, AssertionError, RecursionError))
    if not text or (own and type(error) is not RuntimeError):
        return f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text


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
            f"it does not fit in memory: {said(error)}",
            **user_location(error),
            hint="use smaller sizes, or a device with more memory",
        )
    traceback.print_exception(error, file=sys.stderr)
    return internal_error("oracle.unexpected", first_line(error), **user_location(error))
