"""Random operators of eager PyTorch that a graph has lost, because no result needs what they draw.

The values stay right, but fewer random numbers are drawn than in eager PyTorch, so that later draws differ.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from .sources import SourceTable

_DRAWS = torch.Tag.nondeterministic_seeded


def _draws(target: Any) -> bool:
    return isinstance(target, torch._ops.OpOverload) and _DRAWS in target.tags


def drawing(program: Any) -> list[tuple[str, str]]:
    """Operators that draw although nothing reads the result, with their place: what a decomposition may remove."""
    return [
        (str(node.target), _place(node.meta.get("stack_trace")))
        for node in program.graph.nodes
        if node.op == "call_function" and _draws(node.target) and not node.users
    ]


def dropped(before: list[tuple[str, str]], program: Any) -> list[str]:
    """A sentence for each that `program` no longer has."""
    left = Counter(str(node.target) for node in program.graph.nodes if node.op == "call_function" and not node.users)
    lost = []
    for op, place in before:
        if left[op] > 0:
            left[op] -= 1
        else:
            lost.append(
                f"`{op}`{place} draws random numbers that no result needs: it is left out, eager PyTorch draws them"
            )
    return lost


def _place(trace: Any) -> str:
    where = SourceTable({}).location(trace)
    return f", line {where['line']}: `{where['text']}`," if where else ""
