"""Results of classes that the tracer does not know: `forward` returns them as plain tuples while it is traced."""

from __future__ import annotations

import contextlib
import json
from typing import Any, Iterator, Optional

import torch
from torch.utils import _pytree as pytree

from ..dropin import forms
from ..errors import OracleError, input_error, said
from . import python_state
from .causes import STAYS
from .values import SCALARS

_KNOWN = (*SCALARS, complex, str, type(None), torch.Tensor)
_WAY_OUT = "return tensors in tuples, lists, dicts, named tuples or dataclasses"


class Results:
    """Of the last call of a module within `opened`."""

    form: forms.Form = None


class Unknown(Exception):
    """The tracer stops at the class of a result."""


@contextlib.contextmanager
def watched(module: torch.nn.Module) -> Iterator[None]:
    """Raises Unknown in place of what the tracer raises after a call with such a result."""
    found: list[bool] = []

    def look(_: Any, args: Any, result: Any) -> None:
        found.append(any(not isinstance(leaf, _KNOWN) for leaf in pytree.tree_leaves(result)))

    handle = module.register_forward_hook(look)
    try:
        yield
    except OracleError:
        raise
    except Exception as error:
        if any(found):
            raise Unknown from error
        raise
    finally:
        handle.remove()


@contextlib.contextmanager
def opened(module: torch.nn.Module) -> Iterator[Results]:
    """Calls of the module return plain results, whose form is kept."""
    results = Results()

    def open_result(_: Any, args: Any, result: Any) -> Any:
        _refuse(module, result)
        results.form = forms.form_of(result)
        return forms.plain(result)

    handle = module.register_forward_hook(open_result)
    try:
        yield results
    finally:
        handle.remove()


def of_spec(spec: pytree.TreeSpec) -> tuple[Any, pytree.TreeSpec, forms.Form]:
    """A value, the plain structure and the form of a structure that the tracer knows."""
    leaves = [torch.empty(0, device="meta") for _ in range(spec.num_leaves)]
    value = pytree.tree_unflatten(leaves, spec)
    form = forms.form_of(value)
    return value, spec if form is None else pytree.tree_structure(forms.plain(value)), form


def written(module: torch.nn.Module, spec: pytree.TreeSpec) -> list[Any]:
    """As PyTorch writes it, which has no name for what others taught it."""
    try:
        return json.loads(pytree.treespec_dumps(spec))
    except (NotImplementedError, TypeError) as error:
        hint = f"give `register_pytree_node` a `serialized_type_name`; or {_WAY_OUT}"
        message = f"`forward` takes or returns a structure that cannot be written down: {said(error)}"
        raise input_error("trace.result", message, hint=hint, **python_state.place_of_forward(module)) from error


def _refuse(module: torch.nn.Module, result: Any) -> None:
    other = next((v for v in pytree.tree_leaves(forms.plain(result)) if not isinstance(v, _KNOWN)), None)
    if other is not None:
        raise _refusal(module, type(other), "holds", f"{_WAY_OUT}; otherwise {STAYS}")
    refuse_form(module, result)


def refuse_form(module: torch.nn.Module, result: Any) -> None:
    why = forms.not_rebuilt(module, result)
    if why is not None:
        hint = f"define such a class at the top of a file, to be made of its parts alone; or {_WAY_OUT}"
        raise _refusal(module, type(result), "is", hint, f", which cannot be made again of its parts: {why}")


def _refusal(module: torch.nn.Module, cls: type, verb: str, hint: str, why: Optional[str] = "") -> Exception:
    message = f"the result of `forward` {verb} a `{cls.__qualname__}`{why or ', of which the tracer knows no parts'}"
    return input_error("trace.result", message, hint=hint, **python_state.place_of_forward(module))
