"""The usual call, as one straight function written for one bound module.

Guards, allocation of the results and launch run on every call, and a loop over them in Python would take longer than
the launch itself. So the conditions are unrolled into text with everything they need bound as globals, and
compiled once. The function answers MISS, without having done anything, whenever a guard does not hold; the slow
path then finds out why, or mends what it can (binding.py, runtime.py).
"""

from __future__ import annotations

import math
import struct
from typing import Any, Callable, Iterator

import torch
from torch.utils import _pytree as pytree
from torch.utils.hooks import RemovableHandle

from . import overlaps
from .binding import Binding
from .guards import TENSOR_TYPES
from .recording import Constant, Recording
from .specs import TensorSpec
from .unrolled import Text, tree

MISS = object()

ENVIRONMENT: dict[str, Any] = {
    "MISS": MISS,
    "alike": lambda *tensors: False,  # until recognise() knows better
    "Tensor": TENSOR_TYPES[0],
    "Parameter": TENSOR_TYPES[1],
    "Handle": RemovableHandle,
    "forward_ad": torch.autograd.forward_ad,
    "autocast": torch.is_autocast_enabled,
    "grad_mode": torch.is_grad_enabled,
    "matmul_tf32": torch._C._get_cublas_allow_tf32,
    "cudnn_tf32": torch._C._get_cudnn_allow_tf32,
    "deterministic": torch._C._get_deterministic_algorithms,
    "dispatch_modes": torch._C._len_torch_dispatch_stack,
    "function_modes": torch._C._len_torch_function_stack,
    "transform": torch._C._functorch.peek_interpreter_stack,
    "tracing": torch._C._is_tracing,
}


def write(
    recording: Recording, binding: Binding, slots: Any, flags: tuple, flatten: Callable, assemble: Callable
) -> Callable:
    """`fast(module, args, kwargs)`: the result of the kernels, or MISS."""
    text = Text(ENVIRONMENT)
    lines = [
        *guarded(text, recording, binding, flags, flatten),
        *_launch(text, recording, binding, slots, assemble),
    ]
    return compiled(text, lines)


def compiled(text: Text, lines: list[str]) -> Callable:
    exec(compile("\n".join(lines) + "\n", "<solstice drop-in>", "exec"), text.names)
    return text.names["fast"]


def guarded(text: Text, recording: Recording, binding: Binding, flags: tuple, flatten: Callable) -> list[str]:
    """The head of `fast`: it goes on where every guard holds."""
    conditions = [
        *_environment(flags),
        *tree(text, binding),
        *_constants(text, recording),
        *_forms(text, recording, binding),
        *_addresses(text, recording, binding),
        *overlaps.conditions(text, recording, binding),
        *(c for held in binding.assumed for c in _assumed(text, held)),
        *_gradients(text, recording, binding),
    ]
    return [
        "def fast(module, args, kwargs):",
        *_unpack(text, recording, flatten),
        "    root = module.__dict__",
        "    try:",
        "        if (",
        "            " + "\n            or ".join(conditions),
        "        ): return MISS",
        # An attribute is gone, or flags refuse to answer: the slow look says which.
        "    except (KeyError, AttributeError, ValueError, RuntimeError): return MISS",
    ]


def _unpack(text: Text, recording: Recording, flatten: Callable) -> Iterator[str]:
    count = len(recording.arguments)
    if recording.in_tree is None:
        yield f"    if kwargs or len(args) != {count}: return MISS"
    else:
        yield f"    args = {text.bind('flatten', flatten)}(args, kwargs)"
        yield "    if args is None: return MISS"
    if count:
        yield "    " + "".join(f"x{i}, " for i in range(count)) + "= args"


def _environment(flags: tuple) -> Iterator[str]:
    """As guards.environment_refusal(); a flag that cannot be read raises RuntimeError."""
    yield "autocast()"
    for name, wanted in zip(("matmul_tf32", "cudnn_tf32", "deterministic"), flags):
        yield f"{name}() is not {wanted!r}"
    yield "dispatch_modes()"
    yield "function_modes()"
    yield "transform() is not None"
    yield "tracing()"
    yield "forward_ad._current_level >= 0"


def _tensor_arguments(recording: Recording) -> list[tuple[int, TensorSpec]]:
    return [(i, a) for i, a in enumerate(recording.arguments) if isinstance(a, TensorSpec)]


def _constants(text: Text, recording: Recording) -> Iterator[str]:
    for position, recorded in enumerate(recording.arguments):
        if isinstance(recorded, Constant):
            yield f"not {text.bind('constant', recorded)}.equals(x{position})"


def _forms(text: Text, recording: Recording, binding: Binding) -> Iterator[str]:
    """What guards.misfit() and binding.Owner.holds() ask of all tensors but where they lie: in one call where they look
    as they once did, else one by one. The same tensor at the same address can still have become a transposed one, or
    one of another dtype whose memory happens to lie there."""
    arguments = _tensor_arguments(recording)
    names = [f"x{i}" for i, _ in arguments] + [text.bind("state", owner.tensor) for owner in binding.owners]
    if not names:
        return
    each = [c for i, spec in arguments for c in _argument(text, f"x{i}", spec, binding.device.index)]
    for name, owner in zip(names[len(arguments) :], binding.owners):
        each += _form(text, name, owner.spec)
    yield f"not alike({', '.join(names)}) and ({' or '.join(each)})"


def recognise(fast: Callable, recording: Recording, binding: Binding, leaves: Any) -> None:
    """`fast` compares its tensors with these, which fit, by PyTorch's own guard where it has one: type, dtype, device,
    dispatch keys, extents and strides, hence more than is asked."""
    make = getattr(getattr(torch._C._dynamo, "guards", None), "TensorGuards", None)
    tensors = [leaves[i] for i, _ in _tensor_arguments(recording)] + [owner.tensor for owner in binding.owners]
    if make is not None:
        sizes, strides = [list(t.shape) for t in tensors], [list(t.stride()) for t in tensors]
        fast.__globals__["alike"] = make(*tensors, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides).check


def _argument(text: Text, x: str, recorded: TensorSpec, device: int) -> Iterator[str]:
    """A lazily negated tensor is the imaginary part of a conjugate, every other element of it, which is contiguous with
    one element alone."""
    yield f"type({x}) is not Tensor and type({x}) is not Parameter"
    yield from _form(text, x, recorded)
    yield f"{x}.get_device() != {device}"
    if not recorded.contiguous or math.prod(recorded.shape) == 1:
        yield f"{x}.is_neg()"


def _form(text: Text, tensor: str, spec: TensorSpec) -> Iterator[str]:
    yield f"{tensor}.dtype is not {text.bind('dtype', spec.dtype)}"
    yield f"{tensor}.shape != {spec.shape!r}"
    yield f"not {tensor}.is_contiguous()" if spec.contiguous else f"{tensor}.stride() != {spec.stride!r}"


def _addresses(text: Text, recording: Recording, binding: Binding) -> Iterator[str]:
    """A tensor of another layout has no address and raises RuntimeError; one whose memory was given back has 0."""
    for position, spec in _tensor_arguments(recording):
        yield f"(a{position} := x{position}.data_ptr()) % {spec.alignment}"
        if math.prod(spec.shape):
            yield f"not a{position}"
        if recording.by_place:
            yield f"x{position}.storage_offset()"
    for owner in binding.owners:
        tensor = text.bind("state", owner.tensor)
        yield f"{text.bind('store', owner.store)}[{owner.name!r}] is not {tensor}"
        yield f"{tensor}.data_ptr() != {owner.pointer}"


def _assumed(text: Text, held: Any) -> Iterator[str]:
    """As assumed.Held.holds()."""
    tensor = text.bind("assumed", held.tensor)
    version, pointer, dtype, shape, stride = held.facts
    yield f"{text.bind('store', held.store)}[{held.name!r}] is not {tensor}"
    yield f"{tensor}._version != {version}"
    yield f"{tensor}.data_ptr() != {pointer}"
    yield f"{tensor}.dtype is not {text.bind('dtype', dtype)}"
    yield f"{tensor}.shape != {tuple(shape)!r}"
    yield f"{tensor}.stride() != {stride!r}"


def _gradients(text: Text, recording: Recording, binding: Binding) -> Iterator[str]:
    tensors = [f"x{i}" for i, _ in _tensor_arguments(recording)]
    tensors += [text.bind("state", owner.tensor) for owner in (*binding.owners, *binding.assumed)]
    tensors += [text.bind("held", tensor) for tensor, _, _ in binding.watch.contents.tensors]
    if tensors:
        yield "grad_mode() and (" + " or ".join(f"{t}.requires_grad" for t in tensors) + ")"


def _launch(text: Text, recording: Recording, binding: Binding, slots: Any, assemble: Callable) -> Iterator[str]:
    device = binding.device
    if device.several:
        yield f"    if {text.bind('current', device.current)}() != {device.index}: return MISS"
    yield f"    slot = {text.bind('ready', slots.ready.get)}({text.bind('stream', device.stream)}({device.index}))"
    yield "    if slot is None: return MISS"
    yield f"    if {text.bind('capturing', device.capturing)}(): return MISS"
    if binding.frozen:
        versions = "".join(f"{text.bind('frozen', t)}._version, " for t in binding.frozen)
        yield f"    if slot.versions != ({versions}): return MISS"
    empty = text.bind("empty", device.empty)
    for i, output in enumerate(recording.outputs):
        dtype = text.bind("dtype", output.dtype)
        yield f"    y{i} = {empty}({output.shape!r}, {output.stride!r}, {dtype})"
    addresses = [f"a{i}" for i, _ in recording.read] + [f"y{i}.data_ptr()" for i in range(len(recording.outputs))]
    pack = text.bind("pack", struct.Struct(f"{len(addresses)}P").pack)
    yield f"    moved = {pack}({', '.join(addresses)})"
    yield f"    if {text.bind('relaunch', slots.relaunch)}(slot.call, moved): slot.again(moved)"
    if binding.written:
        yield f"    {text.bind('mark_written', binding.mark_written)}()"
    yield f"    return {_result(text, recording, assemble)}"


def _result(text: Text, recording: Recording, assemble: Callable) -> str:
    names = {"output": "y{}", "argument": "x{}"}
    leaves = [names[kind].format(which) if kind in names else text.literal(which) for kind, which in recording.results]
    return assembled(text, recording, leaves, assemble)


def assembled(text: Text, recording: Recording, leaves: list[str], assemble: Callable) -> str:
    """The result as an expression of its leaves."""
    if recording.out_tree is None:
        return leaves[0]
    # Plain tuples and lists of leaves are written out; anything deeper is put together by PyTorch.
    for kind, form in () if recording.out_form else ((tuple, "({},)"), (list, "[{}]")):
        if recording.out_tree == pytree.tree_flatten(kind([0] * len(leaves)))[1]:
            return form.format(", ".join(leaves))
    return f"{text.bind('assemble', assemble)}([{', '.join(leaves)}])"
