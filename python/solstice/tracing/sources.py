"""Source lines of graph nodes.

The tracer keeps only frames of functions called `forward`; operations in helper functions would be
blamed on their caller. `all_frames` switches that off. The line reported is the innermost frame
outside the installed packages; the frames around it are its callers.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any, Iterator, Optional

from torch.fx.proxy import TracerBase

from ..errors import is_library_file

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)\n\s*([^\n]*)')
# The call of the user's module; frames around it belong to whoever asked for the trace.
_BOUNDARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "export.py")
_SWITCH = "_record_forward_stack_traces_only"


class _AlwaysFalse:
    """A data descriptor, so that the tracer's assignment on its instance has no effect."""

    def __get__(self, instance: Any, owner: Any = None) -> bool:
        return False

    def __set__(self, instance: Any, value: Any) -> None:
        pass


@contextlib.contextmanager
def all_frames() -> Iterator[None]:
    saved = getattr(TracerBase, _SWITCH, None)
    setattr(TracerBase, _SWITCH, _AlwaysFalse())
    try:
        yield
    finally:
        if saved is None:
            delattr(TracerBase, _SWITCH)
        else:
            setattr(TracerBase, _SWITCH, saved)


class SourceTable:
    """Numbers the files; `root` is the user's file, listed under the name that the user gave it."""

    def __init__(self, display_names: dict[str, str]) -> None:
        self._display = display_names
        self._index: dict[str, int] = {}

    @property
    def files(self) -> list[str]:
        return [self._display.get(f, f) for f in self._index]

    def location(self, stack_trace: Optional[str]) -> Optional[dict[str, Any]]:
        frames = _FRAME.findall(stack_trace or "")
        entries = [i for i, f in enumerate(frames) if f[0] == _BOUNDARY]
        frames = frames[entries[-1] + 1 :] if entries else frames
        users = [f for f in frames if not is_library_file(f[0])] or frames[-1:]
        if not users:
            return None
        file, line, function, text = users[-1]
        where = {"file": self._number(file), "line": int(line), "function": function, "text": text.strip()}
        if len(users) > 1:
            where["callers"] = [[self._number(f), int(n)] for f, n, _, _ in users[:-1]]
        return where

    def _number(self, file: str) -> int:
        return self._index.setdefault(file, len(self._index))
