"""The user's own source beside a drop-in: the file of the module, and the modules of the user's that it had loaded when
it was traced. All of it is compared with the recorded hashes before any of it runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import warnings
from types import ModuleType
from typing import Any, Iterator, Optional

from .errors import DropinError

FOLDER = "original_modules"


def load_original(folder: str, record: dict[str, Any]) -> ModuleType:
    """The module of the user's file, as it was when the kernels were made for it."""
    source = record["source"]
    modules = source.get("modules", [])
    for entry in (source, *modules):
        _check(folder, entry)
    digests = "".join(entry["sha256"] for entry in (source, *modules))
    name = f"solstice_original_{hashlib.sha256(digests.encode()).hexdigest()[:12]}"
    package = source.get("package", "")  # which the file is part of: it may import relatively
    name = f"{package}.{name}" if package else name
    if name not in sys.modules:
        with _imports_from(folder, modules):
            if any(entry["module"] == source.get("module") for entry in modules):
                sys.modules[name] = importlib.import_module(source["module"])
            else:
                if package:
                    importlib.import_module(package)
                _execute(name, os.path.join(folder, source["file"]))
            for entry in modules:  # also those that `forward` imports: later the name may mean another file
                importlib.import_module(entry["module"])
    return sys.modules[name]


def _check(folder: str, entry: dict[str, Any]) -> None:
    path = os.path.join(folder, entry["file"])
    try:
        digest = _digest(path)
    except OSError as error:
        raise DropinError(f"{path} is missing: {error.strerror}") from None
    if digest != entry["sha256"]:
        raise DropinError(
            f"{path} is not the file that the kernels were made for (sha256 {digest[:12]}, "
            f"recorded {entry['sha256'][:12]}): run `solstice optimize` on it again"
        )


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _execute(name: str, path: str) -> None:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


class _Copies(importlib.abc.MetaPathFinder):
    """Finds the copied modules; what lies in their packages is found through these."""

    def __init__(self, folder: str, tops: set[str]) -> None:
        self._folder, self._tops = folder, tops

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[Any]:
        if name not in self._tops:
            return None
        return importlib.machinery.PathFinder.find_spec(name, [self._folder])


@contextlib.contextmanager
def _imports_from(folder: str, modules: list[dict[str, Any]]) -> Iterator[None]:
    """Within it `import` means the copies. A module of the same name and text that is loaded already is shared; one of
    another text stands aside, and comes back at the end."""
    tops = {_top(entry["module"]) for entry in modules}
    others = {_top(entry["module"]) for entry in modules if _is_another(entry)}
    aside = {name: module for name, module in sys.modules.items() if _top(name) in others}
    for name in aside:
        del sys.modules[name]
    finder = _Copies(os.path.join(folder, FOLDER), tops)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _top(name) in others]:
            del sys.modules[name]
        sys.modules.update(aside)
    if others:
        names = ", ".join(f"`{name}`" for name in sorted(others))
        warnings.warn(
            f"another module {names} is loaded here than the one that {folder} was made with; the original uses "
            "its own, "
            "but an import inside one of its functions will find the other",
            stacklevel=4,
        )


def _top(name: str) -> str:
    return name.partition(".")[0]


def _is_another(entry: dict[str, Any]) -> bool:
    loaded = sys.modules.get(entry["module"])
    if loaded is None:
        return _top(entry["module"]) != entry["module"] and _is_foreign(_top(entry["module"]), entry)
    file = getattr(loaded, "__file__", None)
    try:
        return not isinstance(file, str) or _digest(file) != entry["sha256"]
    except OSError:
        return True


def _is_foreign(top: str, entry: dict[str, Any]) -> bool:
    """A loaded package of this name in which the recorded module does not lie."""
    if top not in sys.modules:
        return False
    try:
        spec = importlib.util.find_spec(entry["module"])
    except (ImportError, ValueError, AttributeError):
        return True
    try:
        return spec is None or spec.origin is None or _digest(spec.origin) != entry["sha256"]
    except OSError:
        return True
