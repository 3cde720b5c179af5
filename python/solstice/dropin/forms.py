"""Structures with classes that a written tree has no name for: named tuples, dataclasses, dicts of a class of their
own.

They are traced, compared and launched as plain tuples, lists and dicts; `form_of` says which class each of them was,
and `rebuilt` makes it again. A form is JSON: None where all is plain, else `kind`, the `class`, the `keys` of its parts
and the forms of the `parts` that have one, by position.
"""

from __future__ import annotations

import collections
import dataclasses
import importlib
import json
import sys
from typing import Any, NamedTuple, Optional

import torch

from . import names

Form = Optional[dict[str, Any]]
Classes = dict[tuple[str, str], type]  # by module and name
_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict)
_LISTS = (list, tuple)
_PLAIN = "plain"


class _Opened(NamedTuple):
    kind: str
    keys: list[Any]
    parts: list[Any]


def plain(value: Any) -> Any:
    """The same leaves in the same order, in PyTorch's own structures."""
    opened = _opened(value)
    if opened is None:
        return value
    parts = [plain(part) for part in opened.parts]
    if opened.kind != _PLAIN:
        return tuple(parts)
    if all(made is given for made, given in zip(parts, opened.parts)):
        return value
    return _refilled(value, opened.keys, parts)


def form_of(value: Any) -> Form:
    opened = _opened(value)
    if opened is None:
        return None
    inner = {str(i): form for i, part in enumerate(opened.parts) if (form := form_of(part)) is not None}
    if opened.kind == _PLAIN:
        return {"kind": _PLAIN, "parts": inner} if inner else None
    return {"kind": opened.kind, "class": _name_of(type(value)), "keys": opened.keys, "parts": inner}


def rebuilt(value: Any, form: Form, classes: Classes) -> Any:
    """What `value` is the plain form of."""
    if form is None:
        return value
    given, inner = list(value.values() if isinstance(value, dict) else value), form["parts"]
    parts = [rebuilt(part, inner.get(str(i)), classes) for i, part in enumerate(given)]
    if form["kind"] == _PLAIN:
        return _refilled(value, list(value), parts)
    return _made(form["kind"], classes[tuple(form["class"])], form["keys"], parts)


def not_rebuilt(module: torch.nn.Module, value: Any) -> Optional[str]:
    """Why a result of the module cannot be made again of its parts; None where it can."""
    form = form_of(value)
    classes = found(form, module)
    if isinstance(classes, str):
        return classes
    try:
        written = json.loads(json.dumps(form))
        again = rebuilt(plain(value), written, classes)
        same = form_of(again) == written and all(a is b for a, b in zip(_flat(again), _flat(value)))
    except Exception as error:  # of the user's constructor, or of keys that are no text
        return f"{type(error).__name__}: {error}"
    return None if same else "made again, it is another"


def found(form: Form, module: torch.nn.Module) -> Classes | str:
    """The classes of a form; or why one is not there. Those of the user's own file are looked for where the classes of
    the module are defined."""
    own = {n: sys.modules[n] for m in module.modules() for c in type(m).__mro__ if (n := c.__module__) in sys.modules}
    classes: Classes = {}
    for key in _named(form):
        try:
            classes[key] = _class(*key, own)
        except (ImportError, AttributeError) as error:
            return f"the class `{key[1]}` of the result is not found: {error}"
    return classes


def _opened(value: Any) -> Optional[_Opened]:
    cls = type(value)
    if cls in _LISTS:
        return _Opened(_PLAIN, list(range(len(value))), list(value))
    if cls in _MAPPINGS:
        return _Opened(_PLAIN, list(value), list(value.values()))
    if isinstance(value, tuple) and (hasattr(cls, "_fields") or cls.__module__ == torch.return_types.__name__):
        return _Opened("tuple", [], list(value))
    if isinstance(value, dict):
        return _Opened("mapping", list(value), list(value.values()))
    if dataclasses.is_dataclass(cls):  # what is None is no part, as where PyTorch knows the class
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(cls)}
        given = {name: part for name, part in fields.items() if part is not None}
        return _Opened("dataclass", list(given), list(given.values()))
    return None


def _refilled(value: Any, keys: list[Any], parts: list[Any]) -> Any:
    if isinstance(value, collections.defaultdict):
        return collections.defaultdict(value.default_factory, zip(keys, parts))
    return type(value)(zip(keys, parts) if isinstance(value, dict) else parts)


def _made(kind: str, cls: Any, keys: list[Any], parts: list[Any]) -> Any:
    if kind == "tuple":
        return cls._make(parts) if hasattr(cls, "_make") else cls(parts)
    if kind == "mapping":
        return cls(**dict(zip(keys, parts))) if dataclasses.is_dataclass(cls) else cls(zip(keys, parts))
    fields = {field.name: None for field in dataclasses.fields(cls)} | dict(zip(keys, parts))
    taken = {field.name for field in dataclasses.fields(cls) if field.init}
    made = cls(**{name: part for name, part in fields.items() if name in taken})
    for name in fields.keys() - taken:
        object.__setattr__(made, name, fields[name])
    return made


def _name_of(cls: type) -> list[str]:
    """Module and name; the user's own file is loaded under different names in different processes."""
    return ["" if cls.__module__.startswith(names.USERS) else cls.__module__, cls.__qualname__]


def _named(form: Form) -> list[tuple[str, str]]:
    if form is None:
        return []
    inner = [key for part in form["parts"].values() for key in _named(part)]
    return [tuple(form["class"]), *inner] if "class" in form else inner


def _class(module: str, name: str, users: dict[str, Any]) -> Any:
    """`users`: modules among which the user's own file is."""
    spaces = [importlib.import_module(module)] if module else [m for n, m in users.items() if n.startswith(names.USERS)]
    for space in spaces:
        value: Any = space
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not None:
            return value
    raise AttributeError("no file has it at its top level")


def _flat(value: Any) -> list[Any]:
    opened = _opened(value)
    return [value] if opened is None else [leaf for part in opened.parts for leaf in _flat(part)]
