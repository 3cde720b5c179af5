"""An exported program as `solstice.graph` version 1 (docs/protocol.md, "Graph")."""

from __future__ import annotations

import functools
import json
from typing import Any, Iterator, Optional

import torch
from torch.export.graph_signature import InputKind
from torch.fx.experimental.symbolic_shapes import free_symbols
from torch.utils import _pytree as pytree

from ..dropin import forms
from ..dropin.structure import describe
from . import counts, results
from .closed_forms import closed_forms
from .nodes import ModuleTable, NodeWriter
from .refusals import layout_error
from .sources import SourceTable
from .values import constant_data, number, tensor_meta

SCHEMA = "solstice.graph"
VERSION = 1


def graph_json(
    program: Any,
    module: torch.nn.Module,
    producer: dict[str, Any],
    display_names: dict[str, str],
    blob_dir: Optional[str] = None,
) -> dict[str, Any]:
    producer = dict(producer)
    form = producer.pop("result_form", None)
    sources, modules = SourceTable(display_names), ModuleTable()
    writer = NodeWriter(program.graph, sources, modules)
    nodes = writer.write()
    subgraphs = {
        name: _subgraph(child, sources, modules)
        for name, child in program.graph_module.named_modules()
        if name and isinstance(child, torch.fx.GraphModule)
    }
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "producer": {"torch": torch.__version__, "entry": "torch.export", **producer},
        "semantics": semantics(module),
        "symbols": _symbols(program),
        "files": sources.files,
        "modules": _modules(module, modules),
        "state": [{"fqn": f, "kind": k, **tensor_meta(t), **extra} for f, k, t, extra in state_entries(module)],
        "inputs": _inputs(program, module, blob_dir),
        "nodes": nodes,
        "subgraphs": subgraphs,
        "rng": [n["id"] for n in nodes if n.get("rng")],
        "outputs": _outputs(program, writer),
        "structure": describe(module),
        "in_tree": _in_tree(module, program.call_spec.in_spec),
        "out_tree": _out_tree(module, program.call_spec.out_spec, form),
    }


def _in_tree(module: torch.nn.Module, spec: Any) -> list[Any]:
    """As PyTorch writes it, of plain structures; then the form, where it has classes that PyTorch gives no name."""
    _, spec, form = results.of_spec(spec)
    return _tree(module, spec, form)


def _out_tree(module: torch.nn.Module, spec: Any, form: forms.Form) -> list[Any]:
    """As _in_tree(). `form`: of a result that the tracer has seen as a plain one."""
    if form is None:
        value, spec, form = results.of_spec(spec)
        results.refuse_form(module, value)
    return _tree(module, spec, form)


def _tree(module: torch.nn.Module, spec: Any, form: forms.Form) -> list[Any]:
    return [*results.written(module, spec), *([form] if form else [])]


def semantics(module: torch.nn.Module) -> dict[str, Any]:
    from ..tensors import dtype_name

    return {
        "training": module.training,
        "grad": torch.is_grad_enabled(),
        "default_dtype": dtype_name(torch.get_default_dtype()),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "cudnn_tf32": torch.backends.cudnn.allow_tf32,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "fp8_saturates": _fp8_saturates(),
    }


@functools.cache
def _fp8_saturates() -> bool:
    """PyTorch's versions differ in what becomes of a value beyond the largest e4m3."""
    beyond = torch.tensor(1000.0, device="cpu").to(torch.float8_e4m3fn)
    return not bool(beyond.float().isnan())


def state_entries(module: torch.nn.Module) -> Iterator[tuple[str, str, torch.Tensor, dict]]:
    """Every parameter and buffer under every name, in `state_dict` order, used or not."""
    for path, child in module.named_modules(remove_duplicate=False):
        prefix = f"{path}." if path else ""
        for name, parameter in child._parameters.items():
            if parameter is not None:
                yield prefix + name, "parameter", parameter, {}
        for name, buffer in child._buffers.items():
            if buffer is not None:
                transient = name in child._non_persistent_buffers_set
                yield prefix + name, "buffer", buffer, {"persistent": False} if transient else {}


def _symbols(program: Any) -> dict[str, list[str]]:
    """Of extents, but those that depend on values. The exporter also lists symbols that it tried and dropped, and
    numbers that `forward` reads."""
    leaves = (v for n in program.graph.nodes for v in pytree.tree_leaves(n.meta.get("val")))
    tensors = [v for v in leaves if isinstance(v, torch.Tensor) and not counts.varies(v)]
    used = {s for v in tensors for s in free_symbols(v)}
    return {str(k): [str(v.lower), str(v.upper)] for k, v in program.range_constraints.items() if k in used}


def _subgraph(graph: Any, sources: SourceTable, modules: ModuleTable) -> dict[str, Any]:
    writer = NodeWriter(graph.graph, sources, modules)
    result = next(n for n in graph.graph.nodes if n.op == "output").args[0]
    returned = result if isinstance(result, (tuple, list)) else [result]
    return {
        "inputs": [n.name for n in graph.graph.nodes if n.op == "placeholder"],
        "nodes": writer.write(),
        "outputs": [writer.value_id(n) if isinstance(n, torch.fx.Node) else None for n in returned],
    }


def _modules(module: torch.nn.Module, table: ModuleTable) -> list[dict[str, Any]]:
    live = dict(module.named_modules(remove_duplicate=False))
    return [
        {"path": path, "type": kind, "training": live[path].training if path in live else None}
        for path, kind in table.types.items()
    ]


class _Storages:
    """Numbers the allocations: the same number means the same memory."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def number(self, tensor: torch.Tensor, name: str) -> int:
        if tensor.layout is not torch.strided:
            raise layout_error(name, tensor)
        return self._numbers.setdefault(tensor.untyped_storage()._cdata, len(self._numbers))


def _inputs(program: Any, module: torch.nn.Module, blob_dir: Optional[str]) -> list[dict[str, Any]]:
    live = {fqn: tensor for fqn, _, tensor, _ in state_entries(module)}
    names: dict[int, list[str]] = {}
    for fqn, tensor in live.items():
        names.setdefault(id(tensor), []).append(fqn)
    storages = _Storages()
    placeholders = {n.name: n for n in program.graph.nodes if n.op == "placeholder"}
    forms = closed_forms(module, program.graph_signature.buffers_to_mutate.values())
    records = [
        _input(spec, placeholders[spec.arg.name], live, names, storages, program, blob_dir)
        for spec in program.graph_signature.input_specs
    ]
    for record in records:
        if record["kind"] == "buffer" and record["used"] and record["fqn"] in forms:
            record["closed_form"] = forms[record["fqn"]]
    return records


def _input(
    spec: Any, node: Any, live: dict, names: dict, storages: _Storages, program: Any, blob_dir: Optional[str]
) -> dict[str, Any]:
    value = node.meta.get("val")
    record: dict[str, Any] = {"id": node.name, "kind": spec.kind.name.lower()}
    if spec.target:
        record["fqn"] = spec.target
    if isinstance(value, torch.Tensor):
        owner = live.get(spec.target, value)
        record.update(storage=storages.number(owner, spec.target or node.name), **tensor_meta(value))
    elif value is None or isinstance(value, (bool, int, float, str)):
        record["value"] = number(value)
    else:
        record["scalar"] = type(value).__name__
    if spec.kind is InputKind.BUFFER:
        record["persistent"] = bool(spec.persistent)
    if spec.target in live:
        record["requires_grad"] = bool(live[spec.target].requires_grad)
        tied = [n for n in names[id(live[spec.target])] if n != spec.target]
        if tied:
            record["tied"] = tied
    if spec.kind is InputKind.CONSTANT_TENSOR:
        record["data"] = constant_data(program.constants[spec.target], blob_dir)
    record["used"] = bool(node.users)
    return record


def _outputs(program: Any, writer: NodeWriter) -> list[dict[str, Any]]:
    nodes = {n.name: n for n in program.graph.nodes}
    records = []
    for spec in program.graph_signature.output_specs:
        record: dict[str, Any] = {"kind": spec.kind.name.lower()}
        name = getattr(spec.arg, "name", None)
        if name in nodes:
            record["value"] = writer.value_id(nodes[name])
        else:
            record["const"] = number(getattr(spec.arg, "value", None))
        if spec.target:
            record["target"] = spec.target
        records.append(record)
    return records
