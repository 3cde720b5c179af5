"""Where it matters whether a module is in training mode, in words for a report."""

from __future__ import annotations

import inspect
from typing import Iterator

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd

MODES = ("train", "eval")


def note_of(module: torch.nn.Module) -> str:
    """`traced in training mode: batch statistics, dropout active`; "" where no part of the module asks for its mode."""
    training, evaluating = (list(dict.fromkeys(_effects(module, mode))) for mode in (True, False))
    parts = []
    if training:
        parts.append(f"traced in training mode: {', '.join(training)}")
    if evaluating:
        parts.append(f"{'the rest' if training else 'traced'} in evaluation mode: {', '.join(evaluating)}")
    return "; ".join(parts)


def _effects(module: torch.nn.Module, training: bool) -> Iterator[str]:
    for child in module.modules():
        if child.training is training:
            yield from _effects_of(child, training)


def _effects_of(child: torch.nn.Module, training: bool) -> Iterator[str]:
    if isinstance(child, _NormBase):
        if child.track_running_stats:  # without, statistics are of the batch in both modes
            yield "batch statistics" if training else "running statistics"
    elif _drops(child):
        yield "dropout active" if training else "no dropout"
    elif isinstance(child, torch.nn.RReLU):
        yield "random slopes" if training else "mean slopes"
    elif not type(child).__module__.startswith(("torch.nn.", "solstice.")) and _asks(type(child)):
        yield f"`{type(child).__name__}` asks for its mode"


def _drops(child: torch.nn.Module) -> bool:
    if isinstance(child, _DropoutNd):
        return child.p > 0
    return isinstance(child, (torch.nn.RNNBase, torch.nn.MultiheadAttention)) and child.dropout > 0


def _asks(cls: type) -> bool:
    """A method of the user's own that reads `self.training`."""
    functions = (f for c in cls.__mro__ if not c.__module__.startswith("torch.") for f in vars(c).values())
    return any("training" in f.__code__.co_names for f in functions if inspect.isfunction(f))
