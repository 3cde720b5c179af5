"""Text for what cannot be compared: one object is itself, and no other is taken for it, in whatever process."""

from __future__ import annotations

import hashlib
import itertools
import os
import weakref
from typing import Any, Iterator

from . import names

_PROCESS = os.urandom(16).hex()
_numbers: Iterator[int] = itertools.count()
_identities: dict[int, tuple[Any, str]] = {}  # by id; keeps what cannot be referred to weakly
_ALONE = " that cannot be compared with another ("


def is_in(text: str) -> bool:
    """Some of what it tells is told by identity."""
    return _ALONE in text


def text_of(value: Any) -> str:
    """The same for one object as long as the process runs, and of no other anywhere."""
    held, text = _identities.get(id(value), (None, ""))
    if (held() if isinstance(held, weakref.ref) else held) is not value:
        try:
            held = weakref.ref(value)
        except TypeError:
            held = value
        mark = hashlib.sha256(f"{_PROCESS} {os.getpid()} {next(_numbers)}".encode()).hexdigest()[:8]
        text = f"{names.of(type(value))}{_ALONE}{mark})"
        _identities[id(value)] = held, text
    return text
