"""Tensors that `forward` reads and the module does not register: layers in a plain list, attributes, globals. The
tracer takes them for constants, with the values that they have now."""

from __future__ import annotations

from typing import Any

import torch
from torch.export.graph_signature import InputKind

from ..errors import input_error
from .picture import Picture
from .refusals import place_of


def frozen(program: Any, module: torch.nn.Module) -> list[str]:
    """A sentence for each such tensor. A parameter is refused: it would never be trained, loaded or moved. Not one that
    asks for no gradient: a frozen network may be kept out of `state_dict` on purpose."""
    constants = {
        program.constants[spec.target].untyped_storage()._cdata: spec.arg.name
        for spec in program.graph_signature.input_specs
        if spec.kind is InputKind.CONSTANT_TENSOR
    }
    if not constants:
        return []
    nodes = {node.name: node for node in program.graph.nodes}
    said = []
    for name, tensor in Picture(module).unmanaged.items():
        constant = constants.pop(tensor.untyped_storage()._cdata, None) if tensor.layout is torch.strided else None
        if constant is None:
            continue
        if isinstance(tensor, torch.nn.Parameter) and tensor.requires_grad:
            raise input_error(
                "trace.unregistered_parameter",
                f"`forward` reads the parameter `{name}`, which the module does not know",
                hint="make it an attribute, or keep layers in an `nn.ModuleList` (`ModuleDict`) and parameters in an "
                "`nn.ParameterList`",
                **place_of(next(iter(nodes[constant].users), None)),
            )
        said.append(f"`{name}` is no buffer, so the program holds its contents of now: `register_buffer` makes it one")
    return said
