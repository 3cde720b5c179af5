"""Contents of an exported program that a graph has no form for. Each is refused with its line and the way out."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

import torch
from torch.export.graph_signature import InputKind, OutputKind

from ..errors import function_location, input_error
from . import instance_norm
from .causes import STAYS
from .sources import SourceTable


class Refusal(NamedTuple):
    code: str
    message: str
    hint: str
    node: Any  # of the graph, where its line is to be found


_BY_VALUES = {"cond": "select elements with torch.where", "while_loop": "loop as many times as Python can tell"}
_DRAWING = "draw with PyTorch's default generator, which `torch.manual_seed` seeds"


def refuse_layouts(module: torch.nn.Module) -> None:
    """Sparse parameters and buffers, used or not: they have no storage and no strides to describe."""
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        if tensor.layout is not torch.strided:
            raise layout_error(name, tensor, **function_location(type(module).forward))


def layout_error(name: str, tensor: torch.Tensor, **place: Any) -> Exception:
    return input_error(
        "trace.layout",
        f"`{name}` has the layout {str(tensor.layout).removeprefix('torch.')}, and graphs hold strided tensors",
        hint=f"make it dense with `.to_dense()`; otherwise {STAYS}",
        **place,
    )


def refuse_unwritable(program: Any) -> None:
    for found in _found(program):
        raise input_error(found.code, found.message, hint=found.hint, **place_of(found.node))


def place_of(node: Any) -> dict[str, Any]:
    sources = SourceTable({})
    where = sources.location(node.meta.get("stack_trace")) if node is not None else None
    return {"file": sources.files[where["file"]], "line": where["line"]} if where else {}


def _found(program: Any) -> Iterator[Refusal]:
    nodes = {node.name: node for node in program.graph.nodes}
    for spec in program.graph_signature.output_specs:
        if spec.kind is OutputKind.PARAMETER_MUTATION:
            message = f"`forward` writes the parameter `{spec.target}`"
            hint = "make it a buffer (`register_buffer`), or write it outside of `forward`, as optimizers do"
            yield Refusal("trace.parameter_written", message, hint, nodes.get(spec.arg.name))
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.CUSTOM_OBJ:
            yield _object(spec, nodes[spec.arg.name], program)
    for node in nodes.values():
        yield from _of_node(node)


def _object(spec: Any, node: Any, program: Any) -> Refusal:
    kind = type(program.constants.get(spec.target)).__name__
    is_generator = any("generator" in user.kwargs for user in node.users)
    message = (
        "`forward` draws from a generator of its own"
        if is_generator
        else f"`forward` uses an object of the class `{kind}`"
    )
    hint = _DRAWING if is_generator else f"a graph holds tensors and numbers; {STAYS}"
    return Refusal("trace.object", message, hint, next(iter(node.users), None))


def _of_node(node: Any) -> Iterator[Refusal]:
    if node.op != "call_function":
        return
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        name = node.target.name()
        why = ", and values decide which of them run" if name in _BY_VALUES else ""
        hint = _BY_VALUES.get(name, "write it with PyTorch's other operators")
        yield Refusal("trace.higher_order", f"`{name}` calls functions{why}", f"{hint}; otherwise {STAYS}", node)
    if instance_norm.hides_a_mutation(node):
        message = f"`{node.name}` writes running statistics that its schema hides"
        hint = "call torch.nn.functional.instance_norm, or a module, instead of torch.instance_norm"
        yield Refusal("trace.hidden_mutation", message, hint, node)
