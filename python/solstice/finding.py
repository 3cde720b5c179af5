"""Which module of a user's file is meant, and how it is made.

`FILE.py:NAME`: NAME is a class derived from nn.Module, an instance of one, or a function that returns one. Without a
name: `Model`; else the only class with `example_inputs` of its own; else the only instance; else the only class.
"""

from __future__ import annotations

import difflib
import inspect
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Optional

import torch

from .errors import OracleError, input_error, is_library_file

USUAL = "Model"
_MOST_LISTED = 8
_MAKERS = ("get_inputs", "get_init_inputs", "example_inputs", "init_inputs", "opponents")


@dataclass
class Found:
    """What a name of the file stands for."""

    name: str
    kind: str  # class, instance or function
    value: Any

    @property
    def class_(self) -> Optional[type]:
        """Of the module; a function's is known once it was called."""
        return {"class": lambda: self.value, "instance": lambda: type(self.value)}.get(self.kind, lambda: None)()


def kind_of(value: Any) -> Optional[str]:
    if isinstance(value, torch.nn.Module):
        return "instance"
    if isinstance(value, type):
        return "class" if issubclass(value, torch.nn.Module) else None
    return "function" if callable(value) else None


def find(namespace: ModuleType, file: Path, name: Optional[str]) -> Found:
    wanted = name or USUAL
    value = getattr(namespace, wanted, None)
    kind = kind_of(value)
    if kind is not None:
        return Found(wanted, kind, value)
    everything = Contents(namespace, file)
    found = everything.only() if name is None else None
    if found is not None:
        return found
    raise everything.refusal(file, name, value)


class Contents:
    """What a file defines of its own; what it imports can be named as well."""

    def __init__(self, namespace: ModuleType, file: Path) -> None:
        # As people name it: an installed package by its name.
        self._place = namespace.__name__ if is_library_file(str(file)) else str(file)
        own = {n: v for n, v in vars(namespace).items() if not n.startswith("_")}
        self.imported = [n for n, v in own.items() if kind_of(v) in ("class", "instance")]
        here = lambda v: getattr(v, "__module__", None) == namespace.__name__
        self.classes = {n: v for n, v in own.items() if kind_of(v) == "class" and here(v)}
        self.instances = {n: v for n, v in own.items() if kind_of(v) == "instance"}
        self.functions = {n: v for n, v in own.items() if inspect.isfunction(v) and here(v) and n not in _MAKERS}

    def only(self) -> Optional[Found]:
        complete = {n: v for n, v in self.classes.items() if hasattr(v, "example_inputs")}
        several = {id(v): n for n, v in self.instances.items()}  # one may have two names
        for kind, names in (
            ("class", list(complete)),
            ("instance", list(several.values())),
            ("class", list(self.classes)),
        ):
            if len(names) == 1:
                (name,) = names
                return Found(name, kind, {**self.classes, **self.instances}[name])
            if names:
                return None
        return None

    def refusal(self, file: Path, name: Optional[str], value: Any) -> OracleError:
        if isinstance(value, type) and not self._names():
            return _no_module_class(value, file)
        if isinstance(value, type):
            text = f"the class `{name or USUAL}` of `{file}` does not derive from nn.Module"
        elif value is not None:
            text = f"`{name or USUAL}` of `{file}` is a value of type `{type(value).__name__}`, not a module"
        elif name is not None:
            text = f"`{self._place}` defines no `{name}`"
        elif self.classes or self.instances:
            text = f"`{file}` defines no `{USUAL}`, and several other modules"
        else:
            text = f"`{file}` defines no module"
        near = self.near(name)
        listed = "" if near and near not in self._names() else f"; {self.text()}"
        return input_error("load.no_model", text + listed, file=str(file), hint=self.way_out(near))

    def text(self) -> str:
        """The names by kind."""
        kinds = (
            ("classes derived from nn.Module", self.classes),
            ("instances of them", self.instances),
            ("functions", self.functions),
        )
        parts = [f"{kind}: {_listed(names)}" for kind, names in kinds if names]
        return f"it has {'; '.join(parts)}" if parts else "it has no class derived from nn.Module and no function"

    def near(self, name: Optional[str]) -> str:
        """What may be meant by `name`; "" where nothing is alike."""
        known = {n.casefold(): n for n in (*self.imported, *self._names())}
        near = difflib.get_close_matches(name.casefold(), known, n=1) if name else []
        return known[near[0]] if near else ""

    def way_out(self, near: str) -> str:
        names = self._names()
        if near:
            return f"did you mean {near}? name it {self._place}:{near}"
        if not names:
            return "define `class Model(nn.Module)`, and `def get_inputs()` beside it"
        return f"name one: {self._place}:{names[0]}; a function is one that returns a module"

    def _names(self) -> list[str]:
        return [*self.classes, *self.instances, *self.functions]


def _no_module_class(value: type, file: Path) -> OracleError:
    return input_error(
        "load.no_model",
        f"the class `{value.__name__}` of `{file}` does not derive from nn.Module",
        file=str(file),
        hint=f"write `class {value.__name__}(nn.Module)`, with `super().__init__()` first in its `__init__`",
    )


def _listed(names: Any) -> str:
    shown = ", ".join(f"`{n}`" for n in list(names)[:_MOST_LISTED])
    return f"{shown} and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else shown


def as_module(value: Any, found: Found, file: Path, where: dict[str, Any]) -> torch.nn.Module:
    """What a function of the user's returned."""
    if isinstance(value, torch.nn.Module):
        return value
    raise input_error(
        "load.not_a_module",
        f"`{found.name}()` of `{file}` returns a value of type `{type(value).__name__}`, not a module",
        hint="NAME is a class derived from nn.Module, an instance of one, or a function that returns one",
        **where,
    )


def takes_arguments(function: Callable) -> bool:
    try:
        return bool(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # without a signature: of a C extension
        return True
