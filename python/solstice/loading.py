"""Turns a file into a module with example inputs.

Two formats. KernelBench: a class (`Model` unless another is named), `get_inputs()` and
`get_init_inputs()` at module level. Class with example inputs: the class itself has
`example_inputs()` and, when its constructor takes arguments, `init_inputs()`, both static; the only
such class of a file need not be named.
`example_inputs` returns a list or tuple of positional arguments, or a dict of keyword arguments.

Promises: the module is built on the CPU under `manual_seed(seed)`, in train mode as its constructor
leaves it; everything that goes wrong is an OracleError that names the file, the line and the cause.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .beside import let_import
from .errors import (
    OracleError,
    first_line,
    function_location,
    input_error,
    environment_error,
    is_out_of_memory,
    user_location,
)
from .hostmem import available_bytes
from .tensors import logical_bytes, module_tensors
from .tracing import lazy
from .tracing.device_map import CudaToCpu
from .tracing.fakes import fake_inputs, sizes_only

InputMaker = Callable[[], tuple[tuple, dict]]  # positional and keyword arguments

_log = logging.getLogger(__name__)
SEED = 42
# Of the memory that is free: the rest is for the tracer, the float64 copy is budgeted on its own.
REAL_BUILD_SHARE = 0.6


@dataclass
class Subject:
    """What the oracle works on. `inputs()` makes one fresh set of arguments; the caller seeds."""

    module: torch.nn.Module
    inputs: InputMaker
    init: Optional[InputMaker]  # constructor arguments; None for a module given as an object
    path: Optional[Path]
    class_name: str
    source: Optional[str]
    weights: str  # "real", or "fake" when memory forbade a real build

    @property
    def source_sha256(self) -> Optional[str]:
        return hashlib.sha256(self.source.encode()).hexdigest() if self.source is not None else None


def load_file(path: str, class_name: Optional[str] = None, seed: int = SEED) -> Subject:
    file = Path(path)
    source = _read(file)
    namespace = _import(file, source)
    cls = _find_class(namespace, file, class_name)
    inputs = _input_maker(namespace, cls, file)
    init = _init_maker(namespace, cls)
    module, weights = _build(cls, init, seed)
    if lazy.waits(module):
        args, kwargs = fake_inputs(inputs, torch.device("cpu"))
        call_user(
            f"the first call of `{cls.__name__}`", "load.forward_failed", lambda: lazy.materialise(module, args, kwargs)
        )
    return Subject(module, inputs, init, file, cls.__name__, source, weights)


def call_user(what: str, code: str, function: Callable[[], Any]) -> Any:
    """Runs user code; whatever it raises becomes an input error at the user's own line."""
    try:
        return function()
    except OracleError:
        raise
    except (Exception, SystemExit) as error:
        if is_out_of_memory(error):
            raise environment_error(
                "load.out_of_memory",
                f"{what} does not fit in memory: {first_line(error)}",
                hint="use smaller sizes, or a machine with more memory",
                **user_location(error),
            ) from error
        missing = _missing_package(error)
        if missing:
            raise missing from error
        raise input_error(code, f"{what} failed: {first_line(error)}", **user_location(error)) from error


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except FileNotFoundError:
        raise input_error("load.no_file", f"no such file: `{file}`", file=str(file)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise input_error("load.unreadable", f"cannot read `{file}`: {first_line(error)}", file=str(file)) from error


def _missing_package(error: BaseException) -> Optional[OracleError]:
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    package = error.name.split(".")[0]
    return input_error(
        "load.missing_package",
        f"the Python package `{package}` is not installed",
        hint=f"install it where this worker runs: {sys.executable} -m pip install {package}",
        **user_location(error),
    )


def module_name(file: Path) -> str:
    """Under which a user's file is loaded; the same stem in two folders are two modules."""
    digest = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:8]
    return f"solstice_user_{file.stem}_{digest}"


def _import(file: Path, source: str) -> ModuleType:
    try:
        ast.parse(source, filename=str(file))
    except SyntaxError as error:
        if file.suffix == ".ucut":
            raise input_error(
                "load.not_python",
                f"`{file}` is a program of equations already",
                file=str(file),
                hint="`solstice check` reads it; a module to import is a Python file",
            ) from None
        raise input_error("load.syntax", f"{error.msg}", file=str(file), line=error.lineno) from None
    name = module_name(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise input_error(
            "load.not_python",
            f"`{file}` is not a Python file",
            file=str(file),
            hint="give a file whose name ends in .py",
        )
    namespace = importlib.util.module_from_spec(spec)
    sys.modules[name] = namespace  # dataclasses and pickle look the module up by name
    let_import(str(file.resolve().parent))

    def run() -> None:
        # The very text that was read and hashed: bytecode of a file that is rewritten at once may be of the old text.
        exec(compile(source, str(file), "exec", dont_inherit=True), vars(namespace))

    call_user(f"importing `{file}`", "load.import_failed", run)
    return namespace


def _find_class(namespace: ModuleType, file: Path, class_name: Optional[str]) -> type:
    wanted = class_name or "Model"
    cls = getattr(namespace, wanted, None)
    if isinstance(cls, type) and issubclass(cls, torch.nn.Module):
        return cls
    found = {
        n: v
        for n, v in vars(namespace).items()
        if isinstance(v, type) and issubclass(v, torch.nn.Module) and v.__module__ == namespace.__name__
    }
    complete = [v for v in found.values() if hasattr(v, "example_inputs")]
    if class_name is None and len(complete) == 1:
        return complete[0]
    listing = ", ".join(f"`{n}`" for n in found) or "none"
    raise input_error(
        "load.no_model",
        f"`{file}` defines no module class `{wanted}` (classes derived from nn.Module: {listing})",
        file=str(file),
        hint=f"name the class: {file}:CLASS" if found else "define `class Model(nn.Module)`",
    )


def _input_maker(namespace: ModuleType, cls: type, file: Path) -> InputMaker:
    maker = getattr(cls, "example_inputs", None) or getattr(namespace, "get_inputs", None)
    if not callable(maker):
        raise input_error(
            "load.no_get_inputs",
            f"`{file}` has no `get_inputs()` and `{cls.__name__}` has no `example_inputs()`",
            file=str(file),
            hint="define `def get_inputs(): return [tensor, ...]`",
        )

    def make() -> tuple[tuple, dict]:
        what = f"`{maker.__name__}()`"
        return as_arguments(
            call_user(what, "load.inputs_failed", maker), f"what {what} returns", **function_location(maker)
        )

    return make


def as_arguments(value: Any, what: str = "example inputs", **where: Any) -> tuple[tuple, dict]:
    """Positional arguments from a list or tuple, keyword arguments from a dict, one tensor as itself."""
    if isinstance(value, torch.Tensor):
        return (value,), {}
    if isinstance(value, dict):
        return (), value
    if isinstance(value, (list, tuple)):
        return tuple(value), {}
    raise input_error(
        "load.bad_inputs",
        f"{what} must be a list, tuple, dict or tensor, not `{type(value).__name__}`",
        **where,
    )


def _init_maker(namespace: ModuleType, cls: type) -> InputMaker:
    maker = getattr(cls, "init_inputs", None) or getattr(namespace, "get_init_inputs", None)
    if not callable(maker):
        return lambda: ((), {})
    return lambda: as_arguments(maker(), f"what `{maker.__name__}()` returns", **function_location(maker))


def _construct(cls: type, init: InputMaker, seed: int) -> torch.nn.Module:
    args, kwargs = init()
    torch.manual_seed(seed)
    try:
        return cls(*args, **kwargs)
    except TypeError as error:
        if _takes(cls.__init__, args, kwargs):
            raise
        raise input_error(
            "load.constructor_failed",
            f"constructing `{cls.__name__}` failed: {first_line(error)}",
            hint="`get_init_inputs()`, or `init_inputs()` of the class, returns the constructor's arguments: a list or "
            "a dict",
            **function_location(cls.__init__),
        ) from error


def _takes(function: Callable, args: tuple, kwargs: dict) -> bool:
    try:
        inspect.signature(function).bind(None, *args, **kwargs)
    except TypeError:
        return False
    return True


def _state_bytes_if_cheap(cls: type, init: InputMaker, seed: int) -> Optional[int]:
    """Size of the module's state from a build without storage; None where the constructor reads values."""
    try:
        with sizes_only():
            return logical_bytes(module_tensors(_construct(cls, init, seed)))
    except Exception:  # the user's code, on tensors without values: if it is at fault, the real build says so
        _log.debug("the size of `%s` is not known before it is built", cls.__name__, exc_info=True)
        return None


def _build(cls: type, init: InputMaker, seed: int) -> tuple[torch.nn.Module, str]:
    size = _state_bytes_if_cheap(cls, init, seed)
    what = f"constructing `{cls.__name__}`"
    if size is not None and size > REAL_BUILD_SHARE * available_bytes():
        with FakeTensorMode(allow_non_fake_inputs=True), CudaToCpu():
            return call_user(what, "load.constructor_failed", lambda: _construct(cls, init, seed)), "fake"
    with CudaToCpu():
        return call_user(what, "load.constructor_failed", lambda: _construct(cls, init, seed)), "real"
