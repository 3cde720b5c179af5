"""One graph's nodes as JSON: every argument named by the operator's schema, defaults filled in,
results numbered, `getitem` folded away."""

from __future__ import annotations

import operator
import re
from typing import Any, Optional

import torch
from torch.fx import Graph, Node

from ..errors import internal_error
from . import counts
from .sources import SourceTable
from .values import SYMBOLIC, SCALARS, literal, tensor_meta

# The name under which loading.py imports FILE.py; shown as FILE.
_USER_MODULE = re.compile(r"^solstice_user_(.*)_[0-9a-f]{8}\.")
_DRAWS = torch.Tag.nondeterministic_seeded


class ModuleTable:
    """Paths and types of the modules that the nodes belong to, in order of appearance."""

    def __init__(self) -> None:
        self.types: dict[str, str] = {}

    def innermost(self, stack: dict) -> str:
        for path, cls in stack.values():
            name = cls if isinstance(cls, str) else f"{cls.__module__}.{cls.__qualname__}"
            self.types.setdefault(path, _USER_MODULE.sub(r"\1.", name))
        return next(reversed(stack.values()))[0]


class NodeWriter:
    """Writes the nodes of one graph. `value_id` names the values that outputs refer to."""

    def __init__(self, graph: Graph, sources: SourceTable, modules: ModuleTable) -> None:
        self._nodes = list(graph.nodes)
        self._sources = sources
        self._modules = modules
        self._results: dict[Node, str] = {}
        self._read: dict[Node, set[int]] = {}
        for node in self._nodes:
            if _is_result_access(node):
                producer, index = node.args
                self._results[node] = f"{producer.name}.{index}"
                self._read.setdefault(producer, set()).add(index)

    def write(self) -> list[dict[str, Any]]:
        skipped = ("placeholder", "output", "get_attr")
        written = [n for n in self._nodes if n.op not in skipped and n not in self._results]
        return [self._node(n) for n in written if not (all_uses_take_the_tensor(n) or _only_checks_extents(n))]

    def value_id(self, node: Node) -> str:
        return self._results.get(node, node.name)

    def _node(self, node: Node) -> dict[str, Any]:
        if node.op != "call_function":
            raise internal_error("trace.node_kind", f"unexpected `{node.op}` node `{node.name}` in an exported graph")
        record: dict[str, Any] = {"id": node.name, **self._call(node), "outs": self._outs(node)}
        stack = node.meta.get("nn_module_stack")
        if stack:
            record["module"] = self._modules.innermost(stack)
        where = self._sources.location(node.meta.get("stack_trace"))
        if where:
            record["src"] = where
        return record

    def _call(self, node: Node) -> dict[str, Any]:
        target = node.target
        if isinstance(target, torch._ops.OpOverload):
            return self._operator(node, target)
        prefix = "hop" if isinstance(target, torch._ops.HigherOrderOperator) else "py"
        name = target.name() if prefix == "hop" else getattr(target, "__name__", str(target))
        positional = {str(i): self._argument(a) for i, a in enumerate(node.args)}
        return {
            "op": f"{prefix}.{name}",
            "args": {**positional, **{k: self._argument(v) for k, v in node.kwargs.items()}},
        }

    def _operator(self, node: Node, target: Any) -> dict[str, Any]:
        schema = target._schema
        values = _bind(node, schema)
        tensors = {a.name for a in schema.arguments if isinstance(a.type, torch.TensorType)}
        read = {k: tensor_read_by(v) if k in tensors else v for k, v in values.items()}
        call: dict[str, Any] = {"op": str(target), "args": {k: self._argument(v) for k, v in read.items()}}
        if draws(node):
            call["rng"] = True
        writes = [a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
        if writes:
            call["mutates"] = writes
        views = _viewed_arguments(schema)
        if views:
            call["view_of"] = views
        return call

    def _argument(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self._reference(value)
        if isinstance(value, (list, tuple)):
            return [self._argument(v) for v in value]
        if isinstance(value, dict):
            return {"dict": {str(k): self._argument(v) for k, v in value.items()}}
        return literal(value)

    def _reference(self, node: Node) -> dict[str, Any]:
        if node.op == "get_attr":
            return {"graph": str(node.target)}
        kind = "n" if isinstance(node.meta.get("val"), SCALARS) else "t"
        return {kind: self.value_id(node)}

    def _outs(self, node: Node) -> list[Optional[dict[str, Any]]]:
        value = node.meta.get("val")
        if isinstance(value, (tuple, list)):
            # A user other than getitem takes the whole tuple.
            whole = any(not _is_result_access(u) for u in node.users)
            read = self._read.get(node, set())
            return [_out(node, f"{node.name}.{i}", v, whole or i in read) for i, v in enumerate(value)]
        return [] if value is None else [_out(node, node.name, value, bool(node.users))]


def _out(node: Node, id: str, value: Any, used: bool) -> Optional[dict[str, Any]]:
    if value is None:
        return None
    meta = tensor_meta(value) if isinstance(value, torch.Tensor) else {"scalar": type(value).__name__}
    if isinstance(value, torch.Tensor) and counts.varies(value):
        meta["varies"] = counts.way_to_a_known_shape(node.target)
    return {"id": id, **meta, "used": used}


def _is_result_access(node: Node) -> bool:
    return (
        node.op == "call_function"
        and node.target is operator.getitem
        and isinstance(node.args[0], Node)
        and isinstance(node.args[0].meta.get("val"), (tuple, list))
    )


def _bind(node: Node, schema: Any) -> dict[str, Any]:
    values = {}
    for position, argument in enumerate(schema.arguments):
        if position < len(node.args):
            values[argument.name] = node.args[position]
        elif argument.name in node.kwargs:
            values[argument.name] = node.kwargs[argument.name]
        elif argument.has_default_value():
            values[argument.name] = argument.default_value
        else:
            raise internal_error("trace.missing_argument", f"`{schema.name}`: no value for `{argument.name}`")
    return values


def tensor_read_by(value: Any) -> Any:
    """Where a tensor may stand: `x * y.item()` is `x * y`, since tensors without dimensions count as numbers do."""
    return value.args[0] if _is_item(value) else value


def all_uses_take_the_tensor(node: Node) -> bool:
    """Of a number that is read from a tensor."""

    def takes(user: Node) -> bool:
        if not isinstance(user.target, torch._ops.OpOverload):
            return False
        bound = _bind(user, user.target._schema)
        types = {a.name: a.type for a in user.target._schema.arguments}
        return all(isinstance(types[k], torch.TensorType) for k, v in bound.items() if _mentions(v, node))

    return _is_item(node) and all(takes(user) for user in node.users)


def _only_checks_extents(node: Node) -> bool:
    """The exporter's own checks of extents that it found late. The graph has them as numbers."""
    if node.target is torch.ops.aten._assert_scalar.default:
        return _is_of_extents(node.args[0])
    return _is_of_extents(node) and all(_only_checks_extents(user) for user in node.users)


def _is_of_extents(value: Any) -> bool:
    if not isinstance(value, Node):
        return isinstance(value, (bool, int))
    if value.target is torch.ops.aten.sym_size.int:
        return True
    counts = isinstance(value.meta.get("val"), SCALARS) and not isinstance(value.target, torch._ops.OpOverload)
    return counts and value.op == "call_function" and all(_is_of_extents(arg) for arg in value.args)


def _is_item(value: Any) -> bool:
    return isinstance(value, Node) and value.target is torch.ops.aten.item.default


def _mentions(value: Any, node: Node) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_mentions(v, node) for v in value)
    return value is node


def _really_draws(values: dict[str, Any]) -> bool:
    """The tag alone is wrong: attention, LSTM and GRU carry it although their dropout is off."""
    off = any(values.get(name) == 0 for name in ("p", "dropout", "dropout_p") if name in values)
    return not off and values.get("train") is not False


def draws(node: Node) -> bool:
    """Random numbers, with these arguments."""
    return _DRAWS in node.target.tags and _really_draws(_bind(node, node.target._schema))


def _viewed_arguments(schema: Any) -> list[str]:
    names = []
    for result in schema.returns:
        if result.alias_info is None:
            continue
        for argument in schema.arguments:
            if argument.alias_info is not None and argument.alias_info.before_set & result.alias_info.before_set:
                names.append(argument.name)
    return names
