"""Runs a function in a child process: what it imports, patches or crashes stays there."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import traceback
from typing import Any, Callable, NoReturn

from .errors import OracleError, as_oracle_error, internal_error

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """An orphan would hold GPU memory for ever. `parent` is who forked this process: it may be gone already."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def call_in_child(function: Callable[[], Any]) -> Any:
    """`function()`'s JSON-able value. What it raises is raised here as an OracleError, its traceback
    on the child's stderr; its death is an internal error."""
    read_fd, write_fd = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(read_fd)
        _answer_and_exit(function, write_fd, parent)
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


def _answer_and_exit(function: Callable[[], Any], write_fd: int, parent: int) -> NoReturn:
    """Nothing may leave this function: above it is the parent's code, in the wrong process."""
    status = 0
    try:
        die_with_parent(parent)
        _one_thread()  # the parent's worker threads do not exist in this process
        try:
            answer = json.dumps({"value": function()}, allow_nan=False)
        except Exception as error:
            answer = json.dumps({"error": as_oracle_error(error).to_json()})
        with os.fdopen(write_fd, "wb") as pipe:
            pipe.write(answer.encode())
    except BaseException:  # SystemExit and the like, or a pipe that nobody reads any more
        traceback.print_exc()
        status = 1
    finally:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(status)
