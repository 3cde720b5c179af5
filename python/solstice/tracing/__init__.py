"""From a live module to a `solstice.graph` record."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Optional, Sequence

if TYPE_CHECKING:
    from ..loading import Subject


def trace(subject: "Subject", decompose: Sequence[str] = (), blob_dir: Optional[str] = None) -> dict[str, Any]:
    """The graph of `subject.module` as its constructor left it. Runs no kernel of the module."""
    import torch

    from ..tensors import module_tensors
    from .export import export_functional, fake_inputs
    from .graph import graph_json

    torch.manual_seed(0)
    device = next((t.device for t in module_tensors(subject.module)), torch.device("cpu"))
    args, kwargs = fake_inputs(subject.inputs, device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTorch about itself; the user can do nothing about them
        program, producer = export_functional(subject.module, args, kwargs, decompose)
    names = {str(subject.path.resolve()), str(subject.path)} if subject.path else ()
    display = {name: str(subject.path) for name in names}
    return graph_json(program, subject.module, {**producer, "weights": subject.weights}, display, blob_dir)
