"""A user's file as Python would import it: alone, or as a part of its package.

A file belongs to a package where its folder has an `__init__.py`, or where it imports relatively: then the folders
above it are packages as far up as the imports reach.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Optional

from .beside import let_import
from .errors import input_error


@dataclass
class Place:
    """Where a file stands among modules."""

    name: str  # under which it is loaded
    package: str  # "" where it is none's
    root: Path  # folder that holds the outermost package, or the file


def place_of(file: Path, tree: ast.Module) -> Place:
    whole = file.resolve()
    folder, names = whole.parent, []
    levels = max((n.level for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)), default=0)
    # A file that is a package's `__init__` stands for the folder: one level more is inside it.
    is_package = whole.name == "__init__.py"
    while (folder / "__init__.py").is_file() or len(names) < levels:
        names.insert(0, folder.name)
        if folder.parent == folder:
            break
        folder = folder.parent
    package = ".".join(names)
    if not package or not _is_free(names[0], folder):
        _refuse_relative(file, levels, names)
        return Place(private_name(file), "", whole.parent)
    return Place(package if is_package else f"{package}.{whole.stem}", package, folder)


def private_name(file: Path) -> str:
    """Of a file that stands alone: the same stem in two folders are two modules."""
    digest = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:8]
    return f"solstice_user_{file.stem}_{digest}"


def _is_free(top: str, root: Path) -> bool:
    """Whether `top` can mean the package below `root`."""
    loaded = sys.modules.get(top)
    return loaded is None or str(root / top) in map(str, getattr(loaded, "__path__", ()))


def _refuse_relative(file: Path, levels: int, names: list[str]) -> None:
    if levels:
        raise input_error(
            "load.package_name",
            f"`{file}` imports relatively, but its package `{names[0] if names else ''}` has the name of another that "
            "is loaded already",
            file=str(file),
            hint="rename the folder, or import by absolute names",
        )


class _Only:
    """Finds one package in one folder."""

    def __init__(self, top: str, root: Path) -> None:
        self._top, self._root = top, str(root)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        return PathFinder.find_spec(name, [self._root]) if name == self._top else None


def import_parents(place: Place) -> None:
    """Imports the packages above the file, which may import the file itself."""
    let_import(str(place.root))
    if not place.package:
        return
    finder = _Only(place.package.split(".")[0], place.root)
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module(place.package)
    finally:
        sys.meta_path.remove(finder)


def execute(place: Place, file: Path, source: str) -> ModuleType:
    """Runs `source`, the very text that was read: bytecode of a file that is rewritten at once may be of the old."""
    import_parents(place)
    if place.package and place.name in sys.modules:  # its package has imported it
        return sys.modules[place.name]
    spec = importlib.util.spec_from_file_location(place.name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[place.name] = module  # dataclasses and pickle look the module up by name
    try:
        exec(compile(source, str(file), "exec", dont_inherit=True), vars(module))
    except BaseException:
        del sys.modules[place.name]
        raise
    if place.package:
        setattr(sys.modules[place.package], place.name.rpartition(".")[2], module)
    return module
