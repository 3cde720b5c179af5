"""`torch.export` with the repairs that a faithful graph needs.

Promises: functional ATen with composites kept; mutations explicit; every node with its module path
and source line. What cannot be traced faithfully is refused with the line that is to blame.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from typing import Any, Iterable, Iterator, Optional, Sequence

import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, PendingUnbackedSymbolNotFound

from ..dropin import forms
from ..errors import OracleError, environment_error, first_line, input_error, is_out_of_memory, said
from ..tensors import buffers_kept, module_tensors, tensor_leaves
from . import answers, calls, differentiated, eager, instance_norm, python_state, random_nodes, real_run, results
from . import asserted, branches, counts, dtypes, floats, outside, unregistered
from .causal_hint import masks_as_given
from .causes import BRANCHES, CUT, STAYS, Kept, as_kept, known, not_exportable, refuse_kept
from .covariance import TraceableCovariance
from .device_map import CudaToCpu, gpu_hidden
from .failing import forward_failed, refuse_wrong_call
from .observed import Read, Truths
from .refusals import refuse_unwritable
from .shapes import RECURRENT, stated_shapes
from .sources import all_frames

# What fake tensors cannot say, though real ones could: no fault of the module's shapes.
_TRACER_LIMITS = (
    fake_tensor.DataDependentOutputException,
    fake_tensor.DynamicOutputShapeException,
    fake_tensor.UnsupportedFakeTensorException,
    GuardOnDataDependentSymNode,
)
Traced = tuple[Any, str, Optional[str]]  # the program, the tracer that took it, why it was not compared
_UNCHECKED = "the trace was not compared with eager PyTorch"
_TAKEN = "it takes the branches of the example inputs"


@contextlib.contextmanager
def _repairs(on_host: bool) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(stated_shapes())
        stack.enter_context(instance_norm.explicit_running_stats())
        for repair in (masks_as_given, all_frames, answers.as_in_eager, outside.refused, asserted.with_arithmetic):
            stack.enter_context(repair())
        stack.enter_context(TraceableCovariance())
        if on_host:
            stack.enter_context(gpu_hidden())
            stack.enter_context(CudaToCpu())
        yield


def export_functional(
    module: torch.nn.Module,
    args: tuple,
    kwargs: dict,
    decompose: Sequence[str] = (),
    make: Optional[real_run.Make] = None,
    taken: Optional[list[Read]] = None,
) -> tuple[Any, dict]:
    """The exported program and how it was made (`mode`, `level`, `notes`, `unchecked`, `frozen`, `dropped`,
    `decomposable`). `make` gives inputs with values. `taken`: as in export_calls()."""
    table = _decompositions(decompose)
    notes: list[str] = []
    on_host = all(t.device.type != "cuda" for t in (*tensor_leaves((args, kwargs)), *module_tensors(module)))
    with _repairs(on_host):
        (program, mode, why), form = _export_opened(module, args, kwargs, notes, make, taken)
        drawn, casts = random_nodes.drawing(program), dtypes.casts_by_itself(program)
        program = _functional(module, program, table)
    if not casts and not table:  # of the calls that the module makes
        dtypes.refuse_mixed(program)
    refuse_unwritable(program)
    frozen = unregistered.frozen(program, module)
    lost, breakable = random_nodes.dropped(drawn, program), _decomposable(program)
    unchecked = [f"{_UNCHECKED}: {why}"] if why else []
    made = {"mode": mode, "level": "functional", "notes": notes, "unchecked": unchecked, "frozen": frozen}
    return program, {**made, "dropped": lost, "decomposable": breakable, "result_form": form}


def export_calls(
    module: torch.nn.Module,
    args: tuple,
    kwargs: dict,
    make: Optional[real_run.Make] = None,
    taken: Optional[list[Read]] = None,
) -> torch.export.ExportedProgram:
    """The exported program as the module calls PyTorch: with composites, views and writes in place. With `taken`, what
    a run on the example inputs has read, branches on values are taken as there and asserted (branches.py)."""
    on_host = all(t.device.type != "cuda" for t in (*tensor_leaves((args, kwargs)), *module_tensors(module)))
    with _repairs(on_host):
        return _export_opened(module, args, kwargs, [], make, taken)[0][0]


def export_traced(module: torch.nn.Module, args: tuple, kwargs: dict, decompose: Sequence[str]) -> tuple[Any, dict]:
    """As export_functional(), of a module that is a trace already (solstice.partial): it is not compared again.
    `origins`: by the names of this graph's calls those of the traced one's."""
    with torch.fx.traceback.preserve_node_meta():
        program = torch.export.export(module, args, kwargs, strict=False)
    program = _functional(module, program, _decompositions(decompose))
    made = {"mode": "nonstrict", "level": "functional", "notes": [], "unchecked": [], "frozen": [], "dropped": []}
    origins = {n.name: n.meta["custom"]["own"] for n in program.graph.nodes if "own" in (n.meta.get("custom") or {})}
    return program, {**made, "decomposable": _decomposable(program), "origins": origins}


def _functional(module: torch.nn.Module, program: Any, table: dict) -> Any:
    """Parts of the graph under an autocast or `no_grad` are graphs of their own until then. Node by node, so that what
    they become keeps its module and line."""
    for name, part in program.graph_module.named_modules():
        if name and isinstance(part, torch.fx.GraphModule):
            part.forward = torch.fx.Interpreter(part).run
    try:
        program = program.run_decompositions({})
        return program.run_decompositions(table) if table else program
    except Exception as error:
        raise not_exportable(module, error, error) from error


def _export_opened(
    module: torch.nn.Module,
    args: tuple,
    kwargs: dict,
    notes: list[str],
    make: Optional[real_run.Make],
    taken: Optional[list[Read]],
) -> tuple[Traced, forms.Form]:
    """Also the form of a result that is opened for the tracer."""

    def export() -> Traced:
        if taken is None:
            with floats.finite():
                return _export(module, args, kwargs, notes, make)
        return _export_taken(module, args, kwargs, make, taken)

    try:
        return export(), None
    except results.Unknown:
        with results.opened(module) as found:
            return export(), found.form


def _export_taken(
    module: torch.nn.Module, args: tuple, kwargs: dict, make: Optional[real_run.Make], taken: list[Read]
) -> Traced:
    """Without gradients: views for them may have sizes that no result shows. Errors: `trace.branches` where a branch is
    still not known."""
    try:
        with torch.no_grad(), python_state.left_as_found(module) as caches, results.watched(module):
            with calls.recorded(module) as made, python_state.refused(module, caches):
                with branches.taken(module, taken) as holds:
                    program = torch.export.export(module, args, kwargs, strict=False)
        refuse_kept(program, made[-1].differentiates)
        _assert_all(program, holds)
        return program, "nonstrict", _TAKEN
    except (OracleError, results.Unknown):
        raise
    except Exception as error:
        first = error
    try:
        with torch.no_grad(), branches.with_elements() as holds:
            program = torch.export.export(module, args, kwargs, strict=True)
        refuse_kept(program, False)
        _assert_all(program, holds)
        return program, "strict", real_run.difference(program, module, make, (args, kwargs))
    except OracleError:
        raise
    except Exception as error:
        refusal = not_exportable(module, first, error)
        raise dataclasses.replace(refusal, hint=(refusal.hint or "").replace(CUT, STAYS)) from first


def _assert_all(program: torch.export.ExportedProgram, holds: Iterable[Any]) -> None:
    if left := asserted.complete(program, holds):
        raise input_error(BRANCHES, f"a branch on values cannot be checked in each call: {left[0]}", hint=STAYS)


def _export(
    module: torch.nn.Module, args: tuple, kwargs: dict, notes: list[str], make: Optional[real_run.Make]
) -> Traced:
    """The program, the tracer that took the module, and why the trace could not be compared with eager PyTorch."""
    made: list[calls.Calls] = []
    truths = Truths()
    try:
        with python_state.left_as_found(module) as caches:
            with results.watched(module), calls.recorded(module, truths) as made, python_state.refused(module, caches):
                program = torch.export.export(module, args, kwargs, strict=False)
            refuse_kept(program, made[-1].differentiates)
            why = eager.difference(made[-1], module, args, kwargs)
            if why is not None and real_run.difference(program, module, make, (args, kwargs)) is None:
                why = None
            return program, "nonstrict", why
    except (OracleError, results.Unknown):
        raise
    except Exception as error:
        if isinstance(error, PendingUnbackedSymbolNotFound) and torch.is_grad_enabled():
            # Views for gradients have sizes that no result shows. Without them the module makes the same calls, and a
            # drop-in is called without them.
            with torch.no_grad():
                return _export(module, args, kwargs, notes, make)
        if truths.refused:  # the strict tracer has symbols for truths, of which `is True` does not hold
            raise not_exportable(module, error, error) from error
        first = as_kept(error, any(called.differentiates for called in made))
        notes.append(f"nonstrict: {first_line(error, 200)}")
    try:
        program = torch.export.export(module, args, kwargs, strict=True)
        refuse_kept(program, False)
        return program, "strict", real_run.difference(program, module, make, (args, kwargs))
    except OracleError:
        raise
    except Exception as error:
        second = error
        notes.append(f"strict: {first_line(error, 200)}")
    if isinstance(first, Kept) or differentiated.is_of_transform(first):
        try:
            with python_state.left_as_found(module) as caches, python_state.refused(module, caches):
                program = differentiated.export(module, args, kwargs)
            return program, "differentiated", real_run.difference(program, module, make, (args, kwargs))
        except OracleError:
            raise
        except Exception as error:
            notes.append(f"differentiated: {first_line(error, 200)}")
    _refuse_failing_forward(module, args, kwargs, make)
    raise not_exportable(module, first, second) from first


def _refuse_failing_forward(module: torch.nn.Module, args: tuple, kwargs: dict, make: Optional[real_run.Make]) -> None:
    """Tells wrong shapes and plain bugs in `forward` from code that merely cannot be traced."""
    refuse_wrong_call(module, args, kwargs)
    mode = torch._guards.detect_fake_mode(args) or FakeTensorMode(allow_non_fake_inputs=True)
    try:
        # Without memory numbers on the CPU are written even so.
        with buffers_kept(module), python_state.left_as_found(module), torch.no_grad(), mode:
            module(*args, **kwargs)
    except OracleError:
        raise
    except _TRACER_LIMITS:
        return
    except Exception as error:
        if is_out_of_memory(error):
            raise environment_error(
                "trace.out_of_memory",
                f"tracing needs more memory: {said(error)}",
                hint="use smaller sizes, or a machine with more memory",
            ) from error
        if known(module, error):
            raise not_exportable(module, error, error) from error
        eager = real_run.failure(module, make, (args, kwargs))
        if eager is not None:  # of the module itself, in the words of eager PyTorch
            raise forward_failed("trace.forward_failed", eager or error) from error


@functools.cache
def _all_decompositions() -> dict[str, tuple[Any, Any]]:
    """Operator and decomposition by name. PyTorch's own choice for export first; its full table knows further ones."""
    table = {**torch._decomp.decomposition_table, **dict(torch.export.default_decompositions().items())}
    return {str(op): (op, function) for op, function in table.items()}


def _decomposable(program: Any) -> list[str]:
    """Operators of the graph that can be broken up. Recurrent ones are left out: they would be unrolled in time."""
    if any(counts.made_varies(n) for n in program.graph.nodes):
        return []  # whatever they become: no program holds it
    names = {str(n.target) for n in program.graph.nodes if n.op == "call_function"}
    return sorted(n for n in names & _all_decompositions().keys() if n not in RECURRENT)


def _decompositions(names: Sequence[str]) -> dict:
    """Only the named operators; everything else stays whole."""
    chosen = {}
    for name in names:
        if name not in _all_decompositions():
            raise input_error("trace.no_decomposition", f"PyTorch has no decomposition for `{name}`")
        op, function = _all_decompositions()[name]
        chosen[op] = function
    return chosen
