"""Names of functions and classes as text, and the digest of code that is compared where a name does not suffice."""

from __future__ import annotations

import hashlib
import logging
import types
from typing import Any, Iterator, Optional

USERS = ("solstice_user_", "solstice_original_")
NOTHING = "nothing"  # what a cell holds that nothing was assigned to


def of(thing: Any) -> str:
    """With the module that defines it; the user's own file is loaded under different names in different processes."""
    module = str(thing.__module__)
    return f"{'' if module.startswith(USERS) else module + '.'}{thing.__qualname__}"


def of_logger(value: Any) -> Optional[str]:
    """Loggers have one instance a name, and nothing computes with them."""
    return f"{of(type(value))}({value.name!r})" if isinstance(value, logging.Logger) else None


def parts_of_code(value: Any) -> Optional[tuple]:
    """Of a function: its code, and the values that it was made with."""
    if isinstance(value, (staticmethod, classmethod)):
        return type(value).__name__, [("", value.__func__)]
    if isinstance(value, property):
        return "property", [("", value.fget), ("", value.fset)]
    if type(value) is not types.FunctionType:
        return None
    cells = [(f"{n}=", contents_of(c)) for n, c in zip(value.__code__.co_freevars, value.__closure__ or ())]
    defaults = [("defaults=", d) for d in (value.__defaults__, value.__kwdefaults__) if d]
    more = [(f"{n}=", v) for n, v in vars(value).items()]
    return f"{of(value)} {digest(value.__code__)}", [*cells, *defaults, *more]


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Itself, and those of the functions, lambdas and comprehensions that it makes."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def contents_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return NOTHING


def digest(code: types.CodeType) -> str:
    return hashlib.sha256(repr(_content(code)).encode()).hexdigest()[:16]


def _content(code: types.CodeType) -> tuple:
    constants = [_content(c) if isinstance(c, types.CodeType) else _constant(c) for c in code.co_consts]
    signature = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return code.co_code.hex(), signature, constants, code.co_names, code.co_varnames, code.co_freevars


def _constant(value: Any) -> Any:
    """Sets are in no order."""
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
