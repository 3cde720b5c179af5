"""The `solstice` program as a child of this process, which answers its requests."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import threading
from dataclasses import dataclass
from typing import Any, Callable, Iterator

from .errors import KINDS, OracleError
from .handler import Handler, serve
from .launch import environment
from .oracle.session import Session
from .protocol import Sender

INTERRUPTED = 130  # its exit status when the search was stopped
_KIND_OF_STATUS = {2: "input", 3: "environment"}
_ERROR_LINE = "solstice: error["  # what follows is in the JSON too
_TAIL_LINES = 20


@dataclass
class Answer:
    """What the program printed and how it ended."""

    status: int
    body: dict[str, Any]  # its JSON; {} where it died before it could print any
    tail: str  # of its stderr

    def error(self) -> OracleError:
        """The program's own, with its code."""
        kind = _KIND_OF_STATUS.get(self.status, KINDS[-1])
        told = self.body.get("error")
        if told is None:
            text = f"the program ended with status {self.status}"
            return OracleError(kind, "program.ended", f"{text}: {self.tail}" if self.tail else text)
        rest = {name: told.get(name) for name in ("file", "line", "column", "hint", "reasons")}
        return OracleError(kind, told["code"], told["message"], **rest)


def run_as_oracle(command: list[str], session: Session, say: Callable[[str], None]) -> Answer:
    """Runs the program and answers its requests until it hangs up. `say` gets each line of its progress, on another
    thread."""
    ours, theirs = socket.socketpair()
    out: list[bytes] = []
    tail: list[str] = []
    with ours:
        with theirs:
            process = subprocess.Popen(
                [*command, "--oracle-fd", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                start_new_session=True,  # Ctrl-C reaches it through us, once
            )
        readers = [
            threading.Thread(target=lambda: out.append(process.stdout.read()), daemon=True),
            threading.Thread(target=_relay, args=(process.stderr, say, tail), daemon=True),
        ]
        for reader in readers:
            reader.start()
        try:
            with passing_on_interrupts(process):
                serve(Handler(session), ours.fileno(), Sender(ours.fileno()))
                process.wait()
        except (BrokenPipeError, ConnectionResetError):
            pass  # it ended without waiting for the last answer
        except BaseException:
            process.terminate()
            raise
        finally:
            status = process.wait()
            for reader in readers:
                reader.join()
            process.stdout.close()
            process.stderr.close()
    return Answer(status, _body(b"".join(out)), "\n".join(tail))


def _relay(stream: Any, say: Callable[[str], None], tail: list[str]) -> None:
    erring = False
    for line in stream:
        text = line.decode(errors="replace").rstrip("\n")
        erring = erring or text.startswith(_ERROR_LINE)
        tail.append(text)
        del tail[:-_TAIL_LINES]
        if not erring:
            say(text)


def _body(printed: bytes) -> dict[str, Any]:
    try:
        body = json.loads(printed)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


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
