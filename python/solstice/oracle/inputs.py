"""Input sets: example inputs from a seed and a value family."""

from __future__ import annotations

from typing import Any

import torch

from ..errors import environment_error, input_error
from ..hostmem import available_bytes
from ..tensors import logical_bytes, map_tensors, tensor_leaves
from ..tracing.fakes import sized_inputs
from . import families
from .session import InputSet, Session

HOST_SHARE = 0.25  # of free memory: results, intermediates and the oracle need the rest
DEVICE_SHARE = 0.9


def prepare(session: Session, seed: int, family: str, weights: str) -> tuple[InputSet, bool]:
    """The set, and whether the family applies: `balanced_outliers` needs a product to balance."""
    if family not in families.NAMES:
        raise input_error("inputs.no_family", f"no family `{family}`", hint=f"legal are {', '.join(families.NAMES)}")
    if weights not in ("built", "perturbed"):
        raise input_error("inputs.no_weights", f"no weights `{weights}`", hint="legal are built, perturbed")
    _refuse_too_large(session)
    args, kwargs = make_arguments(session, seed, family)
    if family == families.BALANCED:
        return _balanced(session, seed, args, kwargs)
    return InputSet(seed, family, weights, args, kwargs), True


def make_arguments(session: Session, seed: int, family: str) -> tuple[tuple, dict]:
    base = session.example_inputs(seed)
    generator = families.generator_on(session.device, seed)
    return map_tensors(lambda t: families.fill(t, family, generator), base)


def _balanced(session: Session, seed: int, args: tuple, kwargs: dict) -> tuple[InputSet, bool]:
    module = session.fresh_variant(families.BALANCED)
    with torch.no_grad():
        applies = families.balance(tensor_leaves((args, kwargs)), list(module.parameters()))
    return InputSet(seed, families.BALANCED, families.BALANCED, args, kwargs), applies


def scaled_tensor(session: Session, inputs: InputSet, name: str) -> torch.Tensor:
    """`input.POSITION`, a leaf of the arguments, or `parameter.NAME` of the module that goes with the set."""
    kind, _, rest = name.partition(".")
    if kind == "input" and rest.isdigit() and int(rest) < len(inputs.leaves()):
        found = inputs.leaves()[int(rest)]
    elif kind == "parameter":
        found = dict(session.module(inputs.variant).named_parameters(remove_duplicate=False)).get(rest)
    else:
        found = None
    if not isinstance(found, torch.Tensor) or not found.is_floating_point():
        raise input_error("inputs.no_tensor", f"no float input or parameter `{name}`")
    return found


def restore(session: Session, inputs: InputSet) -> None:
    """Makes the arguments anew after a call wrote them."""
    family = "default" if inputs.scaled else inputs.family
    inputs.args, inputs.kwargs = make_arguments(session, inputs.seed, family)
    if inputs.scaled and inputs.scaled[0].startswith("input."):
        with torch.no_grad():
            scaled_tensor(session, inputs, inputs.scaled[0]).mul_(inputs.scaled[1])
    if inputs.family == families.BALANCED:
        with torch.no_grad():  # the weights are balanced already; only copies of them are scaled again
            families.balance(inputs.tensors(), [p.clone() for p in session.module(inputs.variant).parameters()])


def _refuse_too_large(session: Session) -> None:
    subject = session.need_subject()
    need = logical_bytes(tensor_leaves(sized_inputs(subject.inputs)))
    if session.device.type == "cpu":
        free, share, place = available_bytes(), HOST_SHARE, "this machine"
    else:
        session.empty_cache()
        free, share, place = torch.cuda.mem_get_info(session.device)[0], DEVICE_SHARE, "the GPU"
    if need > share * free:
        raise environment_error(
            "inputs.too_large",
            f"the example inputs take {need / 2**30:.1f} GiB, and {place} has {free / 2**30:.1f} GiB free",
            hint="use smaller sizes, or a device with more memory",
        )


def describe(inputs: InputSet) -> list[dict[str, Any]]:
    """One entry for each leaf of the arguments, in the order of the graph's user inputs."""
    from ..tracing.values import number, tensor_meta

    entries = []
    for index, leaf in enumerate(inputs.leaves()):
        if isinstance(leaf, torch.Tensor):
            entries.append({"index": index, **tensor_meta(leaf)})
        else:
            entries.append({"index": index, "value": number(leaf)})
    return entries
