"""Answers the requests of one session: one module, from `load` to `release`.

The same class serves the worker process and the caller's own process (`solstice.optimize`), where
the module exists already. Each public request is a method of a `*Requests` class; its keyword
arguments are the request's parameters.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable

from .errors import OracleError, as_oracle_error, input_error
from .oracle.session import Session
from .protocol import BadLine, Request, Sender, parse_request, read_lines

Progress = Callable[[str, str], None]


class Handler:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._requests = collect_requests(session)

    def answer(self, request: Request, sender: Sender) -> bool:
        """Sends the reply or the error. False when the session is over."""
        try:
            function = self._requests.get(request.name)
            if function is None:
                raise unknown_request(request.name, self._requests)
            self._session.progress = lambda stage, message="": sender.progress(request.id, stage, message)
            sender.reply(request.id, function(**checked_params(request, function)))
        except Exception as error:
            sender.error(request.id, as_oracle_error(error))
        return not self._session.closed


def serve(handler: Handler, read_fd: int, sender: Sender) -> None:
    """Until the session is released or the other side hangs up."""
    for line in read_lines(read_fd):
        try:
            request = parse_request(line)
        except BadLine as bad:
            sender.error(bad.id, bad.error)
            continue
        if not handler.answer(request, sender):
            return


def collect_requests(session: Session) -> dict[str, Callable[..., dict[str, Any]]]:
    from .oracle import requests

    return {name: function.__get__(session) for name, function in requests.ALL.items()}


def unknown_request(name: str, known: Any) -> OracleError:
    return input_error("protocol.unknown_request", f"no request `{name}`; known are {', '.join(sorted(known))}")


def checked_params(request: Request, function: Callable) -> dict[str, Any]:
    accepted = {n: p for n, p in inspect.signature(function).parameters.items()}
    unknown = sorted(request.params.keys() - accepted.keys())
    if unknown:
        listing = ", ".join(accepted) or "none"
        raise input_error(
            "protocol.unknown_parameter",
            f"`{request.name}` takes no parameter `{unknown[0]}`; it takes {listing}",
        )
    missing = [n for n, p in accepted.items() if p.default is inspect.Parameter.empty and n not in request.params]
    if missing:
        raise input_error("protocol.missing_parameter", f"`{request.name}` needs the parameter `{missing[0]}`")
    return request.params
