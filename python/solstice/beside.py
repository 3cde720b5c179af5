"""Modules beside a user's file, for the code in its folder alone.

`python FILE` puts the folder first on `sys.path`, where a file called `z3.py` answers PyTorch's imports as well. Here
only an import that stands in a file of the folder, or below it, finds what lies there.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType
from typing import Any, Optional

_MACHINERY = ("<frozen importlib", os.path.join("importlib", "__init__.py"))


class _Beside:
    """A finder of `sys.meta_path`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        if path is not None or not self._holds(_importer(sys._getframe(1))):
            return None  # a part of a package, or not asked by the user's code
        return PathFinder.find_spec(name, [self.folder], target)

    def _holds(self, file: str) -> bool:
        return os.path.realpath(file).startswith(self.folder + os.sep) and "site-packages" not in file


def _importer(frame: Optional[FrameType]) -> str:
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_MACHINERY[0]) and not file.endswith(_MACHINERY[1]):
            return file
        frame = frame.f_back
    return ""


def let_import(folder: str) -> None:
    """Code in `folder` may import what lies there, before what is installed under the same name."""
    if all(getattr(finder, "folder", None) != folder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Beside(folder))
