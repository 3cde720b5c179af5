"""`python -m solstice.worker [--device auto|cuda|cpu] [--warm]`: the oracle process.

Speaks `solstice.oracle/1` on stdin and stdout; what user code prints goes to stderr. The process
itself stays clean and warm: each `load` forks a child that holds one module until it is released
or replaced, so that a crash, a patched library or a leak of one module ends with its child.
CUDA is touched in children only, because a process that has initialised it cannot fork for it.
A second child may import what the module's opponents need (oracle/rivals.py) beside the first.

Tracing imports PyTorch's compiler, seconds that a cached graph saves: it is imported when a trace needs it,
or once for all modules with `--warm`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import time
import warnings
from typing import Optional

from . import bytecode
from .errors import OracleError, input_error, internal_error
from .probe import Probe
from .protocol import BadLine, Request, Sender, parse_request, read_lines
from .require import require_torch
from .tracing import TRACER

_WARM_MODULES = (*TRACER, "solstice.oracle.requests")
_RIVALS = ("start_rivals", "time_rivals", "find_flaws")
_DOING = {"load": "while it loaded it", "trace": "while it traced it"}
_DYING_SECONDS = 2.0  # from the end of its answers to the end of the process
_REPLY_MARK_BYTES = 200  # the event's name stands within the first bytes of a message


def take_standard_streams() -> tuple[int, int]:
    """Private copies of stdin and stdout; user code finds /dev/null and stderr in their places."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return read_fd, write_fd


class Child:
    """The process of one session, and the pipes to it."""

    def __init__(self, device: str) -> None:
        request_read, self._requests = os.pipe()
        answers, answer_write = os.pipe()
        supervisor = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._requests)
            os.close(answers)
            _run_session(device, request_read, answer_write, supervisor)
        os.close(request_read)
        os.close(answer_write)
        self._answers = answers
        self._lines = read_lines(answers)
        self._sender = Sender(self._requests)
        self._owed = False

    def post(self, line: bytes) -> None:
        """One request whose answer nobody waits for; the next `settle` or `forward` reads and drops it."""
        self._owed = True
        with contextlib.suppress(BrokenPipeError):  # dead already: the next request will find out
            self._sender.raw(line)

    def settle(self) -> None:
        if self._owed:
            self._owed = False
            next((a for a in self._lines if _is_last(a)), None)

    def forward(self, line: bytes, sender: Sender) -> bool:
        """Passes one request on and its answers back. False when the child died before the last one."""
        self.settle()
        try:
            self._sender.raw(line)
        except BrokenPipeError:
            return False
        for answer in self._lines:
            sender.raw(answer)
            if _is_last(answer):
                return True
        return False

    def end(self, grace: float = 0.0) -> int:
        """Ends the child if it still runs after `grace` seconds; its wait status."""
        os.close(self._requests)
        os.close(self._answers)
        until = time.monotonic() + grace
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            if time.monotonic() >= until:
                os.kill(self.pid, signal.SIGKILL)
                return os.waitpid(self.pid, 0)[1]
            time.sleep(0.005)


def _death(request: Request, status: int) -> OracleError:
    """A file that leaves Python while it is loaded is at fault; what a signal ends may not be."""
    from .forked import describe_exit

    how, file = describe_exit(status), request.params.get("file")
    if request.name == "load" and os.WIFEXITED(status):
        return input_error(
            "load.ended_python",
            f"{file} ended the Python process that loaded it: it {how}",
            hint="a module's file must leave Python running; look for a call of `os._exit`",
        )
    if request.name == "load" and os.WTERMSIG(status) != signal.SIGKILL:
        return input_error(
            "load.ended_python",
            f"{file} ended the Python process that loaded it: it {how}",
            hint=f"compiled code that it imports crashes: `{sys.executable} {file}` should crash in the same way",
        )
    return internal_error(
        "oracle.crashed",
        f"the Python process that holds the module {how} {_DOING.get(request.name, 'at work')}",
        hint="use smaller sizes if memory ran out; otherwise run the module alone in Python to see it crash",
    )


def _is_last(answer: bytes) -> bool:
    return b'"event":"progress"' not in answer[:_REPLY_MARK_BYTES]


def _run_session(device: str, read_fd: int, write_fd: int, supervisor: int) -> None:
    from .forked import die_with_parent
    from .handler import Handler, serve
    from .hello import choose_device
    from .oracle.session import Session

    status = 0
    try:
        die_with_parent(supervisor)
        serve(Handler(Session(choose_device(device), forks=True)), read_fd, Sender(write_fd))
    except BrokenPipeError:
        pass  # the supervisor is gone, and nobody is left to tell
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    finally:
        sys.stderr.flush()
        os._exit(status)


class Supervisor:
    def __init__(self, device: str, sender: Sender, probe: Probe, warm: bool) -> None:
        self._device = device
        self._sender = sender
        self._probe = probe
        self._child: Optional[Child] = None
        self._rivals: Optional[Child] = None
        self._warm = not warm  # nothing is left to import

    def handle(self, line: bytes) -> bool:
        """Answers one line. False after `shutdown`."""
        try:
            request = parse_request(line)
        except BadLine as bad:
            self._sender.error(bad.id, bad.error)
            return True
        if request.name == "shutdown":
            self.end_children()
            self._sender.reply(request.id, {})
            return False
        try:
            self._dispatch(request, line)
        except OracleError as error:
            self._sender.error(request.id, error)
        return True

    def _dispatch(self, request: Request, line: bytes) -> None:
        require_torch("a module")  # a child without it would only end
        if request.name == "hello":
            self._sender.reply(request.id, self._hello())
            self._warm_up()
            return
        if request.name in _RIVALS:
            self._dispatch_rivals(request, line)
            return
        if request.name == "load" and request.params.get("file") is not None:
            self._warm_up()
            self._child = self._end(self._child)
            self._child = Child(self._device)
        ends = request.name == "release" and "set" not in request.params
        if ends and self._child is None and self._rivals is not None:  # the opponents were all that was left
            self.end_children()
            self._sender.reply(request.id, {})
            return
        if self._child is None:
            raise self._no_session(request)
        if not self._child.forward(line, self._sender):
            status, self._child = self._child.end(grace=_DYING_SECONDS), None
            raise _death(request, status)
        if ends and request.params.get("keep_opponents"):
            self._child = self._end(self._child)
        elif ends:
            self.end_children()

    def _dispatch_rivals(self, request: Request, line: bytes) -> None:
        """`start_rivals` is answered at once; its child works on beside the session."""
        if request.name == "start_rivals":
            self._rivals = self._end(self._rivals)
            self._rivals = Child(self._device)
            self._rivals.post(line)
        elif self._rivals is None:
            raise input_error("session.no_rivals", "no opponents are there", hint="send `start_rivals` first")
        elif self._rivals.forward(line, self._sender):
            return
        else:
            from .forked import describe_exit

            status, self._rivals = self._rivals.end(grace=_DYING_SECONDS), None
            raise internal_error("oracle.crashed", f"the process of the opponents {describe_exit(status)}")
        self._sender.reply(request.id, {})

    def _no_session(self, request: Request) -> OracleError:
        from .handler import unknown_request
        from .oracle import requests

        if request.name not in requests.ALL:
            return unknown_request(request.name, [*requests.ALL, "shutdown"])
        return input_error("session.no_module", "no module is loaded", hint="send `load` first")

    def _hello(self) -> dict:
        from .hello import describe_probed, describe_worker

        return describe_worker(describe_probed(self._device, self._probe.result()))

    def _warm_up(self) -> None:
        """Pays PyTorch's lazy imports once; children inherit them.

        Imports only: even a trace on the host may initialise CUDA, and no child could use it then.
        """
        if not self._warm:
            for name in _WARM_MODULES:
                importlib.import_module(name)
            self._warm = True

    def end_children(self) -> None:
        self._child, self._rivals = self._end(self._child), self._end(self._rivals)

    @staticmethod
    def _end(child: Optional[Child]) -> None:
        if child is not None:
            child.end()


def main() -> int:
    parser = argparse.ArgumentParser(prog="solstice.worker", description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--warm", action="store_true", help="import what tracing needs once, for many modules")
    arguments = parser.parse_args()
    read_fd, write_fd = take_standard_streams()
    bytecode.keep()
    probe = Probe()  # the driver answers while PyTorch is imported
    # PyTorch's idle threads are not missed by the children, which start none before they need them.
    warnings.filterwarnings("ignore", message=".*use of fork.* may lead to deadlocks", category=DeprecationWarning)
    supervisor = Supervisor(arguments.device, Sender(write_fd), probe, arguments.warm)
    try:
        for line in read_lines(read_fd):
            if not supervisor.handle(line):
                break
    except BrokenPipeError:
        return 1
    finally:
        supervisor.end_children()
    return 0


if __name__ == "__main__":
    sys.exit(main())
