"""Why a module could not be traced, in words of the module instead of the tracer's."""

from __future__ import annotations

import linecache
import traceback
from typing import Any, Callable, Optional

import sympy
import torch
from torch._library.custom_ops import CustomOpDef
from torch._subclasses import fake_tensor
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ..errors import OracleError, first_line, input_error, user_location
from . import counts

STAYS = "the module stays in PyTorch as it is"
CUT = (
    "PyTorch can run it: `solstice optimize` goes the way of the example inputs, checks in each call that it is the "
    "same, and optimises the parts of the module around such calls"
)
ASKED = (sympy.Rel, sympy.logic.boolalg.BooleanFunction)  # symbols count as Booleans too
Cause = tuple[str, str]  # what is in the way, and the way out


def _batch_norm(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    from torch.nn.modules.batchnorm import _BatchNorm

    averaging = [
        path or type(child).__name__
        for path, child in module.named_modules()
        if isinstance(child, _BatchNorm) and child.momentum is None and child.track_running_stats and child.training
    ]
    if not averaging or not isinstance(error, GuardOnDataDependentSymNode):
        return None
    return (
        f"`{averaging[0]}` has `momentum=None`: its running statistics are divided by the number of calls, which "
        "only a run knows",
        "give it a momentum, or put it into eval mode",
    )


def _torch_script(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    scripted = [
        path or "the module" for path, child in module.named_modules() if isinstance(child, torch.jit.ScriptModule)
    ]
    if not scripted:
        return None
    return (
        f"`{scripted[0]}` is TorchScript, whose code the tracer does not see",
        "use the Python module that it was made from",
    )


def _layout(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    for path, child in module.named_modules():
        for name, value in {**vars(child), **child._parameters, **child._buffers}.items():
            if isinstance(value, torch.Tensor) and value.layout is not torch.strided:
                place = f"{path}.{name}" if path else name
                return (
                    f"`{place}` has the layout {str(value.layout).removeprefix('torch.')}",
                    f"make it dense; otherwise {STAYS}",
                )
    return None


def _packed_sequence(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    if not any(isinstance(v, torch.nn.utils.rnn.PackedSequence) for frame in frames for v in frame.f_locals.values()):
        return None
    return (
        "shapes of packed sequences depend on the values of their lengths",
        f"pad and mask instead; otherwise {STAYS}",
    )


def _shared_buffer(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    if not isinstance(error, AssertionError):
        return None
    names: dict[int, list[str]] = {}
    for path, child in module.named_modules(remove_duplicate=False):
        for name, value in {**vars(child), **child._buffers}.items():
            if isinstance(value, torch.Tensor) and value.layout is torch.strided:
                place = f"{path}.{name}" if path else name
                names.setdefault(value.untyped_storage()._cdata, []).append(place)
    shared = next((n for n in names.values() if len(n) > 1), None)
    if shared is None:
        return None
    return (
        f"`{shared[0]}` and `{shared[1]}` share memory, and `forward` writes it: the tracer cannot tell the writes "
        "apart",
        "reach the module by one path, let each have memory of its own (make views in `forward`), or put it into eval "
        "mode",
    )


def _quoted_name(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    quoted = next((path for path, _ in module.named_modules() if any(c in path for c in "\"'\\\n")), None)
    if quoted is None or not isinstance(error, SyntaxError):
        return None
    return (
        f"the tracer writes the name of the module `{quoted}` into code, where its quote ends a string",
        "name it without quotes",
    )


def _no_fake(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    """A custom operator, of which only its implementation is known."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    held = (value for frame in frames for value in frame.f_locals.values())
    operator = next((v for v in held if isinstance(v, CustomOpDef) and v._abstract_fn is None), None)
    if operator is None:
        return None
    function = operator._init_fn.__name__
    return (
        f"the custom operator `{operator._qualname}` says nothing about the shape of its result",
        f"register it: `@{function}.register_fake` on a function that returns, for example, `torch.empty_like(x)`",
    )


def _no_shape_rule(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    if not isinstance(error, (fake_tensor.UnsupportedOperatorException, fake_tensor.UnsupportedFakeTensorException)):
        return None
    func = getattr(error, "func", None)
    return (
        f"PyTorch has no rule for the shape of the result of {f'`{func}`' if func else 'an operator'}",
        f"leave it out of the module; otherwise {STAYS}",
    )


def _branches(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    from torch._dynamo.exc import UncapturedHigherOrderOpError

    if not isinstance(error, UncapturedHigherOrderOpError):
        return None
    return (
        "an operator that calls functions (`torch.cond`, `torch.while_loop`) has one that the tracer cannot follow",
        f"select elements with torch.where; otherwise {STAYS}",
    )


_UNKNOWN_TENSOR = (
    "fake tensor in the exported program constant's list",
    "Expected a real tensor, not a FakeTensor",
    "functorch tensor",  # of `torch.func.grad`
)


class Kept(RuntimeError):
    """Autograd hands results that it kept (of tanh, exp, ..) to the backward pass as tensors that the tracer does not
    know."""


def as_kept(error: Exception, differentiates: bool) -> Exception:
    """Kept in place of an error of the tracer's that this explains. `differentiates`: `forward` has called autograd."""
    if differentiates and any(symptom in str(error) for symptom in _UNKNOWN_TENSOR):
        return Kept(first_line(error)).with_traceback(error.__traceback__)
    return error


def refuse_kept(program: torch.export.ExportedProgram, differentiates: bool) -> None:
    """Tensors without memory as constants: the tracer does not know where they come from. Of inputs without memory
    PyTorch lets them pass."""
    if any(isinstance(value, fake_tensor.FakeTensor) for value in program.constants.values()):
        raise (Kept if differentiates else RuntimeError)(_UNKNOWN_TENSOR[0])


def _derivative(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    if not isinstance(error, Kept):
        return None
    return (
        "`forward` differentiates by autograd, whose kept results (of tanh, exp, ..) the tracer does not know",
        f"differentiate forwards, by `torch.func.jvp`, or write the derivative out; otherwise {STAYS}",
    )


def _data_dependent_flow(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    if not isinstance(error, GuardOnDataDependentSymNode):
        return None
    where = user_location(error)
    line = linecache.getline(where["file"], where["line"]).strip() if where else ""
    hint = "select elements with torch.where, or branch on shapes"
    if line.startswith("assert"):
        hint = "leave the assert out"
    elif not isinstance(error.cond, ASKED):  # but for a number: `int(x)`, a list as long as `x`
        hint = "read integers from tensors of integers (`x.long().item()`), and take as many steps as shapes say"
    elif _asks_for_none(error):
        hint = "leave this branch out, if the calls that it skips do nothing where there are no elements"
    return (
        f"the flow of control depends on the values of a tensor{f': `{line}`' if line else ''}",
        f"{hint}; otherwise {CUT}",
    )


def _comparison(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    func = getattr(error, "func", None)
    if not isinstance(error, fake_tensor.DataDependentOutputException) or func not in _COMPARISONS:
        return None
    where = user_location(error)
    line = linecache.getline(where["file"], where["line"]).strip() if where else ""
    return (
        f"the flow of control depends on the values of tensors that are compared{f': `{line}`' if line else ''}",
        f"select elements with torch.where, or take as many steps as shapes say; otherwise {CUT}",
    )


_COMPARISONS = (torch.ops.aten.equal.default, torch.ops.aten.allclose.default)


def _asks_for_none(error: GuardOnDataDependentSymNode) -> bool:
    """Of a number of elements that only a run knows: `rows.numel() == 0`."""
    asked = error.cond
    counts_something = all(symbol.is_integer for symbol in asked.free_symbols)
    return isinstance(asked, sympy.Rel) and 0 in asked.args and len(asked.free_symbols) == 1 and counts_something


def _data_dependent_shape(module: torch.nn.Module, error: Exception) -> Optional[Cause]:
    if not isinstance(error, fake_tensor.DynamicOutputShapeException):
        return None
    return (
        f"the shape of `{error.func}` depends on the values of a tensor",
        f"{counts.way_to_a_known_shape(error.func)}; otherwise {STAYS}",
    )


_CAUSES: tuple[Callable[[torch.nn.Module, Exception], Optional[Cause]], ...] = (
    *(_batch_norm, _torch_script, _layout, _packed_sequence),
    *(_shared_buffer, _quoted_name, _no_fake, _no_shape_rule, _branches, _derivative),
    *(_data_dependent_flow, _comparison, _data_dependent_shape),
)


def known(module: torch.nn.Module, error: Exception) -> bool:
    """Whether a cause here explains it."""
    return any(cause(module, error) for cause in _CAUSES)


BRANCHES = "trace.branches"  # a trace that may take them goes on (branches.py)


def not_exportable(module: torch.nn.Module, first: Exception, second: Exception) -> OracleError:
    """`first` comes from the non-strict tracer, `second` from the strict one; the same twice where one step failed."""
    place: dict[str, Any] = user_location(first)
    for cause in _CAUSES:
        found = cause(module, first)
        if found:
            what, hint = found
            code = BRANCHES if cause in (_data_dependent_flow, _comparison) else "trace.not_exportable"
            return input_error(code, f"the module cannot be traced: {what}", hint=hint, **place)
    said = {"torch.export": first_line(first), "torch.export, strict": first_line(second)}
    return input_error(
        "trace.not_exportable",
        f"the module cannot be traced: `torch.export` {'stops at this line' if place else 'refuses it'}",
        hint=f"write this part with other operators; otherwise {STAYS}",
        reasons=[f"{who}: {text}" for who, text in said.items()],
        **place,
    )
