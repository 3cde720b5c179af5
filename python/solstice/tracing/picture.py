"""What a module and the user's code around it hold, place by place, to be compared before and after a call.

Tensors are told by identity, version and storage, plain values by their text, everything else by what it holds, however
deep: attributes (`__slots__` too), bodies of classes, closures, defaults and attributes of functions, iterators and
generators, NumPy's arrays and generators, and the globals that the code names. Parameters are told by identity, buffers
by whether they are there: the exporter makes writes to them explicit.
"""

from __future__ import annotations

import enum
import functools
import threading
import types
import weakref
from collections import deque
from typing import Any, Iterator, NamedTuple

import torch
from torch._library.custom_ops import CustomOpDef

from ..dropin import contents, names
from ..errors import is_library_file
from .marks import SCALARS, has_state, is_users_class, is_users_module, key_text, mark_of, text_of

Child = tuple[str, Any, str]  # the name of a place, what it holds, and the word by which code names it

_MANAGED = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")
_FOLLOWING = (
    "_flat_weights",
    "_flat_weight_refs",
)  # lists of parameters that a recurrent layer makes anew in its forward
_MOST_PLACES = 20_000  # beside the modules' own attributes
_MOST_ITEMS = 5_000  # of a container
# PyTorch's own, custom ones among them: what they hold (caches of their dispatch) is not the user's.
_OPERATORS = (CustomOpDef, torch._ops.OperatorBase, torch._ops.OpOverloadPacket)
# Threads, which run on their own (a progress bar's), and what they wait for: no state that `forward` changes.
_APART = (threading.Thread, threading.Condition, threading.Event, threading.Semaphore, threading.Barrier)
_ABSENT = "absent"
_OURS = f"{__name__.partition('.')[0]}."  # hooks of the trace itself


class Place(NamedTuple):
    mark: Any  # equal as long as nothing has changed
    text: str  # of the value, for people
    word: str


class Picture:
    def __init__(self, module: torch.nn.Module) -> None:
        self.places: dict[str, Place] = {}
        self.codes: list[types.CodeType] = []  # the user's, as far as they were reached
        self.caches: list[Any] = []  # functions under functools.cache
        self.unmanaged: dict[str, torch.Tensor] = {}  # that the module does not register
        self._seen: dict[int, Any] = {}  # keeps what it holds, so that an id stays one thing's
        self._kept: list[Any] = []
        self._pending: deque[Child] = deque()
        self._spaces: dict[int, dict[str, Any]] = {}  # of the user's modules
        self._words: set[str] = set()  # that the codes name
        self._managed = {id(t) for m in module.modules() for t in (*m._parameters.values(), *m._buffers.values())}
        self._seen.update((id(child), child) for child in module.modules())
        for path, child in module.named_modules():
            self._module(f"{path}." if path else "", child)
        self._most = len(self.places) + _MOST_PLACES
        self._follow()

    def _follow(self) -> None:
        """Names are looked up in modules that may be found after the code that names them."""
        while self._pending and len(self.places) < self._most:
            while self._pending and len(self.places) < self._most:
                name, value, word = self._pending.popleft()
                for child in self._children(name, value, word):
                    self._add(*child)
            for space in list(self._spaces.values()):
                self._globals(space, self._words)

    def _module(self, prefix: str, module: torch.nn.Module) -> None:
        self._seen[id(module)] = module
        for name, parameter in module._parameters.items():
            self.places[prefix + name] = Place(id(parameter), "parameter" if parameter is not None else "None", name)
            self._kept.append(parameter)
            self._tensor(prefix + name, parameter)
        for name, buffer in module._buffers.items():
            self.places[prefix + name] = Place(buffer is None, "None" if buffer is None else "buffer", name)
            self._tensor(prefix + name, buffer)
        derived = {*_MANAGED, *_FOLLOWING, *_made_by_hooks(module)}
        for name, value in vars(module).items():
            if name.endswith("_hooks") and isinstance(value, dict):
                for hook in value.values():
                    self._queue(f"{prefix}{name}", hook, name)
            elif name not in derived and "_hooks_" not in name:
                self._add(prefix + name, value, name)
        self._queue(type(module).__name__, type(module), "")

    def _add(self, name: str, value: Any, word: str) -> None:
        if name not in self.places:
            self._kept.append(value)
            self.places[name] = Place(self._mark(value), text_of(value), word)
            self._tensor(name, value)
        self._queue(name, value, word)

    def _tensor(self, name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor) and id(value) not in self._managed:
            self.unmanaged[name] = value

    def _queue(self, name: str, value: Any, word: str) -> None:
        if isinstance(value, (*SCALARS, torch.Tensor, *_OPERATORS)) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        self._pending.append((name, value, word))

    def _mark(self, value: Any) -> Any:
        if isinstance(value, (set, frozenset)):
            self._kept.append(tuple(value))
        return "managed" if id(value) in self._managed else mark_of(value)

    def _children(self, name: str, value: Any, word: str) -> Iterator[Child]:
        if isinstance(value, torch.nn.Module):
            for path, child in value.named_modules(prefix=name):
                self._module(f"{path}.", child)
        elif isinstance(value, dict):
            yield from ((f"{name}[{key_text(k)}]", v, word) for k, v in list(value.items())[:_MOST_ITEMS])
        elif isinstance(value, (list, tuple, deque)):
            yield from ((f"{name}[{i}]", v, word) for i, v in enumerate(list(value)[:_MOST_ITEMS]))
        elif isinstance(value, type):
            yield from self._body(value)
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.ModuleType):
            if is_users_module(value):
                self._spaces[id(value)] = vars(value)
        elif isinstance(value, types.GeneratorType) and value.gi_frame:
            yield from ((f"{name}'s {n}", v, n) for n, v in value.gi_frame.f_locals.items())
        elif not isinstance(value, enum.Enum):
            yield from self._object(name, value, word)

    def _object(self, name: str, value: Any, word: str) -> Iterator[Child]:
        if isinstance(value, types.MethodType):
            yield from ((name, held, word) for held in (value.__self__, value.__func__))
        elif isinstance(value, weakref.ref):
            yield name, value(), word
        elif isinstance(value, functools.partial):
            yield from ((f"{name}.{n}", getattr(value, n), word) for n in ("func", "args", "keywords"))
        elif isinstance(value, (staticmethod, classmethod)):
            yield name, value.__func__, word
        elif isinstance(value, property):
            yield from ((name, f, word) for f in (value.fget, value.fset) if f is not None)
        elif isinstance(value, functools._lru_cache_wrapper):
            self.caches.append(value)
            yield name, value.__wrapped__, word
        elif has_state(value) and not names.of_logger(value) and not isinstance(value, _APART):
            yield from ((f"{name}.{n}", held, n) for n, held in contents.state_of(value).items())
            self._queue(type(value).__name__, type(value), "")

    def _body(self, cls: type) -> Iterator[Child]:
        for base in cls.__mro__:
            if not is_users_class(base):
                continue
            for name, value in vars(base).items():
                if isinstance(value, types.FunctionType):
                    self._queue(f"{base.__name__}.{name}", value, name)
                elif not (name.startswith("__") and name.endswith("__")) and not _is_descriptor(value):
                    yield f"{base.__name__}.{name} (of the class)", value, name

    def _function(self, function: types.FunctionType) -> Iterator[Child]:
        code, called = function.__code__, function.__qualname__.rpartition("<locals>.")[2]
        if str(function.__module__).startswith(_OURS):
            return
        for word, cell in zip(code.co_freevars, function.__closure__ or ()):
            yield f"{word} (a variable around `{called}`)", names.contents_of(cell), word
        if is_library_file(code.co_filename):
            return
        self.codes.append(code)
        given = code.co_varnames[: code.co_argcount]
        defaults = dict(zip(reversed(given), reversed(function.__defaults__ or ())))
        for word, value in {**defaults, **(function.__kwdefaults__ or {})}.items():
            yield f"{word} (a default of `{called}`)", value, word
        yield from ((f"{called}.{n}", v, n) for n, v in vars(function).items())
        words = {word for part in names.codes_in(code) for word in part.co_names}
        self._words |= words
        self._globals(function.__globals__, function.__globals__.keys() if "globals" in words else words)

    def _globals(self, space: dict[str, Any], words: Any) -> None:
        for word in words:
            if word in space and not word.startswith("__"):
                name = f"{word} (a global)"
                other = name in self.places and id(space[word]) not in self._seen
                self._add(f"{space.get('__name__')}.{name}" if other else name, space[word], word)


def changes(old: Picture, new: Picture) -> list[tuple[str, str]]:
    """Of each place that differs a phrase, as the message lists them, and its word. Not what lies in such a place."""
    found: list[tuple[str, str]] = []
    reported: tuple[str, ...] = ()
    for name in {**old.places, **new.places}:
        was, now = old.places.get(name), new.places.get(name)
        if (was and was.mark) == (now and now.mark) or name.startswith(reported):
            continue
        reported = (*reported, f"{name}[", f"{name}.", f"{name}'s ")
        before, after = was.text if was else _ABSENT, now.text if now else _ABSENT
        found.append((f"`{name}`: {before} -> {'another' if before == after else after}", (was or now).word))
    return found


def _made_by_hooks(module: torch.nn.Module) -> Iterator[str]:
    """Weights that `torch.nn.utils` (weight_norm, spectral_norm, prune) makes of parameters before each call."""
    for hook in module._forward_pre_hooks.values():
        if type(hook).__module__.startswith(torch.nn.utils.__name__):
            yield from (vars(hook)[name] for name in ("name", "_tensor_name") if name in vars(hook))


def _is_descriptor(value: Any) -> bool:
    return isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))
