"""Runs a function in a child process: what it imports, patches or crashes stays there."""

from __future__ import annotations

import ctypes
import json
import os
import signal
from typing import Any, Callable

from .errors import OracleError, internal_error

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """An orphan would hold GPU memory for ever."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def call_in_child(function: Callable[[], Any]) -> Any:
    """`function()`'s JSON-able value. Its OracleError is raised here; its death is an internal error."""
    from .handler import as_oracle_error

    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_fd)
        die_with_parent()
        _one_thread()  # the parent's worker threads do not exist in this process
        try:
            answer = {"value": function()}
        except Exception as error:
            answer = {"error": as_oracle_error(error).to_json()}
        _write_and_exit(write_fd, answer)
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as pipe:
        data = pipe.read()
    status = os.waitpid(pid, 0)[1]
    if not data:
        raise internal_error("oracle.crashed", f"the child process {describe_exit(status)}")
    answer = json.loads(data)
    if "error" in answer:
        raise OracleError(**answer["error"])
    return answer["value"]


def describe_exit(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        reason = " (the system ran out of memory?)" if number == signal.SIGKILL else ""
        return f"was ended by {signal.Signals(number).name}{reason}"
    return f"exited with status {os.waitstatus_to_exitcode(status)}"


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _write_and_exit(fd: int, answer: Any) -> None:
    try:
        with os.fdopen(fd, "wb") as pipe:
            pipe.write(json.dumps(answer, allow_nan=False).encode())
    finally:
        os._exit(0)
