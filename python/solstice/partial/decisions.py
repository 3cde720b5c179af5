"""Decisions: calls whose results jump where what they read changes in its last bits (top-k, argmax, comparisons, casts
to integers, rounding). Results of ours differ from PyTorch's in their last bits, so a decision on them may fall
otherwise than the original's."""

from __future__ import annotations

import torch
from torch.fx import Node

from ..tensors import tensor_leaves
from .own_graph import OwnGraph, is_projection

_JUMPING = ("round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "heaviside", "floor_divide", "fake_quantize")


def is_decision(node: Node) -> bool:
    if is_projection(node) or not isinstance(node.target, torch._ops.OpOverload):
        return False
    name = node.target._schema.name.partition("::")[2]
    reads = [t for n in node.all_input_nodes for t in tensor_leaves(n.meta.get("val"))]
    made = _used_results(node)
    if not any(t.is_floating_point() for t in reads):
        return False
    return name.rstrip("_").startswith(_JUMPING) or any(not t.is_floating_point() and not t.is_complex() for t in made)


def _used_results(node: Node) -> list[torch.Tensor]:
    """`torch.sort(x)[0]` decides nothing."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return [value]
    return tensor_leaves([user.meta.get("val") for user in node.users if is_projection(user) and user.users])


def only_for_decisions(own: OwnGraph, decisions: set[Node]) -> set[Node]:
    """Calls whose results nothing but decisions depends on."""
    results = {r for r in own.results if isinstance(r, Node)}
    found: set[Node] = set()
    for node in reversed(own.calls()):
        decided = bool(node.users) and all(u in decisions or u in found for u in node.users)
        if decided and node not in results and node not in decisions:
            found.add(node)
    return found


def upstream(nodes: set[Node]) -> set[Node]:
    """Everything that they depend on."""
    found: set[Node] = set()
    waiting = list(nodes)
    while waiting:
        for other in waiting.pop().all_input_nodes:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found
