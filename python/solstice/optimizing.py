"""`solstice.optimize`: the caller's process is the oracle, the `solstice` program does the work.

The program is started with one end of a socket pair (`--oracle-fd`) and asks for what it needs: the
graph, inputs, expected values, times. The requests are answered here, on the caller's thread, by
the same handler that serves the worker process; the module is never copied or pickled.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Iterator, Optional, Union

import torch

from . import dropin
from .errors import environment_error, input_error
from .handler import Handler, serve
from .loading import Subject, as_arguments
from .oracle.session import Session
from .protocol import Sender
from .tensors import map_tensors, module_tensors, tensor_leaves

PROGRAM = "solstice"
INTERRUPTED = 130  # its exit status when the search was stopped and the best so far was kept


def optimize(
    module: torch.nn.Module,
    example_inputs: Any,
    *,
    out: Union[str, os.PathLike, None] = None,
    program: Optional[str] = None,
    **options: Any,
) -> torch.nn.Module:
    """A module with the same parameters and a faster forward, or `module` itself when nothing is faster.

    `example_inputs`: a tensor, a list or tuple of positional arguments, or a dict of keyword
    arguments; the result is made for their shapes, dtypes and strides. `out`: folder for the report,
    the kernels and all; a temporary one when it is left out. Further options are the program's:
    `numerics="high"` is `--numerics high`. Raises RuntimeError when the program fails; it has said
    why on stderr. Ctrl-C ends the search early: the best so far is verified and used.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"optimize takes a torch.nn.Module, not {type(module).__name__}")
    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="solstice-"))
    session = Session(_device_of(module, example_inputs), subject=subject_of(module, example_inputs))
    command = [find_program(program), "optimize", "--out", str(folder), *_flags(options)]
    before = _report_of(folder)
    status = run_as_oracle(command, session)
    if status not in (0, INTERRUPTED):
        raise RuntimeError(f"`{' '.join(command)}` ended with status {status}; its messages are above")
    if status == INTERRUPTED and _report_of(folder) == before:
        return module  # stopped before there was anything to keep: what lies there is of an earlier run
    record = folder / "dropin.json"
    if not record.exists():
        return module  # nothing was faster; the report in `folder` says why
    return dropin.attach(module, dropin.read(str(folder), json.loads(record.read_text())))


def _report_of(folder: Path) -> Optional[tuple[int, int]]:
    """Which report lies there; every outcome brings a file of its own."""
    try:
        found = (folder / "report.json").stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def subject_of(module: torch.nn.Module, example_inputs: Any) -> Subject:
    args, kwargs = as_arguments(example_inputs)
    cls = type(module)

    def inputs() -> tuple[tuple, dict]:
        return map_tensors(lambda t: t.detach().clone(), (args, kwargs))  # the caller's own stay as they are

    return Subject(module, inputs, init=None, path=None, class_name=cls.__name__, source=None, weights="real")


def run_as_oracle(command: list[str], session: Session) -> int:
    """Runs the program and answers its requests until it hangs up; its exit status."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(
                [*command, "--oracle-fd", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C reaches it through us, once
            )
        try:
            with passing_on_interrupts(process):
                serve(Handler(session), ours.fileno(), Sender(ours.fileno()))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it ended without waiting for the last answer
        except BaseException:
            process.terminate()
            raise
        finally:
            status = process.wait()
    return status


@contextlib.contextmanager
def passing_on_interrupts(process: subprocess.Popen) -> Iterator[None]:
    """Ctrl-C stops the program's search, and it finishes with the best so far; a second one ends both."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return

    def on_interrupt(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, previous)
        process.send_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _device_of(module: torch.nn.Module, example_inputs: Any) -> torch.device:
    devices = {t.device for t in (*module_tensors(module), *tensor_leaves(as_arguments(example_inputs)))}
    if len(devices) > 1:
        listing = ", ".join(sorted(str(d) for d in devices))
        raise input_error("session.devices", f"the module and its inputs lie on several devices: {listing}")
    return devices.pop() if devices else torch.device("cpu")


def _flags(options: dict[str, Any]) -> list[str]:
    flags: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            flags.append(flag)
        elif value not in (None, False):
            flags += [flag, str(value)]
    return flags


def find_program(named: Optional[str] = None) -> str:
    """`named`, else SOLSTICE_PROGRAM, else the one beside this package, else the one on PATH."""
    explicit = named or os.environ.get("SOLSTICE_PROGRAM")
    if explicit:
        if not os.access(explicit, os.X_OK):
            raise input_error("optimize.no_program", f"`{explicit}` is not an executable file")
        return explicit
    root = Path(__file__).resolve().parents[2]
    # A bundle's launcher unpacks headers before it starts the program in bin/.
    for candidate in (root / PROGRAM, root / "bin" / PROGRAM, root / "build" / "bin" / PROGRAM):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which(PROGRAM)
    if found is None:
        raise environment_error(
            "optimize.no_program",
            f"the program `{PROGRAM}` was not found",
            hint="build it with `./x build`, or set SOLSTICE_PROGRAM",
        )
    return found
