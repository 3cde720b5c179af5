"""Turns a file into a module with example inputs.

Two formats. KernelBench: a class (`Model` unless another is named), `get_inputs()` and `get_init_inputs()` at module
level. Module with example inputs: a class, an instance or a function that makes one (finding.py), with
`example_inputs()` and, when its constructor takes arguments, `init_inputs()`, both static, of the class, or
`example_inputs` of the file, a function or the value itself.
Example inputs are a list or tuple of positional arguments, a dict of keyword arguments, or a tuple of both:
`return (x,), {"mask": mask}`.

Promises: the file is run and the module built on the CPU under `manual_seed(seed)`, in the mode that is asked for, else
as its constructor leaves it (train mode); everything that goes wrong is an OracleError that names the file, the line
and the cause.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import logging
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from . import packages
from .errors import (
    OracleError,
    function_location,
    input_error,
    is_library_file,
    environment_error,
    is_out_of_memory,
    said,
    user_location,
)
from .finding import Found, as_module, find, takes_arguments
from .hostmem import available_bytes
from .modes import MODES
from .tensors import leaves, logical_bytes, map_tensors, module_tensors, tensor_leaves
from .tracing import lazy
from .tracing.device_map import CudaToCpu
from .tracing.fakes import fake_inputs, sizes_only

InputMaker = Callable[[], tuple[tuple, dict]]  # positional and keyword arguments

_log = logging.getLogger(__name__)
SEED = 42
_GUARD = 'put what a script does under `if __name__ == "__main__":`'
INPUTS = ("get_inputs", "example_inputs")  # of a file: a function, or the value
# Of the memory that is free: the rest is for the tracer, the float64 copy is budgeted on its own.
REAL_BUILD_SHARE = 0.6


@dataclass
class Subject:
    """What the oracle works on. `inputs()` makes one fresh set of arguments; the caller seeds."""

    module: torch.nn.Module
    inputs: InputMaker
    init: Optional[InputMaker]  # arguments of what makes the module; None for a module given as an object
    path: Optional[Path]
    class_name: str
    source: Optional[str]
    weights: str  # "real", or "fake" when memory forbade a real build
    found: Optional[Found] = None  # in its file
    place: Optional[packages.Place] = None  # of its file among modules
    mode: Optional[str] = None  # train or eval, where it was asked for

    @property
    def source_sha256(self) -> Optional[str]:
        return hashlib.sha256(self.source.encode()).hexdigest() if self.source is not None else None


def load_file(path: str, class_name: Optional[str] = None, seed: int = SEED, mode: Optional[str] = None) -> Subject:
    if mode not in (None, *MODES):
        raise input_error("load.mode", f"no mode `{mode}`; legal are {', '.join(MODES)}")
    file = Path(path)
    source = _read(file)
    namespace, place = _import(file, source, seed)
    found = find(namespace, file, class_name)
    init = _init_maker(namespace, found)
    inputs = _input_maker(namespace, found.name, found.class_, file) if found.class_ else None
    module, weights = _build(found, file, init, seed)
    refuse_script(module, **(function_location(found.value) or {"file": str(file)}))
    if inputs is None:  # only the call of a function tells its module's class
        inputs = _input_maker(namespace, found.name, type(module), file)
    if mode is not None:
        module.train(mode == "train")
    name = type(module).__name__
    if lazy.waits(module):
        args, kwargs = fake_inputs(inputs, torch.device("cpu"))
        call_user(f"the first call of `{name}`", "load.forward_failed", lambda: lazy.materialise(module, args, kwargs))
    return Subject(module, inputs, init, file, name, source, weights, found, place, mode)


def refuse_script(module: torch.nn.Module, **where: Any) -> None:
    if isinstance(module, torch.jit.ScriptModule):
        raise input_error(
            "load.torch_script",
            "the module is TorchScript, whose code the tracer does not see",
            hint="give the Python module that it was scripted or traced from",
            **where,
        )


_ALONE = "mend it there: PyTorch alone fails in the same way"


def call_user(what: str, code: str, function: Callable[[], Any], hint: str = _ALONE) -> Any:
    """Runs user code; whatever it raises becomes an input error at the user's own line."""
    try:
        return function()
    except OracleError:
        raise
    except (Exception, SystemExit) as error:
        if is_out_of_memory(error):
            raise environment_error(
                "load.out_of_memory",
                f"{what} does not fit in memory",
                hint="use smaller sizes, or a machine with more memory",
                **user_location(error),
            ) from error
        missing = _missing_package(error)
        if missing:
            raise missing from error
        if isinstance(error, SystemExit):
            text, hint = f"{what} ends Python: `sys.exit({error.code!r})`", _GUARD
        else:
            text = f"{what} failed: {said(error)}"
        raise input_error(code, text, hint=hint, **user_location(error)) from error


def _read(file: Path) -> str:
    try:
        with tokenize.open(file) as text:  # as Python reads it
            return text.read()
    except FileNotFoundError:
        raise input_error("load.no_file", f"no such file: `{file}`", file=str(file), hint="check its path") from None
    except OSError as error:
        raise input_error(
            "load.unreadable",
            f"cannot read `{file}`: {error.strerror}",
            file=str(file),
            hint="make it readable, or name another file",
        ) from error
    except (UnicodeDecodeError, SyntaxError) as error:
        raise input_error(
            "load.unreadable",
            f"`{file}` is not text in the encoding that Python takes it for, UTF-8 unless its first line says another",
            file=str(file),
            hint="save it as UTF-8",
        ) from error


def _missing_package(error: BaseException) -> Optional[OracleError]:
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    package = error.name.split(".")[0]
    return input_error(
        "load.missing_package",
        f"the Python package `{package}` is not installed",
        hint=f"install it for this Python: {sys.executable} -m pip install {package}",
        **user_location(error),
    )


def _not_python(file: Path) -> OracleError:
    return input_error(
        "load.not_python",
        f"`{file}` is not a Python file",
        file=str(file),
        hint="give a file whose name ends in .py",
    )


def _words_of_syntax(error: SyntaxError) -> str:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"Python {version} cannot read this: {error.msg}"


def _place_of(error: SyntaxError) -> dict[str, Any]:
    where: dict[str, Any] = {"line": error.lineno, "hint": f"mend it: `{sys.executable}` does not read it either"}
    if error.offset and error.text:
        where["column"] = len(error.text[: error.offset - 1].encode()) + 1
        same_line = error.end_offset and error.end_lineno == error.lineno
        where["width"] = max(1, (error.end_offset or 0) - error.offset) if same_line else 1
    return where


def _import(file: Path, source: str, seed: int) -> tuple[ModuleType, packages.Place]:
    try:
        tree = ast.parse(source, filename=str(file))
    except SyntaxError as error:
        if file.suffix == ".ucut":
            raise input_error(
                "load.not_python",
                f"`{file}` is a program of equations already",
                file=str(file),
                hint="`solstice check` reads it; a module to import is a Python file",
            ) from None
        if file.suffix != ".py":
            raise _not_python(file) from None
        raise input_error("load.syntax", f"{_words_of_syntax(error)}", file=str(file), **_place_of(error)) from None
    if file.suffix != ".py":
        raise _not_python(file)
    place = packages.place_of(file, tree)
    torch.manual_seed(seed)  # of an instance, and of inputs that are values
    with CudaToCpu():
        run = functools.partial(packages.execute, place, file, source)
        return call_user(f"importing `{file}`", "load.import_failed", run), place


def _way_to_inputs(namespace: ModuleType, name: str, file: Path) -> str:
    if not is_library_file(str(file)):
        return f"define `def get_inputs(): return [tensor, ...]` in {file}"
    package = namespace.__name__.removesuffix(".__init__")
    return (
        f"write a file of your own: `from {package} import {name}`, `def get_inputs(): return [tensor, ...]` and, "
        f"where its constructor takes arguments, `def get_init_inputs(): return [...]`; then name FILE.py:{name}"
    )


def _input_maker(namespace: ModuleType, name: str, cls: type, file: Path) -> InputMaker:
    makers = (getattr(cls, "example_inputs", None), *(getattr(namespace, n, None) for n in INPUTS))
    maker = next((m for m in makers if m is not None), None)
    if maker is None:
        raise input_error(
            "load.no_get_inputs",
            f"`{file}` has no `get_inputs()` and no `example_inputs`, and `{cls.__name__}` has no `example_inputs()`: "
            f"nothing says what `{name}` is called with",
            hint=_way_to_inputs(namespace, name, file),
            **(
                {"file": str(file)}
                if is_library_file(str(file))
                else function_location(cls.forward) or {"file": str(file)}
            ),
        )
    if not callable(maker):
        given = as_arguments(maker, f"`example_inputs` of `{file}`", cls.forward)
        return lambda: map_tensors(lambda t: t.detach().clone(), given)

    def make() -> tuple[tuple, dict]:
        what = f"`{maker.__name__}()`"
        made = call_user(what, "load.inputs_failed", maker)
        return as_arguments(made, f"what {what} returns", cls.forward, **function_location(maker))

    return make


def as_arguments(
    value: Any, what: str = "example inputs", forward: Optional[Callable] = None, **where: Any
) -> tuple[tuple, dict]:
    """The arguments of a call; see `_arguments`. Tensors are dense, and there are no arrays of NumPy's."""
    found = _arguments(value, what, forward, **where)
    _refuse_arrays(found, what, where)
    for tensor in tensor_leaves(found):
        if tensor.layout is not torch.strided:
            layout = str(tensor.layout).removeprefix("torch.")
            raise input_error(
                "load.sparse_input",
                f"{what} hold a tensor of the layout `{layout}`, which has no equations",
                hint="give it densely (`.to_dense()`), or take the sparse part out of the module",
                **where,
            )
    return found


def _refuse_arrays(found: Any, what: str, where: dict[str, Any]) -> None:
    for leaf in leaves(found):
        if type(leaf).__module__ == "numpy":  # a number of it is an array, too
            raise input_error(
                "load.numpy_input",
                f"{what} hold a NumPy value of the type `{type(leaf).__name__}`, and the tracer takes tensors",
                hint="convert it: `torch.from_numpy(x)` of an array, `x.item()` of a number",
                **where,
            )


def _arguments(value: Any, what: str, forward: Optional[Callable], **where: Any) -> tuple[tuple, dict]:
    """Positional arguments from a list or tuple, keyword arguments from a dict, one tensor as itself; both from a tuple
    of a tuple and a dict with the names of arguments, unless `forward` takes just these two."""
    if isinstance(value, torch.Tensor):
        return (value,), {}
    if isinstance(value, dict):
        return (), value
    if _is_both(value) and not (_takes(forward, value, {}) and not _takes(forward, *value)):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(value), {}
    _refuse_arrays(value, what, where)
    raise input_error(
        "load.bad_inputs",
        f"{what} must be a list, tuple, dict or tensor, not `{type(value).__name__}`",
        hint="give a list of the arguments of `forward`: `[tensor, ...]`",
        **where,
    )


def _is_both(value: Any) -> bool:
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    args, kwargs = value
    return isinstance(args, tuple) and isinstance(kwargs, dict) and all(isinstance(k, str) for k in kwargs)


def _init_maker(namespace: ModuleType, found: Found) -> InputMaker:
    maker = getattr(found.class_, "init_inputs", None) or getattr(namespace, "get_init_inputs", None)
    unasked = found.kind == "instance" or found.kind == "function" and not takes_arguments(found.value)
    if unasked or not callable(maker):
        return lambda: ((), {})
    return lambda: _arguments(maker(), f"what `{maker.__name__}()` returns", None, **function_location(maker))


def _construct(found: Found, file: Path, init: InputMaker, seed: int) -> torch.nn.Module:
    if found.kind == "instance":
        return found.value
    args, kwargs = init()
    torch.manual_seed(seed)
    function = found.value.__init__ if found.kind == "class" else found.value
    where = function_location(function)
    try:
        return as_module(found.value(*args, **kwargs), found, file, where)
    except TypeError as error:
        if _takes(function, args, kwargs, bound=found.kind == "function"):
            raise
        raise input_error(
            "load.constructor_failed",
            f"constructing `{found.name}` failed: {said(error)}",
            hint="`get_init_inputs()`, or `init_inputs()` of the class, returns the constructor's arguments: a list or "
            "a dict",
            **where,
        ) from error


def _takes(function: Optional[Callable], args: tuple, kwargs: dict, bound: bool = False) -> bool:
    """Whether `function` can be called so; a method that is not `bound` takes the instance first."""
    try:
        inspect.signature(function).bind(*(() if bound else (None,)), *args, **kwargs)
    except (TypeError, ValueError):
        return False
    return True


def _state_bytes_if_cheap(make: Callable[[], torch.nn.Module]) -> Optional[int]:
    """Size of the module's state from a build without storage; None where the constructor reads values."""
    try:
        with sizes_only():
            return logical_bytes(module_tensors(make()))
    except Exception:  # the user's code, on tensors without values: if it is at fault, the real build says so
        _log.debug("the size of the module is not known before it is built", exc_info=True)
        return None


def _build(found: Found, file: Path, init: InputMaker, seed: int) -> tuple[torch.nn.Module, str]:
    make = functools.partial(_construct, found, file, init, seed)
    what = f"constructing `{found.name}`" if found.kind == "class" else f"`{found.name}()`"
    size = None if found.kind == "instance" else _state_bytes_if_cheap(make)
    if size is not None and size > REAL_BUILD_SHARE * available_bytes():
        with FakeTensorMode(allow_non_fake_inputs=True), CudaToCpu():
            return call_user(what, "load.constructor_failed", make), "fake"
    with CudaToCpu():
        return call_user(what, "load.constructor_failed", make), "real"
