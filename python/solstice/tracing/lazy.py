"""Gives lazy modules their parameters before the trace, as their first call would."""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.nn.modules.lazy import LazyModuleMixin

from ..tensors import buffers_kept


def waits(module: torch.nn.Module) -> bool:
    return any(isinstance(m, LazyModuleMixin) and m.has_uninitialized_params() for m in module.modules())


def _for_real(hook: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with unset_fake_temporarily():
            return hook(*args, **kwargs)

    return run


def materialise(module: torch.nn.Module, args: tuple, kwargs: dict) -> None:
    """Runs `forward` on fake tensors; only the hooks that make parameters from the shapes of inputs run for real, so
    that no kernel runs."""
    for child in module.modules():
        if not isinstance(child, LazyModuleMixin) or not child.has_uninitialized_params():
            continue
        for number, hook in child._forward_pre_hooks.items():
            if getattr(hook, "__func__", None) is LazyModuleMixin._infer_parameters:
                child._forward_pre_hooks[number] = _for_real(hook)
    mode = torch._guards.detect_fake_mode((args, kwargs)) or FakeTensorMode(allow_non_fake_inputs=True)
    with buffers_kept(module), torch.no_grad(), mode:  # counters are written even so
        module(*args, **kwargs)
