"""Modules whose `forward` differentiates by autograd (`torch.autograd.grad`): forces, residuals of equations.

`torch.export` sees operators above autograd, and not what autograd keeps of them for the backward pass. Below it a call
is operators alone, those of the backward pass among them. Such a graph is exported in place of `forward`.
"""

from __future__ import annotations

import contextlib
import functools
import traceback
from typing import Any, Iterator

import torch
import torch._functorch.eager_transforms
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils import stateless

from ..tensors import map_tensors, tensor_leaves


def export(module: torch.nn.Module, args: tuple, kwargs: dict) -> torch.export.ExportedProgram:
    """Parameters and buffers keep their paths, operators the line that calls or differentiates them, but no module."""
    graph, results = _traced(module, args, kwargs)
    names = list(kwargs)

    @functools.wraps(module.forward)  # whose names the inputs have
    def forward(*args: Any, **kwargs: Any) -> Any:
        inputs = tensor_leaves((args, {name: kwargs[name] for name in names}))
        found = iter(torch.fx.Interpreter(graph).run(*inputs, *_state(module).values()))
        return map_tensors(lambda _: next(found), results)

    with _forward_of(module, forward), torch.fx.traceback.preserve_node_meta():
        return torch.export.export(module, args, kwargs, strict=False)


def is_of_transform(error: Exception) -> bool:
    """Whether it was raised within one of `torch.func` (`grad`, `jacrev`), which does without autograd's own calls."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_code.co_filename == torch._functorch.eager_transforms.__file__ for frame in frames)


def _traced(module: torch.nn.Module, args: tuple, kwargs: dict) -> tuple[torch.fx.GraphModule, Any]:
    """The operators of a call, as a graph of the tensors among the inputs, then the state, and what it returns."""
    mode = torch._guards.detect_fake_mode((args, kwargs)) or FakeTensorMode(allow_non_fake_inputs=True)
    fake = lambda t: t if mode.is_our_fake(t) else mode.from_tensor(t)
    args, kwargs = map_tensors(fake, (args, kwargs))
    inputs = tensor_leaves((args, kwargs))
    state = {name: fake(tensor) for name, tensor in _state(module).items()}  # one fake for each tensor
    returned: list[Any] = []

    def call(*given: torch.Tensor) -> list[torch.Tensor]:
        tensors = iter(given)
        own_args, own_kwargs = map_tensors(lambda _: next(tensors), (args, kwargs))
        with stateless._reparametrize_module(module, dict(zip(state, tensors))):
            returned.append(module(*own_args, **own_kwargs))
        return tensor_leaves(returned[-1])

    trace = make_fx(call, decomposition_table=_left_whole(), record_stack_traces=True)
    graph = trace(*inputs, *state.values())
    return graph, returned[-1]


@functools.cache
def _left_whole() -> dict:
    """Derivatives (of silu, mish) that an exported program does not break up when asked: it takes them for composites,
    and they are none where they have kernels of their own."""
    composite = lambda op: torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")
    table = torch._decomp.decomposition_table.items()
    return {
        op: f for op, f in table if isinstance(op, torch._ops.OpOverload) and composite(op) and "_backward" in str(op)
    }


def _state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


@contextlib.contextmanager
def _forward_of(module: torch.nn.Module, forward: Any) -> Iterator[None]:
    before = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        del module.forward
        if before is not None:
            module.forward = before
