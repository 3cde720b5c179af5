"""From a live module to a `solstice.graph` record."""

from __future__ import annotations

import contextlib
import importlib
import logging
import warnings
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence

if TYPE_CHECKING:
    from ..loading import Subject
    from .observed import Read

# What a trace imports: one to three seconds.
TRACER = (
    "torch._dynamo",
    "torch.export._trace",
    "torch._decomp.decompositions",
    "torch._refs",
    "torch._meta_registrations",
    "torch._functorch.aot_autograd",
    "solstice.tracing.export",
    "solstice.tracing.graph",
)


def trace(
    subject: "Subject",
    decompose: Sequence[str] = (),
    blob_dir: Optional[str] = None,
    taken: Optional[list["Read"]] = None,
) -> dict[str, Any]:
    """The graph of `subject.module` as its constructor left it. Runs no kernel of the module, but for small modules
    that only the strict tracer takes (real_run.py). `taken`: what a run on the example inputs has read from tensors
    (observed.py); branches on values go as there, so that the graph is not that of every call. Errors: `trace.branches`
    for a branch on values without it."""
    import torch

    from ..tensors import module_tensors
    from ..partial.stages import StageModule
    from .export import export_functional, export_traced
    from .fakes import fake_inputs
    from .graph import graph_json
    from .refusals import refuse_layouts

    refuse_layouts(subject.module)
    torch.manual_seed(0)
    device = next((t.device for t in module_tensors(subject.module)), torch.device("cpu"))
    args, kwargs = fake_inputs(subject.inputs, device)
    names = {str(subject.path.resolve()), str(subject.path)} if subject.path else ()
    display = {name: str(subject.path) for name in names}
    with quiet():
        if isinstance(subject.module, StageModule):
            program, producer = export_traced(subject.module, args, kwargs, decompose)
        else:
            program, producer = export_functional(subject.module, args, kwargs, decompose, subject.inputs, taken)
        return graph_json(program, subject.module, {**producer, "weights": subject.weights}, display, blob_dir)


def import_tracer() -> None:
    """So that a process that traces in its children, or again later, imports it once."""
    for name in TRACER:
        importlib.import_module(name)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """PyTorch warns and logs about itself while it tries; what matters comes back as an error."""
    saved = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(saved)
