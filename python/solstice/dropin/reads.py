"""Which attributes the forward of a module tree may read, from the code that it can reach.

Told from above: a name counts as read if it occurs anywhere in that code, as an attribute, a global or a string. Where
the code could make up names (`getattr`, `vars`) or cannot be looked at, every name counts. PyTorch's own modules are
taken at their word: they read what their code names, of themselves and of the modules below them.
"""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
import types
from typing import Any, Iterator

import torch

from . import contents, names

_PYTORCHS = ("torch", "functorch", "torchgen")
_LIBRARIES = (*_PYTORCHS, "numpy", "builtins")
_PYTHONS = os.path.dirname(os.__file__) + os.sep
_MAKING = ("__init__", "__new__", "__init_subclass__", "__setstate__", "__getstate__", "__repr__")
_MADE_UP = {"getattr", "hasattr", "setattr", "delattr", "vars", "dir", "eval", "exec", "compile", "locals", "globals"}
_MADE_UP |= {"__dict__", "__getattribute__", "__getattr__", "__import__", "attrgetter", "methodcaller", "getmembers"}
_MADE_UP |= {"getattr_static", "import_module"}
_REFLECTION = ("sys", "inspect", "gc", "importlib", "builtins", "ctypes")
_MOST = 50000  # things that are looked into
_NOT_CODE = ("_parameters", "_buffers", "_modules", "_solstice_runtime")
_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.Tensor, torch.dtype, torch.device)


class Reads:
    def __init__(self, module: torch.nn.Module) -> None:
        self.named: set[str] = set()  # in the user's code
        self.everything = False
        self._seen: dict[int, Any] = {}
        self._classes: list[type] = []  # the user's, of modules
        self._namespaces: list[dict[str, Any]] = []
        self._pending: list[types.FunctionType] = []
        self._pytorchs: set[str] = set()  # in PyTorch's modules of the tree
        self._of_training = {
            id(below) for m in module.modules() if "training" in _named_by(type(m)) for below in m.modules()
        }
        try:
            self._follow(module)
        except RecursionError:
            self.everything = True

    def _follow(self, module: torch.nn.Module) -> None:
        for child in module.modules():
            self._module(child)
        while self._pending and not self.everything:
            function = self._pending.pop()
            self._code(function.__code__, function.__globals__)

    def may_read(self, name: str) -> bool:
        """Some forward of the tree may read the attribute of this name, of whatever module."""
        return self.everything or name in self.named or name in self._pytorchs or hasattr(torch.nn.Module, name)

    def may_read_training(self, module: torch.nn.Module) -> bool:
        return self.everything or "training" in self.named or id(module) in self._of_training

    def _module(self, module: torch.nn.Module) -> None:
        self.everything |= isinstance(module, torch.jit.ScriptModule)
        self._seen[id(module)] = module
        self._pytorchs |= _named_by(type(module))
        for cls in _users_classes(type(module)):
            if cls not in self._classes:
                self._classes.append(cls)
                self._names({name for name in vars(cls) if name in self.named or _is_entry(name)}, {})
        for name, value in vars(module).items():
            if name not in contents.HIDDEN and name not in _NOT_CODE:
                self._value(value)

    def _code(self, code: types.CodeType, scope: dict[str, Any]) -> None:
        imported = [i.argval for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"]
        self.everything |= bool(_MADE_UP & set(code.co_names)) or any(name not in sys.modules for name in imported)
        for name in imported:
            self._value(sys.modules.get(name))
        self._names(set(code.co_names), scope)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, scope)
            else:
                self._names(set(_strings(constant)), {})

    def _names(self, found: set[str], scope: dict[str, Any]) -> None:
        """Each may be a method or property of a module, a global, or something in a module that is a global."""
        self.named |= found
        places = [vars(cls) for cls in self._classes] + [scope]
        places += self._namespaces
        for name in found:
            for place in places:
                if name in place:
                    self._value(place[name])

    def _value(self, value: Any) -> None:
        """What may be called or looked into."""
        if isinstance(value, _PLAIN) or id(value) in self._seen:
            return
        if len(self._seen) > _MOST:
            self.everything = True
            return
        if isinstance(value, torch.nn.Module):
            self._module(value)
            return
        self._seen[id(value)] = value
        if isinstance(value, types.ModuleType):
            self._namespace(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, type):
            for cls in _users_classes(value):
                for held in vars(cls).values():
                    self._value(held)
        else:
            self._object(value)

    def _namespace(self, module: types.ModuleType) -> None:
        self.everything |= module.__name__ in _REFLECTION
        if _is_library(module.__name__) and not _is_pytorchs(module.__name__):
            return
        self._namespaces.append(vars(module))
        self._names(set(self.named), vars(module))

    def _function(self, function: types.FunctionType) -> None:
        """A decorator of a library's holds the user's function."""
        if not _is_library(function.__globals__.get("__name__")):
            self._pending.append(function)
        elif "training" in function.__code__.co_names:  # of a module that it is given
            self.named.add("training")
        parts = contents.parts_of(function)
        for _, held in parts.items if parts else ():
            self._value(held)

    def _object(self, value: Any) -> None:
        self._value(_wrapped_by(value))
        if names.of_logger(value) or contents.if_importable(value):
            return
        self._value(type(value))
        parts = contents.parts_of(value)
        if parts is None:
            self.everything |= callable(value)
            return
        for _, held in parts.items:
            self._value(held)


def _wrapped_by(value: Any) -> Any:
    """The user's function, of a cache. Without `__getattr__`, which may raise what it likes."""
    held = inspect.getattr_static(value, "__wrapped__", None)
    if not isinstance(held, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return held
    try:
        return held.__get__(value)
    except (AttributeError, ValueError):
        return None


def _is_entry(name: str) -> bool:
    """Also the operators: `for part in self` names none."""
    return name == "forward" or name.startswith("__") and name.endswith("__") and name not in _MAKING


def _is_library(name: Any) -> bool:
    """PyTorch, NumPy and what comes with Python; a user's file may have the name of one of these."""
    top = name.partition(".")[0] if isinstance(name, str) else ""
    if top in _LIBRARIES or top not in getattr(sys, "stdlib_module_names", ()):
        return top in _LIBRARIES
    file = getattr(sys.modules.get(top), "__file__", None) or _PYTHONS  # built in
    return file.startswith(_PYTHONS) and "-packages" + os.sep not in file


def _is_pytorchs(name: str) -> bool:
    return name.partition(".")[0] in _PYTORCHS


def _users_classes(cls: type) -> Iterator[type]:
    cls = getattr(cls, "_solstice_original", cls)
    return (base for base in cls.__mro__ if not _is_library(base.__module__))


@functools.lru_cache(maxsize=None)
def _named_by(cls: type) -> frozenset[str]:
    """What the methods of PyTorch's own modules name."""
    bases = [b for b in cls.__mro__ if _is_pytorchs(b.__module__) and b is not torch.nn.Module]
    helds = [held for b in bases if issubclass(b, torch.nn.Module) for held in vars(b).values()]
    codes = [getattr(h.fget if isinstance(h, property) else h, "__code__", None) for h in helds]
    return frozenset(name for code in codes if code is not None for name in _named_in(code))


def _named_in(code: types.CodeType) -> Iterator[str]:
    for part in names.codes_in(code):
        yield from part.co_names
        for constant in part.co_consts:
            yield from _strings(constant)


def _strings(constant: Any) -> Iterator[str]:
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, (tuple, frozenset)):
        for item in constant:
            yield from _strings(item)
